//! `moment`: slices by age at their worst moment, just before they move on, against the recurrence.
//!
//! First what the planner can choose from, then slices as the paper has them, one bit per key and
//! filled to one half. Several filters of different seeds are asked, because questions to one share
//! its luck.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::raw::Membership;
use lately::sliding::age_partitioned::choices;
use lately::sliding::slices::BlockShape;
use lately::sliding::{AgePartitioned, AgePartitionedParameters};
use lately::{Hashing, Seed, Time};
use testkit::stats::{lower_confidence, upper_confidence};
use testkit::streams;

use crate::record::Tally;
use crate::table::Table;

/// How hard to look.
#[derive(Debug, Args)]
pub struct Options {
    /// False positives to count per line; 10000 tell a difference of 1%
    #[arg(long, default_value_t = 10_000)]
    hits: u64,
    /// The smallest rate to measure; each step of ten takes ten times as long
    #[arg(long, default_value_t = 1e-5)]
    least: f64,
}

/// Insertions of a generation: many, so that slices are filled evenly.
const GENERATION: u64 = 10_000;

/// Slices per key, and per class, of slices filled to one half.
pub const HALF_FULL: [(u32, u32); 12] = [
    (4, 2),
    (5, 3),
    (6, 3),
    (7, 2),
    (8, 2),
    (9, 3),
    (10, 2),
    (11, 3),
    (12, 2),
    (13, 3),
    (14, 2),
    (15, 2),
];

/// Measures them all; says whether each is within 2% of the recurrence (99.9% sure of that much),
/// and none of the planner's is above what was asked.
pub fn moment(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = [
        "who",
        "k",
        "l",
        "bits",
        "asked",
        "computed",
        "measured",
        "ratio",
        "99.9% sure",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_kept = true;
    let mut measure = |asked: Option<f64>, shape: &AgePartitionedParameters| {
        let computed = shape.false_positive_rate();
        let tally = ask(options.hits, shape);
        let [low, high] = [lower_confidence, upper_confidence]
            .map(|bound| bound(tally.hits, tally.trials, 0.0005) / computed);
        let kept = low <= 1.02 && high >= 0.98 && asked.is_none_or(|asked| computed <= asked);
        all_kept &= kept;
        table.row([
            if asked.is_some() { "choice" } else { "half full" }.to_owned(),
            shape.slices_per_key.to_string(),
            shape.generations().to_string(),
            shape.block.bits.to_string(),
            asked.map_or(String::new(), |asked| format!("{asked:.0e}")),
            format!("{computed:.4e}"),
            format!("{:.4e}", tally.rate()),
            format!("{:.4}", tally.rate() / computed),
            format!("{low:.4} .. {high:.4}"),
            if kept { "kept" } else { "MISSED" }.to_owned(),
        ]);
    };
    let rates = [0.1, 0.01, 0.001, 1e-4, 1e-5];
    for rate in rates.into_iter().filter(|&rate| rate >= options.least) {
        for choice in choices(20 * GENERATION, rate, u64::MAX).iter() {
            measure(Some(rate), choice);
        }
    }
    for (slices_per_key, slices_per_class) in HALF_FULL {
        let shape = half_full(slices_per_key, slices_per_class);
        if shape.false_positive_rate() >= options.least {
            measure(None, &shape);
        }
    }
    write!(out, "{table}")?;
    Ok(all_kept)
}

/// Slices as the paper has them.
pub fn half_full(slices_per_key: u32, slices_per_class: u32) -> AgePartitionedParameters {
    let bits = f64::from(slices_per_key) * GENERATION as f64 / std::f64::consts::LN_2;
    AgePartitionedParameters {
        generation: GENERATION,
        slices_per_key,
        slices_per_class,
        block: BlockShape { words: 1, bits: 1 },
        blocks: (bits / 64.0).round() as u64,
    }
}

/// Asks filters of different seeds about absent keys, as often as the hits should take.
pub fn ask(hits: u64, shape: &AgePartitionedParameters) -> Tally {
    /// Filters that share the questions.
    const FILTERS: u64 = 8;
    let questions = (hits as f64 / shape.false_positive_rate()) as u64 / FILTERS;
    let mut tally = Tally::default();
    for seed in 0..FILTERS {
        let hashing = Hashing::Fast(Seed(seed));
        let hash = |key: u64| hashing.hash(&key.to_le_bytes());
        let mut filter = AgePartitioned::new(*shape);
        // Everything was replaced twice, and the slices move on with the next insertion.
        let slices = u64::from(shape.slices_per_key * shape.slices_per_class);
        for key in streams::distinct(seed).take((2 * slices * shape.generation) as usize) {
            filter.insert_hash(hash(key), Time::ZERO);
        }
        for key in streams::absent(seed).take(questions as usize) {
            tally.count(filter.contains_hash(hash(key), Time::ZERO));
        }
    }
    tally
}
