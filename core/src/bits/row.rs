//! Numbers stored side by side: a byte for each of 64 slots.
//!
//! What [planes](super::planes) are for all slots at once, a row is for a few neighbours: their
//! bytes are one load, wherever they begin.

use super::isa::Isa;
use super::planes::{set_word, word};

/// A byte for each of 64 slots.
pub type SlotBytes = [u8; 64];

/// Bytes that are compared at once.
pub const NEAR: usize = 16;

/// Neighbours that are looked at together, wherever they begin.
pub const STRETCH: usize = 32;

/// The lowest bit of each of eight bytes.
const LOW_BITS: u64 = u64::MAX / 0xff;

/// Keeps only the slots in `kept`, packed to the low end; the rest becomes zero.
#[inline(always)]
pub(crate) fn keep<I: Isa>(isa: I, row: &mut SlotBytes, kept: u64) {
    // All is read before any of it is written, and nothing is read back: a load that spans several
    // stores would wait for them.
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(row.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    *row = [0; 64];
    let mut count = 0;
    for (eight, word) in words.into_iter().enumerate() {
        let kept = kept >> (8 * eight) & 0xff;
        // One bit per byte that stays, then all its bits.
        let bytes = isa.deposit(kept, LOW_BITS) * 0xff;
        set_word(row, count, isa.extract(word, bytes));
        count += kept.count_ones() as usize;
    }
}

/// The opposite of [`keep`]: moves the slots up to those in `kept`, in order; the others become zero.
#[inline(always)]
pub(crate) fn spread<I: Isa>(isa: I, row: &mut SlotBytes, kept: u64) {
    let mut count = 0;
    let mut words = [0; 8];
    for (eight, spread) in words.iter_mut().enumerate() {
        let kept = kept >> (8 * eight) & 0xff;
        let bytes = isa.deposit(kept, LOW_BITS) * 0xff;
        *spread = isa.deposit(word(row, count), bytes);
        count += kept.count_ones() as usize;
    }
    for (eight, word) in words.into_iter().enumerate() {
        set_word(row, 8 * eight, word);
    }
}
