//! What an operation will read, asked for ahead of it.

use super::segment::{BLOCK_BITS, HEAD};
use crate::bits::{LINE_WORDS, prefetch};
use crate::hash::reduce;

/// Starts loading the block of a hash in the words of its segment, by what follows the prefix, and where its
/// entries are if all are spread evenly; says which word that is. `words_of_ends` tells how many are words of ends
/// among so many words of ends and fields.
#[inline(always)]
pub(super) fn prefetch_place(
    words: &[u64],
    rest: u64,
    words_of_ends: impl FnOnce(usize) -> usize,
) -> usize {
    // Of a blind segment nothing sensible, and no harm.
    let (before, _) = reduce(rest, words.len().wrapping_sub(HEAD) as u64);
    let before = before as usize;
    let ends = words_of_ends(before);
    prefetch(words, (rest >> (64 - BLOCK_BITS)) as usize);
    prefetch(words, HEAD + ends);
    let field = words.len().wrapping_add(ends).wrapping_sub(before);
    prefetch(words, field.wrapping_sub(LINE_WORDS));
    prefetch(words, field);
    field
}
