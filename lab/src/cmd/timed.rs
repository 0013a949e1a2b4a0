//! `timed`: the experiments on windows by time. Each says whether what it claims holds.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::timed::{cap, day, replay, rise, soak};

/// Which experiment.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Bursts, idle times, repeats, late events, removals and snapshots against the exact truth
    Soak(soak::Options),
    /// Memory through a day, beside others
    Day(day::Options),
    /// An insertion while a filter grows, beside the steady state
    Rise(rise::Options),
    /// A log by its own times against the exact truth
    Replay(replay::Options),
    /// A limit per key on a log, by its own times, beside an exact one
    Cap(cap::Options),
}

/// Runs one; says whether its claims hold.
pub fn timed(options: &Options, out: &mut impl Write) -> Result<bool> {
    match &options.experiment {
        Experiment::Soak(options) => soak::soak(options, out),
        Experiment::Day(options) => day::day(options, out),
        Experiment::Rise(options) => rise::rise(options, out),
        Experiment::Replay(options) => replay::replay(options, out),
        Experiment::Cap(options) => cap::cap(options, out),
    }
}
