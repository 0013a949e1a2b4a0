//! `grow`: the experiments on sets of unknown size. Each prints a table and says whether what it
//! claims holds.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::growing::{checkpoints, churn, lines, race};

/// Which experiment.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Forgotten keys, error and memory at every size, around growth steps too
    Checkpoints(checkpoints::Options),
    /// Time of insertions and lookups, and of the slowest insertion, beside others that grow
    Race(race::Options),
    /// The most cache lines that an insertion touches, by size
    Lines(lines::Options),
    /// Insertions, removals and insertions again, in rounds
    Churn(churn::Options),
}

/// Runs one; says whether its claims hold.
pub fn grow(options: &Options, out: &mut impl Write) -> Result<bool> {
    match &options.experiment {
        Experiment::Checkpoints(options) => checkpoints::checkpoints(options, out),
        Experiment::Race(options) => race::race(options, out),
        Experiment::Lines(options) => lines::lines(options, out),
        Experiment::Churn(options) => churn::churn(options, out),
    }
}
