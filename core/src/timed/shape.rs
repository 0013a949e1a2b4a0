//! What all segments of a filter have in common, and the bits of a slot.

use super::clock::Ticks;
use super::entry::BUCKETS;

/// What all segments of a filter have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Of a segment that is not coarse; a multiple of 2^[`MOST_COARSE`](super::segment::MOST_COARSE).
    pub(super) groups: usize,
    pub(super) tag_bits: u32,
    /// Bits that ride beside the tag; none where only membership is kept.
    pub(super) payload_bits: u32,
    pub(super) ages: u32,
    /// Bits of remainder in a calm time.
    pub(super) remainder_bits: u32,
    /// Segments that are less deep have longer remainders instead.
    pub(super) floor_depth: u32,
    /// The part of the slots of a plain segment that is its row, in units of 2^-[`ROW_PART_BITS`].
    pub(super) row_part: usize,
}

/// See [`Shape::row_part`].
pub(super) const ROW_PART_BITS: u32 = 16;

impl Shape {
    pub(super) fn new(groups: u32, ticks: Ticks, remainder_bits: u32, floor_depth: u32) -> Self {
        let (tag_bits, ages) = (ticks.tag_bits(), ticks.ages());
        let (groups, payload_bits) = (groups as usize, 0);
        let row_part = (8 << ROW_PART_BITS) / (1 + remainder_bits + tag_bits).max(8) as usize;
        Self { groups, tag_bits, payload_bits, ages, remainder_bits, floor_depth, row_part }
    }

    /// Bits of a slot that are not its field: the payload, and the tag below it.
    #[inline(always)]
    pub(super) fn beside_bits(&self) -> u32 {
        self.payload_bits + self.tag_bits
    }

    /// The value of a slot.
    #[inline(always)]
    pub(super) fn value(&self, field: u64, payload: u32, tag: u32) -> u64 {
        field << self.beside_bits() | u64::from(payload) << self.tag_bits | u64::from(tag)
    }

    /// The payload of a value.
    #[inline(always)]
    pub(super) fn payload(&self, value: u64) -> u32 {
        (value >> self.tag_bits) as u32 & ((1 << self.payload_bits) - 1)
    }

    /// Bits of remainder that a new entry of a segment of this depth gets, if the growth of its region
    /// asks for so many more, and memory does not allow for so many.
    #[inline(always)]
    pub(super) fn needed_bits(&self, more: u32, short: u32, depth: u32) -> u32 {
        let needed = self.remainder_bits + more + self.floor_depth.saturating_sub(depth);
        needed.saturating_sub(short).max(1)
    }

    /// Buckets of a segment that is not coarse.
    pub(super) fn buckets(&self) -> u32 {
        self.groups as u32 * BUCKETS
    }

    /// The tag of a generation.
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
