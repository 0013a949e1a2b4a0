//! The site in a real browser: `site/tests/` driven through Chromium.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::{self, program};
use crate::steps::succeed;
use crate::venv::target;
use crate::{node, site};

/// Builds the site and the command it is compared with, and runs every test.
pub fn test() -> Result<()> {
    packages::require(packages::FOR_BROWSERS)?;
    let modules = node::installed()?.join("node_modules");
    site::build()?;
    let mut build = Command::new("cargo");
    succeed(build.args(["build", "--quiet", "--package", "lately-cli"]))?;
    let chromium = program("chromium").context("chromium must be installed")?;
    // Node looks for modules beside a file, and the tests are elsewhere.
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-concurrency=1"]);
    tests.args(["site.test.cjs", "book.test.cjs"].map(|file| Path::new("site/tests").join(file)));
    tests.env("NODE_PATH", modules).env("CHROMIUM", chromium);
    tests.env("SITE", site::folder()).env("LATELY", target().join("debug/lately"));
    succeed(&mut tests)
}
