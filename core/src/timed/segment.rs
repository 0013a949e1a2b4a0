//! A segment: the entries of all hashes with one prefix, packed.
//!
//! ```text
//! generation   1 word    of its last sweep: tags count from it
//! info         1 word    entries 14 │ bins 8 │ remainder 6 │ mixed 1 │ coarse 2 │ blind 9
//! groups       G words   start 14 │ occupied 50, bit by bucket
//! row          the highest 8 bits of the fields, a byte for every slot; none if fields are shorter
//! bin 0        ends │ what is left of the field, highest bit first │ tag       one word for 64 slots each
//! bin 1        ...
//! ```
//!
//! A byte per slot is found and moved fastest, a bit per slot takes no more than it is: the byte that tells
//! most entries apart is in the *row*, what is left in *planes*.
//!
//! Entries are sorted by bucket and remainder, one slot each. Those of a group lie side by side; behind them
//! a few slots are free, so that one more moves hardly any but its own group:
//!
//! ```text
//! slot   start of group 0              start of group 1           start of group 2
//!        ┌─────────────────────┬──────┬─────────────────┬────────┬──────────────
//!        │ entries of group 0  │ free │ of group 1      │ free   │ ...
//! ```
//!
//! What is free is zero. The last entry of a group is an end, so the slot before a group is free if and only
//! if its bit of `ends` is zero. When entries are dealt anew, every group gets an equal part of what is free.
//!
//! A group says where its entries start and which of its buckets have any; `ends` says which slots are the
//! last of their bucket. So bucket u begins after as many ends from the start as there are occupied buckets
//! before it. Worked example: a group starts at slot 70, buckets 3 and 9 are occupied, and the ends from
//! there are 0, 1, 0, 1: slots 70 and 71 belong to bucket 3, slots 72 and 73 to bucket 9.
//!
//! A *field* is the remainder, r bits. In a *mixed* segment, which has entries with less than r bits, it is
//! a bit longer: remainder, a one, zeros. A segment with few entries is *coarse*: it has an eighth, a quarter
//! or half of the groups, and the last bits of the bucket are the first of the field instead.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use super::entry::START_BITS;
pub(super) use super::shape::{ROW_PART_BITS, Shape};
use crate::bits::{MOST_WORDS, bytes, bytes_mut};

/// Slots of a bin.
pub(super) const SLOTS: usize = 64;
/// Words before the groups.
pub(super) const HEAD: usize = 2;
/// Times that the number of groups can be halved.
pub(super) const MOST_COARSE: u32 = 3;
/// Most bins: slots must fit their field.
const MOST_BINS: usize = (1 << START_BITS) / SLOTS - 1;
/// Of so many slots one stays free.
const SPARE: usize = 64;
/// Bits of a start.
const START: u64 = (1 << START_BITS) - 1;

/// The second word of a segment, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Info {
    /// Entries.
    pub(super) count: usize,
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
    /// What one entry more adds to the word.
    pub(super) const ONE: u64 = 1;

    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let field = |from: u32, bits: u32| (word >> from) as u32 & ((1 << bits) - 1);
        Self {
            count: field(0, START_BITS) as usize,
            bins: field(14, 8) as usize,
            remainder_bits: field(22, 6),
            mixed: field(28, 1) != 0,
            coarse: field(29, 2),
            blind: field(31, 9),
        }
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.count as u64
            | (self.bins as u64) << 14
            | u64::from(self.remainder_bits) << 22
            | u64::from(self.mixed) << 28
            | u64::from(self.coarse) << 29
            | u64::from(self.blind) << 31
    }

    #[inline(always)]
    pub(super) fn slots(self) -> usize {
        self.bins * SLOTS
    }

    /// Whether so few slots are free that an insertion would move too many.
    #[inline(always)]
    pub(super) fn is_full(self) -> bool {
        self.count >= self.slots() - self.slots() / SPARE
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

    /// Bits of a slot, and words of a bin with its part of the rows.
    #[inline(always)]
    pub(super) fn stride(self, shape: &Shape) -> usize {
        (1 + self.field_bits() + shape.beside_bits()) as usize
    }

    /// Where the slots begin.
    #[inline(always)]
    pub(super) fn bins_at(self, shape: &Shape) -> usize {
        HEAD + self.groups(shape)
    }

    /// Whether all fields have one length and a byte in the row: so it is wherever nothing grows.
    #[inline(always)]
    pub(super) fn is_plain(self) -> bool {
        !self.mixed && self.remainder_bits + self.coarse >= u8::BITS
    }

    /// The same numbers, of which a compiler knows what [`Info::is_plain`] says, and their layout.
    #[inline(always)]
    pub(super) fn plain(self, shape: &Shape) -> (Self, Layout) {
        let info = Self { mixed: false, ..self };
        (info, info.layout_with(shape, 1))
    }

    /// Where the parts of the slots are.
    #[inline(always)]
    pub(super) fn layout(self, shape: &Shape) -> Layout {
        self.layout_with(shape, usize::from(self.field_bits() >= u8::BITS))
    }

    #[inline(always)]
    fn layout_with(self, shape: &Shape, rows: usize) -> Layout {
        let (rows_at, left) = (self.bins_at(shape), self.field_bits() as usize - rows * 8);
        let planes_at = rows_at + rows * self.slots() / size_of::<u64>();
        let (beside_bits, tag_bits) = (shape.beside_bits() as usize, shape.tag_bits as usize);
        let low_bits = left + beside_bits;
        Layout { rows_at, rows, slots: self.slots(), planes_at, low_bits, beside_bits, tag_bits }
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

/// Where the parts of the slots of a segment are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The first word of the rows.
    pub(super) rows_at: usize,
    pub(super) rows: usize,
    pub(super) slots: usize,
    /// The first word of the planes.
    pub(super) planes_at: usize,
    /// Bits of a slot that are in planes, besides the one that ends a bucket.
    pub(super) low_bits: usize,
    /// How many of them, the lowest ones, are not of the field.
    pub(super) beside_bits: usize,
    /// How many of these, the lowest ones, are the tag.
    pub(super) tag_bits: usize,
}

impl Layout {
    /// Words of the planes of a bin.
    #[inline(always)]
    pub(super) fn planes(self) -> usize {
        1 + self.low_bits
    }

    /// The first byte of a row in a segment.
    #[inline(always)]
    pub(super) fn row_at(self, row: usize) -> usize {
        self.rows_at * size_of::<u64>() + row * self.slots
    }

    /// The byte of a value, which is a field and what is beside it, in a row.
    #[inline(always)]
    pub(super) fn byte(self, value: u64, row: usize) -> u8 {
        (value >> (self.low_bits + 8 * (self.rows - 1 - row))) as u8
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

    /// The first slot of a group, or the slot after the last.
    #[inline(always)]
    pub(super) fn start(&self, shape: &Shape, info: Info, number: usize) -> usize {
        if number < info.groups(shape) { self.group(number).start() } else { info.slots() }
    }

    /// Whether a slot holds the last entry of a bucket.
    #[inline(always)]
    pub(super) fn is_end(&self, layout: Layout, slot: usize) -> bool {
        self.words[layout.planes_at + slot / SLOTS * layout.planes()] >> (slot % SLOTS) & 1 != 0
    }

    /// The planes of a bin: ends, what is left of the fields, payloads, and tags.
    #[inline(always)]
    pub(super) fn planes(&self, layout: Layout, bin: usize) -> &[u64] {
        let planes = layout.planes();
        &self.words[layout.planes_at + bin * planes..][..planes]
    }

    /// The planes of the tags of a bin.
    #[inline(always)]
    pub(super) fn tags(&self, layout: Layout, bin: usize) -> &[u64] {
        &self.planes(layout, bin)[layout.planes() - layout.tag_bits..]
    }

    /// The bytes of a row, a slot each.
    #[inline(always)]
    pub(super) fn row(&self, layout: Layout, row: usize) -> &[u8] {
        &bytes(&self.words)[layout.row_at(row)..][..layout.slots]
    }

    /// The field in a slot, and what is beside it.
    #[inline(always)]
    pub(super) fn value_at(&self, layout: Layout, slot: usize) -> u64 {
        let mut value = 0;
        for row in 0..layout.rows {
            value = value << 8 | u64::from(self.row(layout, row)[slot]);
        }
        let planes = &self.planes(layout, slot / SLOTS)[1..];
        planes.iter().fold(value, |value, plane| value << 1 | plane >> (slot % SLOTS) & 1)
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

    /// All planes.
    #[inline(always)]
    pub(super) fn planes_mut(&mut self, layout: Layout) -> &mut [u64] {
        &mut self.words[layout.planes_at..]
    }

    /// The bytes of a row, to write.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, layout: Layout, row: usize) -> &mut [u8] {
        &mut bytes_mut(&mut self.words)[layout.row_at(row)..][..layout.slots]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_word() {
        let info = Info {
            count: 16_000,
            bins: 255,
            remainder_bits: 55,
            mixed: true,
            coarse: 3,
            blind: 256,
        };
        assert_eq!(Info::of(info.word()), info);
        assert_eq!(Info::of(0), Info::default());
    }
}
