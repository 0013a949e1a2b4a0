//! `count`: the experiments on spectral filters. Each prints a table and says whether what it
//! claims holds.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::counting::{
    blocked, iceberg, join, pace, resident, rival, rules, soak, storage, taken_back,
};

/// Which experiment.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Error and additive error of the rules over skew, load and hashes (the paper's figures)
    Rules(rules::Options),
    /// Recurring minimum beside the paper's formula, and how often it answers too little
    Recurring(rules::Options),
    /// Errors with all counters of a key in one cache line, beside their formula
    Blocked,
    /// What taking back does to the rules, minimal increase included
    TakenBack,
    /// Bits per counter of every storage beside the sum of their lengths
    Storage,
    /// Work that a string array does per insertion, counted
    Growth,
    /// Nanoseconds of every storage
    StorageSpeed,
    /// Accuracy and time against a count-min sketch with conservative update, at equal memory
    Rival(rival::Options),
    /// Recall and false reports of thresholds chosen when asking
    Iceberg(iceberg::Options),
    /// A join between two sites: bytes exchanged, and the exact result
    Join(join::Options),
    /// Time of adding, beside a count-min sketch and a hash map with a queue
    Pace(pace::Options),
    /// Resident memory of fresh processes beside the heap
    Resident(resident::Options),
    /// A long stream of everything through every counter against the exact truth
    Soak(soak::Options),
}

/// Runs one; says whether its claims hold.
pub fn count(options: &Options, out: &mut impl Write) -> Result<bool> {
    match &options.experiment {
        Experiment::Rules(options) => rules::rules(options, out),
        Experiment::Recurring(options) => rules::recurring(options, out),
        Experiment::Blocked => blocked::blocked(out),
        Experiment::TakenBack => taken_back::taken_back(out),
        Experiment::Storage => storage::sizes(out),
        Experiment::Growth => storage::growth(out),
        Experiment::StorageSpeed => storage::speed(out),
        Experiment::Rival(options) => rival::rival(options, out),
        Experiment::Iceberg(options) => iceberg::iceberg(options, out),
        Experiment::Join(options) => join::join(options, out),
        Experiment::Pace(options) => pace::pace(options, out),
        Experiment::Resident(options) => resident::resident(options, out),
        Experiment::Soak(options) => soak::soak(options, out),
    }
}
