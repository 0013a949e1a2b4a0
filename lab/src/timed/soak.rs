//! A very long stream of everything at once: bursts, idle times, repeats, late events, removals,
//! snapshots. Every answer is compared with the exact truth, and the error with its exact sum.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::raw::{Filter, Membership, Removing, codec, quantity};
use lately::timed::{TimedWindow, TimedWindowParameters};
use lately::{ErrorRate, Hashing, Seed, Span};
use testkit::random::SplitMix64;
use testkit::stats::{rate_is_at_most, upper_confidence};

use super::{Expected, Truth, millis};

/// For how long.
#[derive(Debug, Args)]
pub struct Options {
    /// Operations
    #[arg(long, default_value = "1e6", value_parser = quantity::items)]
    operations: u64,
    /// Window
    #[arg(long, default_value = "10s")]
    within: Span,
    /// Promised share of false positives
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Another seed is another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const HASHING: Hashing = Hashing::Fast(Seed(1));

/// How often a verdict on what was counted may be wrong.
const ALARM: f64 = 1e-9;

/// What was counted.
#[derive(Debug, Default)]
struct Counts {
    absent: u64,
    reported: u64,
    removed: u64,
    taken_along: u64,
    snapshots: u64,
    worst: f64,
}

/// Runs the stream; fails at the first key that is forgotten without a removal, and at the first moment
/// at which the sum of all chances exceeds the promise.
pub fn soak(options: &Options, out: &mut impl Write) -> Result<bool> {
    let parameters =
        TimedWindowParameters::with_error(options.within, None, options.error.get(), None)
            .map_err(|unfit| anyhow::anyhow!("timed {}", unfit.0))?;
    let mut filter = TimedWindow::new(parameters);
    let promised = parameters.false_positive_rate();
    let mut truth = Truth::of(&filter)?;
    let mut random = SplitMix64::new(options.seed);
    let span = options.within.millis();
    let mut counts = Counts::default();
    let (mut next, mut now, mut left, mut pause) = (0_u64, 1_000_000_u64, 0_u64, 1_u64);
    for operation in 0..options.operations {
        if left == 0 {
            now += pause;
            (left, pause) = rhythm(&mut random, span);
        }
        left -= 1;
        let fresh = random.below(4) > 0 || next == 0;
        let key = if fresh { next } else { next - 1 - random.below(next.min(200_000)) };
        next += u64::from(fresh);
        let hash = HASHING.hash(&key.to_le_bytes());
        let expected = truth.expects(key, now);
        if random.below(50) == 0 && expected == Expected::Seen {
            counts.removed += u64::from(filter.remove_hash(hash));
            truth.forget(key);
            continue;
        }
        let (new, recorded) = match random.below(16) {
            0 => {
                let new = filter.insert_new_hash(hash, millis(now));
                (new, new.then_some(now))
            }
            1 => {
                let at = now - random.below(span / 2);
                (filter.insert_late_hash(hash, millis(now), millis(at)), Some(at))
            }
            2 => (!filter.contains_hash(hash, millis(now)), None),
            _ => (filter.insert_hash(hash, millis(now)), Some(now)),
        };
        if let Some(at) = recorded {
            truth.record(key, at);
        }
        match expected {
            Expected::Seen if new && counts.removed > 0 => counts.taken_along += 1,
            Expected::Seen if new => {
                writeln!(out, "forgot key {key} at operation {operation}")?;
                return Ok(false);
            }
            Expected::New => {
                counts.absent += 1;
                counts.reported += u64::from(!new);
            }
            _ => {}
        }
        if operation % 256 == 0 {
            counts.worst = counts.worst.max(filter.false_positive_rate() / promised);
            filter.expire(millis(now), random.below(8) as usize);
        }
        if operation % (1 << 20) == 0 {
            filter.validate().map_err(anyhow::Error::msg)?;
            let bytes = codec::save(&filter, HASHING);
            let (opened, _) = codec::open(&bytes)?;
            anyhow::ensure!(codec::save(&*opened, HASHING) == bytes, "not what was saved");
            counts.snapshots += 1;
            truth.drop_old(now);
        }
    }
    report(options, &counts, promised, out)
}

/// How many keys come now, and how long nothing comes after them.
fn rhythm(random: &mut SplitMix64, span: u64) -> (u64, u64) {
    let keys = match random.below(40) {
        0 => 1 + random.below(100_000),
        1..=8 => 1 + random.below(2_000),
        _ => 1 + random.below(40),
    };
    let pause = match random.below(400) {
        0 => random.below(2 * span),
        1..=40 => random.below(span / 10 + 1),
        41..=120 => 0,
        _ => random.below(span / 200 + 2),
    };
    (keys, pause)
}

fn report(options: &Options, counts: &Counts, promised: f64, out: &mut impl Write) -> Result<bool> {
    let Counts { absent, reported, removed, taken_along, snapshots, worst } = *counts;
    let surely = upper_confidence(reported, absent, ALARM);
    writeln!(
        out,
        "{} operations within {}: none forgotten but {taken_along} with {removed} that were taken back; \
         of {absent} keys that had left or never come {:.4}% reported (below {:.4}%), {:.4}% promised; \
         at the worst moment {worst:.2} of it by the exact sum; {snapshots} snapshots",
        options.operations,
        options.within,
        100.0 * reported as f64 / absent.max(1) as f64,
        100.0 * surely,
        100.0 * promised,
    )?;
    // A removal takes others along as often as a key is mistaken for one of all that are there.
    let along = rate_is_at_most(taken_along, removed.max(1), promised, ALARM);
    Ok(worst <= 1.0 && along && rate_is_at_most(reported, absent.max(1), promised, ALARM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_of_the_soak_holds() {
        for seed in 1..3 {
            let within = Span::from_millis(3_000);
            let error = ErrorRate::new(0.01).unwrap();
            let options = Options { operations: 400_000, within, error, seed };
            let mut out = Vec::new();
            let holds = soak(&options, &mut out).unwrap();
            assert!(holds, "{}", String::from_utf8_lossy(&out));
        }
    }
}
