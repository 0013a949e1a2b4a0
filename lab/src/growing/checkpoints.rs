//! Distinct keys from the first on: nothing is forgotten, the error is kept and memory is flat, at
//! every size.
//!
//! Checkpoints are ten per decade, and the insertion before and after every one that doubles the
//! number of segments. Memory is looked at after every insertion.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::Time;
use lately::raw::{Filter, Membership, quantity};
use testkit::streams;

use super::{CLAIMS, FROM, UNKNOWN, bits, false_positives, growing, hash, verdict};
use crate::heap::Meter;
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
    /// Print every checkpoint, not only the worst
    #[arg(long)]
    all: bool,
}

const SEED: u64 = 21;

/// What the checkpoints of one error saw.
#[derive(Default)]
struct Worst {
    checkpoints: usize,
    forgotten: u64,
    /// Largest measured share of false positives.
    error: f64,
    /// Most bits per item, at checkpoints by the allocator, and after every insertion.
    allocated: f64,
    reported: f64,
}

/// Claims, for each error: no key forgotten and no more false positives than promised at any
/// checkpoint; from ten thousand keys on, no more bits per item than claimed after any insertion.
pub fn checkpoints(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = ["error", "checkpoints", "forgotten", "worst error", "worst bits", "claimed"];
    let mut table = Table::new(&[&headings[..], &["verdict"]].concat());
    let mut all_kept = true;
    for (rate, claim) in CLAIMS {
        let worst = run(options, rate, out)?;
        let most = worst.allocated.max(worst.reported);
        let kept = worst.forgotten == 0 && worst.error <= rate && most <= claim;
        all_kept &= kept && (worst.checkpoints >= 40 || options.items < 10_000_000);
        table.row([
            rate.to_string(),
            worst.checkpoints.to_string(),
            worst.forgotten.to_string(),
            format!("{:.3e}", worst.error),
            format!("{most:.2}"),
            claim.to_string(),
            verdict(kept),
        ]);
    }
    write!(out, "{table}")?;
    Ok(all_kept)
}

fn run(options: &Options, rate: f64, out: &mut impl Write) -> Result<Worst> {
    let stops = stops(options, rate)?;
    let mut meter = Meter::default();
    let mut filter = meter.during(|| growing(rate, options.expected, false))?;
    let mut worst = Worst::default();
    for (items, key) in (1..=options.items).zip(streams::distinct(SEED)) {
        meter.during(|| filter.insert_hash(hash(key), Time::ZERO));
        if items >= FROM {
            worst.reported = worst.reported.max(bits(filter.heap_bytes(), items));
        }
        if !stops.contains(&items) {
            continue;
        }
        let keys = streams::distinct(SEED).take(items as usize);
        let forgotten = keys.filter(|&key| !filter.contains_hash(hash(key), Time::ZERO)).count();
        let error = false_positives(&filter, rate, items).rate();
        let allocated = bits(meter.bytes(), items);
        worst.checkpoints += 1;
        worst.forgotten += forgotten as u64;
        worst.error = worst.error.max(error);
        if items >= FROM {
            worst.allocated = worst.allocated.max(allocated);
        }
        if options.all {
            let segments = filter.segments();
            writeln!(
                out,
                "{rate}: {items} keys in {segments} segments, {forgotten} forgotten, \
                 {error:.3e} false positives, {allocated:.2} bits"
            )?;
        }
    }
    Ok(worst)
}

/// Where to stop and look.
fn stops(options: &Options, rate: f64) -> Result<BTreeSet<u64>> {
    let decades = (options.items as f64).log10();
    let mut stops: BTreeSet<u64> = (0..=(10.0 * decades) as i32)
        .map(|tenth| 10f64.powf(f64::from(tenth) / 10.0) as u64)
        .collect();
    stops.insert(options.items);
    let mut scout = growing(rate, options.expected, false)?;
    let mut segments = 1;
    for (items, key) in (1..=options.items).zip(streams::distinct(SEED)) {
        scout.insert_hash(hash(key), Time::ZERO);
        if scout.segments() >= 2 * segments {
            segments = scout.segments();
            stops.extend([items - 1, items]);
        }
    }
    Ok(stops)
}
