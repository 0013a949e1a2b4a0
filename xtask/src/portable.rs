//! The library on machines unlike this one: no operating system, WebAssembly, 32 bits, numbers stored the
//! other way round, and the oldest Rust that it says it needs. None of it is needed for anything else,
//! so what is not installed is told, with the command that installs it, and only that step fails.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::memory;
use crate::steps::{Step, run, succeed};

/// One of many without an operating system: what builds here needs none.
const BARE: &str = "thumbv7em-none-eabihf";
const WASM: &str = "wasm32-unknown-unknown";
/// Big-endian, of 64 bits.
const BIG: &str = "s390x-unknown-linux-gnu";

/// Runs all of them.
pub fn check() -> Result<()> {
    run(&[
        Step::new("oldest Rust", oldest),
        Step::new("no operating system", bare),
        Step::new("WebAssembly under node", wasm),
        Step::new("32 bits", || {
            succeed(&mut memory::on_narrow(&[
                "run",
                "--package",
                "lately",
                "--example",
                "portable",
            ])?)
        }),
        Step::new("big-endian under Miri", big),
    ])
}

/// The version that the manifest states.
fn oldest() -> Result<()> {
    let manifest = fs::read_to_string("core/Cargo.toml")?;
    let stated = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = stated.context("core/Cargo.toml states no rust-version")?.trim_matches('"');
    let mut command = Command::new("cargo");
    command.args([&format!("+{version}.0"), "check", "--package", "lately", "--features", "serde"]);
    succeed(memory::apart(&mut command, "oldest"))
        .with_context(|| format!("`rustup toolchain install {version}.0` if it is missing"))
}

fn bare() -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["check", "--package", "lately", "--no-default-features", "--target", BARE]);
    succeed(memory::apart(&mut command, "bare"))
        .with_context(|| format!("`rustup target add {BARE}` if it is missing"))
}

/// A program without imports: all that node does is to call it, and to fail if it traps.
fn wasm() -> Result<()> {
    const SCRIPT: &str = "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]))\
        .then(({ instance }) => process.exit(instance.exports.main(0, 0)))";
    let mut command = Command::new("cargo");
    command.args(["build", "--package", "lately", "--example", "portable", "--target", WASM]);
    succeed(memory::apart(&mut command, "wasm"))
        .with_context(|| format!("`rustup target add {WASM}` if it is missing"))?;
    let program = Path::new("target/wasm").join(WASM).join("debug/examples/portable.wasm");
    succeed(Command::new("node").args(["--eval", SCRIPT]).arg(program))
        .context("node must be installed")
}

fn big() -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri", "run", "--package", "lately", "--example", "portable"]);
    command.args(["--target", BIG]);
    command.env("MIRIFLAGS", "-Zmiri-permissive-provenance");
    succeed(memory::apart(&mut command, "miri"))
        .context("`rustup component add miri rust-src --toolchain nightly` if it is missing")
}
