//! The instruction set that every target has.
//!
//! Inlined wherever it is used, but not for WebAssembly: a browser loads it before it does anything.

use super::isa::{FEW, Isa};
use super::planes::{Plane, all, open};
use super::row::{NEAR, STRETCH, SlotBytes};

/// Plain Rust; nothing to prove.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Isa for Scalar {
    /// Out of line, so that a caller on a machine with vectors saves no registers for this way.
    #[inline(never)]
    fn vectorize<R>(self, operation: impl FnOnce() -> R) -> R {
        operation()
    }

    #[inline(never)]
    fn vectorize_apart<R>(self, operation: impl FnOnce() -> R) -> R {
        operation()
    }

    /// Six rounds, each moving every bit whose distance to its goal has that
    /// power of two; the distance is the number of zeros of the mask below it.
    #[inline]
    fn extract(self, word: u64, mask: u64) -> u64 {
        let mut word = word & mask;
        for (round, moving) in Shifts::of(mask).0.into_iter().enumerate() {
            let bits = word & moving;
            word = (word ^ bits) | bits >> (1 << round);
        }
        word
    }

    /// The same six rounds backwards. A selector with one bit, the usual
    /// case, walks to its place instead.
    #[inline]
    fn deposit(self, word: u64, mask: u64) -> u64 {
        if word & word.wrapping_sub(1) == 0 {
            return nth(word, mask);
        }
        let mut word = word;
        for (round, moving) in Shifts::of(mask).0.into_iter().enumerate().rev() {
            let bits = word << (1 << round) & moving;
            word = (word & !moving) | bits;
        }
        word & mask
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn low_bits(self, word: u64, count: u32) -> u64 {
        word & !u64::MAX.unbounded_shl(count)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn drop_ones(self, word: u64, count: u32) -> u64 {
        let mut word = word;
        for _ in 0..count.min(word.count_ones()) {
            word &= word.wrapping_sub(1);
        }
        word
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn differing(self, planes: &[Plane], value: u64) -> u64 {
        let mut differing = 0;
        for (bit, plane) in planes.iter().enumerate() {
            differing |= u64::from_le_bytes(*plane) ^ all(value >> bit);
        }
        differing
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn get(self, planes: &[Plane], slot: u64) -> u64 {
        let mut value = 0;
        for (bit, plane) in planes.iter().enumerate() {
            value |= u64::from(u64::from_le_bytes(*plane) & slot != 0) << bit;
        }
        value
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn set(self, planes: &mut [Plane], slot: u64, value: u64) {
        for (bit, plane) in planes.iter_mut().enumerate() {
            let word = u64::from_le_bytes(*plane);
            *plane = ((word & !slot) | (slot & all(value >> bit))).to_le_bytes();
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn insert(self, planes: &mut [Plane], slot: u64, value: u64) {
        for (bit, plane) in planes.iter_mut().enumerate() {
            *plane = open(u64::from_le_bytes(*plane), slot, value >> bit).to_le_bytes();
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn open_byte(self, row: &mut SlotBytes, slot: u32, value: u8) {
        let (slot, last) = (slot as usize, row.len() - 1);
        row.copy_within(slot..last, slot + 1);
        row[slot] = value;
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn bytes_holding(self, row: &SlotBytes, mask: u8, value: u8) -> u64 {
        holding(row, mask, value)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn near_bytes_holding(self, bytes: &[u8; NEAR], masks: &[u8; NEAR], value: u8) -> u64 {
        let wanted = |(&byte, &mask): (&u8, &u8)| u64::from(byte & mask == value);
        let pairs = bytes.iter().zip(masks).rev();
        pairs.fold(0, |set, pair| set << 1 | wanted(pair)) | 1 << (NEAR - 1)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn bytes_beginning(self, bytes: &[u8; STRETCH], value: u8) -> u32 {
        // The lowest one and the zeros below it do not count.
        wanted(bytes, |byte| (byte ^ value) & !(byte ^ byte.wrapping_sub(1)) == 0)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn gather(self, planes: &[Plane]) -> SlotBytes {
        let mut row = [0; 64];
        for (plane, bit) in planes.iter().zip(0..u8::BITS) {
            let plane = u64::from_le_bytes(*plane);
            for (slot, byte) in row.iter_mut().enumerate() {
                *byte |= ((plane >> slot & 1) as u8) << bit;
            }
        }
        row
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn scatter(self, row: &SlotBytes, planes: &mut [Plane]) {
        for (plane, bit) in planes.iter_mut().zip(0..u8::BITS) {
            let ones =
                row.iter().rev().fold(0, |ones, byte| ones << 1 | u64::from(byte >> bit & 1));
            *plane = ones.to_le_bytes();
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn count_below(self, numbers: &[i16; FEW], than: i16) -> u32 {
        numbers.iter().map(|&number| u32::from(number < than)).sum()
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn covers(self, block: &[u64; 4], mask: &[u64; 4]) -> bool {
        // No early exit: four words cost less than one mispredicted branch.
        block.iter().zip(mask).fold(0, |missing, (word, bits)| missing | (!word & bits)) == 0
    }
}

#[inline(always)]
fn wanted(bytes: &[u8; STRETCH], wanted: impl Fn(u8) -> bool) -> u32 {
    bytes.iter().rev().fold(0, |set, &byte| set << 1 | u32::from(wanted(byte)))
}

#[inline(always)]
fn holding(bytes: &[u8], mask: u8, value: u8) -> u64 {
    bytes.iter().rev().fold(0, |slots, byte| slots << 1 | u64::from(byte & mask == value))
}

/// For each power of two, the places whose bits move down by it.
struct Shifts([u64; 6]);

impl Shifts {
    #[inline]
    fn of(mut mask: u64) -> Self {
        let mut zeros = !mask << 1;
        let mut moves = [0; 6];
        for (round, moving) in moves.iter_mut().enumerate() {
            // Bit i of the parity: whether an odd number of zeros lies below i.
            let mut parity = zeros;
            for shift in [1, 2, 4, 8, 16, 32] {
                parity ^= parity << shift;
            }
            *moving = parity & mask;
            mask = (mask ^ *moving) | *moving >> (1 << round);
            zeros &= !parity;
        }
        Self(moves)
    }
}

/// The place of the n-th bit of `mask`, where `one` is 1 << n or zero.
#[inline]
fn nth(one: u64, mut mask: u64) -> u64 {
    if one == 0 {
        return 0;
    }
    for _ in 0..one.trailing_zeros() {
        mask &= mask.wrapping_sub(1);
    }
    mask & mask.wrapping_neg()
}
