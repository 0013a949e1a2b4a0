//! The lab: every structure, and what people use today instead, measured the same way.
//!
//! `METHODOLOGY.md` says how and `BIAS.md` what favours us. An experiment is a value in
//! `experiments/`; everything else here reads those values.

mod accuracy;
mod cell;
mod children;
mod clock;
mod cmd;
mod contender;
mod counting;
mod course;
mod door;
mod duplicates;
mod expectation;
mod experiment;
mod experiments;
#[cfg(test)]
mod fakes;
mod growing;
mod heap;
mod limited;
mod machine;
mod pictures;
mod race;
mod record;
mod records;
mod report;
mod rivals;
mod slice_by_slice;
mod stream;
mod summary;
mod table;
mod timed;
mod truth;
mod uniform;
mod worst_insert;

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures the structures of lately, and their rivals.
#[derive(Debug, Parser)]
#[command(name = "lab", bin_name = "cargo lab")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the experiments
    List,
    /// Measure one experiment
    Run(cmd::run::Options),
    /// Measure and draw the figures of the papers and ours, or check those that are kept
    Report(cmd::report::Options),
    /// Check the answers of all contenders at a small size, without timing anything
    Verify,
    /// Compare every answer of a very long stream with the exact truth
    Soak(cmd::soak::Options),
    /// Draw a figure of the paper on duplicate detection as data, or the grid of all rows
    Figures(cmd::figures::Options),
    /// Count the cache lines that operations of the sliding filter touch
    Work(cmd::work::Options),
    /// Count the instructions that operations of a structure take, with valgrind
    Instructions(cmd::instructions::Options),
    /// Race the public types against two rotating Bloom filters, texts for keys
    Door(cmd::door::Options),
    /// Measure slices by age at their worst moment against the recurrence
    Moment(cmd::moment::Options),
    /// Race the command against others on large files
    Pipe(cmd::pipe::Options),
    /// Repeat the experiments of the paper on the time-limited filter
    Span(cmd::span::Options),
    /// Run one of the experiments on windows by time
    Timed(cmd::timed::Options),
    /// Run one of the experiments on counting
    Count(cmd::count::Options),
    /// Run one of the experiments on sets of unknown size
    Grow(cmd::grow::Options),
    /// Run a command and tell what it took: what the lab asks itself
    #[command(hide = true)]
    Child {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
}

fn main() -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    let result = match Arguments::parse().command {
        Command::List => cmd::list::list(&mut out).map(|()| true),
        Command::Run(options) => cmd::run::run(&options, &mut out),
        Command::Report(options) => cmd::report::report(&options, &mut out),
        Command::Verify => cmd::verify::verify(&mut out),
        Command::Soak(options) => cmd::soak::soak(&options, &mut out),
        Command::Figures(options) => cmd::figures::figures(&options, &mut out),
        Command::Work(options) => cmd::work::work(&options, &mut out),
        Command::Instructions(options) => cmd::instructions::instructions(&options, &mut out),
        Command::Door(options) => cmd::door::door(&options, &mut out),
        Command::Moment(options) => cmd::moment::moment(&options, &mut out),
        Command::Pipe(options) => cmd::pipe::pipe(&options, &mut out),
        Command::Span(options) => cmd::span::span(&options, &mut out),
        Command::Timed(options) => cmd::timed::timed(&options, &mut out),
        Command::Count(options) => cmd::count::count(&options, &mut out),
        Command::Grow(options) => cmd::grow::grow(&options, &mut out),
        Command::Child { words } => children::Took::tell(&words),
    };
    match result {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::FAILURE),
        // Whoever reads our output has read enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
