//! An even sample: how a large table stands, without reading all of it.
//!
//! Hashes fall evenly, so that places of a table differ by luck alone. Of a table with many of them it
//! is enough to look at some thousand, spread over all of it, and a rate is known to a few
//! percent. Of a smaller table all places are looked at. So it takes about a millisecond to say how any
//! filter stands, which servers are asked now and then.
//!
//! Most of that would be spent on memory: a page that nobody has touched yet costs as much as looking at
//! a hundred places. So neighbours are looked at together.

use core::ops::Range;

/// Places looked at, each of many items.
pub const PLACES: usize = 1 << 11;

/// Places looked at that are a cache line each, and differ more from one another.
pub const LINES: usize = 4 * PLACES;

/// Of a part of many, not fewer than so many.
pub const FEWEST_PLACES: usize = 1 << 6;

/// Places that are looked at together: half a page, if they are lines.
const NEIGHBOURS: usize = 32;

/// Items of a place.
const ITEMS: usize = 64;

/// At most `most` of the numbers below `count`, evenly spread: all of them if there are no more.
pub fn spread(count: usize, most: usize) -> impl ExactSizeIterator<Item = usize> {
    let taken = count.min(most.max(1));
    (0..taken).map(move |i| (i as u128 * count as u128 / taken as u128) as usize)
}

/// The same in groups of neighbours, which are evenly spread.
pub fn sample(count: usize, most: usize) -> impl ExactSizeIterator<Item = usize> {
    let together = if count > most { NEIGHBOURS.min(most.max(1)) } else { 1 };
    let groups = (count / together).min((most / together).max(1));
    let start = move |group| (group as u128 * count as u128 / groups as u128) as usize;
    (0..groups * together).map(move |i| start(i / together) + i % together)
}

/// The share of these items for which `is` holds, from those of at most so many places.
pub fn share(items: Range<usize>, places: usize, is: impl Fn(usize) -> bool) -> f64 {
    let (mut found, mut all) = (0, 0);
    for place in sample(items.len().div_ceil(ITEMS), places) {
        let start = items.start + place * ITEMS;
        let place = start..items.end.min(start + ITEMS);
        all += place.len();
        found += place.filter(|&item| is(item)).count();
    }
    found as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    #[test]
    fn all_of_few_and_some_of_many() {
        assert!(spread(5, 8).eq(0..5));
        assert!(spread(10, 4).eq([0, 2, 5, 7]));
        assert_eq!(spread(0, 4).len(), 0);
        assert_eq!(spread(3, 0).len(), 1);
        assert!(sample(5, 8).eq(0..5));
        assert!(sample(10, 4).eq([0, 1, 2, 3]), "one group");
        assert!(sample(1_000, 64).eq((0..32).chain(500..532)));
        assert_eq!(sample(0, 4).len(), 0);
        assert_eq!(sample(3, 0).len(), 1);
        assert_eq!(share(3..10, 1, |item| item < 5), 2.0 / 7.0, "few enough to look at all");
        assert_eq!(share(0..0, 9, |_| true), 0.0);
    }

    /// A hundred times as many items as are looked at: known to a part in fifty.
    #[test]
    fn a_share_is_known_from_some() {
        let share =
            share(0..100 * 64 * 1_024, 1_024, |item| remix(item as u64, 0).is_multiple_of(10));
        assert!((share / 0.1 - 1.0).abs() < 0.02, "{share}");
    }
}
