//! How full segments are, and entries taken from them.

use alloc::vec::Vec;
use core::ops::Deref;

use super::counted::gather;
use super::entry::{Entry, ones};
use super::segment::{Info, SLOTS, Segment, Shape};
use super::stash::{Numbered, stash_words};
use crate::bits::{Isa, Scalar};
use crate::dictionary::bins::NOBODY;

/// How full bins are: parts of the slots.
#[derive(Debug)]
struct Density {
    /// Of what is dealt out.
    dealt: (usize, usize),
    /// A segment of which less is used after a sweep is dealt anew, ...
    least_used: (usize, usize),
    /// ... to as many bins as have this part in use then: with room for a generation.
    swept: (usize, usize),
    /// With as many it gets more bins.
    crowded: (usize, usize),
    /// The part by which a stash grows is one of so many.
    stash: usize,
}

/// Fuller bins take fewer bits and send more entries into the stash, which takes time. So full they take about as
/// many bits as are promised (`cargo test -p lately --test all timed_memory::`).
const KEYS: Density =
    Density { dealt: (15, 16), least_used: (47, 64), swept: (53, 64), crowded: (61, 64), stash: 2 };

/// Entries of one key are in one bucket, so bins of counts are less even, and must be fuller for as few bits
/// (`cargo test -p lately --test all window_counts_memory::`).
const COUNTS: Density =
    Density { dealt: (15, 16), least_used: (51, 64), swept: (7, 8), crowded: (65, 64), stash: 4 };

fn density(shape: &Shape) -> &'static Density {
    if shape.payload_bits > 0 { &COUNTS } else { &KEYS }
}

/// Exiles for which a stash has room when it is made, beyond those that there are, and one in eight more.
pub(super) const MORE_EXILES: usize = 4;

/// Bins for so many entries and as many more as will soon come.
pub(super) fn bins_for(shape: &Shape, count: usize) -> usize {
    let (part, whole) = density(shape).dealt;
    (count * whole).div_ceil(SLOTS * part)
}

/// Bins for so many entries that a sweep left.
pub(super) fn bins_after_sweep(shape: &Shape, count: usize) -> usize {
    let (part, whole) = density(shape).swept;
    (count * whole).div_ceil(SLOTS * part)
}

/// Most bins that a segment with so many entries has: fewer are made whenever it is looked at.
pub(super) fn most_bins_for(count: usize) -> usize {
    2 + count / (SLOTS / 2)
}

/// Whether a segment is left in its bins when entries went.
pub(super) fn is_used_enough(shape: &Shape, info: Info) -> bool {
    let (part, whole) = density(shape).least_used;
    info.count * whole >= info.slots() * part || info.bins <= bins_after_sweep(shape, info.count)
}

/// Exiles that a stash for so many is made for when it is full.
pub(super) fn more_exiles(shape: &Shape, most: usize) -> usize {
    most + most / density(shape).stash + MORE_EXILES
}

/// Bins that a full segment gets. More at once where keys become more, which is told by fields of several lengths:
/// its entries are dealt out less often (`cargo lab timed rise`), and what is not needed now soon is. With a twelfth, a
/// million keys at once take more bits than promised (`cargo test -p lately --test all timed_memory::`).
pub(super) fn more_bins(info: Info) -> usize {
    info.bins + 1 + info.bins / if info.mixed { 13 } else { 32 }
}

/// Exiles that the stash of so many bins is made for.
pub(super) fn exiles_for(bins: usize) -> usize {
    2 + bins / 4
}

/// Whether a segment with so many exiles is better made with more bins.
pub(super) fn needs_bins(shape: &Shape, info: Info, exiles: usize) -> bool {
    exiles > 3 * exiles_for(info.bins) && is_crowded(shape, info)
}

/// Exiles of so many bins at most, but for chance.
pub(super) fn exiles_mostly(bins: usize) -> usize {
    2 + 2 * bins
}

/// Entries that are many for the bins of a segment.
pub(super) fn crowded_at(shape: &Shape, info: Info) -> usize {
    let (part, whole) = density(shape).crowded;
    (info.slots() * part).div_ceil(whole)
}

/// Whether entries are many for their bins, so that more of these are better than more exiles.
pub(super) fn is_crowded(shape: &Shape, info: Info) -> bool {
    info.count >= crowded_at(shape, info)
}

/// Words of a segment with these numbers and the stash that such ones are made with.
pub(super) fn usual_words(shape: &Shape, info: Info) -> usize {
    info.words(shape, stash_words(shape, info, exiles_for(info.bins)))
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// All entries, in order of their buckets and remainders; those of one remainder in the order in which
    /// they came.
    #[inline(always)]
    pub(super) fn entries<I: Isa>(&self, isa: I, shape: &Shape) -> Vec<Entry> {
        let info = self.info();
        let mut entries: Vec<Entry> = Vec::with_capacity(info.count);
        let mut first = 0;
        self.each(
            isa,
            shape,
            #[inline(always)]
            |number, field, beside| {
                if entries.last().is_some_and(|last| last.bucket >> info.coarse != number) {
                    sort_bucket(&mut entries[first..]);
                    first = entries.len();
                }
                entries.push(fine(shape, info, number, field, beside));
            },
        );
        sort_bucket(&mut entries[first..]);
        if shape.payload_bits > 0 {
            gather(&mut entries);
        }
        entries
    }

    /// Tells of every entry its bucket, its field and what is beside it: in order of buckets, and within a
    /// bucket whoever came last first.
    #[inline(always)]
    pub(super) fn each<I: Isa>(&self, isa: I, shape: &Shape, mut tell: impl FnMut(u32, u64, u64)) {
        let info = self.info();
        let (layout, steps) = (info.layout(shape), self.steps());
        let mut exiles = self.exiles_in_order(shape, info).into_iter().peekable();
        for number in 0..info.bins {
            let bin = self.bin(&layout, number);
            let (head, first) = (bin.head(), steps.first(number));
            let values = bin.values(isa);
            let mut slot = 0;
            for (word, begin) in head.occupied.into_iter().zip([0, 57]) {
                let mut buckets = word;
                while buckets != 0 {
                    let bucket = first + begin + buckets.trailing_zeros();
                    buckets &= buckets - 1;
                    let end = slot + (head.ends >> slot).trailing_zeros() as usize;
                    for value in &values[slot..=end] {
                        let field = value & ones(info.field_bits() as usize);
                        tell(bucket, field, value >> info.field_bits());
                    }
                    slot = end + 1;
                }
            }
            let end = steps.first(number + 1);
            while let Some((_, exile)) = exiles.next_if(|(_, exile)| exile.number < end) {
                tell(exile.number, exile.field(info), exile.beside(info));
            }
        }
    }

    /// Whether all entries are as long as can be.
    #[inline(always)]
    pub(super) fn all_long<I: Isa>(&self, isa: I, shape: &Shape) -> bool {
        let info = self.info();
        if !info.mixed {
            return true;
        }
        // The lowest bit of the field says so. What is free is zero.
        let layout = info.layout(shape);
        let long =
            |bin| isa.bytes_holding(self.bin(&layout, bin).row(), 1, 1).count_ones() as usize;
        let exiles =
            (0..self.exiles()).filter(|&index| self.exile(shape, info, index).value & 1 != 0);
        (0..info.bins).map(long).sum::<usize>() + exiles.count() == info.count
    }

    /// Checks that it does not contradict itself.
    pub(super) fn check(&self, shape: &Shape) -> Result<(), &'static str> {
        let info = self.info();
        let (layout, steps, exiles) = (info.layout(shape), self.steps(), self.exiles());
        let words = info.words(shape, self.stash_words());
        ensure(self.words.len() == words, "it has as many words as it says")?;
        ensure(exiles <= self.most_exiles(), "exiles fit")?;
        let in_order = self.exiles_in_order(shape, info);
        let before = |number| in_order.partition_point(|(_, exile)| exile.number < number);
        let mut count = exiles;
        for number in 0..info.bins {
            let bin = self.bin(&layout, number);
            let head = bin.head();
            ensure(bin.is_clean(), "free slots are zero")?;
            let occupied: u32 = head.occupied.iter().map(|word| word.count_ones()).sum();
            ensure(occupied == head.ends.count_ones(), "every bucket ends")?;
            let (first, end) = (steps.first(number), steps.first(number + 1));
            let after = if head.count() > 0 { first + head.last_bucket() } else { first };
            ensure(head.count() == 0 || after < end, "buckets are those of the bin")?;
            let (from, until) = (before(first), before(end));
            let threshold = if from < until { in_order[from].1.number - first } else { NOBODY };
            ensure(head.threshold == threshold, "the threshold is the first exile")?;
            ensure(from == until || first + threshold >= after, "exiles are behind the others")?;
            count += head.count() as usize;
        }
        ensure(count == info.count, "its entries are counted")
    }
}

fn ensure(holds: bool, invariant: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(invariant) }
}

impl<W: core::ops::DerefMut<Target = [u64]>> Segment<W> {
    /// Gives all entries other tags.
    pub(super) fn retag(&mut self, shape: &Shape, tag: impl Fn(u32) -> u32) {
        let info = self.info();
        let layout = info.layout(shape);
        for number in 0..info.bins {
            let mut bin = self.bin_mut(&layout, number);
            let mut slots = bin.head().used();
            while slots != 0 {
                let slot = slots & slots.wrapping_neg();
                slots ^= slot;
                let beside = tag(shape.tag(bin.tag(Scalar, slot)));
                bin.set_tag(Scalar, slot, beside.into());
            }
        }
        for index in 0..self.exiles() {
            let exile = self.exile(shape, info, index);
            let beside = tag(shape.tag(exile.beside(info))).into();
            let retagged = Numbered::new(info, exile.number, exile.field(info), beside);
            self.set_exile(shape, info, index, retagged);
        }
    }
}

/// Puts the entries of a bucket, of which whoever came last is first, into their order.
#[inline(always)]
fn sort_bucket(entries: &mut [Entry]) {
    if entries.len() > 1 {
        entries.reverse();
        entries.sort_by_key(|entry| entry.key());
    }
}

/// An entry from its bucket in a segment, its field and what is beside that.
#[inline(always)]
pub(super) fn fine(shape: &Shape, info: Info, bucket: u32, field: u64, beside: u64) -> Entry {
    let word = info.word_of_field(field);
    // The first bits of a coarse field are the last of the bucket.
    let last = (word >> 1 >> (63 - info.coarse)) as u32;
    Entry {
        bucket: bucket << info.coarse | last,
        remainder: word << info.coarse,
        tag: shape.tag(beside),
        payload: shape.payload_beside(beside),
    }
}

/// The bucket of an entry in a segment, its field and what is beside that.
#[inline(always)]
pub(super) fn coarse(shape: &Shape, info: Info, entry: Entry) -> (u32, u64, u64) {
    let last = u64::from(entry.bucket) << 1 << (63 - info.coarse);
    let field = info.field_of_word(entry.remainder >> info.coarse | last);
    (entry.bucket >> info.coarse, field, shape.beside(entry.payload, entry.tag))
}
