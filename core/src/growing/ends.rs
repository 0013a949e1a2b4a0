//! Which entries of a segment are the last of their bucket: a bit for each slot.

use core::ops::{Deref, DerefMut, Range};

use super::segment::{HEAD, SLOTS, Segment};
use crate::bits::BitReader;

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Whether the entry in a slot is the last of its bucket.
    #[inline(always)]
    pub(super) fn ends_at(&self, slot: usize) -> bool {
        self.words()[HEAD + slot / SLOTS] >> (slot % SLOTS) & 1 != 0
    }

    /// Which entries of some slots, at most 64, are the last of their bucket; the first is the lowest bit.
    #[inline(always)]
    pub(super) fn ends(&self, slots: Range<usize>) -> u64 {
        BitReader::new(self.words(), SLOTS * HEAD + slots.start).peek(slots.len() as u32)
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// The entry in a slot is the last of its bucket.
    #[inline(always)]
    pub(super) fn set_end(&mut self, slot: usize) {
        self.words_mut()[HEAD + slot / SLOTS] |= 1 << (slot % SLOTS);
    }

    /// The same for those of the 64 slots from the first on whose bits are set.
    #[inline(always)]
    pub(super) fn set_ends(&mut self, first: usize, ends: u64) {
        let (word, shift) = (HEAD + first / SLOTS, first % SLOTS);
        self.words_mut()[word] |= ends << shift;
        let above = ends >> 1 >> (SLOTS - 1 - shift);
        if above != 0 {
            self.words_mut()[word + 1] |= above;
        }
    }

    /// What was the last slot of its run is no longer.
    #[inline(always)]
    pub(super) fn unset_end(&mut self, slot: usize) {
        self.words_mut()[HEAD + slot / SLOTS] &= !(1 << (slot % SLOTS));
    }
}
