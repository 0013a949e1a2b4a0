//! Removing what is too old from a segment, and dealing what is left anew.
//!
//! Entries of a group are looked at 64 at a time: which tags are too old; which are kept; which of the
//! buckets still have somebody. Then every plane is packed, and written to where the group begins now.
//!
//! Two additions say it all. A bucket keeps an entry if one of its slots is kept: adding the kept ones to
//! the slots before the end of the bucket carries into the end. The first slot of a bucket is now its first
//! survivor: adding the first slots to the dead ones carries through the dead. Buckets of a group with more
//! than 64 entries, that go on in the next 64, carry into the first of them.
//!
//! ```text
//! ends      0 0 1 1 0 1     slots 0 to 5 in three buckets: 0-2, 3, 4-5
//! kept      0 1 0 0 1 1
//! survives      1 0   1     the first bucket and the third
//! firsts      1     1       the first of them begins with slot 1, which is packed to slot 0
//! ```

use alloc::vec::Vec;
use core::ops::Deref;

use super::deal::{bins_for, most_bins_for, starts};
use super::entry::ones;
use super::find::copies;
use super::segment::{Group, HEAD, Info, Layout, SLOTS, Segment, Shape};
use crate::bits::{Isa, bytes, bytes_mut};

/// Bins that a segment can have, and one more.
const BINS: usize = 256;

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
        let mut young = [0; BINS];
        let mut count = 0;
        for (bin, young) in young.iter_mut().enumerate().take(info.bins) {
            *young = !older_than(shape, self.tags(layout, bin), self.generation(), oldest);
            count += young.count_ones() as usize;
        }
        // The tag of a slot that is free is zero.
        if shape.age(self.generation(), 0) <= oldest {
            count -= info.slots() - info.count;
        }
        let mut left = Info { count, ..info };
        if left.count == info.count && is_roomy_enough(info) {
            return Swept::Whole;
        }
        if left.count == 0 {
            return Swept::Left(Segment::empty(self.generation(), info.blind));
        }
        if !is_roomy_enough(left) {
            left.bins = bins_after_sweep(left.count).min(info.bins);
        }
        Swept::Left(self.dealt(isa, shape, left, &young))
    }

    /// The same entries in more or fewer bins, which have room for them.
    #[inline(always)]
    pub(super) fn with_bins<I: Isa>(&self, isa: I, shape: &Shape, bins: usize) -> Segment {
        self.dealt(isa, shape, Info { bins, ..self.info() }, &[u64::MAX; BINS])
    }

    /// A segment of those of the entries that are kept, of which there are as many as `made` says.
    #[inline(always)]
    fn dealt<I: Isa>(&self, isa: I, shape: &Shape, made: Info, kept: &[u64; BINS]) -> Segment {
        let info = self.info();
        let (layout, made_layout) = (info.layout(shape), made.layout(shape));
        let made = Segment::zeros(shape, self.generation(), made);
        let mut dealing = Dealing { isa, from: self, layout, made, made_layout };
        let stretches = dealing.stretches(shape, kept);
        for row in 0..layout.rows {
            for stretch in &stretches {
                dealing.pack_row(row, stretch);
            }
        }
        dealing.pack_planes(&stretches);
        dealing.made
    }
}

/// Whether so few slots are free that a swept segment is left as it is.
fn is_roomy_enough(info: Info) -> bool {
    let free = info.slots() - info.count;
    (free as f64) <= MOST_FREE * info.slots() as f64 && info.bins <= most_bins_for(info.count)
        || info.bins <= bins_for(info.count)
}

/// Bins for what a sweep left: with room for most of a generation, since others come too.
fn bins_after_sweep(count: usize) -> usize {
    (count + count / 10).div_ceil(SLOTS)
}

/// At most 64 entries of a group.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    group: usize,
    /// Where they are.
    from: usize,
    /// Where those that are kept go.
    to: usize,
    used: u64,
    kept: u64,
    ends: u64,
}

/// A segment that is made from entries of another.
struct Dealing<'a, I, W> {
    isa: I,
    from: &'a Segment<W>,
    layout: Layout,
    made: Segment,
    made_layout: Layout,
}

impl<I: Isa, W: Deref<Target = [u64]>> Dealing<'_, I, W> {
    /// What goes where. Groups begin where they will.
    #[inline(always)]
    fn stretches(&mut self, shape: &Shape, kept: &[u64; BINS]) -> Vec<Stretch> {
        let info = self.from.info();
        let groups = info.groups(shape);
        let mut starts = starts(self.made.info(), groups);
        let mut stretches = Vec::with_capacity(groups + info.bins);
        for number in 0..groups {
            let group = self.from.group(number);
            let mut to = starts.next();
            self.made.words[HEAD + number] = Group::new(to, 0).0;
            let (mut from, mut left) = (group.start(), group.occupied().count_ones());
            while left > 0 {
                let ends = self.from.ends_from(self.layout, from);
                // Behind the last end of the group there are others.
                let here = ends.count_ones().min(left);
                left -= here;
                let (used, ends) = if left > 0 {
                    (u64::MAX, ends)
                } else {
                    let ends = ends & self.isa.deposit(ones(here as usize), ends);
                    (ones((u64::BITS - ends.leading_zeros()) as usize), ends)
                };
                let kept = used & slots_from(kept, from);
                stretches.push(Stretch { group: number, from, to, used, kept, ends });
                to += kept.count_ones() as usize;
                from += SLOTS;
            }
            starts.pass(to);
        }
        stretches
    }

    /// Packs bytes of a row. What it writes beyond them are zeros, where nothing is yet: rows are packed in
    /// order, and before planes.
    #[inline(always)]
    fn pack_row(&mut self, row: usize, stretch: &Stretch) {
        let source = &bytes(&self.from.words)[self.layout.row_at(row) + stretch.from..];
        let target = &mut bytes_mut(&mut self.made.words)[self.made_layout.row_at(row)..];
        let (mut kept, mut to) = (stretch.kept, stretch.to);
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

    /// Packs the planes of 64 slots from one on, with these ends, to where only zeros are.
    #[inline(always)]
    fn pack_bin(&mut self, from: usize, kept: u64, to: usize, ends: u64) {
        let stride = self.layout.planes();
        let source = &self.from.words[self.layout.planes_at + from / SLOTS * stride..];
        let (here, behind) = source.split_at(stride);
        // Behind the last bin there is none, and nothing of it is kept.
        let next = behind.get(..stride).unwrap_or(here);
        let target = &mut self.made.words[self.made_layout.planes_at + to / SLOTS * stride..];
        let (low, behind) = target.split_at_mut(stride);
        let (shift, to_shift) = (from % SLOTS, to % SLOTS);
        let bits = |plane: usize| {
            let slots = here[plane] >> shift | (next[plane] << 1) << (SLOTS - 1 - shift);
            self.isa.extract(slots, kept)
        };
        low[0] |= ends << to_shift;
        if let Some(high) = behind.get_mut(..stride) {
            high[0] |= ends >> 1 >> (SLOTS - 1 - to_shift);
            for plane in 1..stride {
                let bits = bits(plane);
                low[plane] |= bits << to_shift;
                high[plane] |= bits >> 1 >> (SLOTS - 1 - to_shift);
            }
        } else {
            for (plane, low) in low.iter_mut().enumerate().skip(1) {
                *low |= bits(plane) << to_shift;
            }
        }
    }

    /// Packs planes, and says which buckets have somebody.
    #[inline(always)]
    fn pack_planes(&mut self, stretches: &[Stretch]) {
        let (mut rest, isa) = (stretches, self.isa);
        while let Some(first) = rest.first() {
            let of_group = rest.iter().take_while(|stretch| stretch.group == first.group).count();
            let (group, others) = rest.split_at(of_group);
            rest = others;
            // A bucket begins in the first slot, and carries nothing into it.
            let (mut begins, mut moved, mut survived) = (1, 0, 0);
            let (mut alive, mut runs, mut end) = (0, 0, first.to);
            for &Stretch { from, to, used, kept, ends, .. } in group {
                let (dead, inner) = (used & !kept, used & !ends);
                let survives = (add(inner, kept & inner, &mut survived) | kept) & ends;
                alive |= isa.extract(survives, ends) << runs;
                runs += ends.count_ones();
                let firsts = (ends << 1 | begins) & used;
                begins = ends >> (SLOTS - 1);
                let firsts = firsts | add(dead, firsts & dead, &mut moved) & !dead;
                if kept == 0 {
                    continue;
                }
                // What is first ends the one before it.
                let firsts = isa.extract(firsts, kept);
                if to > first.to && firsts & 1 != 0 {
                    self.made.set_end(self.made_layout, to - 1);
                }
                self.pack_bin(from, kept, to, firsts >> 1);
                end = to + kept.count_ones() as usize;
            }
            if end > first.to {
                self.made.set_end(self.made_layout, end - 1);
            }
            let before = self.from.group(first.group).occupied();
            let occupied = isa.deposit(alive, before);
            self.made.words[HEAD + first.group] |= Group::new(0, occupied).0;
        }
    }
}

impl Segment {
    fn set_end(&mut self, layout: Layout, slot: usize) {
        self.words[layout.planes_at + slot / SLOTS * layout.planes()] |= 1 << (slot % SLOTS);
    }
}

/// Bits of 64 slots from one on.
#[inline(always)]
fn slots_from(bits: &[u64; BINS], slot: usize) -> u64 {
    let (bin, shift) = (slot / SLOTS % BINS, slot % SLOTS);
    bits[bin] >> shift | (bits[(bin + 1) % BINS] << 1) << (SLOTS - 1 - shift)
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
                    let again = segment.with_bins(Scalar, &shape, bins);
                    assert_eq!(again.info().bins, bins);
                    assert_eq!(again.entries(&shape), entries, "{round}: {bins}");
                    assert_eq!(again.with_bins(Scalar, &shape, segment.info().bins), segment);
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
