//! Numbers stored side by side: a byte for each of 64 slots.
//!
//! What [planes](super::planes) are for all slots at once, a row is for a few neighbours: their
//! bytes are one load, wherever they begin.

use super::isa::Isa;
use super::planes::{set_word, word};

/// A byte for each of 64 slots.
pub type Row = [u8; 64];

/// Bytes that are compared at once.
pub const NEAR: usize = 16;

/// Keeps only the slots in `kept`, packed to the low end; the rest becomes zero.
#[inline(always)]
pub(crate) fn keep<I: Isa>(isa: I, row: &mut Row, kept: u64) {
    const LOW_BITS: u64 = u64::MAX / 0xff;
    let mut packed = [0; 72];
    let mut count = 0;
    for at in (0..row.len()).step_by(8) {
        let kept = kept >> at & 0xff;
        // One bit per byte that stays, then all its bits.
        let bytes = isa.deposit(kept, LOW_BITS) * 0xff;
        set_word(&mut packed, count, isa.extract(word(row, at), bytes));
        count += kept.count_ones() as usize;
    }
    *row = *packed.first_chunk().unwrap();
}
