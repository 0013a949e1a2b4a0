//! The package for Python on a real Spark: streams that are killed and go on, beside oracles.

use std::process::Command;

use anyhow::Result;

use crate::packages;
use crate::python;
use crate::steps::succeed;

/// Its tests.
pub fn test() -> Result<()> {
    run(&[])
}

/// Its tests with a million events and ten kills, and then state and time beside what Spark has for it.
pub fn full() -> Result<()> {
    run(&[("LATELY_SPARK", "full")])?;
    succeed(Command::new(environment()?.join("bin/python")).arg("python/bench/spark.py"))
}

fn run(settings: &[(&str, &str)]) -> Result<()> {
    let mut pytest = Command::new(environment()?.join("bin/python"));
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "-rP", "python/tests_spark"]);
    pytest.env("PYTHONDONTWRITEBYTECODE", "1");
    succeed(pytest.envs(settings.iter().copied()))
}

fn environment() -> Result<std::path::PathBuf> {
    packages::require(packages::FOR_SPARK)?;
    python::installed("python/tests_spark/requirements.txt", "spark", "release")
}
