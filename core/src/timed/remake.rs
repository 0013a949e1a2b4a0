//! Segments made anew: with other lengths of remainders, as two halves, or as one of two.

use alloc::vec::Vec;

use super::clock::region_of;
use super::counted::cut_counts;
use super::entry::{Entry, halves, unite, united};
use super::filter::{TimedWindow, limit};
use super::segment::Segment;
use crate::bits::{Isa, sibling};

impl TimedWindow {
    /// Makes the segment of a hash anew, with remainders as long as needed now and no longer.
    #[inline(never)]
    pub(super) fn remake<I: Isa>(&mut self, isa: I, hash: u64) {
        isa.vectorize(
            #[inline(always)]
            || {
                self.work += 1;
                let (depth, words) = self.segments.get(hash);
                let segment = Segment { words };
                let (info, before) = (segment.info(), segment.entries(isa, &self.shape));
                let Some((made, entries)) =
                    self.made_of(isa, hash, depth, before.clone(), info.blind)
                else {
                    return self.give_up(hash);
                };
                self.unweigh(hash, depth, &before);
                self.weigh(hash, depth, &entries);
                self.replace(hash, made);
                self.replaced(hash, before.len(), entries.len());
            },
        );
    }

    /// Splits the segment of a hash if it has more entries than it should and can be split.
    #[inline(never)]
    pub(super) fn split_if_large<I: Isa>(&mut self, isa: I, hash: u64) {
        let (depth, words) = self.segments.get(hash);
        let info = Segment { words }.info();
        if info.count <= limit(&self.parameters, hash, depth) || !self.can_split(depth) {
            return;
        }
        isa.vectorize(
            #[inline(always)]
            || {
                match self.halves_of(isa, hash) {
                    Some(halves) => self.replace_by_halves(hash, halves),
                    None if !self.split_by_entries(isa, hash) => return,
                    None => {}
                }
                self.work += 2;
            },
        );
    }

    /// The halves of the segment of a hash, where no entry has to be cut or told apart: what is known of each stays
    /// the same, a bit of its remainder being one of the prefix then, and so do the chances.
    #[inline(always)]
    fn halves_of<I: Isa>(&self, isa: I, hash: u64) -> Option<[Segment; 2]> {
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let generation = self.regions[region_of(hash)].generation;
        let (needed, blind) = (self.needed_bits(hash, depth + 1), segment.info().blind);
        let [lower, upper] = segment.halves(isa, &self.shape, needed)?;
        let lower = Segment::of_points(isa, &self.shape, &lower, generation, blind)?;
        Some([lower, Segment::of_points(isa, &self.shape, &upper, generation, blind)?])
    }

    /// Splits the segment of a hash entry by entry; `false` if the halves would have no room.
    #[inline(never)]
    fn split_by_entries<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let (depth, words) = self.segments.get(hash);
        let blind = Segment { words }.info().blind;
        let entries = self.take_entries(isa, hash);
        let [lower, upper] = halves(&entries, self.shape.buckets);
        let lower = self.made_of(isa, hash, depth + 1, lower, blind);
        let upper = self.made_of(isa, hash, depth + 1, upper, blind);
        let (Some(lower), Some(upper)) = (lower, upper) else {
            self.weigh(hash, depth, &entries);
            return false;
        };
        self.weigh(hash, depth + 1, &lower.1);
        self.weigh(hash, depth + 1, &upper.1);
        self.replaced(hash, entries.len(), lower.1.len() + upper.1.len());
        self.replace_by_halves(hash, [lower.0, upper.0]);
        true
    }

    /// Makes one segment of that of a hash and its sibling, both of which are swept.
    pub(super) fn merge<I: Isa>(&mut self, isa: I, hash: u64) {
        isa.vectorize(
            #[inline(always)]
            || {
                let (depth, words) = self.segments.get(hash);
                let other = sibling(hash, depth);
                let blinds =
                    [words, self.segments.get(other).1].map(|words| Segment { words }.info().blind);
                let (lower, upper) = (hash.min(other), hash.max(other));
                let lower = self.take_entries(isa, lower);
                let upper = self.take_entries(isa, upper);
                let entries = united(&lower, &upper, self.shape.buckets);
                let blind = blinds[0].max(blinds[1]);
                let made = self.made_of(isa, hash, depth - 1, entries, blind);
                // So few entries fit always.
                let (made, entries) = made.expect("half a segment of entries fits into one");
                self.work += 2;
                self.weigh(hash, depth - 1, &entries);
                self.replace_with_sibling(hash, made);
                self.replaced(hash, lower.len() + upper.len(), entries.len());
            },
        );
    }

    /// A segment of sorted entries for the prefix of a hash of so many bits, with what is in it.
    #[inline(always)]
    pub(super) fn made_of<I: Isa>(
        &self,
        isa: I,
        hash: u64,
        depth: u32,
        mut entries: Vec<Entry>,
        blind: u32,
    ) -> Option<(Segment, Vec<Entry>)> {
        let generation = self.regions[region_of(hash)].generation;
        let needed = self.needed_bits(hash, depth);
        if self.shape.payload_bits > 0 {
            entries = cut_counts(&entries, needed);
        } else {
            entries.iter_mut().for_each(|entry| *entry = entry.cut(needed));
            unite(&mut entries, |tag| self.shape.age(generation, tag));
        }
        let made = Segment::of_entries(isa, &self.shape, &entries, needed, generation, blind)?;
        Some((made, entries))
    }

    /// The entries of the segment of a hash, which is swept; they count no longer.
    #[inline(always)]
    pub(super) fn take_entries<I: Isa>(&mut self, isa: I, hash: u64) -> Vec<Entry> {
        let (depth, words) = self.segments.get(hash);
        let entries = Segment { words }.entries(isa, &self.shape);
        self.unweigh(hash, depth, &entries);
        entries
    }

    /// Counts the chances of entries of a segment.
    pub(super) fn weigh(&mut self, hash: u64, depth: u32, entries: &[Entry]) {
        for entry in entries {
            self.weights.add(region_of(hash), entry.tag, entry.len() + depth);
        }
    }

    /// Counts them no longer.
    pub(super) fn unweigh(&mut self, hash: u64, depth: u32, entries: &[Entry]) {
        for entry in entries {
            self.weights.take(region_of(hash), entry.tag, entry.len() + depth);
        }
    }
}
