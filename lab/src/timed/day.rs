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

/// The structures that live through it.
pub const NAMES: [&str; 2] = ["timed", "time-limited"];

/// How things stand at the end of a minute.
pub struct Minute {
    /// Minutes since midnight.
    pub minute: u64,
    /// Keys of the last hour.
    pub live: u64,
    /// Bytes of each structure.
    pub bytes: Vec<u64>,
}

/// Lives through the day, and looks at the ends of some minutes.
pub fn through(error: ErrorRate, looked_at: impl Fn(u64) -> bool) -> Result<Vec<Minute>> {
    let span = Span::from_millis(HOUR);
    let mut filters =
        NAMES.iter().map(|name| fresh(name, span, error)).collect::<Result<Vec<_>>>()?;
    let mut truth = Truth::of(&*filters[0])?;
    let mut minutes = Vec::new();
    let mut key = 0_u64;
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
        if looked_at(minute) {
            truth.drop_old(now);
            let bytes = filters.iter().map(|filter| filter.heap_bytes()).collect();
            minutes.push(Minute { minute: minute + 1, live: truth.live(now), bytes });
        }
    }
    Ok(minutes)
}

/// Bytes of two rotating Bloom filters for so many keys.
pub fn rotating(error: ErrorRate, busiest: u64) -> f64 {
    let bits = 2.0 * (2.0 / error.get()).log2() / std::f64::consts::LN_2;
    bits * busiest as f64 / 8.0
}

/// Prints the table; claims that the succinct window never takes more than the other one while keys
/// come, and comes back to little when they do not.
pub fn day(options: &Options, out: &mut impl Write) -> Result<bool> {
    let hourly = |minute| minute % 60 == 59 || minute == 12 * 60;
    let minutes = through(options.error, hourly)?;
    let busiest = minutes.iter().map(|minute| minute.live).max().unwrap_or(0);
    let rotating = rotating(options.error, busiest);
    let least = bound::sliding_window(options.error, busiest, None);
    let headings = ["time", "keys of the hour", "timed", "time-limited", "two rotating", "least"];
    let mut table = Table::new(&headings);
    let mut holds = true;
    for Minute { minute, live, bytes } in minutes {
        holds &= bytes[0] <= bytes[1].max(8_192);
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
