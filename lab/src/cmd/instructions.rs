//! `instructions`: how many an operation takes, as callgrind counts them. Other work on the machine
//! makes no difference to that.
//!
//! The lab runs itself under valgrind, twice for each operation: once it does everything but the
//! operation, the difference is what the operation took. Hashing a key of eight bytes is part of it,
//! as it is for a user.

use std::hint::black_box;
use std::io::Write;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use lately::plan::{Goal, Limit};
use lately::raw::quantity;
use lately::{ErrorRate, Span, Window};
use lately_papers::CATALOG;

use crate::contender::{Contender, Subject};
use crate::course::Course;
use crate::race::Operation;
use crate::stream::DISTINCT;

/// What to count.
#[derive(Debug, Args)]
pub struct Options {
    /// Name of the structure, as `lately plan` prints it
    structure: String,
    /// Items in the window, or in the set
    #[arg(long, default_value = "100k", value_parser = quantity::items)]
    items: u64,
    /// Promised share of false positives
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Keys of each operation
    #[arg(long, default_value = "200k", value_parser = quantity::items)]
    operations: u64,
    /// Do this operation instead of counting
    #[arg(long, hide = true, value_parser = operation)]
    perform: Option<Operation>,
    /// Do everything but the operation
    #[arg(long, hide = true, requires = "perform")]
    idle: bool,
}

const SEED: u64 = 31;

/// The planner's costs are right to so many times: those of structures that scan are a hundred times
/// those of others.
const ROUGHLY: f64 = 4.0;

/// Prints the instructions of every operation. Claims that an insertion takes about what the planner
/// ranks by.
pub fn instructions(options: &Options, out: &mut impl Write) -> Result<bool> {
    if let Some(operation) = options.perform {
        perform(options, operation)?;
        return Ok(true);
    }
    // Whatever is wrong with the structure is told here, not by valgrind.
    let (_, goal) = build(options)?;
    let planned = goal.plan_with(CATALOG.row_named(&options.structure)?)?.cost;
    let mut holds = true;
    for operation in Operation::ALL {
        let name = operation.name();
        let all = count(options, &["--perform", name])?;
        let others = count(options, &["--perform", name, "--idle"])?;
        let each = all.saturating_sub(others) as f64 / options.operations as f64;
        write!(out, "{name:13} {each:6.0} instructions")?;
        if operation == Operation::Insert {
            holds = (1.0 / ROUGHLY..=ROUGHLY).contains(&(each / planned));
            let verdict = if holds { "holds" } else { "FAILS" };
            write!(out, ", planned with {planned:.0}: {verdict}")?;
        }
        writeln!(out)?;
    }
    Ok(holds)
}

/// All instructions of this program with these arguments added.
fn count(options: &Options, arguments: &[&str]) -> Result<u64> {
    let (items, error) = (options.items.to_string(), options.error.to_string());
    let operations = options.operations.to_string();
    let all = ["instructions", &options.structure, "--items", &items, "--error", &error];
    let all = [&all, &["--operations", &operations][..], arguments].concat();
    Ok(callgrind(&all)?.instructions)
}

/// What callgrind counts.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Instructions.
    pub instructions: u64,
    /// Accesses to data whose line was not in a nearest cache of 32 KiB.
    pub lines_missed: u64,
}

/// Runs this program with these arguments under callgrind.
pub fn callgrind(arguments: &[&str]) -> Result<Counted> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--cache-sim=yes"])
        // The same on every machine.
        .args(["--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"])
        .arg(std::env::current_exe()?)
        .args(arguments)
        .output()
        .context("valgrind does not start; is it installed?")?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind failed: {messages}");
    }
    let line = messages.lines().find_map(|line| line.split_once("Collected : "));
    let numbers: Vec<u64> =
        line.iter().flat_map(|(_, all)| all.split_whitespace()).flat_map(str::parse).collect();
    // Instructions, reads, writes, then what of each missed the nearest caches, and the last.
    let [instructions, _, _, _, reads, writes, ..] = numbers[..] else {
        bail!("valgrind did not say how many: {messages}");
    };
    Ok(Counted { instructions, lines_missed: reads + writes })
}

/// Fills the structure, and does the operation unless it is idle.
fn perform(options: &Options, operation: Operation) -> Result<()> {
    let (mut subject, goal) = build(options)?;
    let mut course = Course::new(&DISTINCT, &goal, SEED);
    // Windows are in their steady state after that.
    let filling = if goal.window == Window::Ever { options.items } else { options.items * 5 / 2 };
    black_box(Operation::Insert.perform(&mut *subject, &course.next(filling)));
    let leg = match operation {
        Operation::Insert | Operation::InsertBatch => course.next(options.operations),
        Operation::Absent | Operation::AbsentBatch => course.absent(options.operations),
        Operation::Present => course.present(options.operations),
    };
    if options.idle {
        return Ok(());
    }
    black_box(operation.perform(&mut *subject, &leg)).context("ours take batches")?;
    Ok(())
}

/// The structure, empty, for the first kind of window that it keeps.
fn build(options: &Options) -> Result<(Box<dyn Subject>, Goal)> {
    let row = CATALOG.row_named(&options.structure)?;
    let hour = Span::from_millis(3_600_000);
    let windows = [Window::Last(options.items), Window::Within(hour), Window::Ever];
    let mut why = anyhow!("{} keeps no window", row.name);
    for window in windows {
        let mut goal = Goal::new(window, Limit::Error(options.error));
        if !matches!(window, Window::Last(_)) {
            goal.expected_items = Some(options.items);
        }
        match Contender::Row(row).fresh(&goal, SEED) {
            Ok(subject) => return Ok((subject, goal)),
            Err(unfit) => why = unfit,
        }
    }
    Err(why)
}

fn operation(name: &str) -> Result<Operation, String> {
    let found = Operation::ALL.into_iter().find(|operation| operation.name() == name);
    found.ok_or_else(|| format!("no operation is called {name}"))
}
