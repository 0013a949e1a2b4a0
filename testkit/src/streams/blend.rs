//! Streams made of streams.

use super::Keys;
use crate::random::{SplitMix64, derive};

/// At each step, one of the parts at random, in proportion to its weight.
///
/// ```
/// use testkit::streams;
///
/// // One item in a hundred is the same key, all others are fresh.
/// let parts: Vec<(u64, streams::Keys)> = vec![
///     (99, Box::new(streams::distinct(7))),
///     (1, Box::new(streams::constant(42))),
/// ];
/// let same = streams::mixture(parts, 7).take(10_000).filter(|&key| key == 42).count();
/// assert!((50..200).contains(&same));
/// ```
///
/// # Panics
///
/// If the weights sum up to 0.
pub fn mixture(mut parts: Vec<(u64, Keys)>, seed: u64) -> impl Iterator<Item = u64> + Send {
    let total: u64 = parts.iter().map(|(weight, _)| weight).sum();
    assert!(total > 0, "a mixture of nothing");
    let mut random = SplitMix64::new(derive(seed, "mixture"));
    std::iter::from_fn(move || {
        let mut point = random.below(total);
        let chosen = parts.iter_mut().find_map(|(weight, part)| {
            let chosen = point < *weight;
            point = point.saturating_sub(*weight);
            chosen.then_some(part)
        });
        chosen?.next()
    })
}

/// `length` steps of the first part, then of the second, and so on around; each part goes on where it
/// left off. A filter must survive the change of load, in both directions.
///
/// # Panics
///
/// If there are no parts or `length` is 0.
pub fn phases(mut parts: Vec<Keys>, length: u64) -> impl Iterator<Item = u64> + Send {
    assert!(!parts.is_empty() && length > 0, "phases of nothing");
    let mut step = 0;
    std::iter::from_fn(move || {
        let phase = (step / length) % parts.len() as u64;
        step += 1;
        parts[phase as usize].next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Counts;
    use crate::stats::assert_rate;
    use crate::streams::{constant, sequential};

    #[test]
    fn parts_are_mixed_by_weight() {
        const TRIALS: u64 = 100_000;
        let parts: Vec<(u64, Keys)> = vec![
            (1, Box::new(constant(1))),
            (0, Box::new(constant(2))),
            (3, Box::new(constant(3))),
        ];
        let mut counts = Counts::new();
        mixture(parts, 1).take(TRIALS as usize).for_each(|key| counts.add(key, 1));
        assert_rate(counts.count(1), TRIALS, 0.25, 1e-9);
        assert_rate(counts.count(2), TRIALS, 0.0, 1e-9);
        assert_rate(counts.count(3), TRIALS, 0.75, 1e-9);
    }

    #[test]
    fn phases_follow_each_other_and_resume() {
        let parts: Vec<Keys> = vec![Box::new(sequential(0)), Box::new(sequential(100))];
        let keys: Vec<u64> = phases(parts, 2).take(7).collect();
        assert_eq!(keys, [0, 1, 100, 101, 2, 3, 102]);
    }

    #[test]
    #[should_panic(expected = "mixture of nothing")]
    fn an_empty_mixture_is_refused() {
        let _ = mixture(Vec::new(), 1);
    }

    #[test]
    #[should_panic(expected = "phases of nothing")]
    fn no_phases_are_refused() {
        let _ = phases(Vec::new(), 1);
    }
}
