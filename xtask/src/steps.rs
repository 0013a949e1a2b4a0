//! Chores that are a list of commands: each is run even if one before it failed, and a plain
//! summary says how it went.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::engines::{self, Build, Engines};
use crate::{clicks, tidy};

/// One thing that must succeed.
struct Step {
    name: &'static str,
    run: Box<dyn Fn() -> Result<()>>,
}

/// Everything a change must pass.
pub fn test() -> Result<()> {
    let mut steps = lint_steps();
    steps.push(cargo("tests", &["test", "--workspace"]));
    steps.push(Step {
        name: "module on servers",
        run: Box::new(|| Engines::prepare(Build::Checked)?.test()),
    });
    steps.push(Step { name: "click log", run: Box::new(clicks::verify) });
    steps.push(cargo("lab verify", &["run", "--quiet", "--package", "lately-lab", "--", "verify"]));
    run(&steps)
}

/// What can be said of a change without running it.
pub fn lint() -> Result<()> {
    run(&lint_steps())
}

/// Writes the golden snapshots that are missing.
pub fn golden() -> Result<()> {
    let write = Step {
        name: "golden files",
        run: Box::new(|| {
            let mut command = Command::new("cargo");
            command.args(["test", "--package", "lately", "--test", "golden"]);
            succeed(command.env("LATELY_WRITE_GOLDEN", "1"))
        }),
    };
    run(&[write])
}

fn lint_steps() -> Vec<Step> {
    vec![
        Step { name: "packages", run: Box::new(engines::install_packages) },
        cargo("format", &["fmt", "--all", "--check"]),
        cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        Step {
            name: "documents",
            run: Box::new(|| {
                let mut command = Command::new("cargo");
                command.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
                succeed(command.env("RUSTDOCFLAGS", "-D warnings"))
            }),
        },
        Step { name: "house rules", run: Box::new(tidy::check) },
    ]
}

fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, run: Box::new(move || succeed(Command::new("cargo").args(arguments))) }
}

/// Runs a command with our output as its own.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

fn run(steps: &[Step]) -> Result<()> {
    let mut report = Vec::new();
    let mut failed = 0;
    for step in steps {
        eprintln!("== {}", step.name);
        let start = Instant::now();
        let outcome = (step.run)();
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
