//! Both kinds of errors on a uniform stream: how duplicate detectors are compared.
//!
//! Keys are drawn evenly from an alphabet; the truth is the position of every key's last copy.
//! Shares are counted from where the stream has passed twice through the alphabet or a quarter of
//! it is gone, so that a detector's youth does not count.

use lately::raw::{Filter, Mistakes, remix};
use lately::{Hashing, Seed, Time};
use testkit::random::SplitMix64;
use testkit::stats::{lower_confidence, upper_confidence};

/// A stream of keys.
#[derive(Debug, Clone, Copy)]
pub struct Uniform {
    /// Different keys.
    pub alphabet: u64,
    /// Insertions.
    pub length: u64,
    /// All choices follow from it.
    pub seed: u64,
}

/// Questions of both kinds, and wrong answers to them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judged {
    /// Keys not in the window.
    pub unseen: u64,
    /// Of them, those reported as seen.
    pub reported: u64,
    /// Keys in the window.
    pub seen: u64,
    /// Of them, those reported as new.
    pub missed: u64,
}

impl Judged {
    /// The shares of wrong answers.
    pub fn rates(&self) -> Mistakes {
        Mistakes {
            false_positives: self.reported as f64 / self.unseen.max(1) as f64,
            false_negatives: self.missed as f64 / self.seen.max(1) as f64,
        }
    }

    /// The largest distance of either share from its law that so many questions prove, beyond
    /// chance: less than that distance is believed but once in 10^6.
    pub fn proven_distance(&self, law: Mistakes) -> f64 {
        let beyond = |hits, trials: u64, law: f64| {
            if trials == 0 {
                return 0.0;
            }
            let above = lower_confidence(hits, trials, 1e-6) - law;
            let below = law - upper_confidence(hits, trials, 1e-6);
            above.max(below).max(0.0)
        };
        let reported = beyond(self.reported, self.unseen, law.false_positives);
        reported.max(beyond(self.missed, self.seen, law.false_negatives))
    }
}

/// How keys become hashes in these experiments.
pub fn hashing(seed: u64) -> Hashing {
    Hashing::Fast(Seed(seed))
}

/// Feeds the stream to a filter and judges its answers over a window; over everything for
/// `u64::MAX`.
pub fn judge(filter: &mut dyn Filter, window: u64, stream: Uniform) -> Judged {
    let settled = if window == u64::MAX { 0 } else { (stream.length / 4).min(2 * stream.alphabet) };
    judge_after(filter, window, stream, settled)
}

/// The same, judging only what comes after so many keys.
pub fn judge_after(filter: &mut dyn Filter, window: u64, stream: Uniform, settled: u64) -> Judged {
    let mut random = SplitMix64::new(stream.seed);
    // Positions from 1 on; 0 is never. They fit: streams are shorter than 2^32.
    let mut last = vec![0u32; stream.alphabet as usize];
    let mut judged = Judged::default();
    for step in 1..=stream.length {
        let key = random.below(stream.alphabet);
        let before = std::mem::replace(&mut last[key as usize], step as u32);
        let repeat = before != 0 && step - u64::from(before) <= window;
        // As good as a hash of the key, and ten times as fast.
        let seen = !filter.insert_hash(remix(key, stream.seed), Time::ZERO);
        if step <= settled {
            continue;
        }
        if repeat {
            judged.seen += 1;
            judged.missed += u64::from(!seen);
        } else {
            judged.unseen += 1;
            judged.reported += u64::from(seen);
        }
    }
    judged
}
