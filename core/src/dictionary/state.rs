//! The dictionary in a snapshot, and the check that bytes are a dictionary.

use alloc::vec::Vec;

use super::backyard::Exile;
use super::bins::NOBODY;
use super::store::{Dictionary, Fault, slots};
use super::{Place, Shape};
use crate::bits::Scalar;
use crate::codec::{Reader, Writer};
use crate::error::Error;

impl Dictionary {
    /// Writes all but the shape.
    pub(super) fn write_levels(&self, out: &mut Writer) {
        out.u64(self.frame.lost);
        self.frame.write_blind(out);
        out.bytes(self.bins.records.as_slice());
        out.bytes(self.backyard.bytes.as_slice());
    }

    /// Reads what [`Table::write`](super::Table::write) wrote, of which nothing is to be trusted before it is
    /// [`counted`](super::Table::counted).
    pub fn read(shape: Shape, lifetime: u16, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let lost = payload.u64("entries lost")?;
        let mut frame = Self::frame_of(shape, lifetime);
        frame.read_blind(lost, payload)?;
        // Before anything is allocated.
        let (first, second) = shape.level_bytes();
        let bins = payload.bytes("bins", first)?;
        let backyard = payload.bytes("backyard", second)?;
        let mut dictionary = Self { frame, ..Self::new(shape, lifetime) };
        dictionary.bins.records.as_mut_slice().copy_from_slice(bins);
        dictionary.backyard.bytes.as_mut_slice().copy_from_slice(backyard);
        Ok(dictionary)
    }

    /// What [`Table::count`](super::Table::count) says.
    pub(super) fn count_entries(
        &self,
        tag_limit: u64,
        due: impl Fn(usize) -> u64,
    ) -> Result<(u64, u64), Fault> {
        for number in 0..self.shape.bins {
            self.check_bin(number, tag_limit).ok_or(Fault::Bin(number))?;
        }
        let mut exiles = 0;
        for number in 0..self.shape.bins {
            exiles += self.check_exiles(number, tag_limit)?;
        }
        // Exiles of no home would never be swept.
        let (in_sheds, stashed) = self.backyard.population();
        if exiles != in_sheds + stashed {
            return Err(Fault::Shed(self.shape.sheds));
        }
        let (mut len, mut leaving) = (0, 0);
        for (place, tag) in self.entries() {
            len += 1;
            leaving += u64::from(tag == due(place.bin));
        }
        Ok((len, leaving))
    }

    fn check_bin(&self, number: usize, tag_limit: u64) -> Option<()> {
        let bin = self.bins.get(number);
        let head = bin.head();
        let threshold = head.threshold == NOBODY || head.threshold < self.shape.buckets;
        let runs: u32 = head.occupied.iter().map(|word| word.count_ones()).sum();
        if runs != head.ends.count_ones() || !bin.is_clean() || !threshold {
            return None;
        }
        let mut run: Vec<u64> = Vec::new();
        for slot in slots(head.used()) {
            let (remainder, tag) = bin.entry(Scalar, slot);
            if run.contains(&remainder) || tag >= tag_limit {
                return None;
            }
            run.push(remainder);
            if head.ends & slot != 0 {
                run.clear();
            }
        }
        Some(())
    }

    fn check_exiles(&self, number: usize, tag_limit: u64) -> Result<u64, Fault> {
        let head = self.bins.get(number).head();
        let mut known: Vec<Place> = Vec::new();
        for room in self.backyard.rooms(number) {
            for slot in slots(self.backyard.residents(Scalar, &room)) {
                let Exile { bucket, remainder, tag } = self.backyard.exile(&room, slot);
                let place = Place { bin: number, bucket, remainder };
                let reachable = bucket >= head.threshold && bucket < self.shape.buckets;
                if !reachable
                    || tag >= tag_limit
                    || known.contains(&place)
                    || self.is_at_home(place)
                {
                    return Err(Fault::Shed(number % self.shape.sheds));
                }
                known.push(place);
            }
        }
        Ok(known.len() as u64)
    }

    fn is_at_home(&self, place: Place) -> bool {
        let bin = self.bins.get(place.bin);
        bin.find(Scalar, bin.head().run(Scalar, place.bucket), place.remainder) != 0
    }
}
