//! Experiments on sets of unknown size: what the growing filter claims, at every size.

pub mod checkpoints;
pub mod churn;
pub mod lines;
pub mod race;

use anyhow::{Result, anyhow};
use lately::growing::{Growing, GrowingParameters};
use lately::raw::Filter;
use lately::{Hashing, Seed, Time};
use testkit::streams;

use crate::record::Tally;

/// Errors that are asked for, and the most bits per item that we claim for each.
pub const CLAIMS: [(f64, f64); 3] = [(0.01, 16.5), (0.001, 20.0), (0.0001, 24.0)];

/// Items from which on the claim on memory holds.
pub const FROM: u64 = 10_000;

/// Items that are expected when nobody says how many: the hint of the planner.
pub const UNKNOWN: &str = "1e7";

/// False positives to expect per measurement: five standard deviations are a fifth.
const HITS: f64 = 600.0;

/// The hash of a key.
pub fn hash(key: u64) -> u64 {
    Hashing::Fast(Seed(1)).hash(&key.to_le_bytes())
}

/// An empty growing filter.
pub fn growing(rate: f64, expected_items: u64, removing: bool) -> Result<Growing> {
    let parameters = GrowingParameters::with_error(rate, expected_items, removing)
        .map_err(|unfit| anyhow!("the growing filter {}", unfit.0))?;
    Ok(Growing::new(parameters))
}

/// Of keys never inserted, those reported; as many as it takes to see the rate, others for every
/// seed.
pub fn false_positives(filter: &dyn Filter, rate: f64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    for key in streams::absent(seed).take((HITS / rate) as usize) {
        tally.count(filter.contains_hash(hash(key), Time::ZERO));
    }
    tally
}

/// Bits per item.
pub fn bits(bytes: u64, items: u64) -> f64 {
    8.0 * bytes as f64 / items.max(1) as f64
}

/// A verdict in a table.
pub fn verdict(kept: bool) -> String {
    if kept { "kept" } else { "MISSED" }.to_owned()
}
