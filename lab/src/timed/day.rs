//! Memory through a day that has a quiet night, a rise, a burst, a lull and batches, beside others.
//!
//! The window is an hour. A night of 10,000 keys an hour; twice that from seven, a million an hour from eight on;
//! half a million in one second at noon; a lull without any key from three to five; then batches of
//! 100,000 every ten minutes. Two rotating Bloom filters are those of who knew the busiest hour.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::plan::bound;
use lately::raw::remix;
use lately::{ErrorRate, Span};

use super::{Truth, fresh, millis};
use crate::table::Table;

/// How exact.
#[derive(Debug, Args)]
pub struct Options {
    /// Promised share of false positives
    #[arg(long, default_value = "0.1%")]
    error: ErrorRate,
}

const HOUR: u64 = 3_600_000;
/// A step of the day.
const MINUTE: u64 = 60_000;

/// Prints the table; claims that the succinct window never takes more than the other one while keys
/// come, and comes back to little when they do not.
pub fn day(options: &Options, out: &mut impl Write) -> Result<bool> {
    let span = Span::from_millis(HOUR);
    let names = ["timed", "time-limited"];
    let mut filters =
        names.iter().map(|name| fresh(name, span, options.error)).collect::<Result<Vec<_>>>()?;
    let mut truth = Truth::of(&*filters[0])?;
    let mut rows = Vec::new();
    let (mut key, mut busiest, mut holds) = (0_u64, 0, true);
    for minute in 0..24 * 60 {
        let begin = 10 * HOUR + minute * MINUTE;
        let keys = keys_of(minute);
        for i in 0..keys {
            // A burst and a batch come in one second.
            let at = if keys > 50_000 { i * 1_000 / keys } else { i * MINUTE / keys };
            let now = begin + at;
            key += 1;
            truth.record(key, now);
            for filter in &mut filters {
                filter.insert_hash(remix(key, 1), millis(now));
            }
        }
        let now = begin + MINUTE - 1;
        for filter in &mut filters {
            filter.expire(millis(now), 64);
        }
        if minute % 60 == 59 || minute == 12 * 60 {
            truth.drop_old(now);
            let live = truth.live(now);
            busiest = busiest.max(live);
            let bytes: Vec<u64> = filters.iter().map(|filter| filter.heap_bytes()).collect();
            holds &= bytes[0] <= bytes[1].max(8_192);
            rows.push((minute + 1, live, bytes));
        }
    }
    let bits = 2.0 * (2.0 / options.error.get()).log2() / std::f64::consts::LN_2;
    let rotating = bits * busiest as f64 / 8.0;
    let least = bound::sliding_window(options.error, busiest, None);
    let headings = ["time", "keys of the hour", "timed", "time-limited", "two rotating", "least"];
    let mut table = Table::new(&headings);
    for (minute, live, bytes) in rows {
        let cells = [bytes[0] as f64, bytes[1] as f64, rotating, least * live as f64 / 8.0];
        let cells = cells.map(|bytes| format!("{:.0} kB", bytes / 1e3));
        let time = format!("{:02}:{:02}", minute / 60, minute % 60);
        table.row([time, live.to_string()].into_iter().chain(cells));
    }
    write!(out, "{table}")?;
    Ok(holds)
}

/// Keys that come in a minute of the day.
fn keys_of(minute: u64) -> u64 {
    let night = 10_000 / 60;
    match (minute / 60, minute % 60) {
        (12, 0) => 500_000,
        (0..7, _) => night,
        (7, _) => 2 * night,
        (8..15, _) => 1_000_000 / 60,
        (15..17, _) => 0,
        (_, after) if after.is_multiple_of(10) => 100_000,
        _ => 0,
    }
}
