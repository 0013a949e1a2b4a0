//! A segment whose signatures are counted: finding an entry, changing its count, taking it out.

use core::ops::{Deref, DerefMut};

use super::super::field::matches;
use super::super::segment::{Address, BLOCKS, Run, Segment};
use super::shape::{MOST_COUNT, Shape};
use crate::bits::{Isa, Scalar};

/// A segment and how its slots are cut.
#[derive(Debug, Clone)]
pub(super) struct CountedSegment<W> {
    pub(super) segment: Segment<W>,
    pub(super) shape: Shape,
}

/// A signature with its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The slot of the signature.
    pub(super) at: usize,
    /// Slots after it that hold digits.
    pub(super) digits: usize,
    pub(super) key: u64,
    pub(super) count: u64,
}

impl Entry {
    /// The slot after it.
    #[inline(always)]
    fn end(self) -> usize {
        self.at + 1 + self.digits
    }
}

/// What a bucket has for a hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) run: Run,
    /// The one entry that matches, or the slot where one would go.
    pub(super) entry: Result<Entry, usize>,
}

impl<W: Deref<Target = [u64]>> CountedSegment<W> {
    /// A segment whose longest signatures have so many bits with the one that ends them.
    #[inline(always)]
    pub(super) fn of(segment: Segment<W>, key_bits: usize) -> Self {
        let shape = Shape::of(key_bits, segment.words().len());
        Self { segment, shape }
    }

    /// Slots that are taken.
    pub(super) fn taken(&self) -> usize {
        self.segment.count(self.shape.width())
    }

    #[inline(always)]
    fn field(&self, slot: usize) -> u64 {
        self.segment.field(self.shape.width(), slot)
    }

    /// The entry whose signature is in this slot.
    #[inline(always)]
    pub(super) fn entry(&self, at: usize) -> Entry {
        let field = self.field(at);
        let (key, code) = (self.shape.key(field), self.shape.code(field));
        if code < self.shape.escape() {
            return Entry { at, digits: 0, key, count: code + 1 };
        }
        let (mut digits, mut rest, mut shift) = (0, 0u64, 0);
        loop {
            let digit = self.field(at + 1 + digits);
            let value = digit & ((1 << self.shape.digit_bits()) - 1);
            // More than fits only if forged.
            rest |= value.unbounded_shl(shift);
            (digits, shift) = (digits + 1, shift + self.shape.digit_bits());
            if !self.shape.goes_on(digit) {
                break;
            }
        }
        let count = (rest & MOST_COUNT).saturating_add(1 << self.shape.code_bits).min(MOST_COUNT);
        Entry { at, digits, key, count }
    }

    /// The entry that matches a place.
    #[inline(always)]
    pub(super) fn find<I: Isa>(&self, isa: I, place: Address) -> Found {
        let block = self.segment.block(place.block as usize);
        let run = self.segment.run(isa, block, place.bucket);
        let mut slot = run.first;
        while slot < run.end {
            let entry = self.entry(slot);
            if matches(entry.key, place.field) {
                return Found { run, entry: Ok(entry) };
            }
            if entry.key > place.field {
                break;
            }
            slot = entry.end();
        }
        Found { run, entry: Err(slot) }
    }

    /// Tells of every entry of these blocks, in order: where it is, and how often it was seen.
    #[inline(always)]
    pub(super) fn each(
        &self,
        blocks: impl Iterator<Item = usize>,
        mut visit: impl FnMut(Address, Entry),
    ) {
        for number in blocks {
            let block = self.segment.block(number);
            let (mut slot, mut buckets) = (block.start(), block.occupied());
            while buckets != 0 {
                let entry = self.entry(slot);
                let bucket = buckets.trailing_zeros();
                visit(Address { block: number as u32, bucket, field: entry.key }, entry);
                slot = entry.end();
                if self.segment.ends_at(slot - 1) {
                    buckets &= buckets - 1;
                }
            }
        }
    }

    /// The same for all blocks.
    #[inline(always)]
    pub(super) fn each_of_all(&self, visit: impl FnMut(Address, Entry)) {
        self.each(0..BLOCKS, visit);
    }
}

impl<W: DerefMut<Target = [u64]>> CountedSegment<W> {
    /// Stores a signature that was not there, seen so often or as often as its code tells, and says
    /// whether there was room.
    #[inline(always)]
    pub(super) fn insert(&mut self, place: Address, found: Found, count: u64) -> bool {
        let Found { run, entry: Err(at) } = found else { return false };
        let field = self.shape.field(place.field, count.min(self.shape.escape()));
        self.make_slot(place, run, at, field) && {
            self.segment.occupy(place);
            true
        }
    }

    /// Writes how often the entry was seen. If that takes more slots, one is added at a time, and `false`
    /// says that there was no room for another; the count is then as near as it can be, and not above.
    #[inline(always)]
    pub(super) fn set_count(&mut self, place: Address, found: Found, count: u64) -> bool {
        let Found { mut run, entry: Ok(mut entry) } = found else { return false };
        let digits = self.shape.digits(count);
        if entry.digits == 0 && digits == 0 {
            let field = self.shape.field(entry.key, count);
            self.segment.set_field(self.shape.width(), entry.at, field);
            return true;
        }
        while entry.digits < digits {
            if !self.make_slot(place, run, entry.end(), 0) {
                return false;
            }
            (run.end, entry.digits) = (run.end + 1, entry.digits + 1);
            // What digits there are tell as much as they can until the next one is there.
            let told = count.min(self.shape.most_with(entry.digits));
            self.write_count(entry, told);
        }
        while entry.digits > digits {
            self.segment.remove_at(self.shape.width(), place, run, entry.end() - 1);
            (run.end, entry.digits) = (run.end - 1, entry.digits - 1);
        }
        self.write_count(entry, count);
        true
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, place: Address, found: Found) {
        let Found { mut run, entry: Ok(entry) } = found else { return };
        for slot in (entry.at..entry.end()).rev() {
            self.segment.remove_at(self.shape.width(), place, run, slot);
            run.end -= 1;
        }
    }

    /// Writes a count that has as many digits as the entry.
    fn write_count(&mut self, entry: Entry, count: u64) {
        let (shape, width) = (self.shape, self.shape.width());
        self.segment.set_field(width, entry.at, shape.field(entry.key, count));
        for number in 0..entry.digits {
            let digit = shape.digit(count, number, entry.digits);
            self.segment.set_field(width, entry.at + 1 + number, digit);
        }
    }

    /// Puts a field into slot `at` of a run.
    #[inline(always)]
    fn make_slot(&mut self, place: Address, run: Run, at: usize, field: u64) -> bool {
        let (width, number) = (self.shape.width(), place.block as usize);
        let ends = at == run.end;
        let made = self.segment.make_slot(width, number, at, ends, field, Scalar);
        if made && ends && run.end > run.first {
            self.segment.unset_end(at - 1);
        }
        made
    }
}
