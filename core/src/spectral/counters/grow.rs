//! Growing several counters at once, each found only once.
//!
//! An insertion first needs the least counter of a key and then changes some of them. Finding a
//! compact counter is most of the work, so what was found is kept between the two.

use super::{Counters, MOST};

/// Counters that can be found once and then read and grown.
pub trait Find: Counters {
    /// A counter's value, and where it is.
    type Found: Copy + Default;

    /// Finds a counter.
    fn find(&self, index: usize) -> Self::Found;

    /// The value that was found.
    fn value(found: Self::Found) -> u64;

    /// Replaces a value that was found by one that is not less, and says whether there was room
    /// for it. Others may have grown since it was found, but none may have moved.
    fn try_grow(&mut self, found: Self::Found, grown: u64) -> bool;
}

/// Replaces each of these counters by what `by` makes of the least of them and itself, which is not
/// less than itself, and gives the least.
#[inline(always)]
pub fn grow(counters: &mut impl Find, at: &[usize], by: impl Fn(u64, u64) -> u64) -> u64 {
    // With their number known, all that was found stays in registers.
    match *at {
        [a, b] => grow_all(counters, [a, b], by),
        [a, b, c] => grow_all(counters, [a, b, c], by),
        [a, b, c, d] => grow_all(counters, [a, b, c, d], by),
        [a, b, c, d, e] => grow_all(counters, [a, b, c, d, e], by),
        [a, b, c, d, e, f] => grow_all(counters, [a, b, c, d, e, f], by),
        _ => {
            let least = counters.least(at);
            grow_each(counters, at, least, by);
            least
        }
    }
}

#[inline(always)]
fn grow_all<C: Find, const K: usize>(
    counters: &mut C,
    at: [usize; K],
    by: impl Fn(u64, u64) -> u64,
) -> u64 {
    let mut found = [Default::default(); K];
    for turn in 0..K {
        found[turn] = counters.find(at[turn]);
    }
    // Comparing without a branch: which counter is the least is as good as random.
    let least = found.iter().fold(MOST, |least, &found| least.min(value::<C>(found)));
    for turn in 0..K {
        let grown = by(least, value::<C>(found[turn]));
        if !counters.try_grow(found[turn], grown) {
            // It will move, and with it perhaps the rest.
            grow_each(counters, &at[turn..], least, by);
            break;
        }
    }
    least
}

#[inline(always)]
fn value<C: Find>(found: C::Found) -> u64 {
    C::value(found)
}

/// The same one by one, when the least of them is known.
pub fn grow_each(
    counters: &mut impl Counters,
    at: &[usize],
    least: u64,
    by: impl Fn(u64, u64) -> u64,
) {
    for &index in at {
        counters.set(index, by(least, counters.get(index)));
    }
}
