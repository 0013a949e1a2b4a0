//! Counting the memory of a segment that an operation looks at.

use crate::dictionary::work::{Part, Work};

/// Counts words of a segment. Its first word may be the last of a cache line, so assume that.
#[inline(always)]
pub(super) fn touch(work: &mut impl Work, word: usize, count: usize) {
    work.touch(Part::Bins, 56 + 8 * word, 8 * count);
}
