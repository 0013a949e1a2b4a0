//! Virtual environments inside `target/`, each with what its list of requirements pins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::steps::succeed;

/// The environment of this name, with what the file of requirements says. Made once, and again when
/// that changes.
pub fn with(name: &str, requirements: &str) -> Result<PathBuf> {
    let environment = target().join(name);
    let installed = environment.join("requirements.txt");
    let wanted = fs::read_to_string(requirements)?;
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(environment);
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    succeed(pip_install(&environment).args(["--requirement", requirements])).with_context(
        || {
            format!(
                "pip could not install what {requirements} names; does it reach a package index?"
            )
        },
    )?;
    fs::write(installed, wanted)?;
    Ok(environment)
}

/// `pip install` inside an environment.
pub fn pip_install(environment: &Path) -> Command {
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    std::path::absolute(target).expect("the current folder exists")
}
