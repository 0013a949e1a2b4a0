//! An even sample: how a large table stands, without reading all of it.
//!
//! Hashes fall evenly, so that places of a table differ by luck alone. Of a table with many of them it
//! is enough to look at some thousand, spread over all of it, and a rate is known to a few
//! percent. Of a smaller table all places are looked at. So it takes no more than a few milliseconds to
//! say how any filter stands, which servers are asked now and then.

use core::ops::Range;

/// Places looked at, each of many items.
pub(crate) const PLACES: usize = 1 << 12;

/// Places looked at that are a cache line each, and differ more from one another.
pub(crate) const LINES: usize = 4 * PLACES;

/// Of a part of many, not fewer than so many.
pub(crate) const FEWEST_PLACES: usize = 1 << 7;

/// Neighbours that are looked at together: it is memory that takes the time.
const TOGETHER: usize = 64;

/// At most `most` of the numbers below `count`, evenly spread: all of them if there are no more.
pub(crate) fn spread(count: usize, most: usize) -> impl ExactSizeIterator<Item = usize> {
    let taken = count.min(most.max(1));
    (0..taken).map(move |i| (i as u128 * count as u128 / taken as u128) as usize)
}

/// The share of these items for which `is` holds, from at most `places` groups of neighbours.
pub(crate) fn share(items: Range<usize>, places: usize, is: impl Fn(usize) -> bool) -> f64 {
    let (mut found, mut all) = (0, 0);
    for group in spread(items.len().div_ceil(TOGETHER), places) {
        let start = items.start + group * TOGETHER;
        let group = start..items.end.min(start + TOGETHER);
        all += group.len();
        found += group.filter(|&item| is(item)).count();
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
