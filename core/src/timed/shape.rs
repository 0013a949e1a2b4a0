//! What all segments of a filter have in common, and the bits of a slot.

use super::clock::Ticks;
use super::entry::BUCKETS;

/// What all segments of a filter have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Of a segment that is not coarse; a multiple of 2^[`MOST_COARSE`](super::segment::MOST_COARSE).
    pub(super) buckets: u32,
    pub(super) tag_bits: u32,
    /// Bits that ride beside the tag; none where only membership is kept.
    pub(super) payload_bits: u32,
    pub(super) ages: u32,
    /// Bits of remainder in a calm time.
    pub(super) remainder_bits: u32,
    /// Segments that are less deep have longer remainders instead.
    pub(super) floor_depth: u32,
}

impl Shape {
    pub(super) fn new(groups: u32, ticks: Ticks, remainder_bits: u32, floor_depth: u32) -> Self {
        let (tag_bits, ages) = (ticks.tag_bits(), ticks.ages());
        let (buckets, payload_bits) = (groups * BUCKETS, 0);
        Self { buckets, tag_bits, payload_bits, ages, remainder_bits, floor_depth }
    }

    /// Bits of a slot that are not its field: the payload, and the tag below it.
    #[inline(always)]
    pub(super) fn beside_bits(&self) -> u32 {
        self.payload_bits + self.tag_bits
    }

    /// What is beside a field.
    #[inline(always)]
    pub(super) fn beside(&self, payload: u32, tag: u32) -> u64 {
        u64::from(payload << self.tag_bits | tag)
    }

    /// The payload of what is beside a field.
    #[inline(always)]
    pub(super) fn payload_beside(&self, beside: u64) -> u32 {
        beside as u32 >> self.tag_bits
    }

    /// Bits of remainder that a new entry of a segment of this depth gets, if the growth of its region
    /// asks for so many more, and memory does not allow for so many.
    #[inline(always)]
    pub(super) fn needed_bits(&self, more: u32, short: u32, depth: u32) -> u32 {
        let needed = self.remainder_bits + more + self.floor_depth.saturating_sub(depth);
        needed.saturating_sub(short)
    }

    /// Whether remainders of so many bits are as long as [`needed_bits`](Self::needed_bits) says.
    #[inline(always)]
    pub(super) fn is_long_enough(&self, bits: u32, more: u32, short: u32, depth: u32) -> bool {
        // None of these is so large that sums overflow.
        bits + short + depth.min(self.floor_depth) >= self.remainder_bits + more + self.floor_depth
    }

    /// The tag of a generation, or of what is beside a field.
    #[inline(always)]
    pub(super) fn tag(&self, generation: u64) -> u32 {
        generation as u32 & ((1 << self.tag_bits) - 1)
    }

    /// How old a tag is in a generation.
    #[inline(always)]
    pub(super) fn age(&self, generation: u64, tag: u32) -> u32 {
        self.tag(generation.wrapping_sub(tag.into()))
    }
}
