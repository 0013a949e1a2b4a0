//! The package for Python on a real Spark: streams that are killed and go on, beside oracles.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::packages;
use crate::python;
use crate::steps::succeed;

/// Its tests, on a wheel that the tests without Spark have built already.
pub fn test() -> Result<()> {
    packages::require(packages::FOR_SPARK)?;
    let environment = python::installed(REQUIREMENTS, "spark", "dev")?;
    succeed(&mut tests(&environment))
}

/// Its tests with a million events and ten kills, and then state and time beside what Spark has for it.
pub fn full() -> Result<()> {
    packages::require(packages::FOR_SPARK)?;
    let environment = python::installed(REQUIREMENTS, "spark-full", "release")?;
    succeed(tests(&environment).env("LATELY_SPARK", "full"))?;
    succeed(Command::new(environment.join("bin/python")).arg("python/bench/spark.py"))
}

const REQUIREMENTS: &str = "python/tests_spark/requirements.txt";

fn tests(environment: &Path) -> Command {
    let mut pytest = Command::new(environment.join("bin/python"));
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--capture=no"]);
    pytest.arg("python/tests_spark").env("PYTHONDONTWRITEBYTECODE", "1");
    pytest
}
