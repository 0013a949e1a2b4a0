//! Cache lines of an insertion, counted: the most are the same however many keys came before.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::dictionary::tools::CacheLines;
use lately::raw::quantity;
use testkit::streams;

use super::{CLAIMS, UNKNOWN, growing, hash, verdict};
use crate::table::Table;

/// How far.
#[derive(Debug, Args)]
pub struct Options {
    /// Insertions
    #[arg(long, default_value = "1e7", value_parser = quantity::items)]
    items: u64,
    /// Items that the planner is told to expect
    #[arg(long, default_value = UNKNOWN, value_parser = quantity::items)]
    expected: u64,
}

/// Insertions after which the most are taken down for comparison.
const EARLY: u64 = 100_000;

/// Claims that the most lines of all insertions are those of the first hundred thousand.
pub fn lines(options: &Options, out: &mut impl Write) -> Result<bool> {
    let mut table = Table::new(&["error", "most by 1e5", "most of all", "mean", "verdict"]);
    let mut all_kept = true;
    for (rate, _) in CLAIMS {
        let mut filter = growing(rate, options.expected, false)?;
        let mut lines = CacheLines::default();
        let (mut early, mut most, mut sum) = (0, 0, 0);
        for (items, key) in (1..=options.items).zip(streams::distinct(22)) {
            filter.insert_counted(hash(key), &mut lines);
            most = most.max(lines.count());
            sum += lines.count();
            if items <= EARLY {
                early = most;
            }
        }
        let kept = most == early;
        all_kept &= kept;
        table.row([
            rate.to_string(),
            early.to_string(),
            most.to_string(),
            format!("{:.2}", sum as f64 / options.items as f64),
            verdict(kept),
        ]);
    }
    write!(out, "{table}")?;
    Ok(all_kept)
}
