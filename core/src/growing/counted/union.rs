//! Two counters made one: sums and products.
//!
//! Segments are taken to the same depth, the shallower one split, and their runs are combined bucket by
//! bucket. In a sum, an entry that is a prefix of others takes them in, and counts what all counted. In a
//! product, of two entries of which one is a prefix of the other the longer stays, and counts pairs. Either
//! way no entry is a prefix of another, as before, and no count is too low. What one of both takes for one
//! key is one then, so their errors add up.

use alloc::vec::Vec;
use core::any::Any;

use super::super::field::matches;
use super::super::segment::{Address, Segment};
use super::counts::CountedSegment;
use super::draft::Draft;
use super::filter::GrowingCounts;
use super::shape::{MOST_COUNT, Shape};
use crate::bits::{prefix, vectorized};
use crate::blueprint::Blueprint;
use crate::error::Error;
use crate::filter::Filter;

impl GrowingCounts {
    /// The other one if it is built like this one.
    pub(super) fn alike<'a>(&self, other: &'a dyn Filter) -> Result<&'a Self, Error> {
        (&self.parameters as &dyn Blueprint).check_alike(other.blueprint())?;
        Ok((other as &dyn Any).downcast_ref().expect("built alike, so of the same type"))
    }

    /// Counts what the other one counted, too, or how many pairs both have.
    pub(super) fn combine(&mut self, other: &Self, by: Combine) {
        self.stock.lost += other.stock.lost;
        self.is_product |= other.is_product || by == Combine::Product;
        self.split_like(other);
        for hash in other.directory.first_hashes() {
            let (depth, segment) = other.directory.segment(hash);
            self.absorb(hash, depth, segment, by);
        }
    }

    /// Splits segments until none is shallower than those of the other: all of one depth before any of the
    /// next, because prefixes of very different lengths are no table's.
    fn split_like(&mut self, other: &Self) {
        for depth in 0..other.directory.length() {
            for hash in other.directory.first_hashes() {
                let is_shallow = self.directory.segment(hash).0 == depth;
                if is_shallow && other.directory.segment(hash).0 > depth {
                    self.split_for(hash);
                }
            }
        }
    }

    /// Adds a segment of another counter, which stands for the first `depth` bits of a hash.
    fn absorb(&mut self, hash: u64, depth: u32, segment: Segment<&[u64]>, by: Combine) {
        let (ours, _) = self.directory.segment(hash);
        let theirs = CountedSegment::of(segment, self.parameters.lengths.width(depth));
        if theirs.segment.is_blind() || ours < depth {
            return self.forget_below(hash, depth.min(ours));
        }
        if ours > depth {
            let key_bits = self.parameters.lengths.width(depth + 1) as u32;
            let code_bits = theirs.census().code_bits(key_bits, None);
            let theirs = &theirs;
            let halves = vectorized!(self.level, |isa| theirs.halves(isa, key_bits, code_bits));
            let Some(halves) = halves else {
                return self.forget_below(hash, depth);
            };
            for (half, bit) in halves.into_iter().zip(0..) {
                let hash = hash | bit << (63 - depth);
                let words = half.into_words();
                self.absorb(hash, depth + 1, Segment::from_words(&*words), by);
            }
            return;
        }
        let (_, counts) = self.counts(hash);
        if counts.segment.is_blind() {
            return;
        }
        let before = counts.census();
        let ours = before.entries_of(counts.taken());
        let (made, entries) = combined(&counts, &theirs, by);
        let items = &mut self.stock.items;
        *items = (*items + entries as u64).saturating_sub(ours as u64);
        match made {
            Some(made) => self.directory.replace(hash, made),
            None => return self.forget_below(hash, depth),
        }
        if self.should_split(entries, hash, depth) {
            self.split_for(hash);
        }
    }

    /// Splits the segment of a hash, for which the table is made longer if need be; says whether it did.
    fn split_for(&mut self, hash: u64) -> bool {
        let (depth, segment) = self.directory.segment(hash);
        if segment.is_blind() {
            return false;
        }
        while self.directory.length() == depth && self.directory.next_entries().is_some() {
            self.directory.make_entries();
        }
        vectorized!(self.level, |isa| self.split(isa, hash))
    }

    /// Of keys whose hashes begin alike, nobody knows any more how often they came.
    fn forget_below(&mut self, hash: u64, depth: u32) {
        let first = prefix(hash, depth);
        let below: Vec<u64> = self.directory.first_hashes().collect();
        for hash in below.into_iter().filter(|&hash| prefix(hash, depth) == first) {
            let (_, counts) = self.counts(hash);
            if counts.segment.is_blind() {
                continue;
            }
            let entries = counts.census().entries_of(counts.taken()) as u64;
            self.stock.lose(entries);
            self.directory.replace(hash, Segment::blind());
        }
    }
}

/// How two counters become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    Sum,
    Product,
}

/// An entry as it is combined: where it is, how often it was seen, and in which of both.
struct Contribution {
    place: Address,
    count: u64,
    is_theirs: bool,
}

/// The entries of both combined, and how many there are; no segment if those are too many.
fn combined(
    ours: &CountedSegment<&[u64]>,
    theirs: &CountedSegment<&[u64]>,
    by: Combine,
) -> (Option<Segment>, usize) {
    let mut parts = Vec::new();
    for (counts, is_theirs) in [(ours, false), (theirs, true)] {
        counts.each_of_all(|place, entry| {
            parts.push(Contribution { place, count: entry.count, is_theirs })
        });
    }
    // In every bucket the shortest first, which are prefixes of those after them.
    let bucket = |part: &Contribution| (part.place.block, part.place.bucket);
    parts.sort_unstable_by_key(|part| (bucket(part), !part.place.field.trailing_zeros()));
    let mut kept: Vec<(Address, u64)> = Vec::with_capacity(parts.len());
    for run in parts.chunk_by(|one, other| bucket(one) == bucket(other)) {
        let first = kept.len();
        match by {
            Combine::Sum => sum(run, &mut kept),
            Combine::Product => multiply(run, &mut kept),
        }
        kept[first..].sort_unstable_by_key(|(place, _)| place.field);
    }
    let code_bits = ours.shape.code_bits.max(theirs.shape.code_bits);
    let mut draft = Draft::new(Shape { code_bits, ..ours.shape }, kept.len());
    kept.iter().for_each(|&(place, count)| draft.push(place, count));
    (draft.finish(), kept.len())
}

/// Adds the entries of a bucket up.
fn sum(run: &[Contribution], kept: &mut Vec<(Address, u64)>) {
    let first = kept.len();
    for part in run {
        let mut shorter = kept[first..].iter_mut();
        match shorter.find(|(held, _)| matches(held.field, part.place.field)) {
            Some((_, held)) => *held = held.saturating_add(part.count).min(MOST_COUNT),
            None => kept.push((part.place, part.count)),
        }
    }
}

/// Multiplies the entries of a bucket that are in both.
fn multiply(run: &[Contribution], kept: &mut Vec<(Address, u64)>) {
    for (number, part) in run.iter().enumerate() {
        let mut shorter = run[..number].iter();
        let pair = shorter.find(|other| {
            other.is_theirs != part.is_theirs && matches(other.place.field, part.place.field)
        });
        if let Some(other) = pair {
            kept.push((part.place, part.count.saturating_mul(other.count).min(MOST_COUNT)));
        }
    }
}
