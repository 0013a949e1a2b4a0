//! The counter as bytes: written, and read without trust.
//!
//! A payload is items, lost entries, whether it is a product, tables as for [`Growing`](crate::growing::Growing), and for every
//! segment, in the order of their prefixes, its depth, the number of its words (zero for one that knows
//! nothing any more) and those.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::super::directory::Listed;
use super::super::origin::Origins;
use super::super::segment::{BLOCKS, HEAD, Segment};
use super::super::state::{read_directory, write_table};
use super::super::stock::Stock;
use super::blueprint::GrowingCountsParameters;
use super::counts::CountedSegment;
use super::filter::GrowingCounts;
use super::shape::MOST_COUNT;
use crate::bits::MOST_WORDS;
use crate::codec::{Reader, Writer};
use crate::error::Error;

pub(super) fn write(filter: &GrowingCounts, out: &mut Writer) {
    filter.stock.write(out);
    out.u8(filter.is_product.into());
    write_table(&filter.directory, out);
    for hash in filter.directory.first_hashes() {
        let (depth, segment) = filter.directory.segment(hash);
        out.u8(depth as u8);
        out.u32(segment.words().len() as u32);
        out.words(segment.words());
    }
}

pub(super) fn read(
    parameters: GrowingCountsParameters,
    payload: &mut Reader<'_>,
) -> Result<GrowingCounts, Error> {
    let stock = Stock::read(payload)?;
    let is_product = payload.u8("product")?;
    if is_product > 1 {
        let expected = "0 or 1";
        return Err(Error::Field { field: "product", found: is_product.into(), expected });
    }
    let directory = read_directory(payload, false, |payload, _, depth| {
        let segment = read_segment(payload, parameters.lengths.width(depth))?;
        Ok(Listed { segment, depth, origins: Origins::default() })
    })?;
    let slots = |hash| {
        let (depth, segment) = directory.segment(hash);
        CountedSegment::of(segment, parameters.lengths.width(depth)).taken() as u64
    };
    let stock = stock.of_at_most(directory.first_hashes().map(slots).sum());
    let filter = GrowingCounts::from_parts(parameters, directory, stock);
    Ok(GrowingCounts { is_product: is_product == 1, ..filter })
}

fn read_segment(payload: &mut Reader<'_>, key_bits: usize) -> Result<Segment, Error> {
    let words = payload.u32("words of a segment")?;
    if words == 0 {
        return Ok(Segment::blind());
    }
    let expected = "a segment that does not contradict itself";
    let fault = Error::Field { field: "segment", found: words.into(), expected };
    if !(HEAD as u32 + 1..=MOST_WORDS as u32).contains(&words) {
        return Err(fault);
    }
    let words = payload.words("segment", words.into())?;
    let counts = CountedSegment::of(Segment::from_words(words.into_boxed_slice()), key_bits);
    if counts.is_sound() { Ok(counts.segment) } else { Err(fault) }
}

impl CountedSegment<Box<[u64]>> {
    /// Checks every invariant of a segment.
    fn is_sound(&self) -> bool {
        let starts: Vec<usize> =
            (0..BLOCKS).map(|number| self.segment.block(number).start()).collect();
        let slots = self.segment.slots(self.shape.width());
        // The last slot is free, so that every block starts inside.
        self.shape.is_valid()
            && slots > 0
            && starts[0] == 0
            && starts.is_sorted()
            && starts[BLOCKS - 1] < slots
            && self.is_free(slots - 1)
            && (0..BLOCKS).all(|number| self.is_sound_block(number))
    }

    /// Checks that a block has a run for every occupied bucket, sorted and without gaps, and every count its
    /// digits.
    fn is_sound_block(&self, number: usize) -> bool {
        let width = self.shape.width();
        let block = self.segment.block(number);
        let end = self.segment.end(width, number);
        let limit = match number + 1 {
            BLOCKS => self.segment.slots(width),
            next => self.segment.block(next).start(),
        };
        let (mut slot, mut runs, mut before) = (block.start(), 0, 0);
        while slot < end {
            let Some(after) = self.sound_entry(slot, end) else { return false };
            let entry = self.entry(slot);
            if entry.key <= before {
                return false;
            }
            let ends = self.segment.ends_at(after - 1);
            before = if ends { 0 } else { entry.key };
            runs += u32::from(ends);
            slot = after;
        }
        runs == block.occupied().count_ones() && (end..limit).all(|slot| self.is_free(slot))
    }

    /// The slot after the entry that begins here, if its digits are all in its run and as few as can be.
    fn sound_entry(&self, at: usize, end: usize) -> Option<usize> {
        let width = self.shape.width();
        let field = self.segment.field(width, at);
        let mut after = at + 1;
        if self.shape.code(field) == self.shape.escape() {
            loop {
                if after >= end || self.segment.ends_at(after - 1) {
                    return None;
                }
                after += 1;
                if !self.shape.goes_on(self.segment.field(width, after - 1)) {
                    break;
                }
            }
        }
        let entry = self.entry(at);
        let is_told = entry.count <= MOST_COUNT && self.shape.digits(entry.count) == entry.digits;
        is_told.then_some(after)
    }

    fn is_free(&self, slot: usize) -> bool {
        !self.segment.ends_at(slot) && self.segment.field(self.shape.width(), slot) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::address::Block;
    use super::*;

    /// A segment of nothing in so many words.
    fn read(words: usize, key_bits: usize) -> bool {
        let mut payload = Writer::new();
        payload.u32(words as u32);
        payload.words(&vec![0; words]);
        read_segment(&mut Reader::new(&payload.into_bytes()), key_bits).is_ok()
    }

    #[test]
    fn segments_without_slots_or_with_too_wide_ones_are_refused() {
        assert!((1..=HEAD).all(|words| !read(words, 10)));
        assert!(read(HEAD + 8, 10) && read(MOST_WORDS, 10) && !read(MOST_WORDS + 1, 10));
        // A bit of each slot is its code at least, and 62 bits are the most.
        assert!(read(HEAD + 64, 61) && !read(HEAD + 64, 62));
    }

    #[test]
    fn blocks_begin_in_front_of_the_last_slot() {
        let empty: Segment = Segment::from_words(vec![0; HEAD + 64].into());
        let begins_at = |slot| {
            let mut segment = empty.clone();
            segment.set_block(BLOCKS - 1, Block::new(slot, 0));
            CountedSegment::of(segment, 10).is_sound()
        };
        let slots = empty.slots(CountedSegment::of(empty.clone(), 10).shape.width());
        assert!(begins_at(slots - 1) && !begins_at(slots));
    }
}
