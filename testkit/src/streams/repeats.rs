//! Keys that return after an exact number of steps: the border of a count window.
//!
//! A filter with an off-by-one error is right on random streams almost always. Here a quarter of the
//! steps tries to repeat the key of `d` steps ago, with `d` going around the given distances, and does
//! so only if that was the key's latest sighting: every repeat is at exactly its distance.

use super::keys::distinct;
use crate::random::{SplitMix64, derive};
use std::collections::VecDeque;

/// One step of a stream with repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The key to insert.
    pub key: u64,
    /// How many steps ago the key came last, if this step repeats it on purpose.
    pub repeat_of: Option<u64>,
}

/// Fresh keys, among them repeats at exactly the given distances.
///
/// ```
/// use testkit::{oracle::Last, streams};
///
/// let mut last = Last::new(100);
/// for step in streams::repeats_at(&[99, 100, 101], 7).take(10_000) {
///     assert_eq!(last.distance(step.key), step.repeat_of);
///     last.insert(step.key);
/// }
/// ```
///
/// # Panics
///
/// If no distance is given, or a distance of 0.
pub fn repeats_at(
    distances: &[u64],
    seed: u64,
) -> WithRepeats<impl Iterator<Item = u64> + Clone + Send + use<>> {
    with_repeats(distinct(seed), distances, seed)
}

/// The keys of `fresh`, among them repeats at exactly the given distances.
///
/// Distances are exact if `fresh` itself never repeats a key. Holds as many keys as the longest
/// distance.
///
/// # Panics
///
/// If no distance is given, or a distance of 0.
pub fn with_repeats<I: Iterator<Item = u64>>(
    fresh: I,
    distances: &[u64],
    seed: u64,
) -> WithRepeats<I> {
    let longest = distances.iter().copied().max().expect("at least one distance");
    assert!(!distances.contains(&0), "a key cannot repeat after 0 steps");
    WithRepeats {
        fresh,
        distances: distances.to_vec(),
        turn: 0,
        longest: usize::try_from(longest).expect("memory for the longest distance"),
        past: VecDeque::new(),
        random: SplitMix64::new(derive(seed, "repeats")),
    }
}

/// The stream made by [`with_repeats`] and [`repeats_at`].
#[derive(Debug, Clone)]
pub struct WithRepeats<I> {
    fresh: I,
    distances: Vec<u64>,
    /// Which distance is tried next.
    turn: usize,
    longest: usize,
    /// The latest keys, newest last; `None` where the key has been repeated since.
    past: VecDeque<Option<u64>>,
    random: SplitMix64,
}

impl<I: Iterator<Item = u64>> Iterator for WithRepeats<I> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        // At random, as a fixed rhythm would resonate with the distances.
        let repeat = if self.random.below(4) == 0 { self.repeat() } else { None };
        let step = match repeat {
            Some(step) => step,
            None => Step { key: self.fresh.next()?, repeat_of: None },
        };
        self.past.push_back(Some(step.key));
        if self.past.len() > self.longest {
            self.past.pop_front();
        }
        Some(step)
    }
}

impl<I> WithRepeats<I> {
    fn repeat(&mut self) -> Option<Step> {
        let distance = self.distances[self.turn];
        self.turn = (self.turn + 1) % self.distances.len();
        let index = self.past.len().checked_sub(distance as usize)?;
        let key = self.past[index].take()?;
        Some(Step { key, repeat_of: Some(distance) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Last;
    use std::collections::HashMap;

    #[test]
    fn every_distance_is_exact_and_frequent() {
        for distances in [&[1][..], &[1, 2, 3], &[99, 100, 101, 125, 126], &[8, 4, 16], &[5, 5]] {
            let mut last = Last::new(0);
            let mut repeats: HashMap<u64, u32> = HashMap::new();
            for step in repeats_at(distances, 1).take(20_000) {
                assert_eq!(last.distance(step.key), step.repeat_of);
                last.insert(step.key);
                if let Some(distance) = step.repeat_of {
                    *repeats.entry(distance).or_default() += 1;
                }
            }
            for distance in distances {
                assert!(repeats[distance] > 400, "{distance}: {repeats:?}");
            }
        }
    }

    #[test]
    fn most_keys_are_fresh() {
        let steps = repeats_at(&[10, 11], 1).take(10_000);
        let repeats = steps.filter(|step| step.repeat_of.is_some()).count();
        assert!((1500..=2600).contains(&repeats), "{repeats}");
    }

    #[test]
    fn holds_no_more_than_the_longest_distance() {
        let mut steps = repeats_at(&[3, 10], 1);
        steps.by_ref().take(1000).for_each(drop);
        assert_eq!(steps.past.len(), 10);
    }

    #[test]
    #[should_panic(expected = "0 steps")]
    fn distance_zero_is_refused() {
        let _ = repeats_at(&[1, 0], 1);
    }

    #[test]
    #[should_panic(expected = "at least one distance")]
    fn no_distance_is_refused() {
        let _ = repeats_at(&[], 1);
    }
}
