//! What it costs to keep all counters of a key in one cache line: the formula beside the measurement.

use std::io::Write;

use anyhow::Result;
use lately::spectral::counters::Bytes;
use lately::spectral::{Allotment, Blocked, BlockedParameters, Rows, Rule, Spectral};
use testkit::oracle::Counts;
use testkit::stats::rate_is_within;
use testkit::streams;

use super::{Errors, hash};
use crate::table::Table;

/// Keys of a life, and lives.
const KEYS: u64 = 100_000;
const LIVES: u64 = 4;

/// Errors of minimum selection in lines, for several loads and hashes. Claims: they are those of the
/// formula to 5%, where there are enough errors to tell.
pub fn blocked(out: &mut impl Write) -> Result<bool> {
    let headings =
        ["load", "k", "lines", "formula", "measured", "rows, same memory", "cost", "verdict"];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for load in [0.3, 0.5, 0.7, 1.0] {
        for hashes in [2, 3, 4, 6, 8] {
            let counters = KEYS as f64 * f64::from(hashes) / load;
            let place = Blocked { lines: (counters / 64.0) as u64, hashes };
            let (mut errors, mut formula, mut rows) = (Errors::default(), 0.0, 0.0);
            for seed in 0..LIVES {
                let rule = Rule::MinimumSelection;
                let parameters = BlockedParameters { items: KEYS, blocked: place, rule };
                let mut filter = Spectral::<Bytes, _>::new(parameters);
                let mut truth = Counts::new();
                for key in streams::zipf(KEYS, 0.5, seed).take(KEYS as usize) {
                    truth.add(key, 1);
                    filter.add(hash(seed, key), 1);
                }
                errors.add(Errors::of(&truth, |key| filter.count(hash(seed, key))));
                let others = truth.distinct() - 1;
                let width = place.counters() as u64 / u64::from(hashes);
                formula += place.collision_rate(others) / LIVES as f64;
                rows += Rows { width, hashes }.collision_rate(others) / LIVES as f64;
            }
            let holds =
                errors.below == 0 && rate_is_within(errors.above, errors.keys, formula, 0.05, 1e-6);
            all_hold &= holds;
            table.row([
                load.to_string(),
                hashes.to_string(),
                place.lines.to_string(),
                format!("{formula:.5}"),
                format!("{:.5}", errors.ratio()),
                format!("{rows:.5}"),
                format!("{:.2}", formula / rows),
                if holds { "holds" } else { "FAILS" }.to_owned(),
            ]);
        }
    }
    write!(out, "{table}")?;
    Ok(all_hold)
}
