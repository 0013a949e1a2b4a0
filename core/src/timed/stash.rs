//! The stash of a segment: entries that did not fit their bin, its *exiles*, in the order in which they came.
//!
//! Each is the number of its bucket, its field and what is beside that, bit by bit. Worked example: a segment
//! of 800 buckets at 0.1%, each exile 12 + 10 + 3 bits; one for each of fifteen bins takes six words.
//!
//! Who leaves a bin is the last there, and who is put here at once is the first of its bucket. So exiles of one
//! bucket are read backwards: whoever came last is first, as everywhere. Nothing moves when one comes; they
//! are sorted when many go home.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::entry::ones;
use super::segment::{Info, Segment, Shape};
use crate::bits::{read_bits, write_bits};

/// Bits of the number of a bucket in its segment.
pub(super) const NUMBER_BITS: u32 = 12;

/// The most words of a stash.
pub(super) const MOST_STASH: usize = 4_000;

/// Bits of the index of an exile: each takes more than a word's sixteenth part.
const INDEX_BITS: u32 = 16;
const MOST_INDEX: u32 = (1 << INDEX_BITS) - 1;

/// An entry as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbered {
    /// Of its bucket, in the segment.
    pub(super) number: u32,
    /// Its field, and what is beside that.
    pub(super) value: u64,
}

impl Numbered {
    #[inline(always)]
    pub(super) fn new(info: Info, number: u32, field: u64, beside: u64) -> Self {
        Self { number, value: field | beside << info.field_bits() }
    }

    #[inline(always)]
    pub(super) fn field(self, info: Info) -> u64 {
        self.value & ones(info.field_bits() as usize)
    }

    #[inline(always)]
    pub(super) fn beside(self, info: Info) -> u64 {
        self.value >> info.field_bits()
    }
}

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
    /// The so-manieth exile that came.
    #[inline(always)]
    pub(super) fn exile(&self, shape: &Shape, info: Info, index: usize) -> Numbered {
        read_exile(self.stash(shape, info), info.value_bits(shape), index)
    }

    /// The exiles of a bucket, in their order.
    #[inline(always)]
    pub(super) fn exiles_of(
        &self,
        shape: &Shape,
        info: Info,
        number: u32,
    ) -> impl Iterator<Item = usize> {
        let (stash, bits) = (self.stash(shape, info), exile_bits(shape, info));
        let mut at = self.exiles() * bits;
        (0..self.exiles()).rev().filter(
            #[inline(always)]
            move |_| {
                at -= bits;
                read_bits(stash, at, NUMBER_BITS) == u64::from(number)
            },
        )
    }

    /// All exiles in order of their buckets, and the so-manieth that each was to come.
    #[inline(always)]
    pub(super) fn exiles_in_order(&self, shape: &Shape, info: Info) -> Vec<(usize, Numbered)> {
        let (stash, bits) = (self.stash(shape, info), exile_bits(shape, info));
        let mut order = Vec::with_capacity(self.exiles());
        for index in 0..self.exiles() {
            // By bucket, and whoever came last first: short words, which are sorted sooner than pairs.
            let number = read_bits(stash, index * bits, NUMBER_BITS) as u32;
            order.push(number << INDEX_BITS | (MOST_INDEX - index as u32));
        }
        order.sort_unstable();
        let value_bits = info.value_bits(shape);
        let each = |word: &u32| {
            let index = (MOST_INDEX - word % (MOST_INDEX + 1)) as usize;
            (index, read_exile(stash, value_bits, index))
        };
        order.iter().map(each).collect()
    }

    #[inline(always)]
    fn stash(&self, shape: &Shape, info: Info) -> &[u64] {
        &self.words[info.stash_at(shape)..]
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Adds exiles, each of which is before all others of its bucket. There is room.
    #[inline(always)]
    pub(super) fn push_exiles(
        &mut self,
        shape: &Shape,
        info: Info,
        exiles: impl Iterator<Item = Numbered>,
    ) {
        let (mut index, at, bits) = (self.exiles(), info.stash_at(shape), info.value_bits(shape));
        for exile in exiles {
            write_exile(&mut self.words[at..], bits, index, exile);
            index += 1;
        }
        self.set_exiles(index);
    }

    /// Replaces all exiles by these, which are in order. There is room.
    #[inline(always)]
    pub(super) fn set_stash(
        &mut self,
        shape: &Shape,
        info: Info,
        exiles: impl DoubleEndedIterator<Item = Numbered>,
    ) {
        self.set_exiles(0);
        self.push_exiles(shape, info, exiles.rev());
    }

    /// Replaces an exile.
    #[inline(always)]
    pub(super) fn set_exile(&mut self, shape: &Shape, info: Info, index: usize, exile: Numbered) {
        let at = info.stash_at(shape);
        write_exile(&mut self.words[at..], info.value_bits(shape), index, exile);
    }
}

/// The so-manieth exile of a stash whose values have so many bits.
#[inline(always)]
fn read_exile(stash: &[u64], value_bits: u32, index: usize) -> Numbered {
    let bits = NUMBER_BITS + value_bits;
    let at = index * bits as usize;
    if bits > u64::BITS {
        let number = read_bits(stash, at, NUMBER_BITS) as u32;
        return Numbered { number, value: read_bits(stash, at + NUMBER_BITS as usize, value_bits) };
    }
    let exile = read_bits(stash, at, bits);
    Numbered { number: exile as u32 % (1 << NUMBER_BITS), value: exile >> NUMBER_BITS }
}

/// The opposite.
#[inline(always)]
fn write_exile(stash: &mut [u64], value_bits: u32, index: usize, exile: Numbered) {
    let bits = NUMBER_BITS + value_bits;
    let at = index * bits as usize;
    if bits > u64::BITS {
        write_bits(stash, at, NUMBER_BITS, exile.number.into());
        write_bits(stash, at + NUMBER_BITS as usize, value_bits, exile.value);
    } else {
        write_bits(stash, at, bits, u64::from(exile.number) | exile.value << NUMBER_BITS);
    }
}
