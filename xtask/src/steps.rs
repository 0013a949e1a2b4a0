//! Chores that are a list of commands: each is run even if one before it failed, and a plain
//! summary says how it went.

use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::engines::{Build, Engines, TESTED};
use crate::packages::{self, Package};
use crate::{clicks, public, python, tidy};

/// All there is.
const EVERYTHING: [&str; 3] = ["--workspace", "--features", "lately-cli/redis"];

/// One thing that must succeed.
pub struct Step {
    name: &'static str,
    /// What it cannot do without.
    needs: &'static [Package],
    /// Whether it leaves so much of the machine to others, waiting for servers or for a network, that it is run
    /// beside them.
    waits: bool,
    run: Box<dyn Fn() -> Result<()> + Sync>,
}

impl Step {
    /// One that needs nothing but Rust.
    pub fn new(name: &'static str, run: impl Fn() -> Result<()> + Sync + 'static) -> Self {
        Self { name, needs: &[], waits: false, run: Box::new(run) }
    }

    /// The same with needs.
    fn needing(self, needs: &'static [Package]) -> Self {
        Self { needs, ..self }
    }

    /// The same, run beside the others.
    fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }
}

/// Everything a change must pass.
pub fn test() -> Result<()> {
    let mut steps = lint_steps();
    // Once, for all that come after it.
    steps.push(Step::new("build", || Build::Checked.make()));
    steps.push(Step::new("tests", || cargo_test(&["--tests", "--no-fail-fast"])));
    steps.push(Step::new("examples of documents", || cargo_test(&["--doc", "--no-fail-fast"])));
    steps.push(Step::new("without servers", without_servers));
    let servers = Step::new("module on servers", || Engines::prepare(Build::Checked)?.test());
    steps.push(servers.needing(packages::FOR_SERVERS).waiting());
    steps.push(Step::new("python", python::test).needing(packages::FOR_PYTHON).waiting());
    steps.push(Step::new("click log", clicks::verify));
    let verify = Step::new("lab verify", || {
        Build::Checked.make()?;
        succeed(Command::new(Build::Checked.folder().join("lately-lab")).arg("verify"))
    });
    // It counts the heap of its process, so it is busy with one thing after the other.
    steps.push(verify.waiting());
    run(&steps)
}

/// What can be said of a change without running it.
pub fn lint() -> Result<()> {
    run(&lint_steps())
}

/// Writes the golden snapshots that are missing, and the parameters in FORMAT.md.
pub fn golden() -> Result<()> {
    let written = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(["test", "--package", "lately"]).args(arguments);
        succeed(command.env("LATELY_WRITE_GOLDEN", "1"))
    };
    run(&[
        Step::new("golden files", move || written(&["--test", "all", "golden::"])),
        Step::new("plans", move || written(&["--test", "all", "plans::"])),
        Step::new("refusals", move || written(&["--test", "all", "refused::"])),
        Step::new("streams", move || written(&["--test", "all", "streams::"])),
        Step::new("parameters in FORMAT.md", move || {
            written(&["--test", "all", "catalog::the_format"])
        }),
    ])
}

fn lint_steps() -> Vec<Step> {
    vec![
        cargo("format", &["fmt", "--all", "--check"]),
        Step::new("clippy", || {
            let mut command = Command::new("cargo");
            command.arg("clippy").args(EVERYTHING).args(["--all-targets", "--", "-D", "warnings"]);
            succeed(&mut command)
        }),
        cargo("without std", &["check", "--package", "lately", "--no-default-features"]),
        Step::new("documents", || {
            document(&[&EVERYTHING[..], &["--document-private-items"]].concat())?;
            // As users see it: what is private there must not be linked to.
            document(&["--package", "lately"])
        }),
        Step::new("house rules", tidy::check),
        Step::new("public list", public::check),
    ]
}

fn cargo_test(arguments: &[&str]) -> Result<()> {
    succeed(Command::new("cargo").arg("test").args(TESTED).args(arguments))
}

/// The command as most build it. The whole workspace, so that the choice of features is the same for all crates but
/// this one, which nobody waits for: so it is not optimized.
fn without_servers() -> Result<()> {
    let quickly = "profile.dev.package.lately-cli.opt-level=0";
    let tested = ["--workspace", "--exclude", "lately-python", "--test", "unshared"];
    succeed(Command::new("cargo").arg("test").args(tested).args(["--config", quickly]))
}

fn document(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["doc", "--no-deps"]).args(arguments).env("RUSTDOCFLAGS", "-D warnings");
    succeed(&mut command)
}

fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step::new(name, move || succeed(Command::new("cargo").args(arguments)))
}

/// Runs a command with our output as its own.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Runs all steps, those that wait beside the others, and says how each went.
pub fn run(steps: &[Step]) -> Result<()> {
    provide(steps);
    let (waiting, working): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.waits);
    let one_by_one = |steps: Vec<&Step>| steps.into_iter().map(outcome).collect::<Vec<_>>();
    let outcomes = thread::scope(|scope| {
        let waiting = scope.spawn(|| one_by_one(waiting));
        let worked = one_by_one(working);
        [worked, waiting.join().expect("a step that panics ends the chore")].concat()
    });
    let failed = outcomes.iter().filter(|told| told.starts_with(FAILED)).count();
    println!("\n{}\n{} passed, {failed} failed", outcomes.join("\n"), steps.len() - failed);
    if failed > 0 {
        bail!("{failed} of {} steps failed", steps.len());
    }
    Ok(())
}

const FAILED: &str = "FAILED";

/// Runs a step, and gives the line that says how it went.
fn outcome(step: &Step) -> String {
    eprintln!("== {}", step.name);
    let start = Instant::now();
    match attempt(step) {
        Ok(()) => format!("ok      {} ({} s)", step.name, start.elapsed().as_secs()),
        Err(error) => format!("{FAILED}  {}: {error:#}", step.name),
    }
}

/// Installs what steps need, before the first of them. What cannot be had is told at once: it would
/// be a pity to hear of it after minutes.
fn provide(steps: &[Step]) {
    for step in steps {
        if let Err(error) = packages::require(step.needs) {
            eprintln!("the step \"{}\" will fail, the others run: {error:#}", step.name);
        }
    }
}

fn attempt(step: &Step) -> Result<()> {
    let missing = packages::missing(step.needs);
    if !missing.is_empty() {
        bail!("needs {}", missing.join(", "));
    }
    (step.run)()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn only_steps_whose_needs_are_missing_fail_and_all_others_run() {
        const ABSENT: &[Package] = &[Package { name: "no-such-package", is_there: || false }];
        let ran = Arc::new(AtomicU32::new(0));
        let step = |name| {
            let ran = Arc::clone(&ran);
            Step::new(name, move || {
                ran.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        };
        assert_eq!(
            attempt(&step("a").needing(ABSENT)).unwrap_err().to_string(),
            "needs no-such-package"
        );
        assert_eq!(ran.load(Ordering::Relaxed), 0);
        attempt(&step("b")).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        run(&[step("c"), step("d").waiting(), step("e")]).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 4);
        let fails = Step::new("f", || bail!("as it should"));
        let told = run(&[fails.waiting(), step("g")]).unwrap_err().to_string();
        assert_eq!((told.as_str(), ran.load(Ordering::Relaxed)), ("1 of 2 steps failed", 5));
    }
}
