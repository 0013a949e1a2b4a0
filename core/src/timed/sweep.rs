//! Removing what is too old from a segment.
//!
//! Entries are looked at 64 at a time: which tags are too old; which are kept; which of the buckets still
//! have somebody. Then every plane is packed, and what is packed is appended to what came before.
//!
//! Two additions say it all. A bucket keeps an entry if one of its slots is kept: adding the kept ones to
//! the slots before the end of the bucket carries into the end. The first slot of a bucket is now its first
//! survivor: adding the first slots to the dead ones carries through the dead. Buckets that go on in the
//! next bin carry into its first slot.
//!
//! ```text
//! ends      0 0 1 1 0 1     slots 0 to 5 in three buckets: 0-2, 3, 4-5
//! kept      0 1 0 0 1 1
//! survives      1 0   1     the first bucket and the third
//! firsts      1     1       the first of them begins with slot 1, which is packed to slot 0
//! ```

use core::ops::Deref;

use super::deal::{bins_for, lower_slots, most_bins_for, upper_slots, used};
use super::find::copies;
use super::entry::ones;
use super::segment::{Group, HEAD, Info, Layout, SLOTS, Segment, Shape};
use crate::bits::{Isa, bytes_mut};

/// Bins that a segment can have, and one more.
const BINS: usize = 256;
/// Words for a bit of every bucket.
const BUCKET_WORDS: usize = 64;

/// The lowest bit of each of eight bytes.
const LOW_BITS: u64 = u64::MAX / 0xff;

/// A segment has this part of its slots free at most when it was swept: a little more than an eighth,
/// which is what leaves with a generation of a steady stream.
const MOST_FREE: f64 = 0.2;

/// What became of a sweep.
#[derive(Debug)]
pub(super) enum Swept {
    /// Nothing was too old.
    Whole,
    /// This segment is left.
    Left(Segment),
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Removes what is more than `oldest` generations old, counted from the generation of the segment.
    /// The tags of the rest, and the generation, stay as they are.
    #[inline(always)]
    pub(super) fn sweep<I: Isa>(&self, isa: I, shape: &Shape, oldest: u32) -> Swept {
        let info = self.info();
        let layout = info.layout(shape);
        let mut kept = [0; BINS];
        let mut left = Info { lower: 0, upper: 0, ..info };
        for (bin, kept) in kept.iter_mut().enumerate().take(info.bins) {
            let young = !older_than(shape, self.tags(layout, bin), self.generation(), oldest);
            *kept = used(info, bin) & young;
            left.lower += (*kept & lower_slots(info, bin * SLOTS)).count_ones() as usize;
            left.upper += (*kept & upper_slots(info, bin * SLOTS)).count_ones() as usize;
        }
        if left.count() == info.count() && is_roomy_enough(info) {
            return Swept::Whole;
        }
        if left.count() == 0 {
            return Swept::Left(Segment::empty(self.generation(), info.blind));
        }
        if !is_roomy_enough(left) {
            left.bins = bins_after_sweep(left.count()).min(info.bins);
        }
        let mut packing = Packing {
            isa,
            info,
            kept: &kept,
            layout,
            made_layout: left.layout(shape),
            made: Segment::zeros(shape, self.generation(), left),
        };
        for row in 0..layout.rows {
            packing.pack_row(self, row, lower_slots, 0);
            packing.pack_row(self, row, upper_slots, left.upper_start());
        }
        let half = info.groups(shape) / 2;
        packing.pack(self, 0..half, lower_slots, 0);
        packing.pack(self, half..info.groups(shape), upper_slots, left.upper_start());
        Swept::Left(packing.made)
    }
}

/// Whether so few slots are free that a swept segment is left as it is.
fn is_roomy_enough(info: Info) -> bool {
    let free = info.slots() - info.count();
    (free as f64) <= MOST_FREE * info.slots() as f64 && info.bins <= most_bins_for(info.count())
        || info.bins <= bins_for(info.count())
}

/// Bins for what a sweep left: with room for half a generation, since others come too.
fn bins_after_sweep(count: usize) -> usize {
    (count + count / 16).div_ceil(SLOTS)
}

/// A segment that is made from the survivors of another.
struct Packing<'a, I> {
    isa: I,
    info: Info,
    layout: Layout,
    kept: &'a [u64; BINS],
    made_layout: Layout,
    made: Segment,
}

impl<I: Isa> Packing<'_, I> {
    /// Packs these slots of a row, to `start` and after. What it writes beyond them are zeros, where
    /// nothing is yet: rows are packed in order, and before planes.
    #[inline(always)]
    fn pack_row<W: Deref<Target = [u64]>>(
        &mut self,
        from: &Segment<W>,
        row: usize,
        slots_of: fn(Info, usize) -> u64,
        start: usize,
    ) {
        let source = from.row(self.layout, row);
        let mut to = self.made_layout.row_at(row) + start;
        let target = bytes_mut(&mut self.made.words);
        for (bin, source) in source.as_chunks::<SLOTS>().0.iter().enumerate() {
            let mut kept = self.kept[bin] & slots_of(self.info, bin * SLOTS);
            for eight in source.as_chunks::<8>().0 {
                if kept == 0 {
                    break;
                }
                let here = kept & 0xff;
                kept >>= 8;
                // A bit for every byte that stays, then all its bits.
                let all = self.isa.deposit(here, LOW_BITS) * 0xff;
                let packed = self.isa.extract(u64::from_le_bytes(*eight), all);
                target[to..][..8].copy_from_slice(&packed.to_le_bytes());
                to += here.count_ones() as usize;
            }
        }
    }

    /// Packs one half: these groups, and of every bin these slots, to `start` and after.
    #[inline(always)]
    fn pack<W: Deref<Target = [u64]>>(
        &mut self,
        from: &Segment<W>,
        groups: core::ops::Range<usize>,
        slots_of: fn(Info, usize) -> u64,
        start: usize,
    ) {
        let info = self.info;
        let mut slot = start;
        let mut runs = Bits { words: [0; BUCKET_WORDS], len: 0 };
        let mut before = [0; BINS];
        // A bucket begins in the first slot, and carries nothing into it.
        let (mut begins, mut moved, mut survived) = (1, 0, 0);
        for (bin, before) in before.iter_mut().enumerate().take(info.bins) {
            *before = slot - start;
            let slots = slots_of(info, bin * SLOTS);
            if slots == 0 {
                continue;
            }
            let (words, kept) = (from.planes(self.layout, bin), self.kept[bin] & slots);
            let (ends, dead) = (words[0] & slots, slots & !kept);
            let inner = slots & !ends;
            let survives = (add(inner, kept & inner, &mut survived) | kept) & ends;
            runs.push(self.isa.extract(survives, ends), ends.count_ones());
            let firsts = (ends << 1 | begins << slots.trailing_zeros()) & slots;
            begins = ends >> (SLOTS - 1);
            let firsts = firsts | add(dead, firsts & dead, &mut moved) & !dead;
            let count = kept.count_ones();
            if count == 0 {
                continue;
            }
            // What is first ends the one before it.
            let firsts = self.isa.extract(firsts, kept);
            if slot > start {
                self.append(slot - 1, [firsts]);
            } else {
                self.append(slot, [firsts >> 1]);
            }
            let isa = self.isa;
            let packed = words[1..].iter().map(|&word| isa.extract(word, kept));
            self.append(slot, core::iter::once(0).chain(packed));
            slot += count as usize;
        }
        before[info.bins] = slot - start;
        if slot > start {
            self.append(slot - 1, [1]);
        }
        let mut position = 0;
        for number in groups {
            let group = from.group(number);
            let (bin, shift) = (group.start() / SLOTS, group.start() % SLOTS);
            let slots = if bin < info.bins { slots_of(info, bin * SLOTS) } else { 0 };
            let earlier = (self.kept[bin] & slots & ones(shift)).count_ones() as usize;
            let occupied = group.occupied();
            let alive = runs.read(position);
            position += occupied.count_ones() as usize;
            let occupied = self.isa.deposit(alive, occupied);
            let group = Group::new(start + before[bin] + earlier, occupied);
            self.made.words[HEAD + number] = group.0;
        }
    }

    /// Writes bits of the first planes from a slot on, where only zeros are.
    #[inline(always)]
    fn append(&mut self, slot: usize, planes: impl IntoIterator<Item = u64>) {
        let stride = self.made_layout.planes();
        let at = self.made_layout.planes_at + slot / SLOTS * stride;
        let shift = slot % SLOTS;
        let (here, next) = self.made.words[at..].split_at_mut(stride);
        let mut next = next.iter_mut();
        for (word, bits) in here.iter_mut().zip(planes) {
            *word |= bits << shift;
            // What is left goes to the next bin, if there is one: the last has room.
            if let Some(next) = next.next() {
                *next |= bits >> 1 >> (SLOTS - 1 - shift);
            }
        }
    }
}

/// A bit for every bucket that had an entry.
struct Bits {
    words: [u64; BUCKET_WORDS],
    len: usize,
}

impl Bits {
    /// Appends some bits; the others of the word are zero.
    #[inline(always)]
    fn push(&mut self, bits: u64, count: u32) {
        let (word, shift) = (self.len / 64, self.len % 64);
        self.words[word] |= bits << shift;
        if let Some(next) = self.words.get_mut(word + 1) {
            *next |= bits >> 1 >> (63 - shift);
        }
        self.len += count as usize;
    }

    /// 64 bits from a position on.
    #[inline(always)]
    fn read(&self, position: usize) -> u64 {
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let (at, shift) = (position / 64, position % 64);
        word(at) >> shift | (word(at + 1) << 1) << (63 - shift)
    }
}

/// A part of a longer addition.
#[inline(always)]
fn add(one: u64, other: u64, carry: &mut u64) -> u64 {
    let (sum, first) = one.overflowing_add(other);
    let (sum, second) = sum.overflowing_add(*carry);
    *carry = u64::from(first | second);
    sum
}

/// The slots whose tag is more than so many generations old.
#[inline(always)]
pub(super) fn older_than(shape: &Shape, tags: &[u64], generation: u64, oldest: u32) -> u64 {
    // Generation - tag, bit by bit from the lowest on, and whether it is more than `oldest` so far.
    let (mut borrowed, mut more) = (0, 0);
    let now = shape.tag(generation);
    for (bit, &plane) in tags.iter().rev().enumerate() {
        let minuend = copies(u64::from(now >> bit));
        let difference = minuend ^ plane ^ borrowed;
        borrowed = !minuend & (plane | borrowed) | plane & borrowed;
        let limit = copies(u64::from(oldest >> bit));
        more = difference & !limit | !(difference ^ limit) & more;
    }
    more
}

#[cfg(test)]
mod tests {
    use super::super::clock::Ticks;
    use super::super::entry::{Entry, is_sorted};
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;

    /// Random segments of every fill and kind: what is left is what was young, in the same order, whether
    /// decoded or packed; and so it is in other numbers of bins.
    #[test]
    fn what_is_left_is_what_was_young() {
        for round in 0..600 {
            let draw = |stream| remix(round, stream);
            let generations = [1, 2, 7, 15, 200][(round % 5) as usize];
            let shape = Shape::new(8 << (round % 3), Ticks::new(1_000_000, generations), 9, 3);
            let shape = Shape { payload_bits: (round / 5 % 7) as u32, ..shape };
            let generation = draw(1);
            let count = [0, 1, 5, 63, 64, 65, 700, 1_500][(draw(2) % 8) as usize];
            let spread = if round % 7 == 0 { 10 } else { shape.buckets().into() };
            let mut entries: Vec<Entry> = (0..count)
                .map(|i| {
                    let age = remix(draw(3), i) % u64::from(shape.ages + 1);
                    let short = round % 2 == 0 && remix(draw(4), i).is_multiple_of(5);
                    Entry {
                        bucket: (remix(draw(5), i) % spread) as u32,
                        remainder: remix(draw(6), i) | 1,
                        tag: shape.tag(generation.wrapping_sub(age)),
                        payload: shape.payload(remix(draw(8), i)),
                    }
                    .cut(if short {
                        (remix(draw(7), i) % 9) as u32
                    } else {
                        9
                    })
                })
                .collect();
            entries.sort_by_key(|entry| (entry.bucket, entry.remainder));
            entries.dedup_by_key(|entry| (entry.bucket, entry.remainder));
            assert!(is_sorted(&entries));
            let segment = Segment::of_entries(&shape, &entries, 9, generation, 0).unwrap();
            assert_eq!(segment.entries(&shape), entries);
            assert_eq!(segment.all_long(&shape), entries.iter().all(|entry| entry.len() == 9));
            let bins = segment.info().bins;
            if bins > 0 {
                for bins in [bins + 1, bins + 5, entries.len().div_ceil(SLOTS)] {
                    let again = segment.with_bins(&shape, bins);
                    assert_eq!(again.info().bins, bins);
                    assert_eq!(again.entries(&shape), entries, "{round}: {bins}");
                    assert_eq!(again.with_bins(&shape, segment.info().bins), segment);
                }
            }
            for oldest in [0, 1, shape.ages / 2, shape.ages - 1, shape.ages] {
                let young = |entry: &Entry| shape.age(generation, entry.tag) <= oldest;
                let expected: Vec<Entry> = entries.iter().copied().filter(young).collect();
                match segment.sweep(Scalar, &shape, oldest) {
                    Swept::Whole => assert_eq!(expected.len(), entries.len()),
                    Swept::Left(left) => {
                        assert_eq!(left.entries(&shape), expected, "{round}: {oldest}");
                        assert!(left.info().bins <= most_bins_for(expected.len()));
                        let kind = segment.info();
                        let same = Info { mixed: kind.mixed, coarse: kind.coarse, ..left.info() };
                        assert!(expected.is_empty() || left.info() == same);
                    }
                }
            }
        }
    }
}
