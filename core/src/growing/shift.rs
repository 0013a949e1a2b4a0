//! Making and closing a gap among the slots of a segment, in all planes alike.

use super::segment::{BLOCKS, HEAD, SLOTS, Segment};

impl Segment {
    /// The last block that moves if the first free slot after a block is taken, and that slot. The
    /// last slot of all is never taken.
    #[inline(always)]
    pub(super) fn gap(&self, stride: usize, number: usize) -> Option<(usize, usize)> {
        for block in number..BLOCKS - 1 {
            let end = self.end(stride, block);
            if end < self.block(block + 1).start() {
                return Some((block, end));
            }
        }
        let end = self.end(stride, BLOCKS - 1);
        (end + 1 < SLOTS * self.bins(stride)).then_some((BLOCKS - 1, end))
    }

    /// Moves the slots from `at` on up to the free slot `gap` by one, and fills `at`.
    #[inline(always)]
    pub(super) fn open(&mut self, stride: usize, at: usize, gap: usize, ends: bool, field: u64) {
        let (first, last) = (at / SLOTS, gap / SLOTS);
        for bin in (first..=last).rev() {
            let low = if bin == first { at % SLOTS } else { 0 };
            let high = if bin == last { gap % SLOTS } else { SLOTS - 1 };
            let moved = u64::MAX << low & u64::MAX >> (SLOTS - 1 - high);
            let above = moved & !(1 << low);
            let (before, here) = self.words_mut().split_at_mut(HEAD + bin * stride);
            let here = &mut here[..stride];
            if bin == first {
                let (head, planes) = here.split_first_mut().expect("a bin has ends");
                *head = *head & !moved | *head << 1 & above | u64::from(ends) << low;
                for (bit, plane) in planes.iter_mut().enumerate() {
                    *plane = *plane & !moved | *plane << 1 & above | (field >> bit & 1) << low;
                }
            } else {
                let before = &before[before.len() - stride..];
                for (word, before) in here.iter_mut().zip(before) {
                    *word = *word & !moved | *word << 1 & above | before >> 63;
                }
            }
        }
    }

    /// Moves the slots after `at` and below `end` down by one, over slot `at`.
    pub(super) fn close(&mut self, stride: usize, at: usize, end: usize) {
        let (first, last) = (at / SLOTS, (end - 1) / SLOTS);
        for bin in first..=last {
            let low = if bin == first { at % SLOTS } else { 0 };
            let high = if bin == last { (end - 1) % SLOTS } else { SLOTS - 1 };
            let moved = u64::MAX << low & u64::MAX >> (SLOTS - 1 - high);
            let below = moved & !(1 << high);
            let (here, after) = self.words_mut()[HEAD + bin * stride..].split_at_mut(stride);
            for (k, word) in here.iter_mut().enumerate() {
                let entering = if bin == last { 0 } else { after[k] & 1 };
                *word = *word & !moved | *word >> 1 & below | entering << high;
            }
        }
    }
}
