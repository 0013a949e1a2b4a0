//! Counting the memory of a segment that an operation looks at.

use crate::dictionary::tools::{Tier, Tools};

/// Counts words of a segment. Its first word may be the last of a cache line, so assume that.
#[inline(always)]
pub(super) fn touch(tools: impl Tools, word: usize, count: usize) {
    tools.touch(Tier::Bins, 56 + 8 * word, 8 * count);
}
