//! Segments made from segments: with more or fewer bins, or one of two halves.
//!
//! With more or fewer bins, the entries of a block stay neighbours and are copied as bits. Halving a
//! segment moves the first bit of every remainder into the address: bucket u of block w becomes
//! bucket 2u or 2u + 1 of what is counted from block 2w on. An entry without a remainder goes to
//! both.

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::field::used_up;
use super::lanes::FieldLanes;
use super::segment::{
    Address, BLOCKS, BUCKETS, Block, HEAD, OnMatch, Outcome, SLOTS, Segment, words_of,
};
use crate::bits::{Isa, copy_bits};

/// Slots that are free at least when a segment was just made: one after every block, and the last,
/// which is never taken.
pub(super) const SPARE: usize = BLOCKS + 1;

/// Free slots that are left at the end of segments of so many slots.
const AT_END: usize = 4;
const LARGE: usize = 16 * SLOTS;

/// Bins that so many entries need.
pub(super) const fn least_bins(entries: usize) -> usize {
    (entries + SPARE).div_ceil(SLOTS)
}

/// Bins for so many entries when more will come: a sixteenth at a time, so that a segment is seldom
/// made anew.
pub(super) const fn bins_for(entries: usize) -> usize {
    let least = least_bins(entries);
    least.next_multiple_of(1 + least / 16)
}

/// Where blocks of so many entries start in so many slots, free ones spread evenly. A few are left at the end of
/// large segments: what comes looks for them there, and the last blocks would be full long before the others.
pub(super) fn starts(counts: &[usize; BLOCKS], slots: usize) -> [usize; BLOCKS] {
    let entries: usize = counts.iter().sum();
    let free = slots - entries - 1;
    let at_end = if slots >= LARGE && free >= BLOCKS + AT_END { AT_END } else { 0 };
    let free = free - at_end;
    let mut before = 0;
    core::array::from_fn(|number| {
        let start = before + free * number / BLOCKS;
        before += counts[number];
        start
    })
}

impl Segment {
    /// A segment of these entries, which are sorted.
    pub(super) fn of_entries(width: usize, entries: &[Address]) -> Self {
        let mut counts = [0; BLOCKS];
        for entry in entries {
            counts[entry.block as usize] += 1;
        }
        let bins = least_bins(entries.len());
        let mut segment = Self::new(width, bins);
        let mut rest = entries;
        for (number, (start, count)) in
            starts(&counts, SLOTS * bins).into_iter().zip(counts).enumerate()
        {
            let (block, others) = rest.split_at(count);
            let mut occupied = 0;
            for (at, entry) in block.iter().enumerate() {
                let next = block.get(at + 1);
                occupied |= 1 << entry.bucket;
                segment.set_field(width, start + at, entry.field);
                if next.is_none_or(|next| next.bucket != entry.bucket) {
                    segment.set_end(start + at);
                }
            }
            segment.set_block(number, Block::new(start, occupied));
            rest = others;
        }
        segment
    }

    /// Stores an entry, whatever else is there.
    fn store<I: Isa>(&mut self, isa: I, width: usize, place: Address) {
        let always = OnMatch::Store(usize::MAX);
        if self.insert(isa, width, place, always) == Outcome::Full {
            *self = self.reshaped(isa, width);
            self.insert(isa, width, place, always);
        }
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// All entries, in order.
    pub(super) fn entries(&self, width: usize) -> Vec<Address> {
        let mut entries = Vec::with_capacity(SLOTS * self.bins(width));
        for number in 0..BLOCKS {
            let block = self.block(number);
            let (mut slot, mut buckets) = (block.start(), block.occupied());
            while buckets != 0 {
                let bucket = buckets.trailing_zeros();
                entries.push(Address {
                    block: number as u32,
                    bucket,
                    field: self.field(width, slot),
                });
                if self.ends_at(slot) {
                    buckets &= buckets - 1;
                }
                slot += 1;
            }
        }
        entries
    }

    /// The same entries with as many bins as they need, free slots spread evenly.
    pub(super) fn reshaped<I: Isa>(&self, isa: I, width: usize) -> Segment {
        let counts = self.counts(width);
        let bins = bins_for(counts.iter().sum());
        self.spread_counted(isa, width, &counts, words_of(width, bins))
    }

    /// The same entries in so many words, free slots spread evenly.
    pub(super) fn spread<I: Isa>(&self, isa: I, width: usize, words: usize) -> Segment {
        self.spread_counted(isa, width, &self.counts(width), words)
    }

    /// The same where it is known how many entries each block has.
    pub(super) fn spread_counted<I: Isa>(
        &self,
        isa: I,
        width: usize,
        counts: &[usize; BLOCKS],
        words: usize,
    ) -> Segment {
        isa.vectorize(
            #[inline(always)]
            || {
                let mut made = Segment::of_length(words);
                let starts = starts(counts, made.slots(width));
                for (number, (to, &count)) in starts.into_iter().zip(counts).enumerate() {
                    let block = self.block(number);
                    let from = block.start();
                    made.set_block(number, Block::new(to, block.occupied()));
                    let low = self.field_end(width, from + count);
                    let made_low = made.field_end(width, to + count);
                    let ends = SLOTS * HEAD;
                    copy_bits(self.words(), ends + from, made.words_mut(), ends + to, count);
                    copy_bits(self.words(), low, made.words_mut(), made_low, count * width);
                }
                made
            },
        )
    }
}

/// One half of a segment.
pub(super) struct Half {
    pub(super) segment: Segment,
    /// Entries whose remainder was used up just now.
    pub(super) used_up: Vec<Address>,
}

/// The two halves of a segment, whose entries have one bit of remainder less, in fields as wide as each half has.
pub(super) fn halves<I: Isa>(
    isa: I,
    segment: &Segment<&[u64]>,
    width: usize,
    child_widths: [usize; 2],
) -> [Half; 2] {
    isa.vectorize(
        #[inline(always)]
        || {
            let mut everywhere = Vec::new();
            // As if one half had more by a few standard deviations, so that both are made for what
            // will come next, and no split costs more than another.
            let entries = segment.count(width);
            let bins = bins_for(entries / 2 + entries / 32);
            let mut halves = [0, 1].map(|side| {
                let (child_width, first) = (child_widths[side], side * BLOCKS / 2);
                half(isa, segment, width, child_width, bins, first, &mut everywhere)
            });
            for parent in everywhere {
                for bit in [0, 1] {
                    let (side, place) = child(parent, bit, 0);
                    let field = used_up(child_widths[side]);
                    halves[side].segment.store(isa, child_widths[side], Address { field, ..place });
                }
            }
            halves
        },
    )
}

/// The half of a segment that begins with this block, in so many bins, without entries whose
/// remainder is used up: those are added to the list.
#[inline(always)]
fn half<I: Isa>(
    isa: I,
    segment: &Segment<&[u64]>,
    width: usize,
    child_width: usize,
    bins: usize,
    first_block: usize,
    everywhere: &mut Vec<Address>,
) -> Half {
    let sources = half_blocks(isa, segment, width, first_block);
    let counts = sources.each_ref().map(Range::len);
    let bins = bins.max(least_bins(counts.iter().sum()));
    let mut made = Segment::new(child_width, bins);
    let mut newly_used_up = Vec::new();
    let (per_word, child_per_word) = (64 / width, 64 / child_width);
    let lanes = FieldLanes::new(width, child_width);
    for (number, (start, source)) in
        starts(&counts, SLOTS * bins).into_iter().zip(sources).enumerate()
    {
        let (parent, upper) = (first_block + number / 2, number % 2 == 1);
        let (mut buckets, first_bucket) = buckets_of_half(segment, first_block, number);
        let own = buckets >> first_bucket & ((1 << HALF) - 1);
        if let Some(occupied) = lanes.halve(isa, segment, source.clone(), own, &mut made, start) {
            made.set_block(number, Block::new(start, occupied));
            continue;
        }
        let below = 2 * first_bucket;
        let (mut occupied, mut last, mut to) = (0, u32::MAX, start);
        // As many fields as a word holds, so that they are read and written at once, and the ends of runs alike.
        let (mut fields, mut held) = (0, 0);
        for slots in chunks(source) {
            let mut old_ends = segment.ends(slots.clone());
            // Which entries are in another bucket than the one before, which then ends a run.
            let (first, mut others) = (to, 0);
            for slot in slots.clone().step_by(per_word) {
                let mut old_fields = segment.fields(width, slot);
                for _ in slot..slots.end.min(slot + per_word) {
                    let (bucket, field) = (buckets.trailing_zeros(), old_fields >> (64 - width));
                    old_fields <<= width;
                    // The last of its bucket: the next one is in the next bucket that has any.
                    buckets &= buckets.wrapping_sub(old_ends & 1);
                    old_ends >>= 1;
                    if field == used_up(width) {
                        everywhere.push(Address { block: parent as u32, bucket, field });
                        continue;
                    }
                    let bit = (field >> (width - 1)) as u32;
                    let field = (field % used_up(width)) << (child_width + 1 - width);
                    let bucket = 2 * bucket + bit - below;
                    others |= u64::from(bucket != last) << (to - first);
                    if held == child_per_word {
                        made.set_fields(child_width, to, held, fields);
                        (fields, held) = (0, 0);
                    }
                    (fields, held) = (fields << child_width | field, held + 1);
                    occupied |= 1 << bucket;
                    (last, to) = (bucket, to + 1);
                    if field == used_up(child_width) {
                        let block = (2 * parent + usize::from(upper)) % BLOCKS;
                        newly_used_up.push(Address { block: block as u32, bucket, field });
                    }
                }
            }
            // Before the first of all there is none.
            match first == start {
                true => made.set_ends(first, others >> 1),
                false => made.set_ends(first - 1, others),
            }
        }
        if to > start {
            made.set_end(to - 1);
            made.set_fields(child_width, to, held, fields);
        }
        made.set_block(number, Block::new(start, occupied));
    }
    Half { segment: made, used_up: newly_used_up }
}

/// The slots in parts of at most a word of ends.
#[inline(always)]
fn chunks(slots: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = slots.end;
    slots.step_by(SLOTS).map(move |first| first..end.min(first + SLOTS))
}

/// Buckets of a block that become a block of a child.
const HALF: u32 = BUCKETS / 2;

/// The slots of a segment from which the blocks of one half are made, the one that begins with this block: a
/// block of the child has half of the buckets of one of the parent.
#[inline(always)]
pub(super) fn half_blocks<I: Isa, W: Deref<Target = [u64]>>(
    isa: I,
    segment: &Segment<W>,
    width: usize,
    first_block: usize,
) -> [Range<usize>; BLOCKS] {
    core::array::from_fn(|number| {
        let parent = first_block + number / 2;
        let block = segment.block(parent);
        let middle = segment.run(isa, block, HALF).first;
        match number % 2 {
            0 => block.start()..middle,
            _ => middle..segment.end(width, parent),
        }
    })
}

/// The buckets in use from which a block of that half is made, and the first that could be: bucket u of those
/// becomes 2u or 2u + 1, counted from that one on. The lower half has the others after its own.
#[inline(always)]
pub(super) fn buckets_of_half<W: Deref<Target = [u64]>>(
    segment: &Segment<W>,
    first_block: usize,
    number: usize,
) -> (u64, u32) {
    let occupied = segment.block(first_block + number / 2).occupied();
    if number.is_multiple_of(2) { (occupied, 0) } else { (occupied & u64::MAX << HALF, HALF) }
}

/// The half, and the place there, to which the next bit of the remainder leads.
#[inline(always)]
pub(super) fn child(parent: Address, bit: u32, field: u64) -> (usize, Address) {
    let bucket = 2 * parent.bucket + bit;
    let block = 2 * parent.block + bucket / BUCKETS;
    let (side, block) = (block / BLOCKS as u32, block % BLOCKS as u32);
    (side as usize, Address { block, bucket: bucket % BUCKETS, field })
}
