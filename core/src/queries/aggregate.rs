//! Aggregates over given keys: count, sum, mean, least and largest, from the filter alone.
//!
//! The paper's section 5.1: the filter is an index on an attribute that needs no table behind it.
//! Every count is at least the truth, and wrong for the stated share of keys, so sums err upwards.

use core::iter::Sum;

use crate::filter::Counting;
use crate::key::Key;
use crate::lately::Counter;
use crate::window::Time;

/// What a filter says about a set of keys.
///
/// ```
/// use lately::queries::Aggregate;
/// use lately::Lately;
///
/// let mut words = Lately::ever().counting().expected_items(1000).build()?;
/// for word in ["the", "cat", "the", "dog", "the"] {
///     words.add(word);
/// }
/// let found = Aggregate::of(&words, ["the", "dog", "bird"]);
/// assert_eq!((found.sum, found.seen, found.largest, found.least), (4, 2, 3, 0));
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregate {
    /// Keys asked about.
    pub keys: u64,
    /// Keys that were seen at all.
    pub seen: u64,
    /// All their counts together; stays at the largest `u64` if they exceed it.
    pub sum: u64,
    /// The largest count; zero without keys.
    pub largest: u64,
    /// The least count; zero without keys.
    pub least: u64,
}

impl Aggregate {
    /// Asks about every one of these keys.
    pub fn of<K: Key>(counter: &Counter, keys: impl IntoIterator<Item = K>) -> Self {
        keys.into_iter().map(|key| Self::of_one(counter.count(key))).sum()
    }

    /// Asks about every one of these keys, by their hashes.
    pub fn over(counter: &dyn Counting, hashes: impl IntoIterator<Item = u64>) -> Self {
        let count = |hash| counter.count_hash(hash, Time::ZERO);
        hashes.into_iter().map(|hash| Self::of_one(count(hash))).sum()
    }

    /// What is said about a single key.
    fn of_one(count: u64) -> Self {
        Self { keys: 1, seen: u64::from(count > 0), sum: count, largest: count, least: count }
    }

    /// The mean count; `None` without keys.
    pub fn mean(&self) -> Option<f64> {
        (self.keys > 0).then(|| self.sum as f64 / self.keys as f64)
    }
}

/// Of several sets of keys, those of all together.
impl Sum for Aggregate {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        let nothing = Self { keys: 0, seen: 0, sum: 0, largest: 0, least: 0 };
        parts.fold(nothing, |all, part| match (all.keys, part.keys) {
            (_, 0) => all,
            (0, _) => part,
            _ => Self {
                keys: all.keys + part.keys,
                seen: all.seen + part.seen,
                sum: all.sum.saturating_add(part.sum),
                largest: all.largest.max(part.largest),
                least: all.least.min(part.least),
            },
        })
    }
}
