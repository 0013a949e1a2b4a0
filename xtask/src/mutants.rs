//! Mutants: small faults planted into the library, one at a time, by `cargo-mutants`. One that no test
//! notices shows what no test holds.
//!
//! A whole module has hundreds, and each is built anew. So a run is limited: to named modules or to what
//! changed, to every so many of their mutants, to the tests that should notice, and in time.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::program;
use crate::steps::succeed;

/// Release of `cargo-mutants` that is installed where there is none.
const RELEASE: &str = "27.1.0";

/// Where results are written.
const RESULTS: &str = "target/mutants";

/// Where the program is installed if there is none.
const PROGRAM: &str = "target/tools";

/// How long one run may take; what was found until then counts.
const LONGEST: Duration = Duration::from_secs(45 * 60);

/// Modules of the library, and the tests besides the unit tests that should notice faults in them.
const MODULES: [(&str, &[&str]); 4] = [
    ("dictionary", &["sliding"]),
    ("growing", &["growing"]),
    ("codec", &["golden", "hostile"]),
    ("plan", &["told"]),
];

/// Plants one of every `share` mutants of a module, or of the lines changed since a commit
/// (`since=COMMIT`), and lists those that no test notices.
pub fn run(what: &str, share: u32) -> Result<()> {
    ensure!(share > 0, "one of every how many: at least 1");
    let mutants = installed()?;
    let mut command = Command::new(mutants);
    command.args(["mutants", "--package", "lately", "--output", RESULTS, "--no-shuffle"]);
    // Built for a few runs each: what takes time is the compiler.
    command.args(["--profile", "mutants", "--timeout", "300", "--minimum-test-timeout", "120"]);
    command.args([
        "--baseline",
        "skip",
        "--sharding",
        "round-robin",
        "--shard",
        &format!("0/{share}"),
    ]);
    let tests = match what.split_once('=') {
        Some(("since", commit)) => {
            let changed = Command::new("git").args(["diff", commit, "--", "core/src"]).output()?;
            fs::create_dir_all(RESULTS)?;
            let path = Path::new(RESULTS).join("changed.diff");
            fs::File::create(&path)?.write_all(&changed.stdout)?;
            command.arg("--in-diff").arg(path);
            MODULES.iter().flat_map(|(_, tests)| *tests).copied().collect::<Vec<_>>()
        }
        _ => {
            let known = MODULES.iter().find(|(module, _)| *module == what);
            let names = MODULES.map(|(module, _)| module).join(", ");
            let (module, tests) = known
                .with_context(|| format!("no module {what}: one of {names}, or since=COMMIT"))?;
            command.args(["--file", &format!("core/src/{module}/**/*.rs")]);
            tests.to_vec()
        }
    };
    command.args(["--", "--lib"]);
    command.args(tests.iter().flat_map(|test| ["--test", test]));
    let finished = in_time(&mut command)?;
    report(finished)
}

/// Runs it until it ends or its time is over; whether it ended.
fn in_time(command: &mut Command) -> Result<bool> {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn().context("cannot run cargo-mutants")?;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if began.elapsed() > LONGEST {
            interrupt(&mut child)?;
            return Ok(false);
        }
        sleep(Duration::from_millis(200));
    }
}

/// Asks it to end, so that it writes what it has and clears its copy of the tree away.
fn interrupt(child: &mut Child) -> Result<()> {
    succeed(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
    child.wait().context("cannot wait for cargo-mutants")?;
    Ok(())
}

/// Says what was caught and what was not.
fn report(finished: bool) -> Result<()> {
    let list = |name: &str| {
        let path = Path::new(RESULTS).join("mutants.out").join(name);
        fs::read_to_string(path).unwrap_or_default()
    };
    let [caught, missed, slow, unviable] =
        ["caught.txt", "missed.txt", "timeout.txt", "unviable.txt"].map(list);
    let count = |list: &str| list.lines().count();
    if !finished {
        println!(
            "stopped after {} minutes; what follows is what was tried",
            LONGEST.as_secs() / 60
        );
    }
    println!(
        "{} caught by tests, {} because they never ended, {} do not compile",
        count(&caught),
        count(&slow),
        count(&unviable)
    );
    match count(&missed) {
        0 if count(&caught) == 0 => bail!("nothing was tried: {RESULTS}/mutants.out says why"),
        0 => Ok(()),
        survivors => bail!("{survivors} that no test notices:\n{missed}"),
    }
}

/// The program, installed below `target/` where there is none.
fn installed() -> Result<std::path::PathBuf> {
    if let Some(program) = program("cargo-mutants") {
        return Ok(program);
    }
    let own = Path::new(PROGRAM).join("bin/cargo-mutants");
    if !own.exists() {
        let mut install = Command::new("cargo");
        install.args(["install", "--locked", "--root", PROGRAM, "--version", RELEASE]);
        succeed(install.arg("cargo-mutants")).context("cannot install cargo-mutants")?;
    }
    Ok(own)
}
