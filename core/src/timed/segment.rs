//! A segment: the entries of all hashes with one prefix, packed.
//!
//! ```text
//! generation   1 word    of its last sweep: tags count from it
//! info         1 word    lower 14 │ upper 14 │ bins 8 │ remainder 6 │ mixed 1 │ coarse 2 │ blind 9
//! groups       G words   start 14 │ occupied 50, bit by bucket
//! bin 0        ends │ field, highest bit first │ tag, highest bit first       one word for 64 slots each
//! bin 1        ...
//! ```
//!
//! Entries are sorted by bucket and remainder and lie side by side, one slot each: those of the lower half
//! of the groups from the first slot up, those of the upper half from the last slot down. What is free is
//! between them:
//!
//! ```text
//! slot   0 ────────▶ lower                    64 bins - upper ────────────▶ 64 bins
//!        ┌──────────────────┬────── free ──────┬──────────────────┐
//! ```
//!
//! A group says where its entries start and which of its buckets have any; `ends` says which slots are the
//! last of their bucket. So bucket u begins after as many ends from the start as there are occupied buckets
//! before it. Worked example: a group starts at slot 70, buckets 3 and 9 are occupied, and the ends from
//! there are 0, 1, 0, 1: slots 70 and 71 belong to bucket 3, slots 72 and 73 to bucket 9.
//!
//! A *field* is the remainder, r bits. In a *mixed* segment, which has entries with less than r bits, it is
//! a bit longer: remainder, a one, zeros. A segment with few entries is *coarse*: it has an eighth, a quarter
//! or half of the groups, and the last bits of the bucket are the first of the field instead.

use std::ops::{Deref, DerefMut};

use super::clock::Ticks;
use super::entry::{BUCKETS, START_BITS};
use crate::bits::MOST_WORDS;

/// Slots of a bin.
pub(super) const SLOTS: usize = 64;
/// Words before the groups.
pub(super) const HEAD: usize = 2;
/// Times that the number of groups can be halved.
pub(super) const MOST_COARSE: u32 = 3;
/// Most bins: slots must fit their field.
const MOST_BINS: usize = (1 << START_BITS) / SLOTS - 1;
/// Bits of a start.
const START: u64 = (1 << START_BITS) - 1;

/// What all segments of a filter have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Of a segment that is not coarse; a multiple of 2^[`MOST_COARSE`].
    pub(super) groups: usize,
    pub(super) tag_bits: u32,
    pub(super) ages: u32,
    /// Bits of remainder in a calm time.
    pub(super) remainder_bits: u32,
    /// Segments that are less deep have longer remainders instead.
    pub(super) floor_depth: u32,
}

impl Shape {
    pub(super) fn new(groups: u32, ticks: Ticks, remainder_bits: u32, floor_depth: u32) -> Self {
        let (tag_bits, ages) = (ticks.tag_bits(), ticks.ages());
        Self { groups: groups as usize, tag_bits, ages, remainder_bits, floor_depth }
    }

    /// Bits of remainder that a new entry of a segment of this depth gets, if the growth of its region
    /// asks for so many more.
    #[inline(always)]
    pub(super) fn needed_bits(&self, more: u32, depth: u32) -> u32 {
        self.remainder_bits + more + self.floor_depth.saturating_sub(depth)
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

/// The second word of a segment, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Info {
    /// Entries of the lower half of the groups.
    pub(super) lower: usize,
    /// Entries of the upper half.
    pub(super) upper: usize,
    pub(super) bins: usize,
    /// Bits of remainder of an entry that is as long as can be, those that a coarse segment keeps in its
    /// fields not counted.
    pub(super) remainder_bits: u32,
    /// Whether fields say how long they are.
    pub(super) mixed: bool,
    /// How often the number of groups is halved.
    pub(super) coarse: u32,
    /// Generations from that of the segment on, in which everything is reported.
    pub(super) blind: u32,
}

impl Info {
    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let field = |from: u32, bits: u32| (word >> from) as u32 & ((1 << bits) - 1);
        Self {
            lower: field(0, START_BITS) as usize,
            upper: field(14, START_BITS) as usize,
            bins: field(28, 8) as usize,
            remainder_bits: field(36, 6),
            mixed: field(42, 1) != 0,
            coarse: field(43, 2),
            blind: field(45, 9),
        }
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.lower as u64
            | (self.upper as u64) << 14
            | (self.bins as u64) << 28
            | u64::from(self.remainder_bits) << 36
            | u64::from(self.mixed) << 42
            | u64::from(self.coarse) << 43
            | u64::from(self.blind) << 45
    }

    /// Entries.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        self.lower + self.upper
    }

    #[inline(always)]
    pub(super) fn slots(self) -> usize {
        self.bins * SLOTS
    }

    /// The first slot of the upper half.
    #[inline(always)]
    pub(super) fn upper_start(self) -> usize {
        self.slots() - self.upper
    }

    /// Whether no slot is free.
    #[inline(always)]
    pub(super) fn is_full(self) -> bool {
        self.count() == self.slots()
    }

    /// Bits of a field.
    #[inline(always)]
    pub(super) fn field_bits(self) -> u32 {
        self.remainder_bits + self.coarse + u32::from(self.mixed)
    }

    #[inline(always)]
    pub(super) fn groups(self, shape: &Shape) -> usize {
        shape.groups >> self.coarse
    }

    /// Words of a bin.
    #[inline(always)]
    pub(super) fn stride(self, shape: &Shape) -> usize {
        (1 + self.field_bits() + shape.tag_bits) as usize
    }

    /// Where the bins begin.
    #[inline(always)]
    pub(super) fn bins_at(self, shape: &Shape) -> usize {
        HEAD + self.groups(shape)
    }

    /// Words of the whole segment. One without entries has neither groups nor bins.
    pub(super) fn words(self, shape: &Shape) -> usize {
        match self.bins {
            0 => HEAD,
            bins => self.bins_at(shape) + bins * self.stride(shape),
        }
    }

    /// Bins that a segment like this can have.
    pub(super) fn most_bins(self, shape: &Shape) -> usize {
        MOST_BINS.min((MOST_WORDS - self.bins_at(shape)) / self.stride(shape))
    }

    /// The field of a remainder that is as long as can be.
    #[inline(always)]
    pub(super) fn field(self, remainder: u64) -> u64 {
        let field = remainder >> (u64::BITS - self.remainder_bits - self.coarse);
        if self.mixed { field << 1 | 1 } else { field }
    }

    /// The field of a word that is a remainder, a one, and zeros.
    #[inline(always)]
    pub(super) fn field_of_word(self, word: u64) -> u64 {
        word >> (u64::BITS - self.field_bits())
    }

    /// The word of a field.
    #[inline(always)]
    pub(super) fn word_of_field(self, field: u64) -> u64 {
        let marked = if self.mixed { field } else { field << 1 | 1 };
        marked << (u64::BITS - 1 - self.remainder_bits - self.coarse)
    }
}

/// The word of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group(pub(super) u64);

impl Group {
    pub(super) fn new(start: usize, occupied: u64) -> Self {
        Self(start as u64 | occupied << START_BITS)
    }

    /// The slot of its first entry.
    #[inline(always)]
    pub(super) fn start(self) -> usize {
        (self.0 & START) as usize
    }

    /// Its buckets that have entries.
    #[inline(always)]
    pub(super) fn occupied(self) -> u64 {
        self.0 >> START_BITS
    }

    #[inline(always)]
    pub(super) fn has(self, bucket: u32) -> bool {
        self.0 >> (START_BITS + bucket) & 1 != 0
    }

    /// Occupied buckets before this one.
    #[inline(always)]
    pub(super) fn rank(self, bucket: u32) -> u32 {
        (self.occupied() & ((1 << bucket) - 1)).count_ones()
    }

    pub(super) fn bit(bucket: u32) -> u64 {
        1 << (START_BITS + bucket)
    }
}

/// The words of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment<W = Box<[u64]>> {
    pub(super) words: W,
}

impl Segment {
    /// No entries, in this generation.
    pub(super) fn empty(generation: u64, blind: u32) -> Self {
        let info = Info { blind, ..Info::default() };
        Self { words: [generation, info.word()].into() }
    }

    /// A segment of zeros with these numbers.
    pub(super) fn zeros(shape: &Shape, generation: u64, info: Info) -> Self {
        let mut words = vec![0; info.words(shape)].into_boxed_slice();
        (words[0], words[1]) = (generation, info.word());
        Self { words }
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    #[inline(always)]
    pub(super) fn generation(&self) -> u64 {
        self.words[0]
    }

    #[inline(always)]
    pub(super) fn info(&self) -> Info {
        Info::of(self.words[1])
    }

    #[inline(always)]
    pub(super) fn group(&self, number: usize) -> Group {
        Group(self.words[HEAD + number])
    }

    /// The words of a bin.
    #[inline(always)]
    pub(super) fn bin(&self, shape: &Shape, info: Info, bin: usize) -> &[u64] {
        let stride = info.stride(shape);
        &self.words[info.bins_at(shape) + bin * stride..][..stride]
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    #[inline(always)]
    pub(super) fn set_info(&mut self, info: Info) {
        self.words[1] = info.word();
    }

    pub(super) fn set_generation(&mut self, generation: u64) {
        self.words[0] = generation;
    }

    /// All bins.
    #[inline(always)]
    pub(super) fn bins_mut(&mut self, shape: &Shape, info: Info) -> &mut [u64] {
        &mut self.words[info.bins_at(shape)..]
    }
}

/// A word with so many ones at its lower end.
#[inline(always)]
pub(super) fn ones(count: usize) -> u64 {
    1_u64.unbounded_shl(count as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_word() {
        let info = Info {
            lower: 16_000,
            upper: 1,
            bins: 255,
            remainder_bits: 55,
            mixed: true,
            coarse: 3,
            blind: 256,
        };
        assert_eq!(Info::of(info.word()), info);
        assert_eq!(Info::of(0), Info::default());
        assert_eq!((ones(0), ones(1), ones(64)), (0, 1, u64::MAX));
    }
}
