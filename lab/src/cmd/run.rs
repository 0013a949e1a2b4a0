//! `run`: measure an experiment, print tables, keep a record, judge the figures.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lately::ErrorRate;
use lately::plan::Limit;

use crate::cell::Cell;
use crate::clock::Monotonic;
use crate::expectation::{answers, figures};
use crate::experiment::{Experiment, Kind, limit_name};
use crate::machine::Machine;
use crate::record::{Record, Row};
use crate::report::{self, count};
use crate::{accuracy, experiments, race};

/// What to run.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Name of the experiment; `list` shows them
    name: String,
    /// Only the smallest size, and less of everything
    #[arg(long)]
    quick: bool,
    /// Only contenders whose name contains this; may be repeated
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// This size instead of the experiment's
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    /// Only this error, such as 1% or 0.001
    #[arg(long, value_name = "RATE")]
    error: Option<ErrorRate>,
    /// Keep the record in lab/records instead of the build directory
    #[arg(long, conflicts_with = "quick")]
    record: bool,
}

impl Options {
    fn wants(&self, contender: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| contender.contains(part))
    }
}

/// Runs it; says whether all answers are right and all figures met.
pub fn run(options: &Options, out: &mut impl Write) -> Result<bool> {
    let experiment = experiments::named(&options.name)?;
    let mut record = Record {
        experiment: experiment.name.to_owned(),
        question: experiment.question.to_owned(),
        kind: experiment.kind.name().to_owned(),
        stream: experiment.stream.name.to_owned(),
        seed: experiment.seed,
        quick: options.quick,
        machine: Machine::here(),
        rows: Vec::new(),
    };
    let directory = directory(options.record)?;
    record.resume(&directory);
    writeln!(out, "{}: {}", experiment.name, experiment.question)?;
    let Machine { cpu, compiler, commit, .. } = &record.machine;
    writeln!(out, "{cpu}, {compiler}, commit {commit}, seed {}", experiment.seed)?;
    let cells = cells(experiment, options)?;
    ensure!(!cells.is_empty(), "nothing is left to measure; relax --only or --error");
    let mut saved = PathBuf::new();
    let mut all_kept = true;
    for cell in cells {
        let rows = measure(&cell, options)?;
        writeln!(out, "\n{} items, {}", count(cell.size), limit_name(cell.goal.limit))?;
        match experiment.kind {
            Kind::Race => write!(out, "{}", report::race(&rows))?,
            Kind::Accuracy => write!(out, "{}", report::accuracy(&rows))?,
        }
        all_kept &= judge(experiment, &rows, out)?;
        record.put(rows);
        saved = record.save(&directory)?;
    }
    writeln!(out, "\nrecord: {}", saved.display())?;
    Ok(all_kept)
}

fn cells<'a>(experiment: &'a Experiment, options: &Options) -> Result<Vec<Cell<'a>>> {
    let sizes = match (options.size, options.quick) {
        (Some(size), _) => vec![size],
        (None, true) => experiment.sizes.iter().copied().min().into_iter().collect(),
        (None, false) => experiment.sizes.to_vec(),
    };
    let mut cells = Vec::new();
    for size in sizes {
        for allowance in experiment.limits {
            let limit = allowance.limit(size)?;
            if options.error.is_some_and(|error| limit != Limit::Error(error)) {
                continue;
            }
            let goal = (experiment.goal)(size, limit);
            goal.validate()?;
            let mut contenders = experiment.contenders(&goal)?;
            contenders.retain(|contender| options.wants(contender.name()));
            if !contenders.is_empty() {
                cells.push(Cell { experiment, size, goal, contenders });
            }
        }
    }
    Ok(cells)
}

fn measure(cell: &Cell<'_>, options: &Options) -> Result<Vec<Row>> {
    match (cell.experiment.kind, options.quick) {
        (Kind::Race, true) => cell.race(race::Effort::QUICK, &Monotonic::start()),
        (Kind::Race, false) => cell.race(race::Effort::FULL, &Monotonic::start()),
        (Kind::Accuracy, true) => cell.accuracy(accuracy::Effort::QUICK),
        (Kind::Accuracy, false) => cell.accuracy(accuracy::Effort::FULL),
    }
}

/// Prints the figures, and the answers that are wrong.
fn judge(experiment: &Experiment, rows: &[Row], out: &mut impl Write) -> Result<bool> {
    let mut all_kept = true;
    for check in figures(experiment.figures, rows) {
        let verdict = if check.passed { "met" } else { "MISSED" };
        writeln!(out, "{verdict}: {}: {}", check.claim, check.evidence)?;
        all_kept &= check.passed;
    }
    for row in rows {
        for check in answers(row).into_iter().filter(|check| !check.passed) {
            writeln!(out, "WRONG: {}: {}: {}", row.contender, check.claim, check.evidence)?;
            all_kept = false;
        }
    }
    Ok(all_kept)
}

/// Records worth keeping go beside the source; others beside the program, where cleaning the build
/// removes them.
fn directory(keep: bool) -> Result<PathBuf> {
    if keep {
        return Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("records"));
    }
    let program = std::env::current_exe()?;
    Ok(program.parent().context("the program lies in no directory")?.join("lab"))
}
