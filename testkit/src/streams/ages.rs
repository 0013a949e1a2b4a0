//! Keys that return at an exact age: the border of a time window.
//!
//! The twin of `repeats` for time. A quarter of the items tries to repeat a key of a given age. Where
//! no item came at exactly that millisecond, the oldest one younger than that is taken.

use super::keys::distinct;
use crate::random::{SplitMix64, derive};
use std::collections::VecDeque;

/// Fresh keys at the times of `clock`, among them repeats of keys that are as old as the given ages
/// allow, and no older.
///
/// Ages count as in [`Within`](crate::oracle::Within): a time that goes back stands still. Holds all
/// items of the longest age.
///
/// ```
/// use testkit::{oracle::Within, streams};
///
/// let mut within = Within::new(50);
/// let items = streams::repeats_at_ages(streams::clocks::steady(1000), &[50, 51], 7);
/// for (key, now_ms) in items.take(10_000) {
///     assert!(matches!(within.age(key, now_ms), None | Some(..=51)));
///     within.insert(key, now_ms);
/// }
/// ```
///
/// # Panics
///
/// If no age is given.
pub fn repeats_at_ages<C: Iterator<Item = u64>>(
    clock: C,
    ages_ms: &[u64],
    seed: u64,
) -> RepeatsAtAges<C, impl Iterator<Item = u64> + Clone + Send + use<C>> {
    RepeatsAtAges {
        clock,
        fresh: distinct(seed),
        ages_ms: ages_ms.to_vec(),
        turn: 0,
        longest_ms: ages_ms.iter().copied().max().expect("at least one age"),
        latest_ms: 0,
        past: VecDeque::new(),
        random: SplitMix64::new(derive(seed, "ages")),
    }
}

/// The stream made by [`repeats_at_ages`].
#[derive(Debug, Clone)]
pub struct RepeatsAtAges<C, I> {
    clock: C,
    fresh: I,
    ages_ms: Vec<u64>,
    /// Which age is tried next.
    turn: usize,
    longest_ms: u64,
    /// The latest time the clock showed.
    latest_ms: u64,
    /// Time and key of the latest items, newest last; `None` where the key has been repeated since.
    past: VecDeque<(u64, Option<u64>)>,
    random: SplitMix64,
}

impl<C: Iterator<Item = u64>, I: Iterator<Item = u64>> Iterator for RepeatsAtAges<C, I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let now_ms = self.clock.next()?;
        self.latest_ms = self.latest_ms.max(now_ms);
        self.drop_past();
        let repeat = if self.random.below(4) == 0 { self.repeat() } else { None };
        let key = match repeat {
            Some(key) => key,
            None => self.fresh.next()?,
        };
        self.past.push_back((self.latest_ms, Some(key)));
        Some((key, now_ms))
    }
}

impl<C, I> RepeatsAtAges<C, I> {
    fn repeat(&mut self) -> Option<u64> {
        /// How many items to look through for one not yet repeated, lest many in one millisecond
        /// make every step slow.
        const PATIENCE: usize = 16;

        let age_ms = self.ages_ms[self.turn];
        self.turn = (self.turn + 1) % self.ages_ms.len();
        let since_ms = self.latest_ms.saturating_sub(age_ms);
        let oldest = self.past.partition_point(|&(time_ms, _)| time_ms < since_ms);
        self.past.range_mut(oldest..).take(PATIENCE).find_map(|(_, key)| key.take())
    }

    /// Drops what is too old to be repeated, or already was.
    fn drop_past(&mut self) {
        while let Some(&(time_ms, key)) = self.past.front()
            && (self.latest_ms - time_ms > self.longest_ms || key.is_none())
        {
            self.past.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Within;
    use crate::streams::clocks;
    use std::collections::HashMap;

    fn ages_of(items: impl Iterator<Item = (u64, u64)>) -> HashMap<u64, u32> {
        let mut within = Within::new(0);
        let mut ages = HashMap::new();
        for (key, now_ms) in items.take(20_000) {
            if let Some(age) = within.age(key, now_ms) {
                *ages.entry(age).or_default() += 1;
            }
            within.insert(key, now_ms);
        }
        ages
    }

    #[test]
    fn a_dense_clock_repeats_at_exactly_the_ages() {
        let items = repeats_at_ages(clocks::steady(10_000), &[20, 21, 30], 1);
        let ages = ages_of(items);
        for age in [20, 21, 30] {
            assert!(ages[&age] > 1000, "{ages:?}");
        }
        // Only the first items, before the history was long enough, may be younger.
        let younger: u32 = ages.iter().filter(|(age, _)| **age < 20).map(|(_, n)| n).sum();
        assert!(younger < 200, "{ages:?}");
        assert_eq!(ages.keys().max(), Some(&30));
    }

    #[test]
    fn a_sparse_clock_repeats_close_to_the_ages() {
        let ages = ages_of(repeats_at_ages(clocks::steady(100), &[1000, 1001], 1));
        assert!(ages[&1000] > 1000, "{ages:?}");
        assert_eq!(ages.keys().max(), Some(&1000)); // no item is 1001 old: all are 10 apart
    }

    #[test]
    fn a_clock_that_goes_back_repeats_too() {
        let clock = clocks::time_going_back(clocks::steady(10_000), 40, 1);
        let ages = ages_of(repeats_at_ages(clock, &[20, 21], 1));
        assert!(ages[&20] > 500 && ages[&21] > 500, "{ages:?}");
        assert_eq!(ages.keys().max(), Some(&21));
    }

    #[test]
    fn frozen_time_repeats_at_age_zero() {
        let ages = ages_of(repeats_at_ages(clocks::frozen_time(5), &[20, 21], 1));
        assert!(ages[&0] > 4000, "{ages:?}");
        assert_eq!(ages.len(), 1);
    }

    #[test]
    #[should_panic(expected = "at least one age")]
    fn no_age_is_refused() {
        let _ = repeats_at_ages(clocks::frozen_time(0), &[], 1);
    }
}
