//! Mutants: faults planted in the library one by one, and which of them no test notices.
//!
//! `cargo-mutants` plants them and runs the tests: those of the library itself, the golden files, the damaged
//! snapshots and the catalog. Each takes a build, so they are limited to the rooms that are named
//! (`cargo xtask mutants codec plan`) or else to the files that differ from `main`, and to an hour, or as many
//! minutes as are said first.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::steps::succeed;

/// Where what was found is written.
const FOUND: &str = "target/mutants";

const MINUTES: u64 = 60;

/// Plants faults in these rooms of the library, for so many minutes if the first argument is a number.
pub fn check(arguments: &[&str]) -> Result<()> {
    install()?;
    let (minutes, rooms) = match arguments {
        [first, rooms @ ..] if first.parse::<u64>().is_ok() => (first.parse()?, rooms),
        rooms => (MINUTES, rooms),
    };
    let files = if rooms.is_empty() { changed()? } else { rooms.iter().map(room).collect() };
    if files.is_empty() {
        bail!(
            "nothing of core/src differs from main: name rooms, as in `cargo xtask mutants codec`"
        );
    }
    let mut command = Command::new("cargo");
    command.args([
        "mutants",
        "--package",
        "lately",
        "--output",
        FOUND,
        "--timeout-multiplier",
        "3",
    ]);
    files.iter().for_each(|file| {
        command.args(["--file", file]);
    });
    command.args(["--", "--lib", "--test", "golden", "--test", "hostile", "--test", "catalog"]);
    let (mut child, until) = (command.spawn()?, Instant::now() + Duration::from_secs(60 * minutes));
    let whole = loop {
        if child.try_wait()?.is_some() {
            break true;
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            break false;
        }
        sleep(Duration::from_secs(1));
    };
    told(whole)
}

/// Fails with those that nobody noticed.
fn told(whole: bool) -> Result<()> {
    let lines = |name: &str| {
        let text =
            fs::read_to_string(format!("{FOUND}/mutants.out/{name}.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (caught, missed) = (lines("caught").len() + lines("timeout").len(), lines("missed"));
    let time = if whole { "all were tried" } else { "the time is over" };
    println!("{caught} noticed, {} not; {time}", missed.len());
    if !missed.is_empty() {
        bail!("no test notices these:\n{}", missed.join("\n"));
    }
    Ok(())
}

/// All files of a room, or the file of that name.
fn room(name: &&str) -> String {
    match fs::metadata(format!("core/src/{name}")) {
        Ok(found) if found.is_dir() => format!("core/src/{name}/**/*.rs"),
        _ => format!("core/src/{name}.rs"),
    }
}

fn changed() -> Result<Vec<String>> {
    let output =
        Command::new("git").args(["diff", "--name-only", "main", "--", "core/src"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter(|name| name.ends_with(".rs")).map(str::to_owned).collect())
}

fn install() -> Result<()> {
    let known = Command::new("cargo").args(["mutants", "--version"]).output()?;
    if known.status.success() {
        return Ok(());
    }
    succeed(Command::new("cargo").args(["install", "--locked", "cargo-mutants"]))
        .context("cargo-mutants plants the faults")
}
