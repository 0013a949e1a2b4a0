//! The package for Python: a wheel as users get it, in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::engines::Build;
use crate::packages;
use crate::steps::succeed;
use crate::venv;

const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Its tests, beside the command whose states it must open.
pub fn test() -> Result<()> {
    let build = Build::Checked;
    build.make()?;
    let environment = installed(REQUIREMENTS, "python", "dev")?;
    let mut pytest = Command::new(environment.join("bin/python"));
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "python/tests"]);
    pytest.env("LATELY_COMMAND", build.folder().join("lately"));
    succeed(pytest.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Its speed and memory beside its rivals'; measures, so keep the machine quiet.
pub fn race() -> Result<()> {
    measure(&["python/bench/race.py", "python/bench/memory.py"])
}

/// Its instructions beside its rivals', which need no quiet machine but valgrind.
pub fn instructions() -> Result<()> {
    measure(&["python/bench/instructions.py"])
}

fn measure(programs: &[&str]) -> Result<()> {
    let environment = installed("python/bench/requirements.txt", "python-race", "release")?;
    for program in programs {
        succeed(Command::new(environment.join("bin/python")).arg(program))?;
    }
    Ok(())
}

/// An environment with what a file requires, and the package, built by a profile of cargo.
pub fn installed(requirements: &str, name: &str, profile: &str) -> Result<PathBuf> {
    packages::require(packages::FOR_PYTHON)?;
    let environment = venv::with(name, requirements)?;
    let wheel = wheel(&environment, profile)?;
    succeed(venv::pip_install(&environment).args(["--force-reinstall", "--no-deps"]).arg(wheel))?;
    Ok(environment)
}

fn wheel(environment: &Path, profile: &str) -> Result<PathBuf> {
    let folder = environment.join("wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut maturin = Command::new(environment.join("bin/maturin"));
    maturin.args([
        "build",
        "--quiet",
        "--manifest-path",
        "python/Cargo.toml",
        "--profile",
        profile,
    ]);
    maturin.arg("--out").arg(&folder);
    succeed(maturin.arg("--interpreter").arg(environment.join("bin/python")))?;
    let wheels = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
    wheels.first().map(fs::DirEntry::path).context("maturin made no wheel")
}
