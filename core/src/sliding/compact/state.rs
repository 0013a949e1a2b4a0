//! The blocks in a snapshot, and the check that bytes are blocks.

use alloc::vec::Vec;

use super::SPARE_BLOCKS;
use super::Shape;
use super::block::SLOTS;
use super::run::{GOES_ON, bit_of};
use super::store::Blocks;
use crate::bits::Scalar;
use crate::codec::{Reader, Writer};
use crate::dictionary::{Fault, Frame, Place};
use crate::error::Error;

impl Blocks {
    /// Writes all but the shape.
    pub(super) fn write_blocks(&self, out: &mut Writer) {
        out.u64(self.frame.lost);
        out.u64(self.late);
        self.frame.write_blind(out);
        out.bytes(self.records.as_slice());
    }

    /// Reads what [`Table::write`](crate::dictionary::Table::write) wrote, of which nothing is to be trusted before
    /// it is [`counted`](crate::dictionary::Table::counted).
    pub fn read(shape: Shape, lifetime: u16, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let lost = payload.u64("entries lost")?;
        let late = payload.u64("sweeps left out")?;
        let mut frame = Frame::new(shape.cut(), lifetime);
        frame.read_blind(lost, payload)?;
        // Before anything is allocated.
        let bytes = payload.bytes("blocks", shape.bytes())?;
        let wary = frame.blind.iter().any(|&passes| passes > 0);
        let mut blocks = Self { frame, late, wary, ..Self::new(shape, lifetime) };
        blocks.records.as_mut_slice().copy_from_slice(bytes);
        Ok(blocks)
    }

    /// All entries with their tags, home by home.
    #[cfg(test)]
    pub(super) fn entries(&self) -> Vec<(Place, u64)> {
        let mut entries = Vec::new();
        let _ = self.walk(|place, tag| {
            entries.push((place, tag));
            Ok(())
        });
        entries
    }

    /// All blocks, with those behind the last home.
    #[inline(always)]
    pub(super) fn blocks(&self) -> usize {
        self.shape.homes + SPARE_BLOCKS
    }

    /// What [`Table::count`](crate::dictionary::Table::count) says.
    pub(super) fn count_entries(
        &self,
        tag_limit: u64,
        due: impl Fn(usize) -> u64,
    ) -> Result<(u64, u64), Fault> {
        let (mut len, mut leaving) = (0, 0);
        let mut run: (Option<Place>, Vec<u64>) = (None, Vec::new());
        self.walk(|place, tag| {
            let bucket = Place { remainder: 0, ..place };
            if run.0 != Some(bucket) {
                run = (Some(bucket), Vec::new());
            }
            if run.1.contains(&place.remainder) || tag >= tag_limit {
                return Err(Fault::Bin(place.bin));
            }
            run.1.push(place.remainder);
            len += 1;
            leaving += u64::from(tag >> self.shape.fine_bits == due(place.bin));
            Ok(())
        })?;
        Ok((len, leaving))
    }

    /// Shows all entries in order, and checks that all blocks agree with one another.
    fn walk(&self, mut show: impl FnMut(Place, u64) -> Result<(), Fault>) -> Result<(), Fault> {
        let slots = SLOTS as usize;
        // The first slot that belongs to nobody so far, counted through all blocks.
        let mut at = 0_usize;
        for number in 0..self.blocks() {
            let block = self.get(number);
            let start = number * slots;
            if block.guests() as usize != at.saturating_sub(start) {
                return Err(Fault::Bin(number));
            }
            at = at.max(start);
            let [low, high] = block.buckets();
            let occupied = u128::from(high) << u64::BITS | u128::from(low);
            if number >= self.shape.homes && occupied != 0 {
                return Err(Fault::Bin(number));
            }
            let bucket_count = self.shape.buckets;
            for bucket in (0..bucket_count).filter(|&bucket| occupied >> bit_of(bucket) & 1 == 1) {
                loop {
                    if at / slots >= self.blocks() {
                        return Err(Fault::Bin(number));
                    }
                    let (there, slot) = (self.get(at / slots), (at % slots) as u32);
                    let (remainder, tag) = there.entry(Scalar, slot);
                    show(Place { bin: number, bucket, remainder }, tag)?;
                    at += 1;
                    if there.ends() >> slot & 1 == 1 {
                        break;
                    }
                }
            }
            // Beyond what is used nothing ends, and only a full block goes on.
            let words = block.words();
            let used = (at - start).min(slots) as u32;
            let goes_on = words.occupied[0] & GOES_ON != 0;
            if words.ends.unbounded_shr(used) != 0
                || goes_on != (used == SLOTS && words.ends & GOES_ON == 0)
            {
                return Err(Fault::Bin(number));
            }
        }
        Ok(())
    }
}
