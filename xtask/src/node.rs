//! Programs of npm inside `target/`, of the versions that `site/package-lock.json` pins.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages;
use crate::steps::succeed;
use crate::venv::target;

/// Runs one of them.
pub fn run(program: &str, words: impl FnOnce(&mut Command)) -> Result<()> {
    let mut command = Command::new("node");
    command.arg(installed()?.join("node_modules/.bin").join(program));
    words(&mut command);
    succeed(&mut command)
}

/// The folder that they are in. Made once, and again when the list changes.
pub fn installed() -> Result<PathBuf> {
    packages::require(packages::FOR_NODE)?;
    let folder = target().join("node");
    let lock = fs::read_to_string("site/package-lock.json")?;
    if fs::read_to_string(folder.join("installed")).is_ok_and(|installed| installed == lock) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(format!("site/{file}"), folder.join(file))?;
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
    succeed(command.current_dir(&folder))
        .context("npm could not install what site/package.json names; does it reach a registry?")?;
    fs::write(folder.join("installed"), lock)?;
    Ok(folder)
}
