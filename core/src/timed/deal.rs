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
        let mut entries = Vec::with_capacity(info.count());
        if info.bins == 0 {
            return entries;
        }
        let layout = info.layout(shape);
        let (mut values, mut ends) = ([0; SLOTS], 0);
        let mut bin_of_values = usize::MAX;
        for number in 0..info.groups(shape) {
            let group = self.group(number);
            let (mut slot, mut buckets) = (group.start(), group.occupied());
            while buckets != 0 {
                if slot / SLOTS != bin_of_values {
                    bin_of_values = slot / SLOTS;
                    (ends, values) = self.slot_values(layout, bin_of_values);
                }
                let value = values[slot % SLOTS];
                let bucket = number as u32 * BUCKETS + buckets.trailing_zeros();
                entries.push(fine(shape, info, bucket, value));
                if ends >> (slot % SLOTS) & 1 != 0 {
                    buckets &= buckets - 1;
                }
                slot += 1;
            }
        }
        entries
    }

    /// The ends of a bin, and the values of all its slots.
    #[inline(always)]
    fn slot_values(&self, layout: Layout, bin: usize) -> (u64, [u64; SLOTS]) {
        let mut values = [0; SLOTS];
        for row in 0..layout.rows {
            let bytes = &self.row(layout, row)[bin * SLOTS..][..SLOTS];
            for (value, &byte) in values.iter_mut().zip(bytes) {
                *value = *value << 8 | u64::from(byte);
            }
        }
        let planes = self.planes(layout, bin);
        for word in &planes[1..] {
            for (slot, value) in values.iter_mut().enumerate() {
                *value = *value << 1 | word >> slot & 1;
            }
        }
        (planes[0], values)
    }

    /// The same entries in more or fewer bins, which have room for them: words are copied, and the upper
    /// half moves by whole bins.
    pub(super) fn with_bins(&self, shape: &Shape, bins: usize) -> Segment {
        let info = self.info();
        let made_info = Info { bins, ..info };
        let mut made = Segment::zeros(shape, self.generation(), made_info);
        let (at, groups) = (info.bins_at(shape), info.groups(shape));
        made.words[HEAD..at].copy_from_slice(&self.words[HEAD..at]);
        for word in &mut made.words[HEAD + groups / 2..HEAD + groups] {
            let group = Group(*word);
            let start = group.start() + made_info.slots() - info.slots();
            *word = Group::new(start, group.occupied()).0;
        }
        let (layout, made_layout) = (info.layout(shape), made_info.layout(shape));
        for number in 0..layout.rows {
            let (source, target) = (self.row(layout, number), made.row_mut(made_layout, number));
            target[..info.lower].copy_from_slice(&source[..info.lower]);
            target[made_info.upper_start()..].copy_from_slice(&source[info.upper_start()..]);
        }
        let stride = layout.planes();
        let (source, target) = (&self.words[layout.planes_at..], made.planes_mut(made_layout));
        let whole = info.lower / SLOTS * stride;
        target[..whole].copy_from_slice(&source[..whole]);
        copy_masked(source, target, whole, whole, stride, ones(info.lower % SLOTS));
        let first = info.upper_start() / SLOTS;
        let from = (first + 1) * stride;
        let upper = source.len().saturating_sub(from);
        let to = target.len() - upper;
        target[to..].copy_from_slice(&source[source.len() - upper..]);
        if info.upper > 0 {
            let slots = !ones(info.upper_start() % SLOTS);
            copy_masked(source, target, first * stride, to - stride, stride, slots);
        }
        made
    }

    /// Whether all entries are as long as can be.
    pub(super) fn all_long(&self, shape: &Shape) -> bool {
        let info = self.info();
        let layout = info.layout(shape);
        let left = layout.low_bits - layout.beside_bits;
        if !info.mixed || info.bins == 0 {
            return true;
        }
        // The lowest bit of the field says so, in the last plane of fields or in the last row.
        if left > 0 {
            return (0..info.bins).all(|bin| self.planes(layout, bin)[left] == used(info, bin));
        }
        let row = self.row(layout, layout.rows - 1);
        let halves = [&row[..info.lower], &row[info.upper_start()..]];
        halves.iter().all(|half| half.iter().all(|byte| byte & 1 != 0))
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
        let lower = (shape.groups >> coarse) / 2;
        let lower_buckets = (lower as u32 * BUCKETS) << coarse;
        let lower = entries.partition_point(|entry| entry.bucket < lower_buckets);
        let upper = entries.len() - lower;
        let info = Info { lower, upper, bins, remainder_bits, mixed, coarse, blind };
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
        let mut slot = 0;
        for number in 0..groups {
            if number == groups / 2 {
                slot = info.upper_start();
            }
            let start = slot;
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
        }
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Gives all entries the tags of these, which are the same otherwise.
    pub(super) fn retag(&mut self, shape: &Shape, entries: &[Entry]) {
        let info = self.info();
        let layout = info.layout(shape);
        let slots = (0..info.lower).chain(info.upper_start()..info.slots());
        for (slot, entry) in slots.zip(entries) {
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

/// Copies some slots of a bin.
fn copy_masked(
    source: &[u64],
    target: &mut [u64],
    from: usize,
    to: usize,
    stride: usize,
    slots: u64,
) {
    if slots != 0 {
        let words = target[to..to + stride].iter_mut();
        words.zip(&source[from..from + stride]).for_each(|(to, from)| *to |= from & slots);
    }
}

/// The slots of a bin that are in use.
#[inline(always)]
pub(super) fn used(info: Info, bin: usize) -> u64 {
    let first = bin * SLOTS;
    lower_slots(info, first) | upper_slots(info, first)
}

/// Those of the lower half, of the bin with this first slot.
#[inline(always)]
pub(super) fn lower_slots(info: Info, first: usize) -> u64 {
    ones(info.lower.saturating_sub(first).min(SLOTS))
}

/// Those of the upper half.
#[inline(always)]
pub(super) fn upper_slots(info: Info, first: usize) -> u64 {
    !ones(info.upper_start().saturating_sub(first).min(SLOTS))
}
