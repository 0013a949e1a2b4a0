//! What the compiler cannot check, looked at by those who can: Miri, the sanitizers of addresses and
//! threads, and a machine with addresses of 32 bits, where sizes that are small here do not fit.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps::{Step, run, succeed};

/// The twin of this machine with 32 bits. Its own C library comes with it, so that nothing has to be
/// installed to link.
const NARROW: &str = "i686-unknown-linux-musl";

/// The sanitizer wants to be told which machine this is, to leave build scripts alone.
const WIDE: &str = "x86_64-unknown-linux-gnu";

/// Runs all of them.
pub fn check() -> Result<()> {
    run(&[
        Step::new("Miri over the fenced code", miri),
        Step::new("address sanitizer", sanitizer),
        Step::new("thread sanitizer", threads),
        Step::new("forged snapshots on 32 bits", narrow),
    ])
}

/// Packed integers and bit strings are safe code, and take Miri long.
fn miri() -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri", "test", "--package", "lately", "--lib"]);
    command.args(["--", "bits::", "--skip", "packed", "--skip", "strings"]);
    // Addresses are packed into words with other things, and exposed for that.
    command.env("MIRIFLAGS", "-Zmiri-permissive-provenance");
    succeed(apart(&mut command, "miri"))
        .context("`rustup component add miri rust-src --toolchain nightly` if it is missing")
}

fn sanitizer() -> Result<()> {
    // Those that try every order of threads switch stacks, and leave them behind when they panic, as some should.
    let units = ["--lib", "--", "--skip", "bits::turn::", "--skip", "shared::parts::"];
    let some = ["--test", "all", "--", "hostile::", "growing::", "sliding::"];
    for tests in [&units[..], &some] {
        let mut command = Command::new("cargo");
        command.args(["+nightly", "test", "--package", "lately", "--target", WIDE]).args(tests);
        command.env("RUSTFLAGS", "-Zsanitizer=address");
        // Some tests ask for more memory than there is, and expect an error.
        command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        succeed(apart(&mut command, "sanitizer"))
            .context("`rustup toolchain install nightly` if it is missing")?;
    }
    Ok(())
}

/// With a standard library that the sanitizer sees through: in one that it does not, it would take the
/// locks for nothing, and everything under them for a race.
fn threads() -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "test", "-Zbuild-std", "--target", WIDE]);
    command.args(["--package", "lately", "--test", "all", "threads::"]);
    command.env("RUSTFLAGS", "-Zsanitizer=thread");
    succeed(apart(&mut command, "threads"))
        .context("`rustup component add rust-src --toolchain nightly` if it is missing")
}

fn narrow() -> Result<()> {
    succeed(&mut on_narrow(&["test", "--package", "lately", "--test", "all", "hostile::"])?)
        .with_context(|| format!("`rustup target add {NARROW}` if it is missing"))
}

/// A command of cargo, for the twin with 32 bits.
pub fn on_narrow(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new("cargo");
    command.args(arguments).args(["--target", NARROW]);
    let name = NARROW.to_uppercase().replace('-', "_");
    command.env(format!("CARGO_TARGET_{name}_LINKER"), linker()?);
    let flags = "-Clink-self-contained=yes -Clinker-flavor=ld.lld";
    command.env(format!("CARGO_TARGET_{name}_RUSTFLAGS"), flags);
    apart(&mut command, "narrow");
    Ok(command)
}

/// The linker that comes with Rust: that of this machine lacks the parts for 32 bits.
fn linker() -> Result<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    let sysroot = String::from_utf8(output.stdout)?;
    let linker = PathBuf::from(sysroot.trim()).join(format!("lib/rustlib/{WIDE}/bin/rust-lld"));
    if !linker.exists() {
        bail!("there is no {}", linker.display());
    }
    Ok(linker)
}

/// Built in a folder of its own, so that others need not be built again.
pub fn apart<'a>(command: &'a mut Command, name: &str) -> &'a mut Command {
    command.env("CARGO_TARGET_DIR", format!("target/{name}"))
}
