//! Segments made from segments: entries taken out, put in, or moved as they are.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::entry::{BUCKETS, Entry, ones};
use super::segment::{Group, HEAD, Info, Layout, MOST_COARSE, SLOTS, Segment, Shape};
use super::slots::low_part;

/// Bins for so many entries and as many more as will soon come.
pub(super) fn bins_for(count: usize) -> usize {
    (count + count / 32).div_ceil(SLOTS)
}

/// Most bins that a segment with so many entries has: fewer are made whenever it is looked at.
pub(super) fn most_bins_for(count: usize) -> usize {
    2 + count / (SLOTS / 2)
}

/// How often to halve the groups for so many entries: as long as the words that go are more than the bits
/// that every entry gets.
pub(super) fn coarse_for(shape: &Shape, count: usize) -> u32 {
    let worth = |coarse: &u32| (shape.groups >> coarse) * SLOTS / 2 > count + count / 8;
    (0..MOST_COARSE).take_while(worth).count() as u32
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// All entries, in order.
    #[inline(always)]
    pub(super) fn entries(&self, shape: &Shape) -> Vec<Entry> {
        let info = self.info();
        let mut entries = Vec::with_capacity(info.count);
        let layout = info.layout(shape);
        let mut values = [0; SLOTS];
        let mut bin_of_values = usize::MAX;
        self.each_slot(
            shape,
            #[inline(always)]
            |bucket, slot| {
                if slot / SLOTS != bin_of_values {
                    bin_of_values = slot / SLOTS;
                    values = self.slot_values(layout, bin_of_values);
                }
                entries.push(fine(shape, info, bucket, values[slot % SLOTS]));
            },
        );
        entries
    }

    /// Tells of every entry its bucket and its slot, in order.
    #[inline(always)]
    pub(super) fn each_slot(&self, shape: &Shape, mut tell: impl FnMut(u32, usize)) {
        let info = self.info();
        if info.bins == 0 {
            return;
        }
        let layout = info.layout(shape);
        for number in 0..info.groups(shape) {
            let group = self.group(number);
            let (mut slot, mut buckets) = (group.start(), group.occupied());
            while buckets != 0 {
                tell(number as u32 * BUCKETS + buckets.trailing_zeros(), slot);
                if self.is_end(layout, slot) {
                    buckets &= buckets - 1;
                }
                slot += 1;
            }
        }
    }

    /// The values of all slots of a bin.
    #[inline(always)]
    fn slot_values(&self, layout: Layout, bin: usize) -> [u64; SLOTS] {
        let mut values = [0; SLOTS];
        for row in 0..layout.rows {
            let bytes = &self.row(layout, row)[bin * SLOTS..][..SLOTS];
            for (value, &byte) in values.iter_mut().zip(bytes) {
                *value = *value << 8 | u64::from(byte);
            }
        }
        for word in &self.planes(layout, bin)[1..] {
            for (slot, value) in values.iter_mut().enumerate() {
                *value = *value << 1 | word >> slot & 1;
            }
        }
        values
    }

    /// Whether all entries are as long as can be.
    pub(super) fn all_long(&self, shape: &Shape) -> bool {
        let info = self.info();
        let layout = info.layout(shape);
        let left = layout.low_bits - layout.beside_bits;
        if !info.mixed || info.bins == 0 {
            return true;
        }
        // The lowest bit of the field says so, in the last plane of fields or in the last row. What is free
        // is zero.
        let marked = if left > 0 {
            let planes =
                (0..info.bins).map(|bin| self.planes(layout, bin)[left].count_ones() as usize);
            planes.sum::<usize>()
        } else {
            self.row(layout, layout.rows - 1).iter().filter(|&&byte| byte & 1 != 0).count()
        };
        marked == info.count
    }
}

impl Segment {
    /// A segment without entries and with room for the first.
    pub(super) fn with_room(
        shape: &Shape,
        remainder_bits: u32,
        generation: u64,
        blind: u32,
    ) -> Self {
        let (bins, coarse) = (1, coarse_for(shape, 0));
        let info = Info { bins, remainder_bits, coarse, blind, ..Info::default() };
        Self::of_info(shape, generation, info, &[])
    }

    /// A segment of these entries, which are sorted and have at most so many bits of remainder; `None`
    /// if they are too many for any.
    #[inline(always)]
    pub(super) fn of_entries(
        shape: &Shape,
        entries: &[Entry],
        remainder_bits: u32,
        generation: u64,
        blind: u32,
    ) -> Option<Self> {
        if entries.is_empty() {
            return Some(Self::empty(generation, blind));
        }
        let (bins, coarse) = (bins_for(entries.len()), coarse_for(shape, entries.len()));
        let mixed = entries.iter().any(|entry| entry.len() < remainder_bits);
        let count = entries.len();
        let info = Info { count, bins, remainder_bits, mixed, coarse, blind };
        if bins > info.most_bins(shape) {
            return None;
        }
        Some(Self::of_info(shape, generation, info, entries))
    }

    /// A segment with these numbers and the entries that belong to them.
    #[inline(always)]
    pub(super) fn of_info(shape: &Shape, generation: u64, info: Info, entries: &[Entry]) -> Self {
        let mut made = Self::zeros(shape, generation, info);
        made.fill(shape, info, entries);
        made
    }

    #[inline(always)]
    fn fill(&mut self, shape: &Shape, info: Info, entries: &[Entry]) {
        let (groups, layout) = (info.groups(shape), info.layout(shape));
        let stride = layout.planes();
        let mut rest = entries;
        let mut starts = starts(info, groups);
        for number in 0..groups {
            let start = starts.next();
            let mut slot = start;
            let mut occupied = 0_u64;
            while let Some((entry, others)) = rest.split_first() {
                let (bucket, value) = coarse_value(shape, info, *entry);
                if bucket / BUCKETS != number as u32 {
                    break;
                }
                let last = others.first().is_none_or(|next| next.bucket >> info.coarse != bucket);
                occupied |= 1 << (bucket % BUCKETS);
                for row in 0..layout.rows {
                    self.row_mut(layout, row)[slot] = layout.byte(value, row);
                }
                let low = low_part(layout, last, value);
                let bin = &mut self.words[layout.planes_at + slot / SLOTS * stride..][..stride];
                for (word, bit) in bin.iter_mut().zip((0..stride).rev()) {
                    *word |= (low >> bit & 1) << (slot % SLOTS);
                }
                (rest, slot) = (others, slot + 1);
            }
            self.words[HEAD + number] = Group::new(start, occupied).0;
            starts.pass(slot);
        }
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Gives all entries the tags of these, which are the same otherwise.
    pub(super) fn retag(&mut self, shape: &Shape, entries: &[Entry]) {
        let layout = self.info().layout(shape);
        let mut slots = Vec::with_capacity(entries.len());
        self.each_slot(shape, |_, slot| slots.push(slot));
        for (slot, entry) in slots.into_iter().zip(entries) {
            self.set_tag(layout, slot, entry.tag);
        }
    }
}

/// An entry from its bucket in a segment and the value in its slot.
#[inline(always)]
pub(super) fn fine(shape: &Shape, info: Info, bucket: u32, value: u64) -> Entry {
    let (tag, payload) = (shape.tag(value), shape.payload(value));
    let field = value >> shape.beside_bits() & ones(info.field_bits() as usize);
    let word = info.word_of_field(field);
    // The first bits of a coarse field are the last of the bucket.
    let last = (word >> 1 >> (63 - info.coarse)) as u32;
    Entry { bucket: bucket << info.coarse | last, remainder: word << info.coarse, tag, payload }
}

/// The bucket of an entry in a segment, and the value in its slot.
#[inline(always)]
pub(super) fn coarse_value(shape: &Shape, info: Info, entry: Entry) -> (u32, u64) {
    let last = u64::from(entry.bucket) << 1 << (63 - info.coarse);
    let field = info.field_of_word(entry.remainder >> info.coarse | last);
    (entry.bucket >> info.coarse, shape.value(field, entry.payload, entry.tag))
}

/// Where groups begin: every one has an equal part of the free slots behind it.
#[derive(Debug)]
pub(super) struct Starts {
    /// Free slots behind every group, and behind how many groups there is one more.
    each: usize,
    more: usize,
    next: usize,
}

pub(super) fn starts(info: Info, groups: usize) -> Starts {
    let free = info.slots() - info.count;
    Starts { each: free / groups, more: free % groups, next: 0 }
}

impl Starts {
    /// The first slot of the next group.
    #[inline(always)]
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Its entries end before this slot.
    #[inline(always)]
    pub(super) fn pass(&mut self, end: usize) {
        self.next = end + self.each + usize::from(self.more > 0);
        self.more = self.more.saturating_sub(1);
    }
}
