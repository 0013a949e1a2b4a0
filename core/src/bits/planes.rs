//! Numbers stored across words: plane b holds bit b of 64 slots.
//!
//! Three slots with the values 5, 6, 1 (bit 0 is slot 0):
//!
//! ```text
//! plane 0   ...101      5 & 1 = 1, 6 & 1 = 0, 1 & 1 = 1
//! plane 1   ...010
//! plane 2   ...011
//! ```
//!
//! One step over the planes compares, shifts or deletes in all 64 slots, for
//! any width without a wasted bit. Slots are named by a word with one bit set.

use super::isa::Isa;

/// One bit of each of 64 slots, as little-endian bytes.
pub type Plane = [u8; 8];

/// The planes in `bytes`, whose length is a multiple of eight.
#[inline(always)]
pub(crate) fn of(bytes: &[u8]) -> &[Plane] {
    bytes.as_chunks().0
}

/// The planes in `bytes`, to be changed.
#[inline(always)]
pub(crate) fn of_mut(bytes: &mut [u8]) -> &mut [Plane] {
    bytes.as_chunks_mut().0
}

/// The word at `at`.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

/// Replaces the word at `at`.
#[inline(always)]
pub(crate) fn set_word(bytes: &mut [u8], at: usize, word: u64) {
    *bytes[at..].first_chunk_mut().unwrap() = word.to_le_bytes();
}

/// The slots that hold `value`, used or not.
#[inline(always)]
pub(crate) fn holding<I: Isa>(isa: I, planes: &[Plane], value: u64) -> u64 {
    !isa.differing(planes, value)
}

/// Keeps only the slots in `kept`, packed to the low end; the rest becomes zero.
#[inline(always)]
pub(crate) fn keep<I: Isa>(isa: I, planes: &mut [Plane], kept: u64) {
    for plane in planes {
        *plane = isa.extract(u64::from_le_bytes(*plane), kept).to_le_bytes();
    }
}

/// The opposite of [`keep`]: moves the slots up to those in `kept`, in order; the others become zero.
#[inline(always)]
pub(crate) fn spread<I: Isa>(isa: I, planes: &mut [Plane], kept: u64) {
    for plane in planes {
        *plane = isa.deposit(u64::from_le_bytes(*plane), kept).to_le_bytes();
    }
}

/// Moves all slots up by one, the last one out; the last of `before` enters.
#[inline(always)]
pub(crate) fn follow(planes: &mut [Plane], before: &[Plane]) {
    for (plane, before) in planes.iter_mut().zip(before) {
        let last = u64::from_le_bytes(*before) >> (u64::BITS - 1);
        *plane = (u64::from_le_bytes(*plane) << 1 | last).to_le_bytes();
    }
}

/// Moves the first `count` slots of `from` into `into` behind its first `used`, less than 64; the
/// others of `from` move down. What `into` has behind these is lost.
#[inline(always)]
pub(crate) fn draw(into: &mut [Plane], used: u32, from: &mut [Plane], count: u32) {
    let used = used % u64::BITS;
    let below = (1 << used) - 1;
    for (into, from) in into.iter_mut().zip(from) {
        let (head, tail) = (u64::from_le_bytes(*into), u64::from_le_bytes(*from));
        *into = (head & below | tail << used).to_le_bytes();
        *from = tail.unbounded_shr(count).to_le_bytes();
    }
}

/// One plane of [`Isa::insert`]: the low bit of `bit` enters at `slot`.
#[inline(always)]
pub(crate) fn open(word: u64, slot: u64, bit: u64) -> u64 {
    let above = word & slot.wrapping_neg();
    word.wrapping_add(above) | (slot & all(bit))
}

/// 64 copies of the low bit.
#[inline(always)]
pub(super) fn all(bit: u64) -> u64 {
    (bit & 1).wrapping_neg()
}
