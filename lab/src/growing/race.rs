//! Time, beside others that grow from the same start, taking turns in one process.
//!
//! Insertions are timed from the first to the last in stretches, one contender after the other;
//! then lookups in rounds. The slowest insertion is that of [`worst_insert`](crate::worst_insert).

use std::hint::black_box;
use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use lately::plan::Goal;
use lately::raw::quantity;
use lately::{ErrorRate, Time, Window};
use lately_papers::CATALOG;
use testkit::streams;

use super::verdict;
use crate::clock::{Clock, Monotonic};
use crate::contender::{Contender, Subject};
use crate::rivals::{QFILTER_GROWN, SCALABLE_CUCKOO_GROWN};
use crate::stream::DISTINCT;
use crate::table::Table;
use crate::worst_insert::{Stretch, worst_insert};

/// How far.
#[derive(Debug, Args)]
pub struct Options {
    /// Insertions
    #[arg(long, default_value = "1e7", value_parser = quantity::items)]
    items: u64,
    /// Promised share of false positives
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Lives from the first to the last insertion
    #[arg(long, default_value_t = 3)]
    lives: usize,
}

const SEED: u64 = 24;
const STRETCH: usize = 100_000;
const ROUNDS: usize = 15;

/// Operations timed, in the order of columns.
const OPERATIONS: [&str; 4] = ["insert", "absent", "present", "absent, batch"];

/// Claims that insertions and lookups take no longer than those of qfilter, and that the slowest
/// insertion takes a hundredth of its slowest.
pub fn race(options: &Options, out: &mut impl Write) -> Result<bool> {
    let row = CATALOG.row("growing").context("the growing filter is in the catalog")?;
    let contenders = [
        Contender::Row(row),
        Contender::Rival(&QFILTER_GROWN),
        Contender::Rival(&SCALABLE_CUCKOO_GROWN),
    ];
    let mut goal = Goal::new(Window::Ever, options.error);
    // Ours is told what it assumes anyway; qfilter must be told how far it may grow.
    goal.expected_items = Some(options.items);
    let clock = Monotonic::start();
    // By contender and operation, nanoseconds of every sample.
    let mut samples = vec![vec![Vec::new(); OPERATIONS.len()]; contenders.len()];
    for _ in 0..options.lives.max(1) {
        let subjects: Result<Vec<_>> = contenders.iter().map(|c| c.fresh(&goal, SEED)).collect();
        let mut subjects = subjects?;
        insert_all(&mut subjects, options.items, &mut samples, &clock);
        look_up(&mut subjects, options.items, &mut samples, &clock);
    }
    let slowest: Result<Vec<u64>> = contenders[..2]
        .iter()
        .map(|contender| {
            let fresh = || contender.fresh(&goal, SEED);
            let stream = || (DISTINCT.open)(&goal, SEED);
            let stretch = Stretch { skipped: 0, timed: options.items };
            worst_insert(&fresh, &stream, stretch, 2, &clock)
        })
        .collect();
    let slowest = slowest?;

    let mut table = Table::new(&[&["ns"][..], &OPERATIONS, &["slowest insert"]].concat());
    for (index, contender) in contenders.iter().enumerate() {
        let mut cells = vec![contender.name().to_owned()];
        cells.extend(samples[index].iter().map(|samples| median(samples)).map(|ns| match ns {
            Some(ns) => format!("{ns:.1}"),
            None => "-".to_owned(),
        }));
        cells.push(slowest.get(index).map_or("-".to_owned(), u64::to_string));
        table.row(cells);
    }
    write!(out, "{table}")?;
    let mut all_kept = true;
    for (operation, name) in OPERATIONS.iter().enumerate().take(3) {
        let ratios: Vec<f64> = samples[0][operation]
            .iter()
            .zip(&samples[1][operation])
            .map(|(ours, theirs)| ours / theirs)
            .collect();
        let ratio = median(&ratios).unwrap_or(f64::NAN);
        let kept = ratio <= 1.0;
        all_kept &= kept;
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let verdict = verdict(kept);
        writeln!(
            out,
            "{name}: {ratio:.2} of qfilter ({least:.2} to {most:.2}), at most 1: {verdict}"
        )?;
    }
    let ratio = slowest[1] as f64 / slowest[0] as f64;
    let kept = ratio >= 100.0;
    writeln!(
        out,
        "slowest insert: qfilter's is {ratio:.0} times ours, at least 100: {}",
        verdict(kept)
    )?;
    Ok(all_kept && kept)
}

type Samples = [Vec<Vec<f64>>];

/// One sample per contender: the mean over all insertions.
fn insert_all(
    subjects: &mut [Box<dyn Subject>],
    items: u64,
    samples: &mut Samples,
    clock: &impl Clock,
) {
    let mut totals = vec![0; subjects.len()];
    let mut keys = streams::distinct(SEED).take(items as usize);
    for turn in 0.. {
        let stretch: Vec<u64> = keys.by_ref().take(STRETCH).collect();
        if stretch.is_empty() {
            break;
        }
        let count = subjects.len();
        for index in (0..count).map(|index| (index + turn) % count) {
            let start = clock.nanos();
            black_box(subjects[index].insert_each(&stretch, Time::ZERO));
            totals[index] += clock.nanos() - start;
        }
    }
    for (samples, total) in samples.iter_mut().zip(totals) {
        samples[0].push(total as f64 / items as f64);
    }
}

/// A sample per contender, lookup and round.
fn look_up(
    subjects: &mut [Box<dyn Subject>],
    items: u64,
    samples: &mut Samples,
    clock: &impl Clock,
) {
    let inserted: Vec<u64> = streams::distinct(SEED).take(items as usize).collect();
    let mut absent = streams::absent(SEED);
    let mut chosen = streams::uniform(items, SEED);
    for round in 0..ROUNDS {
        let absent: Vec<u64> = absent.by_ref().take(STRETCH).collect();
        let present: Vec<u64> =
            chosen.by_ref().take(STRETCH).map(|index| inserted[(index % items) as usize]).collect();
        let count = subjects.len();
        for index in (0..count).map(|index| (index + round) % count) {
            let subject = &mut subjects[index];
            // Its own memory back in the caches.
            black_box(subject.contains_each(&inserted[..inserted.len() / 4], Time::ZERO));
            for (operation, _) in OPERATIONS.iter().enumerate().skip(1) {
                let keys = if operation == 2 { &present } else { &absent };
                let start = clock.nanos();
                match operation {
                    3 => match subject.as_batched() {
                        Some(batched) => black_box(batched.contains_batch(keys, Time::ZERO)),
                        None => continue,
                    },
                    _ => black_box(subject.contains_each(keys, Time::ZERO)),
                };
                let nanos = clock.nanos() - start;
                samples[index][operation].push(nanos as f64 / STRETCH as f64);
            }
        }
    }
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
