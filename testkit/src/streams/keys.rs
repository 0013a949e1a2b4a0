//! The ordinary streams: even, fresh, constant, cyclic, in bursts.
//!
//! Keys are words of the seed's permutation (see the parent module); an alphabet of `n` letters is
//! its first `n` words.

use crate::random::{SplitMix64, derive, permute};

/// Keys drawn evenly and independently from an alphabet.
///
/// # Panics
///
/// If the alphabet is empty or larger than `2^62`.
pub fn uniform(alphabet: u64, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    check_alphabet(alphabet);
    let mut random = SplitMix64::new(derive(seed, "uniform"));
    std::iter::repeat_with(move || letter(seed, random.below(alphabet)))
}

/// Keys that never repeat.
///
/// ```
/// let mut ever = testkit::oracle::Ever::new();
/// assert!(testkit::streams::distinct(7).take(10_000).all(|key| ever.insert(key)));
/// ```
pub fn distinct(seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    (0..).map(move |index| fresh(seed, index))
}

/// Keys that no mixed stream of the same seed emits: for questions whose true answer is no.
pub fn absent(seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    (ABSENT..=u64::MAX).map(move |index| permute(seed, index))
}

/// One key, for ever.
pub fn constant(key: u64) -> impl Iterator<Item = u64> + Clone + Send {
    std::iter::repeat(key)
}

/// All letters of an alphabet in turn: every key comes back after exactly `period` steps.
///
/// # Panics
///
/// If the period is 0 or larger than `2^62`.
pub fn cyclic(period: u64, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    check_alphabet(period);
    (0..period).cycle().map(move |index| letter(seed, index))
}

/// A fresh key `run` times in a row, then `pause` other fresh keys, and again.
///
/// # Panics
///
/// If `run` is 0.
pub fn bursts(run: u64, pause: u64, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!(run > 0, "a burst has at least one item");
    let keys_per_round = pause + 1;
    (0..).map(move |step: u64| {
        let (round, place) = (step / (run + pause), step % (run + pause));
        fresh(seed, round * keys_per_round + (place + 1).saturating_sub(run))
    })
}

/// Where fresh keys start in the seed's permutation; below are the letters of alphabets.
const FRESH: u64 = 1 << 62;

/// Where the keys start that no stream emits.
const ABSENT: u64 = 1 << 63;

/// The `index`-th letter of the seed's alphabet.
pub(super) fn letter(seed: u64, index: u64) -> u64 {
    permute(seed, index)
}

/// The `index`-th fresh key of the seed; at 10^9 a second, they last for a century.
fn fresh(seed: u64, index: u64) -> u64 {
    permute(seed, FRESH + index)
}

fn check_alphabet(letters: u64) {
    assert!((1..=FRESH).contains(&letters), "no such alphabet: {letters} letters");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Counts, Ever, Last};
    use crate::stats::assert_uniform;
    use std::collections::HashSet;

    #[test]
    fn uniform_uses_every_letter_evenly() {
        let mut counts = Counts::new();
        uniform(50, 1).take(50_000).for_each(|key| counts.add(key, 1));
        let per_letter: Vec<u64> = (0..50).map(|index| counts.count(letter(1, index))).collect();
        assert_eq!(per_letter.iter().sum::<u64>(), 50_000);
        assert_uniform(&per_letter, 1e-9);
    }

    #[test]
    fn distinct_never_repeats() {
        let mut ever = Ever::new();
        assert!(distinct(1).take(100_000).all(|key| ever.insert(key)));
    }

    #[test]
    fn constant_is_constant() {
        assert!(constant(9).take(100).all(|key| key == 9));
    }

    #[test]
    fn cyclic_returns_after_exactly_its_period() {
        let mut last = Last::new(0);
        for (step, key) in cyclic(7, 1).take(100).enumerate() {
            assert_eq!(last.distance(key), (step >= 7).then_some(7));
            last.insert(key);
        }
    }

    #[test]
    fn bursts_are_runs_with_fresh_keys_between() {
        let keys: Vec<u64> = bursts(3, 2, 1).take(15).collect();
        for round in keys.chunks(5) {
            assert!(round[0] == round[1] && round[1] == round[2]);
        }
        let different: HashSet<_> = keys.iter().collect();
        assert_eq!(different.len(), 9);
    }

    #[test]
    fn bursts_without_pause_only_change_keys() {
        let keys: Vec<u64> = bursts(2, 0, 1).take(6).collect();
        assert_eq!(keys[0], keys[1]);
        assert_ne!(keys[1], keys[2]);
        assert_eq!(keys[4], keys[5]);
    }

    #[test]
    fn alphabets_fresh_and_absent_keys_do_not_meet() {
        let mut ever = Ever::new();
        uniform(100, 1).take(2000).for_each(|key| {
            ever.insert(key);
        });
        assert!(distinct(1).take(10_000).all(|key| ever.insert(key)));
        assert!(absent(1).take(10_000).all(|key| ever.insert(key)));
    }

    #[test]
    #[should_panic(expected = "no such alphabet")]
    fn an_empty_alphabet_is_refused() {
        let _ = uniform(0, 1);
    }
}
