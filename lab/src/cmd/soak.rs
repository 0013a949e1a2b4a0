//! `soak`: a very long stream through one window, every answer compared with the exact truth.
//!
//! The stream changes its nature every few windows: fresh keys, repeats exactly at and around the
//! borders of the window, a few hot keys, any key of a small universe; with and without refresh.
//! The truth is an array of positions, so a billion operations take minutes.

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use lately::plan::Goal;
use lately::raw::quantity;
use lately::{ErrorRate, Hashing, Seed, Slack, Time, Window};
use lately_papers::CATALOG;
use testkit::random::SplitMix64;
use testkit::stats::upper_confidence;

/// What to soak, and for how long.
#[derive(Debug, Args)]
pub struct Options {
    /// A structure of the catalog that keeps windows by count
    structure: String,
    /// Items in the window
    #[arg(long, default_value = "1000", value_parser = quantity::items)]
    last: u64,
    /// Promised share of false positives
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Insertions
    #[arg(long, default_value = "1e7", value_parser = quantity::items)]
    operations: u64,
    /// Another seed is another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the stream; fails at the first key that is forgotten.
pub fn soak(options: &Options, out: &mut impl Write) -> Result<bool> {
    let row = CATALOG.row_named(&options.structure)?;
    let plan = Goal::new(Window::Last(options.last), options.error).plan_with(row)?;
    let Slack::Items(slack) = plan.promise.slack else {
        bail!("{} does not limit its slack", row.name);
    };
    let hashing = Hashing::Fast(Seed(options.seed));
    let mut filter = plan.blueprint.build(hashing.structure_seed())?;
    let mut stream = Stream::new(options, slack);
    let mut truth = vec![u64::MAX; stream.universe as usize];
    let (mut wrong, mut absent) = (0, 0);
    for now in 0..options.operations {
        let key = stream.next(now);
        let refreshes = stream.refreshes(now);
        let hash = hashing.hash(&key.to_le_bytes());
        let new = match refreshes {
            true => filter.insert_hash(hash, Time::ZERO),
            false => filter.insert_new_hash(hash, Time::ZERO),
        };
        let recorded = &mut truth[key as usize];
        let distance = if *recorded == u64::MAX { u64::MAX } else { now - *recorded };
        if distance <= options.last {
            if new {
                writeln!(out, "forgot at {now} a key recorded {distance} insertions before")?;
                return Ok(false);
            }
        } else if distance > options.last + slack {
            absent += 1;
            wrong += u64::from(!new);
        }
        if new || refreshes {
            *recorded = now;
        }
    }
    let surely = upper_confidence(wrong, absent, 1e-6);
    writeln!(
        out,
        "{} insertions into {} over the last {}: none forgotten; of {absent} keys that had left or \
         never come, {:.4}% reported (below {:.4}%, 1e-6), {:.4}% promised",
        options.operations,
        row.name,
        options.last,
        100.0 * wrong as f64 / absent as f64,
        100.0 * surely,
        100.0 * plan.promise.false_positives,
    )?;
    Ok(true)
}

/// Keys below `universe`, drawn in a manner that changes every few windows.
struct Stream {
    window: u64,
    slack: u64,
    universe: u64,
    random: SplitMix64,
    /// The last `window + slack + 2` keys.
    recent: Vec<u64>,
}

impl Stream {
    fn new(options: &Options, slack: u64) -> Self {
        let window = options.last;
        Self {
            window,
            slack,
            universe: 3 * (window + slack) + 50,
            random: SplitMix64::new(options.seed),
            recent: vec![0; (window + slack + 2) as usize],
        }
    }

    fn next(&mut self, now: u64) -> u64 {
        let kind = self.random.below(8);
        let any = self.random.below(self.universe);
        let key = match (now / (self.window + 3) % 4, kind) {
            (0, _) => now % self.universe,
            (1, 0) => self.back(now, self.window, any),
            (1, 1) => self.back(now, self.window + 1, any),
            (1, 2) => self.back(now, 1 + any % (self.window + self.slack), any),
            (2, 0..=3) => any % (1 + self.universe / 50),
            _ => any,
        };
        let places = self.recent.len() as u64;
        self.recent[(now % places) as usize] = key;
        key
    }

    /// The key of so many steps ago, or another if there was none.
    fn back(&self, now: u64, distance: u64, otherwise: u64) -> u64 {
        match now.checked_sub(distance) {
            Some(then) => self.recent[(then % self.recent.len() as u64) as usize],
            None => otherwise,
        }
    }

    /// Whether a repeat starts its window anew, now.
    fn refreshes(&self, now: u64) -> bool {
        (now / (7 * self.universe)).is_multiple_of(2)
    }
}
