//! The stash of a segment: entries that did not fit their bin, its *exiles*.
//!
//! They lie in order of their buckets, and within a bucket in the order of the bucket, which begins in its
//! bin. Each is the number of its bucket, its field and what is beside that, bit by bit. Worked example: a
//! segment of 800 buckets at 0.1%, each exile 12 + 10 + 3 bits; one for each of fifteen bins takes six words.

use core::ops::{Deref, DerefMut, Range};

use super::entry::ones;
use super::segment::{Info, Segment, Shape};
use crate::bits::{move_bits_up, read_bits, write_bits};

/// Bits of the number of a bucket in its segment.
const NUMBER_BITS: u32 = 12;

/// The most words of a stash.
pub(super) const MOST_STASH: usize = 4_000;

/// Words of a stash for so many exiles. The last one is never used: what reads bits reads it too.
pub(super) fn stash_words(shape: &Shape, info: Info, exiles: usize) -> usize {
    (exiles * exile_bits(shape, info)).div_ceil(u64::BITS as usize) + 1
}

/// The word of a segment that tells of an empty stash of so many words.
pub(super) fn stash_word(shape: &Shape, info: Info, stash: usize) -> u64 {
    let most = stash.saturating_sub(1) * u64::BITS as usize / exile_bits(shape, info);
    (stash as u64) << 16 | (most as u64) << 32
}

#[inline(always)]
fn exile_bits(shape: &Shape, info: Info) -> usize {
    (NUMBER_BITS + info.value_bits(shape)) as usize
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Bucket, field and what is beside it of an exile.
    #[inline(always)]
    pub(super) fn exile(&self, shape: &Shape, info: Info, index: usize) -> (u32, u64, u64) {
        let (stash, bits) = (self.stash(shape, info), exile_bits(shape, info));
        let at = index * bits;
        let low = read_bits(stash, at, bits.min(64) as u32);
        let high = match bits > 64 {
            true => read_bits(stash, at + 64, bits as u32 - 64),
            false => 0,
        };
        let exile = u128::from(high) << 64 | u128::from(low);
        let field = (exile >> NUMBER_BITS) as u64 & ones(info.field_bits() as usize);
        let beside = (exile >> NUMBER_BITS >> info.field_bits()) as u64;
        ((exile & ((1 << NUMBER_BITS) - 1)) as u32, field, beside)
    }

    fn number_of_exile(&self, shape: &Shape, info: Info, index: usize) -> u32 {
        let stash = self.stash(shape, info);
        read_bits(stash, index * exile_bits(shape, info), NUMBER_BITS) as u32
    }

    /// The exiles of a bucket; where they would be if there is none.
    pub(super) fn exiles_of(&self, shape: &Shape, info: Info, number: u32) -> Range<usize> {
        self.first_exile(shape, info, number)..self.first_exile(shape, info, number + 1)
    }

    /// The first exile of this bucket or a later one.
    pub(super) fn first_exile(&self, shape: &Shape, info: Info, number: u32) -> usize {
        let (mut low, mut high) = (0, self.exiles());
        while low < high {
            let middle = (low + high) / 2;
            if self.number_of_exile(shape, info, middle) < number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn stash(&self, shape: &Shape, info: Info) -> &[u64] {
        &self.words[info.stash_at(shape)..]
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Puts exiles before the one with this index. There is room.
    #[inline(always)]
    pub(super) fn insert_exiles(
        &mut self,
        shape: &Shape,
        info: Info,
        index: usize,
        coming: impl ExactSizeIterator<Item = (u32, u64, u64)>,
    ) {
        let (bits, exiles, count) = (exile_bits(shape, info), self.exiles(), coming.len());
        let stash = self.stash_mut(shape, info);
        move_bits_up(stash, index * bits, (index + count) * bits, (exiles - index) * bits);
        for (index, exile) in (index..).zip(coming) {
            self.write_exile(shape, info, index, exile);
        }
        self.set_exiles(exiles + count);
    }

    /// Replaces an exile.
    #[inline(always)]
    pub(super) fn write_exile(
        &mut self,
        shape: &Shape,
        info: Info,
        index: usize,
        (number, field, beside): (u32, u64, u64),
    ) {
        let bits = exile_bits(shape, info);
        let value = u128::from(field) | u128::from(beside) << info.field_bits();
        let exile = value << NUMBER_BITS | u128::from(number);
        let stash = self.stash_mut(shape, info);
        write_bits(stash, index * bits, bits.min(64) as u32, exile as u64);
        if bits > 64 {
            write_bits(stash, index * bits + 64, bits as u32 - 64, (exile >> 64) as u64);
        }
    }

    fn stash_mut(&mut self, shape: &Shape, info: Info) -> &mut [u64] {
        &mut self.words[info.stash_at(shape)..]
    }
}
