//! A segment: the entries of all hashes with one prefix, in bins of 64 slots and a stash.
//!
//! ```text
//! generation   1 word    of its last sweep: tags count from it
//! info         1 word    entries 14 │ bins 8 │ remainder 6 │ mixed 1 │ coarse 3 │ high 4 │ blind 9 │ stride 10 │ long 1
//! steps        1 word    buckets of a bin 32 │ bins of a bucket 32, both as fractions
//! exiles       1 word    entries in the stash 16 │ its words 16 │ how many it can hold 16 │ most entries 16
//! bin 0        row, ends, occupied, threshold, planes: a bin of the dictionary that `sliding` has
//! bin 1        ...
//! stash        what did not fit its bin, in the order in which it came
//! ```
//!
//! A segment has a fixed number of *buckets*, which are part of what is known of a hash, and as many bins as
//! its entries need. Bin b of k has the buckets from ⌈bQ/k⌉ on, Q being their number: so entries are in one
//! order whatever k is, and dealing them to more bins or fewer loses nothing. Worked example: of 800 buckets
//! in 15 bins, bin 0 has the 54 from 0 on, bin 1 the 53 from 54 on.
//!
//! The entries of a bin in order of their buckets are those in its slots and then its *exiles*, which are in
//! the stash and come home when a sweep makes room. Within a bucket, whoever came last is first.
//!
//! A *field* is the remainder, r bits. In a *mixed* segment, which has entries with less than r bits, it is
//! a bit longer: remainder, a one, zeros. A segment with few bins is *coarse*: it has a half, a quarter, ...
//! of the buckets, and the last bits of the bucket are the first of the field instead.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use super::entry::Site;
pub(super) use super::shape::Shape;
use super::stash::stash_word;
use crate::bits::{MOST_WORDS, bytes, bytes_mut};
use crate::dictionary::bins::{Bin, LEAST_BUCKETS, Layout, MOST_BUCKETS};
use crate::hash::reduce;

/// Slots of a bin.
pub(super) const SLOTS: usize = 64;
/// Words before the bins.
pub(super) const HEAD: usize = 4;
/// Times that the number of buckets can be halved.
pub(super) const MOST_COARSE: u32 = 4;
/// Bits of the number of entries: there are no more slots.
const COUNT_BITS: u32 = 14;
const MOST_BINS: usize = (1 << COUNT_BITS) / SLOTS - 1;

/// The numbers of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Info {
    /// Entries, in bins and stash.
    pub(super) count: usize,
    pub(super) bins: usize,
    /// Bits of remainder of an entry that is as long as can be, those that a coarse segment keeps in its
    /// fields not counted.
    pub(super) remainder_bits: u32,
    /// Whether fields say how long they are.
    pub(super) mixed: bool,
    /// How often the number of buckets is halved: it follows from the bins.
    pub(super) coarse: u32,
    /// Bytes that the buckets of a bin take beyond the least: that follows too.
    pub(super) high: u32,
    /// Generations from that of the segment on, in which everything is reported.
    pub(super) blind: u32,
    /// Bytes of a bin, and whether there are bins and fields fill a byte, as they mostly do. Both follow from the
    /// rest and are remembered because every operation asks for them; only those of a segment are right.
    pub(super) stride: u32,
    pub(super) long: bool,
}

impl Info {
    /// What one entry more adds to the word.
    pub(super) const ONE: u64 = 1;

    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let field = |from: u32, bits: u32| (word >> from) as u32 & ((1 << bits) - 1);
        Self {
            count: field(0, COUNT_BITS) as usize,
            bins: field(14, 8) as usize,
            remainder_bits: field(22, 6),
            mixed: field(28, 1) != 0,
            coarse: field(29, 3),
            high: field(32, 4),
            blind: field(36, 9),
            stride: field(45, 10),
            long: field(55, 1) != 0,
        }
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.count as u64
            | (self.bins as u64) << 14
            | u64::from(self.remainder_bits) << 22
            | u64::from(self.mixed) << 28
            | u64::from(self.coarse) << 29
            | u64::from(self.high) << 32
            | u64::from(self.blind) << 36
            | u64::from(self.stride) << 45
            | u64::from(self.long) << 55
    }

    #[inline(always)]
    pub(super) fn slots(self) -> usize {
        self.bins * SLOTS
    }

    /// Bits of a field.
    #[inline(always)]
    pub(super) fn field_bits(self) -> u32 {
        self.remainder_bits + self.coarse + u32::from(self.mixed)
    }

    #[inline(always)]
    pub(super) fn buckets(self, shape: &Shape) -> u32 {
        shape.buckets >> self.coarse
    }

    /// Whether there are bins, and all fields have one length and fill a byte: so it is wherever nothing grows.
    #[inline(always)]
    pub(super) fn is_plain(self) -> bool {
        self.long & !self.mixed
    }

    /// These numbers as a segment remembers them.
    fn of_segment(self, shape: &Shape) -> Self {
        let long = self.bins > 0 && self.field_bits() >= u8::BITS;
        let stride = Self { long: false, ..self }.layout(shape).stride() as u32;
        Self { stride, long, ..self }
    }

    /// How bins are laid out.
    #[inline(always)]
    pub(super) fn layout(self, shape: &Shape) -> Layout {
        if self.long {
            return self.long_layout(shape);
        }
        Layout::of_bits(self.high, self.field_bits(), shape.beside_bits())
    }

    /// The same of a segment whose fields fill a byte.
    #[inline(always)]
    pub(super) fn long_layout(self, shape: &Shape) -> Layout {
        Layout::of_long(self.high, self.field_bits(), shape.beside_bits(), self.stride)
    }

    /// Bits of an entry, besides what tells its bucket.
    #[inline(always)]
    pub(super) fn value_bits(self, shape: &Shape) -> u32 {
        self.field_bits() + shape.beside_bits()
    }

    /// Words of a segment with a stash of so many. One without entries has neither bins nor stash.
    pub(super) fn words(self, shape: &Shape, stash: usize) -> usize {
        self.stash_at(shape) + stash
    }

    /// The first word of the stash.
    #[inline(always)]
    pub(super) fn stash_at(self, shape: &Shape) -> usize {
        HEAD + (self.bins * self.layout(shape).stride()).div_ceil(size_of::<u64>())
    }

    /// The same numbers with so many bins.
    pub(super) fn with_bins(self, shape: &Shape, bins: usize) -> Self {
        let bins = bins.max(least_bins(shape));
        let coarse = coarse_for(shape, bins);
        let buckets = (shape.buckets >> coarse).div_ceil(bins as u32);
        let high = buckets.saturating_sub(LEAST_BUCKETS).div_ceil(u8::BITS);
        Self { bins, coarse, high, stride: 0, long: false, ..self }
    }

    /// Bins that a segment like this can have.
    pub(super) fn most_bins(self, shape: &Shape) -> usize {
        let widest = Self { mixed: true, coarse: 0, high: 8, long: false, ..self }
            .layout(shape)
            .stride()
            .div_ceil(size_of::<u64>());
        // A quarter is left for the stash.
        MOST_BINS.min((MOST_WORDS - MOST_WORDS / 4 - HEAD) / widest).min(shape.buckets as usize)
    }

    /// The field of a remainder that is as long as can be.
    #[inline(always)]
    pub(super) fn field(self, remainder: u64) -> u64 {
        // In two steps: there may be no bits at all.
        let field = remainder >> 1 >> (u64::BITS - 1 - self.remainder_bits - self.coarse);
        if self.mixed { field << 1 | 1 } else { field }
    }

    /// The field of a word that is a remainder, a one, and zeros.
    #[inline(always)]
    pub(super) fn field_of_word(self, word: u64) -> u64 {
        word >> 1 >> (u64::BITS - 1 - self.field_bits())
    }

    /// The word of a field.
    #[inline(always)]
    pub(super) fn word_of_field(self, field: u64) -> u64 {
        let marked = if self.mixed { field } else { field << 1 | 1 };
        marked << (u64::BITS - 1 - self.remainder_bits - self.coarse)
    }

    /// Unknown bits at the end of a field: none if it is as long as can be.
    #[inline(always)]
    pub(super) fn missing_bits(self, field: u64) -> u32 {
        if self.mixed { field.trailing_zeros() } else { 0 }
    }
}

/// How often to halve the buckets so that so many bins have them all.
fn coarse_for(shape: &Shape, bins: usize) -> u32 {
    let fits = |coarse: &u32| (shape.buckets >> coarse) as usize <= bins * MOST_BUCKETS as usize;
    (0..MOST_COARSE).find(fits).unwrap_or(MOST_COARSE)
}

/// Fewest bins that have all buckets.
fn least_bins(shape: &Shape) -> usize {
    (shape.buckets >> MOST_COARSE).div_ceil(MOST_BUCKETS) as usize
}

/// How bins and buckets follow from each other, as multiplications.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps(u64);

/// Bits behind the point of what a bin has of buckets, and a bucket of bins.
const BUCKETS_POINT: u32 = 24;
const BINS_POINT: u32 = 28;

impl Steps {
    /// Of so many buckets in so many bins. The first fraction is rounded down and the second up, which with so
    /// many bits makes no difference to any product: see the test.
    pub(super) fn new(buckets: u32, bins: usize) -> Self {
        let (buckets, bins) = (u64::from(buckets), bins.max(1) as u64);
        let of_bin = (buckets << BUCKETS_POINT) / bins;
        let of_bucket = (bins << BINS_POINT).div_ceil(buckets);
        Self(of_bin | of_bucket << 32)
    }

    #[inline(always)]
    pub(super) fn bin(self, bucket: u32) -> usize {
        ((u64::from(bucket) * (self.0 >> 32)) >> BINS_POINT) as usize
    }

    /// The first bucket of a bin.
    #[inline(always)]
    pub(super) fn first(self, bin: usize) -> u32 {
        let buckets = bin as u64 * (self.0 & u64::from(u32::MAX));
        ((buckets + (1 << BUCKETS_POINT) - 1) >> BUCKETS_POINT) as u32
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
        Self { words: [generation, info.word(), 0, 0].into() }
    }

    /// A segment of zeros with these numbers and a stash of so many words.
    pub(super) fn zeros(shape: &Shape, generation: u64, info: Info, stash: usize) -> Self {
        let info = info.of_segment(shape);
        let mut words = vec![0; info.words(shape, stash)].into_boxed_slice();
        words[0] = generation;
        words[1] = info.word();
        words[2] = Steps::new(info.buckets(shape), info.bins).0;
        words[3] = stash_word(shape, info, stash);
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
    pub(super) fn steps(&self) -> Steps {
        Steps(self.words[2])
    }

    /// Entries in the stash.
    #[inline(always)]
    pub(super) fn exiles(&self) -> usize {
        self.words[3] as usize % (1 << 16)
    }

    /// Entries that the stash can hold.
    #[inline(always)]
    pub(super) fn most_exiles(&self) -> usize {
        (self.words[3] >> 32) as usize % (1 << 16)
    }

    /// Entries with which another one splits the segment or gives it more bins.
    #[inline(always)]
    pub(super) fn most_entries(&self) -> usize {
        (self.words[3] >> 48) as usize
    }

    /// Words of the stash.
    #[inline(always)]
    pub(super) fn stash_words(&self) -> usize {
        (self.words[3] >> 16) as usize % (1 << 16)
    }

    /// Where a hash lives in this segment, which has bins, by its `rest`: the bits behind the prefix, from the
    /// highest on.
    ///
    /// The arithmetic is exact: with twice the buckets it is twice as far, and so it is in one of the
    /// halves of the segment.
    #[inline(always)]
    pub(super) fn site(&self, shape: &Shape, info: Info, rest: u64) -> Site {
        let (number, remainder) = reduce(rest, info.buckets(shape).into());
        self.site_of(number as u32, remainder)
    }

    /// The same of a bucket.
    #[inline(always)]
    pub(super) fn site_of(&self, number: u32, remainder: u64) -> Site {
        let bin = self.steps().bin(number);
        Site { bin, bucket: number - self.steps().first(bin), number, remainder }
    }

    #[inline(always)]
    pub(super) fn bin<'a>(&'a self, layout: &'a Layout, number: usize) -> Bin<'a, &'a [u8]> {
        let stride = layout.stride();
        let at = HEAD * size_of::<u64>() + number * stride;
        Bin::over(layout, &bytes(&self.words)[at..at + stride])
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

    pub(super) fn set_most_entries(&mut self, most: usize) {
        self.words[3] = self.words[3] << 16 >> 16 | (most as u64) << 48;
    }

    pub(super) fn set_exiles(&mut self, exiles: usize) {
        self.words[3] = self.words[3] >> 16 << 16 | exiles as u64;
    }

    #[inline(always)]
    pub(super) fn bin_mut<'a>(
        &'a mut self,
        layout: &'a Layout,
        number: usize,
    ) -> Bin<'a, &'a mut [u8]> {
        let stride = layout.stride();
        let at = HEAD * size_of::<u64>() + number * stride;
        Bin::over(layout, &mut bytes_mut(&mut self.words)[at..at + stride])
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
            coarse: 4,
            high: 8,
            blind: 256,
            stride: 600,
            long: true,
        };
        assert_eq!(Info::of(info.word()), info);
        assert_eq!(Info::of(0), Info::default());
    }

    /// What a segment remembers of its layout is what follows from its numbers.
    #[test]
    fn long_fields_are_laid_out_as_all_others() {
        let ticks = super::super::clock::Ticks::new(1_000, 7);
        for remainder_bits in 4..30 {
            let shape = Shape::new(64, ticks, remainder_bits, 3);
            for bins in [1, 2, 5, 26, 40, 80] {
                for mixed in [false, true] {
                    let info = Info { remainder_bits, mixed, ..Info::default() };
                    let info = info.with_bins(&shape, bins);
                    let of_segment = info.of_segment(&shape);
                    assert_eq!(of_segment.long, info.field_bits() >= 8);
                    assert_eq!(of_segment.layout(&shape), info.layout(&shape), "{info:?}");
                }
            }
        }
    }

    /// Every bucket is in the bin that exact fractions say, and bins begin where the first of them is.
    #[test]
    fn bins_have_the_buckets_of_their_fraction() {
        for buckets in (1..=128_u32).map(|part| 25 * part) {
            let least = buckets.div_ceil(MOST_BUCKETS) as usize;
            for bins in least..=MOST_BINS.min(buckets as usize) {
                let steps = Steps::new(buckets, bins);
                for bin in 0..=bins {
                    let first = (bin as u32 * buckets).div_ceil(bins as u32);
                    assert_eq!(steps.first(bin), first, "{buckets} {bins} {bin}");
                    if bin < bins {
                        assert_eq!(steps.bin(first), bin, "{buckets} {bins} {bin}");
                    }
                    if bin > 0 {
                        assert_eq!(steps.bin(first - 1), bin - 1, "{buckets} {bins} {bin}");
                    }
                }
            }
        }
    }
}
