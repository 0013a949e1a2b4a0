//! A very long stream of sightings, crowds, pauses, takings back and snapshots through every counter, each answer
//! compared with the exact truth: no count too low, and no more too high than promised.

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lately::plan::Goal;
use lately::raw::{Filter, codec, quantity};
use lately::{ErrorRate, Hashing, Seed, Slack, Span, Time, Window, catalog};
use testkit::random::SplitMix64;
use testkit::stats::rate_is_at_most;

/// For how long.
#[derive(Debug, Args)]
pub struct Options {
    /// Operations of each counter
    #[arg(long, default_value = "1e6", value_parser = quantity::items)]
    operations: u64,
    /// Promised share of counts that are too high
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Another seed is another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the counter with this name
    #[arg(long)]
    structure: Option<String>,
}

const HASHING: Hashing = Hashing::Fast(Seed(1));
/// How often a verdict may be wrong.
const ALARM: f64 = 1e-9;
/// The window, in sightings or milliseconds.
const EXTENT: u64 = 200_000;
/// Keys that come again and again.
const FAMILIAR: u64 = 50_000;

/// Runs all of them; says whether every promise was kept.
pub fn soak(options: &Options, out: &mut impl Write) -> Result<bool> {
    let windows = [
        ("growing-counts", Window::Ever),
        ("window-counts", Window::Last(EXTENT)),
        ("window-counts", Window::Within(Span::from_millis(EXTENT))),
    ];
    let mut holds = true;
    for (structure, window) in windows {
        if options.structure.as_deref().is_none_or(|only| only == structure) {
            holds &= soak_one(options, structure, window, out)?;
        }
    }
    Ok(holds)
}

/// Exact counts in the window, and in the window with its slack.
#[derive(Default)]
struct Truth {
    /// Moments, keys and times, earliest first; and how many of them have left the window.
    sightings: VecDeque<(u64, u64, u64)>,
    outside: usize,
    inside: HashMap<u64, u64>,
    stored: HashMap<u64, u64>,
}

impl Truth {
    fn add(&mut self, key: u64, moment: u64, times: u64, leaves: bool) {
        *self.inside.entry(key).or_default() += times;
        *self.stored.entry(key).or_default() += times;
        if leaves {
            self.sightings.push_back((moment, key, times));
        }
    }

    /// Drops what is older than the window, and than the window with its slack.
    fn advance(&mut self, oldest: u64, oldest_stored: u64) {
        while let Some(&(moment, key, times)) = self.sightings.get(self.outside)
            && moment < oldest
        {
            take(&mut self.inside, key, times);
            self.outside += 1;
        }
        while let Some(&(moment, key, times)) = self.sightings.front()
            && moment < oldest_stored
        {
            take(&mut self.stored, key, times);
            self.sightings.pop_front();
            self.outside -= 1;
        }
    }
}

fn take(counts: &mut HashMap<u64, u64>, key: u64, times: u64) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= times;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

fn soak_one(
    options: &Options,
    structure: &str,
    window: Window,
    out: &mut impl Write,
) -> Result<bool> {
    let goal = Goal { counting: true, ..Goal::new(window, options.error) };
    let plan = goal.plan_with(catalog::CATALOG.row_named(structure)?)?;
    let mut filter = plan.blueprint.build(Seed(1))?;
    let slack = match plan.promise.slack {
        Slack::Items(items) => items,
        Slack::Time(span) => span.millis(),
        Slack::Unlimited => 0,
    };
    let leaves = window != Window::Ever;
    let mut truth = Truth::default();
    let mut random = SplitMix64::new(options.seed);
    let (mut moment, mut next, mut left) = (1_000_000_u64, 0_u64, 0_u64);
    let (mut asked, mut high, mut over) = (0_u64, 0_u64, 0_u64);
    for operation in 0..options.operations {
        // Of every kind: new keys, familiar ones, a hot one, and crowds.
        let key = match random.below(8) {
            0..3 => {
                next += 1;
                FAMILIAR + next
            }
            3 => 0,
            _ => random.below(FAMILIAR).min(random.below(FAMILIAR)),
        };
        let times = if random.below(1_000) == 0 { 1 + random.below(5_000) } else { 1 };
        if let Window::Within(_) = window {
            if left == 0 {
                moment += random.below(100) * random.below(100);
                left = 1 + random.below(2_000);
            }
            left -= 1;
        }
        let hash = HASHING.hash(&key.to_le_bytes());
        let now = Time::from_millis(moment);
        let counting = filter.as_counting().context("it counts")?;
        let count = counting.add_hash(hash, times, now);
        if let Window::Last(_) = window {
            // Each sighting is a moment.
            for one in 0..times {
                truth.add(key, moment + one, 1, leaves);
            }
            moment += times;
            truth.advance(moment.saturating_sub(EXTENT), moment.saturating_sub(EXTENT + slack + 1));
        } else {
            truth.add(key, moment, times, leaves);
            truth.advance(moment - EXTENT, moment - EXTENT - slack);
        }
        let inside = truth.inside.get(&key).copied().unwrap_or(0);
        let stored = truth.stored.get(&key).copied().unwrap_or(0);
        ensure!(count >= inside, "{structure}: {key} counts {count} of {inside} at {operation}");
        asked += 1;
        high += u64::from(count > stored);
        over += count.saturating_sub(stored);
        if operation % (1 << 22) == 0 {
            filter = reopened(&*filter)?;
        }
    }
    writeln!(
        out,
        "{structure}, {window:?}: {} operations, none too low, {high} of {asked} too high ({} \
         promised), by {:.4} on average",
        options.operations,
        options.error,
        over as f64 / asked as f64
    )?;
    Ok(rate_is_at_most(high, asked, options.error.get(), ALARM))
}

fn reopened(filter: &dyn Filter) -> Result<Box<dyn Filter>> {
    let bytes = codec::save(filter, HASHING);
    let (opened, _) = codec::open(&bytes)?;
    ensure!(codec::save(&*opened, HASHING) == bytes, "not what was saved");
    Ok(opened)
}
