//! The package for Python: a wheel as users get it, in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

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

/// Its tests of hostile input under valgrind, which sees what is read or written where nothing was allocated, and what
/// depends on memory that nobody wrote.
pub fn memory() -> Result<()> {
    let environment = installed(REQUIREMENTS, "python", "dev")?;
    let log = venv::target().join("python-memory.log");
    let mut pytest = Command::new("valgrind");
    pytest.args(["--leak-check=no", "--num-callers=40"]);
    pytest.arg(format!("--log-file={}", log.display())).arg(environment.join("bin/python"));
    pytest.args([
        "-m",
        "pytest",
        "--quiet",
        "-p",
        "no:cacheprovider",
        "python/tests/test_hostile.py",
    ]);
    // The interpreter's own allocator would hide what belongs to whom.
    pytest.env("PYTHONMALLOC", "malloc").env("LATELY_EXAMPLES", "5");
    succeed(pytest.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    let ours = reports_of(&fs::read_to_string(log)?, "_lately");
    if !ours.is_empty() {
        bail!("{} reports of valgrind\n\n{}", ours.len(), ours.join("\n\n"));
    }
    Ok(())
}

/// What valgrind reports of a library: the interpreter and others have reports of their own.
fn reports_of(log: &str, library: &str) -> Vec<String> {
    let words = log.lines().map(|line| line.splitn(3, "==").last().unwrap_or_default().trim());
    let words = words.collect::<Vec<_>>().join("\n");
    words.split("\n\n").filter(|report| report.contains(library)).map(str::to_owned).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_apart() {
        let log = "\
==7== Memcheck, a memory error detector
==7== 
==7== Invalid read of size 8
==7==    at 0x1: insert (in /a/_lately.abi3.so)
==7==    by 0x2: main (in /a/python)
==7==  Address 0x3 is not stack'd, malloc'd or (recently) free'd
==7== 
==7== Use of uninitialised value of size 8
==7==    at 0x1: Py_DECREF (object.h:537)
==7== 
==7== HEAP SUMMARY:
";
        let reports = reports_of(log, "_lately");
        assert_eq!(reports.len(), 1);
        assert!(reports[0].starts_with("Invalid read") && reports[0].ends_with("free'd"));
        assert!(reports_of(log, "polars").is_empty());
    }
}
