//! Segments laid out anew, from entries or [points](Points) in order.
//!
//! Both are told as the segment would store them, which depends on how coarse it is, and that on its bins. So
//! whoever has them says how to tell them, and is asked again only if the segment turns out less coarse.

use alloc::vec::Vec;

use super::deal::{MORE_EXILES, bins_for, coarse, exiles_for, more_bins, needs_bins};
use super::entry::{Entry, ones};
use super::points::Points;
use super::segment::{Info, SLOTS, Segment, Shape, Steps};
use super::stash::{MOST_STASH, Numbered, stash_words};
use crate::bits::Isa;
use crate::dictionary::bins::{LEAST_BUCKETS, NOBODY};
use crate::dictionary::head::Head;

impl Segment {
    /// A segment without entries and with room for the first.
    pub(super) fn with_room(
        shape: &Shape,
        remainder_bits: u32,
        generation: u64,
        blind: u32,
    ) -> Self {
        let info = Info { remainder_bits, blind, ..Info::default() }.with_bins(shape, 1);
        Self::zeros(shape, generation, info, stash_words(shape, info, exiles_for(info.bins)))
    }

    /// A segment of these entries, which are sorted and have at most so many bits of remainder; `None`
    /// if they are too many for any.
    #[inline(always)]
    pub(super) fn of_entries<I: Isa>(
        isa: I,
        shape: &Shape,
        entries: &[Entry],
        remainder_bits: u32,
        generation: u64,
        blind: u32,
    ) -> Option<Self> {
        if entries.is_empty() {
            return Some(Self::empty(generation, blind));
        }
        let mixed = entries.iter().any(|entry| entry.len() < remainder_bits);
        let info = Info { remainder_bits, mixed, blind, ..Info::default() };
        let info = info.with_bins(shape, bins_for(shape, entries.len()));
        Self::laid_out(isa, shape, generation, info, |info| stored(shape, info, entries))
    }

    /// A segment of these points, with remainders of this many bits.
    #[inline(always)]
    pub(super) fn of_points<I: Isa>(
        isa: I,
        shape: &Shape,
        points: &Points,
        generation: u64,
        blind: u32,
    ) -> Option<Self> {
        if points.len() == 0 {
            return Some(Self::empty(generation, blind));
        }
        let (remainder_bits, mixed) = (points.remainder_bits(), !points.all_long());
        let info = Info { remainder_bits, mixed, blind, ..Info::default() };
        let info = info.with_bins(shape, bins_for(shape, points.len()));
        Self::laid_out(isa, shape, generation, info, |info| points.stored(info))
    }

    /// A segment with these numbers and the entries that belong to them, in as many bins as the numbers say,
    /// however many of the entries do not fit; `None` if there are too many for any stash, or too many bins.
    #[inline(always)]
    pub(super) fn of_bins<I: Isa>(
        isa: I,
        shape: &Shape,
        generation: u64,
        info: Info,
        entries: &[Entry],
    ) -> Option<Self> {
        let stored = stored(shape, info, entries);
        let exiles = surplus(shape, info, &stored);
        Self::of_stored(isa, shape, generation, info, &stored, exiles)
    }

    /// A segment with these numbers, in as many bins or more, of what is [stored] in such a one.
    #[inline(always)]
    pub(super) fn laid_out<I: Isa>(
        isa: I,
        shape: &Shape,
        generation: u64,
        mut info: Info,
        stored_in: impl Fn(Info) -> Vec<Numbered>,
    ) -> Option<Self> {
        let mut stored = stored_in(info);
        info.count = stored.len();
        loop {
            let exiles = surplus(shape, info, &stored);
            if !needs_bins(shape, info, exiles) {
                return Self::of_stored(isa, shape, generation, info, &stored, exiles);
            }
            let more = info.with_bins(shape, more_bins(info));
            if more.coarse != info.coarse {
                stored = stored_in(more);
            }
            info = more;
        }
    }

    /// A segment of what is stored in it, of which so many do not fit their bins.
    #[inline(always)]
    fn of_stored<I: Isa>(
        isa: I,
        shape: &Shape,
        generation: u64,
        info: Info,
        stored: &[Numbered],
        exiles: usize,
    ) -> Option<Self> {
        let info = Info { count: stored.len(), ..info };
        let stash = stash_words(shape, info, exiles_for(info.bins).max(exiles + MORE_EXILES));
        if stash > MOST_STASH || info.bins > info.most_bins(shape) {
            return None;
        }
        let mut made = Self::zeros(shape, generation, info, stash);
        made.fill(isa, shape, info, stored, exiles);
        Some(made)
    }

    /// Fills a segment of zeros. There is room.
    #[inline(always)]
    fn fill<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        stored: &[Numbered],
        surplus: usize,
    ) {
        let (layout, steps, mut rest) = (info.layout(shape), self.steps(), stored);
        let mut exiles = Vec::with_capacity(surplus);
        for number in 0..info.bins {
            let (first, end) = (steps.first(number), steps.first(number + 1));
            let here = rest.partition_point(|entry| entry.number < end);
            let (mine, others) = rest.split_at(here);
            let (fitting, leaving) = mine.split_at(here.min(SLOTS));
            rest = others;
            let mut values = [0; SLOTS];
            let (mut occupied, mut begins, mut before) = ([0_u64; 2], 0_u64, u32::MAX);
            for ((value, entry), slot) in values.iter_mut().zip(fitting).zip(0..) {
                *value = entry.value;
                let bucket = entry.number - first;
                match bucket.checked_sub(LEAST_BUCKETS) {
                    Some(later) => occupied[1] |= 1 << later,
                    None => occupied[0] |= 1 << bucket,
                }
                begins |= u64::from(bucket != before) << slot;
                before = bucket;
            }
            // A bucket ends where the next begins, and the last where nothing follows.
            let ends = begins >> 1 | ones(fitting.len()) ^ ones(fitting.len().saturating_sub(1));
            let threshold = leaving.first().map_or(NOBODY, |entry| entry.number - first);
            exiles.extend_from_slice(leaving);
            let mut bin = self.bin_mut(&layout, number);
            bin.set_values(isa, &values);
            bin.set_head(Head { occupied, threshold, ends });
        }
        self.set_stash(shape, info, exiles.into_iter());
    }
}

/// Sorted entries as a segment with these numbers stores them.
pub(super) fn stored(shape: &Shape, info: Info, entries: &[Entry]) -> Vec<Numbered> {
    let alike =
        |one: &Entry, other: &Entry| one.bucket >> info.coarse == other.bucket >> info.coarse;
    // Whoever came last is first.
    let in_order = entries.chunk_by(alike).flat_map(|bucket| bucket.iter().rev());
    let one = |entry: &Entry| {
        let (bucket, field, beside) = coarse(shape, info, *entry);
        Numbered::new(info, bucket, field, beside)
    };
    let mut stored = Vec::with_capacity(entries.len());
    stored.extend(in_order.map(one));
    stored
}

/// How many entries do not fit their bins.
#[inline(always)]
fn surplus(shape: &Shape, info: Info, stored: &[Numbered]) -> usize {
    let steps = Steps::new(info.buckets(shape), info.bins);
    let (mut rest, mut surplus) = (stored, 0);
    for number in 1..=info.bins {
        let end = steps.first(number);
        let here = rest.partition_point(|entry| entry.number < end);
        surplus += here.saturating_sub(SLOTS);
        rest = &rest[here..];
    }
    surplus
}
