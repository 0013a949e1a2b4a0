//! Counting the memory of a segment that an operation looks at.

use crate::dictionary::hand::{Hand, Part};

/// Counts words of a segment. Its first word may be the last of a cache line, so assume that.
#[inline(always)]
pub(super) fn touch(hand: impl Hand, word: usize, count: usize) {
    hand.touch(Part::Bins, 56 + 8 * word, 8 * count);
}
