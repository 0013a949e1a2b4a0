//! What chores need of the distribution: installed where that is allowed, named where it is not.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps::succeed;

/// A package of Debian, or whatever corresponds to it elsewhere.
#[derive(Debug)]
pub struct Package {
    /// Its name there.
    pub name: &'static str,
    /// Whether it, or what corresponds to it, is installed.
    pub is_there: fn() -> bool,
}

/// What the tests of the module need: its servers, and the environment that Valkey's wheel and the
/// tests' client live in.
pub const FOR_SERVERS: &[Package] = &[
    Package { name: "redis-server", is_there: || program("redis-server").is_some() },
    Package { name: "python3-venv", is_there: has_venv },
    Package { name: "openssl", is_there: || program("openssl").is_some() },
];

/// What the tests of the package for Python need: the environment that it is installed in.
pub const FOR_PYTHON: &[Package] = &[Package { name: "python3-venv", is_there: has_venv }];

/// What the tests on Spark need beside that: it runs on Java.
pub const FOR_SPARK: &[Package] = &[
    Package { name: "python3-venv", is_there: has_venv },
    Package { name: "openjdk-17-jre-headless", is_there: || program("java").is_some() },
];

/// What the site is made smaller with.
pub const FOR_NODE: &[Package] = &[
    Package { name: "nodejs", is_there: || program("node").is_some() },
    Package { name: "npm", is_there: || program("npm").is_some() },
];

/// What the tests of the site need besides.
pub const FOR_BROWSERS: &[Package] =
    &[Package { name: "chromium", is_there: || program("chromium").is_some() }];

/// What a bare root is made with.
pub const FOR_BARE_ROOTS: &[Package] =
    &[Package { name: "debootstrap", is_there: || program("debootstrap").is_some() }];

/// Those that are not there.
pub fn missing(packages: &[Package]) -> Vec<&'static str> {
    let missing = packages.iter().filter(|package| !(package.is_there)());
    missing.map(|package| package.name).collect()
}

/// Installs what is missing, or fails with what to install by hand.
pub fn require(packages: &[Package]) -> Result<()> {
    let missing = missing(packages);
    if missing.is_empty() { Ok(()) } else { install(&missing) }
}

/// Installs packages if we may.
pub fn install(names: &[&str]) -> Result<()> {
    let list = names.join(" ");
    let by_hand = format!("install by hand what corresponds to the Debian packages: {list}");
    let Some(before) = program("apt-get").and(before_apt()) else { bail!("{by_hand}") };
    eprintln!("installing {list}");
    let apt_get = |words: &[&str]| {
        let mut command = Command::new(before[0]);
        command.args(&before[1..]).args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]);
        succeed(command.args(words))
    };
    let install = || apt_get(&[&["install", "--yes", "--no-install-recommends"], names].concat());
    // The list of packages may be missing or old; fetching it takes longer than installing.
    install().or_else(|_| apt_get(&["update"]).and_then(|()| install())).context(by_hand)
}

/// The program of this name that a shell would start.
pub fn program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.exists())
}

/// Whether this is root.
pub fn is_root() -> bool {
    succeeds("sh", &["-c", "test $(id -u) = 0"])
}

/// The words before `apt-get` with an environment; `None` if we may not install.
fn before_apt() -> Option<&'static [&'static str]> {
    if is_root() {
        Some(&["env"])
    } else if succeeds("sudo", &["-n", "true"]) {
        Some(&["sudo", "-n", "env"])
    } else {
        None
    }
}

fn has_venv() -> bool {
    succeeds("python3", &["-c", "import ensurepip, venv"])
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).output().is_ok_and(|run| run.status.success())
}
