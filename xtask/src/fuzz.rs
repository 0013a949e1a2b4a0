//! Long fuzz runs under libFuzzer. The same bodies run for seconds in `cargo xtask test`.

use std::process::Command;

use anyhow::{Context, Result};

use crate::steps::succeed;

const TARGETS: [&str; 3] = ["operations", "roundtrip", "decode"];

/// Runs every target for so many seconds.
pub fn run(seconds: u64) -> Result<()> {
    for target in TARGETS {
        let mut command = Command::new("cargo");
        command.args(["+nightly", "fuzz", "run", target, "--"]);
        command.arg(format!("-max_total_time={seconds}"));
        succeed(&mut command)
            .context("fuzzing needs a nightly toolchain and `cargo install cargo-fuzz`")?;
    }
    Ok(())
}
