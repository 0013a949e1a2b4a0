//! Keys that all come at once into an empty filter, beside the same number at an even rate into one that has its
//! window: how much longer an insertion takes while a filter grows.
//!
//! Both are done in turns in one process, so that what slows the machine slows both. The claim is on `timed`.

use std::hint::black_box;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::raw::{Filter, quantity, remix};
use lately::{ErrorRate, Span};

use super::{fresh, millis};
use crate::clock::{Clock, Monotonic};
use crate::table::Table;

/// How many keys, and how exact.
#[derive(Debug, Args)]
pub struct Options {
    /// Keys that come
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    items: u64,
    /// Promised share of false positives
    #[arg(long, default_value = "0.1%")]
    error: ErrorRate,
    /// How often both are done
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

/// What growing may take of the steady time.
const AT_MOST: f64 = 2.0;

const NAMES: [&str; 2] = ["timed", "time-limited"];
const SPAN: u64 = 3_600_000;

/// Prints the time of an insertion in both, and claims that growing takes no more than twice as long.
pub fn rise(options: &Options, out: &mut impl Write) -> Result<bool> {
    let (clock, span) = (Monotonic::start(), Span::from_millis(SPAN));
    let mut table = Table::new(&["", "rising, ns", "steady, ns", "times", "spread"]);
    let mut holds = true;
    for name in NAMES {
        let mut steady = fresh(name, span, options.error)?;
        let mut rounds: Vec<(f64, f64)> = Vec::new();
        let mut next = 0;
        // Two windows before anything is measured.
        for round in 0..options.rounds + 2 {
            let evenly = |i: u64| SPAN + (next + i) * SPAN / options.items;
            let even = insert(&mut *steady, next, options.items, evenly, &clock);
            next += options.items;
            let mut empty = fresh(name, span, options.error)?;
            let rising = insert(&mut *empty, next, options.items, |_| SPAN, &clock);
            if round >= 2 {
                rounds.push((rising, even));
            }
        }
        let ratio = |&(rising, even): &(f64, f64)| rising / even;
        rounds.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
        let (rising, even) = rounds[rounds.len() / 2];
        let (least, most) = (ratio(&rounds[0]), ratio(&rounds[rounds.len() - 1]));
        holds &= name != "timed" || rising / even <= AT_MOST;
        table.row([
            name.to_owned(),
            format!("{rising:.1}"),
            format!("{even:.1}"),
            format!("{:.2}", rising / even),
            format!("{least:.2}-{most:.2}"),
        ]);
    }
    write!(out, "{table}")?;
    let verdict = if holds { "holds" } else { "MISSED" };
    writeln!(out, "timed rises in at most {AT_MOST} times its steady time: {verdict}")?;
    Ok(holds)
}

/// Inserts so many keys, and says how many nanoseconds each took.
fn insert(
    filter: &mut dyn Filter,
    first: u64,
    items: u64,
    at: impl Fn(u64) -> u64,
    clock: &impl Clock,
) -> f64 {
    let begin = clock.nanos();
    for i in 0..items {
        black_box(filter.insert_hash(remix(first + i, 1), millis(at(i))));
    }
    (clock.nanos() - begin) as f64 / items as f64
}
