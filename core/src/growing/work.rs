//! Counting the memory of a segment that an operation looks at.

use super::address::{HEAD, SLOTS};
use crate::dictionary::work::{Part, Work};

/// Counts words of a segment. Its first word may be the last of a cache line, so assume that.
#[inline(always)]
pub(super) fn touch(work: &mut impl Work, word: usize, count: usize) {
    work.touch(Part::Bins, 56 + 8 * word, 8 * count);
}

/// Counts the bins of slots from `first` to `last`.
#[inline(always)]
pub(super) fn touch_bins(work: &mut impl Work, stride: usize, first: usize, last: usize) {
    let (first, last) = (first / SLOTS, last / SLOTS);
    touch(work, HEAD + first * stride, (last + 1 - first) * stride);
}
