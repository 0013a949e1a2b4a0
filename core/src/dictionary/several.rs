//! Several slots of a bin at once, for those who move entries between bins.

use super::bins::{Bin, SLOTS};
use super::layout::ROW_BITS;
use crate::bits::{Isa, SlotBytes};

/// Entries that are taken out of a full bin together at most.
pub(crate) const FEW: usize = 3;
/// Bits of each of them beside each other, and the lowest of those.
const LANE_BITS: u32 = 16;
const LANES: u64 = u64::MAX / 0xffff;

impl<B: AsRef<[u8]>> Bin<'_, B> {
    /// Remainder and tag of all slots, as one number each.
    #[inline(always)]
    pub(crate) fn values<I: Isa>(&self, isa: I) -> [u64; SLOTS as usize] {
        let mut values = self.row().map(u64::from);
        for (planes, shift) in self.planes().chunks(ROW_BITS).zip((ROW_BITS..).step_by(ROW_BITS)) {
            let row = isa.gather(planes);
            for (value, byte) in values.iter_mut().zip(row) {
                *value |= u64::from(byte) << shift;
            }
        }
        values
    }
}

impl Bin<'_, &mut [u8]> {
    /// Replaces remainder and tag of all slots.
    #[inline(always)]
    pub(crate) fn set_values<I: Isa>(&mut self, isa: I, values: &[u64; SLOTS as usize]) {
        *self.row_mut() = values.map(|value| value as u8);
        let planes = self.planes_mut().chunks_mut(ROW_BITS);
        for (planes, shift) in planes.zip((ROW_BITS..).step_by(ROW_BITS)) {
            isa.scatter(&values.map(|value| (value >> shift) as u8), planes);
        }
    }

    /// Replaces row and planes.
    #[inline(always)]
    pub(crate) fn set_slots(&mut self, row: &SlotBytes, planes: &[u64]) {
        *self.row_mut() = *row;
        for (plane, word) in self.planes_mut().iter_mut().zip(planes) {
            *plane = word.to_le_bytes();
        }
    }

    /// Removes the last so many entries of a full bin, at most [`FEW`], and returns what is in the last
    /// [`FEW`] slots, as one number each. The words stay as they are.
    #[inline(always)]
    pub(crate) fn take_end<I: Isa>(&mut self, isa: I, count: u32) -> [u64; FEW] {
        let kept = isa.low_bits(u64::MAX, SLOTS - count);
        let end: &mut [u8; FEW] = self.row_mut().last_chunk_mut().unwrap();
        let mut values = end.map(u64::from);
        end.iter_mut().rev().take(count as usize).for_each(|byte| *byte = 0);
        // The bits of each slot in lanes of sixteen: one step for every plane.
        for (planes, shift) in
            self.planes_mut().chunks_mut(LANE_BITS as usize).zip((ROW_BITS..).step_by(16))
        {
            let mut lanes = 0;
            for (plane, bit) in planes.iter_mut().zip(0..) {
                let word = u64::from_le_bytes(*plane);
                *plane = (word & kept).to_le_bytes();
                lanes |= isa.deposit(word >> (SLOTS - FEW as u32), LANES) << bit;
            }
            for (value, lane) in values.iter_mut().zip((0..).step_by(LANE_BITS as usize)) {
                *value |= (lanes >> lane & u64::from(u16::MAX)) << shift;
            }
        }
        values
    }
}
