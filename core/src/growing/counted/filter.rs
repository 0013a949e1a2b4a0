//! The counter: a directory of segments, and the rule by which they grow.

use super::super::ahead::prefetch_place;
use super::super::depth::Depths;
use super::super::directory::{Directory, Listed};
use super::super::origin::Origins;
use super::super::parameters::SPLIT_FROM;
use super::super::segment::{Address, SLOTS, Segment};
use super::super::stock::Stock;
use super::blueprint::GrowingCountsParameters;
use super::counts::CountedSegment;
use super::shape::{MOST_COUNT, Shape};
use crate::bits::{Isa, Level, prefix, vectorized};
use crate::error::Error;

/// What is counted where a segment ran out of room for good: nobody knows.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// A segment is made smaller when that saves so many words, so that adding and taking back in turns does
/// not make it anew each time.
const SUPERFLUOUS: usize = 48;

/// Counts everything, however many keys that will be.
#[derive(Debug, Clone)]
pub struct GrowingCounts {
    pub(super) parameters: GrowingCountsParameters,
    pub(super) depths: Depths,
    pub(super) level: Level,
    pub(super) directory: Directory,
    pub(super) stock: Stock,
    /// Whether counts are products, of which nothing can be taken back.
    pub(super) is_product: bool,
}

impl GrowingCounts {
    /// An empty counter.
    pub fn new(parameters: GrowingCountsParameters) -> Self {
        let shape = Shape { key_bits: parameters.lengths.width(0) as u32, code_bits: 1 };
        let words = shape.words_for(0).expect("nothing always fits");
        let segment = Segment::of_length(words);
        let whole = Listed { segment, depth: 0, origins: Origins::default() };
        Self::from_parts(parameters, Directory::new(vec![whole], 0, false), Stock::default())
    }

    pub(super) fn from_parts(
        parameters: GrowingCountsParameters,
        directory: Directory,
        stock: Stock,
    ) -> Self {
        let depths = Depths::new(&parameters.lengths);
        Self { parameters, depths, level: Level::detect(), directory, stock, is_product: false }
    }

    /// Different keys that were counted and not taken back, where no two were taken for one.
    pub fn items(&self) -> u64 {
        self.stock.items
    }

    /// Segments at this moment.
    pub fn segments(&self) -> usize {
        self.directory.segment_count()
    }

    /// Entries that found no room, ever: zero unless hashes are not random. In their part of the counter
    /// nobody knows how often a key came, from then on.
    pub fn lost(&self) -> u64 {
        self.stock.lost
    }

    /// How often a key was seen.
    #[inline(always)]
    pub(super) fn count<I: Isa>(&self, isa: I, hash: u64) -> u64 {
        let (place, counts) = self.ahead(hash);
        if counts.segment.is_blind() {
            return UNKNOWN;
        }
        counts.find(isa, place).entry.map_or(0, |entry| entry.count)
    }

    /// Counts so many sightings, and says how many there were before and are now.
    #[inline(always)]
    pub(super) fn add<I: Isa>(&mut self, isa: I, hash: u64, times: u64) -> (u64, u64) {
        self.ahead(hash);
        let mut before = None;
        loop {
            let (place, mut counts) = self.counts_mut(hash);
            if counts.segment.is_blind() {
                return (UNKNOWN, UNKNOWN);
            }
            let found = counts.find(isa, place);
            let now = found.entry.map_or(0, |entry| entry.count);
            // What was there when it began: room may have to be made in between.
            let before = *before.get_or_insert(now);
            let count = before.saturating_add(times).min(MOST_COUNT);
            if now == count {
                return (before, count);
            }
            let done = if now > 0 {
                counts.set_count(place, found, count)
            } else {
                let stored = counts.insert(place, found, count);
                self.stock.items += u64::from(stored);
                // A larger one is written in the next turn.
                stored
            };
            if !done {
                self.make_room(isa, hash);
            }
        }
    }

    /// Takes back so many sightings, and says how many are left.
    pub(super) fn take_back<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        times: u64,
    ) -> Result<u64, Error> {
        let (place, mut counts) = self.counts_mut(hash);
        if counts.segment.is_blind() {
            return Ok(UNKNOWN);
        }
        let found = counts.find(isa, place);
        let now = found.entry.map_or(0, |entry| entry.count);
        let Some(left) = now.checked_sub(times) else {
            return Err(Error::TooFew { asked: times, found: now });
        };
        if times == 0 {
            return Ok(left);
        }
        if left > 0 {
            counts.set_count(place, found, left);
        } else {
            counts.remove(place, found);
            self.stock.items = self.stock.items.saturating_sub(1);
        }
        self.give_back(isa, hash);
        // Whatever is left are copies of what was taken back elsewhere.
        if self.stock.is_nothing() {
            *self = Self { level: self.level, ..Self::new(self.parameters) };
        }
        Ok(left)
    }

    /// Makes the segment of a hash smaller if much of it is free.
    fn give_back<I: Isa>(&mut self, isa: I, hash: u64) {
        let (_, counts) = self.counts(hash);
        let words = counts.segment.words().len();
        if let Some(enough) = counts.shape.words_for(counts.taken())
            && enough + SUPERFLUOUS <= words
        {
            let smaller = counts.segment.spread(isa, counts.shape.width(), enough);
            self.directory.replace(hash, smaller);
        }
    }

    /// Gives the segment of a hash more slots, or splits it.
    #[inline(never)]
    fn make_room<I: Isa>(&mut self, isa: I, hash: u64) {
        let (depth, _) = self.directory.segment(hash);
        let (_, counts) = self.counts(hash);
        let (sample, taken) = (counts.sample(), counts.taken());
        let entries = sample.entries_of(taken);
        if self.should_split(entries, hash, depth) && self.split(isa, hash) {
            return;
        }
        let (_, counts) = self.counts(hash);
        let made = counts.grown(isa, &sample).unwrap_or_else(|| {
            self.stock.lose(entries as u64);
            Segment::blind()
        });
        self.directory.replace(hash, made);
        self.directory.make_entries_ahead(self.stock.items, self.parameters.lengths.capacity());
    }

    /// Replaces the segment of a hash by its halves, and says whether that could be.
    pub(super) fn split<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let (depth, _) = self.directory.segment(hash);
        if !self.directory.can_split(depth) {
            return false;
        }
        let (_, counts) = self.counts(hash);
        let key_bits = self.parameters.lengths.width(depth + 1) as u32;
        let code_bits = counts.sample().code_bits(key_bits, None);
        let Some(halves) = counts.halves(isa, key_bits, code_bits) else { return false };
        self.directory.split(hash, halves, Default::default());
        true
    }

    /// Whether the segment of a hash, which has so many entries, is better split.
    pub(super) fn should_split(&self, entries: usize, hash: u64, depth: u32) -> bool {
        let most = SLOTS * self.parameters.lengths.bins_of(prefix(hash, depth), depth);
        let usual = self.stock.usual_load(depth, most);
        entries >= most && (usual > SPLIT_FROM || entries > 2 * most)
    }

    /// The place of a hash, and its segment.
    #[inline(always)]
    pub(super) fn counts(&self, hash: u64) -> (Address, CountedSegment<&[u64]>) {
        let (depth, segment) = self.directory.segment(hash);
        let of = self.depths.of(hash, depth);
        (of.place(hash, depth), CountedSegment::of(segment, of.width()))
    }

    #[inline(always)]
    fn counts_mut(&mut self, hash: u64) -> (Address, CountedSegment<&mut [u64]>) {
        let (depth, segment) = self.directory.segment_mut(hash);
        let of = self.depths.of(hash, depth);
        (of.place(hash, depth), CountedSegment::of(segment, of.width()))
    }

    /// The same; starts loading what an operation reads and moves.
    #[inline(always)]
    pub(super) fn ahead(&self, hash: u64) -> (Address, CountedSegment<&[u64]>) {
        let (depth, segment) = self.directory.segment(hash);
        let of = self.depths.of(hash, depth);
        let counts = CountedSegment::of(segment, of.width());
        let ends_part = usize::from(ENDS_PART[counts.shape.width() % 64]);
        prefetch_place(counts.segment.words(), hash << depth, |words| {
            words.wrapping_mul(ends_part) >> 16
        });
        (of.place(hash, depth), counts)
    }

    #[inline]
    pub(super) fn add_one_by_one(&mut self, hashes: &[u64], new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.level, |isa| {
            hashes.iter().take(AHEAD).for_each(|&hash| _ = self.ahead(hash));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.ahead(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *new = self.add(isa, hash, 1).0 == 0;
            }
        });
    }
}

/// How many hashes of a batch before its turn the memory of a hash is asked for.
const AHEAD: usize = 16;

/// The words of ends among those of ends and slots, by the width of a slot, in units of 2^-16.
const ENDS_PART: [u16; 64] = {
    let mut parts = [0; 64];
    let mut width = 0;
    while width < 64 {
        parts[width] = (u16::MAX as usize / (1 + width)) as u16;
        width += 1;
    }
    parts
};
