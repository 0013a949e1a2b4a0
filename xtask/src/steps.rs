//! Chores that are a list of commands: each is run even if one before it failed, and a plain
//! summary says how it went.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::engines::{Build, Engines};
use crate::packages::{self, Package};
use crate::{clicks, public, python, rooms, tidy};

/// One thing that must succeed.
pub struct Step {
    name: &'static str,
    /// What it cannot do without.
    needs: &'static [Package],
    run: Box<dyn Fn() -> Result<()>>,
}

impl Step {
    /// One that needs nothing but Rust.
    pub fn new(name: &'static str, run: impl Fn() -> Result<()> + 'static) -> Self {
        Self { name, needs: &[], run: Box::new(run) }
    }

    /// The same with needs.
    fn needing(self, needs: &'static [Package]) -> Self {
        Self { needs, ..self }
    }
}

/// Everything a change must pass.
pub fn test() -> Result<()> {
    let mut steps = lint_steps();
    steps.push(cargo(
        "tests",
        &["test", "--workspace", "--no-fail-fast", "--features", "lately-cli/redis"],
    ));
    // The whole workspace, so that the choice of features is the same for all crates but one.
    steps.push(cargo("without servers", &["test", "--workspace", "--test", "unshared"]));
    let servers = Step::new("module on servers", || Engines::prepare(Build::Checked)?.test());
    steps.push(servers.needing(packages::FOR_SERVERS));
    steps.push(Step::new("python", python::test).needing(packages::FOR_PYTHON));
    steps.push(Step::new("click log", clicks::verify));
    steps.push(cargo("lab verify", &["run", "--quiet", "--package", "lately-lab", "--", "verify"]));
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
        Step::new("golden files", move || written(&["--test", "golden"])),
        Step::new("parameters in FORMAT.md", move || written(&["--test", "catalog", "the_format"])),
    ])
}

fn lint_steps() -> Vec<Step> {
    vec![
        cargo("format", &["fmt", "--all", "--check"]),
        Step::new("format of rooms", rooms::check),
        cargo(
            "clippy",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--features",
                "lately-cli/redis",
                "--",
                "-D",
                "warnings",
            ],
        ),
        cargo("without std", &["check", "--package", "lately", "--no-default-features"]),
        Step::new("documents", || {
            let all = ["--workspace", "--document-private-items", "--features", "lately-cli/redis"];
            document(&all)?;
            // As users see it: what is private there must not be linked to.
            document(&["--package", "lately"])
        }),
        Step::new("house rules", tidy::check),
        Step::new("public list", public::check),
    ]
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

/// Runs all steps, and says how each went.
pub fn run(steps: &[Step]) -> Result<()> {
    provide(steps);
    let mut report = Vec::new();
    let mut failed = 0;
    for step in steps {
        eprintln!("== {}", step.name);
        let start = Instant::now();
        let outcome = attempt(step);
        let seconds = start.elapsed().as_secs();
        match outcome {
            Ok(()) => report.push(format!("ok      {} ({seconds} s)", step.name)),
            Err(error) => {
                failed += 1;
                report.push(format!("FAILED  {}: {error:#}", step.name));
            }
        }
    }
    println!("\n{}\n{} passed, {failed} failed", report.join("\n"), steps.len() - failed);
    if failed > 0 {
        bail!("{failed} of {} steps failed", steps.len());
    }
    Ok(())
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
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn only_steps_whose_needs_are_missing_fail_and_all_others_run() {
        const ABSENT: &[Package] = &[Package { name: "no-such-package", is_there: || false }];
        let ran = Rc::new(Cell::new(0));
        let step = |name| {
            let ran = Rc::clone(&ran);
            Step::new(name, move || {
                ran.set(ran.get() + 1);
                Ok(())
            })
        };
        assert_eq!(
            attempt(&step("a").needing(ABSENT)).unwrap_err().to_string(),
            "needs no-such-package"
        );
        assert_eq!(ran.get(), 0);
        attempt(&step("b")).unwrap();
        assert_eq!(ran.get(), 1);
    }
}
