//! The growing filter: a directory of segments, and the rule by which they grow.

use core::any::Any;

use super::ahead::prefetch_place;
use super::depth::Depths;
use super::directory::{Directory, Listed, MOST_NOTES};
use super::origin::Origins;
use super::parameters::{GrowingParameters, SPLIT_FROM};
use super::reshape::halves;
use super::segment::{MOST_BINS, OnMatch, Outcome, SLOTS, Segment, touch, words_of};
use super::state;
use super::stock::Stock;
use crate::bits::{Isa, LINE_WORDS, Level, Scalar, children, prefetch, prefix, vectorized};
use crate::blueprint::Blueprint;
use crate::codec::Writer;
use crate::dictionary::tools::{CacheLines, Tools};
use crate::error::Error;
use crate::filter::{Filter, Membership, Removing};
use crate::memory;
use crate::window::Time;

/// Equal signatures that are stored when insertions can be taken back. Of more, nobody knows how
/// many there were, and they stay.
pub(super) const MOST_EQUAL: usize = 8;

/// Segments that are asked how often they err, of which each is some kilobytes.
const SEGMENTS_ASKED: usize = 512;

/// How many hashes of a batch before its turn the memory of a hash is asked for. All along the
/// batch, so that memory and processor are busy at the same time.
const AHEAD: usize = 16;

/// Remembers everything, however much that will be.
#[derive(Debug, Clone)]
pub struct Growing {
    pub(super) parameters: GrowingParameters,
    pub(super) depths: Depths,
    pub(super) level: Level,
    pub(super) directory: Directory,
    pub(super) stock: Stock,
}

impl Growing {
    /// An empty filter.
    pub fn new(parameters: GrowingParameters) -> Self {
        let segment = Segment::new(parameters.width(0), 1);
        let whole = Listed { segment, depth: 0, origins: Origins::default() };
        let directory = Directory::new(vec![whole], 0, parameters.removing);
        Self::from_parts(parameters, directory, Stock::default())
    }

    pub(super) fn from_parts(
        parameters: GrowingParameters,
        directory: Directory,
        stock: Stock,
    ) -> Self {
        let depths = Depths::new(&parameters);
        Self { parameters, depths, level: Level::detect(), directory, stock }
    }

    /// Keys that were new when they were inserted, and were not taken back.
    pub fn items(&self) -> u64 {
        self.stock.items
    }

    /// Segments at this moment.
    pub fn segments(&self) -> usize {
        self.directory.segment_count()
    }

    /// Entries that found no room, ever: zero unless hashes are not random. Their part of the
    /// filter reports everything from then on, so answers stay one-sided.
    pub fn lost(&self) -> u64 {
        self.stock.lost
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { level: Level::Scalar(Scalar), ..self }
    }

    /// An insertion whose memory accesses are counted.
    #[doc(hidden)]
    #[inline(always)]
    pub fn insert_counted(&mut self, hash: u64, lines: &mut CacheLines) -> bool {
        vectorized!(self.level, |isa| self.insert_alone(lines.of(isa), hash, self.repeat()))
    }

    /// The segment of a hash and its depth; starts loading what a lookup reads, or what an insertion
    /// moves.
    #[inline(always)]
    fn segment_ahead(&self, hash: u64, inserts: bool) -> Found<'_> {
        let (depth, segment) = self.directory.segment(hash);
        let (words, of) = (segment.words(), self.depths.of(hash, depth));
        let field = prefetch_place(words, hash << depth, |words| of.words_of_ends(words));
        prefetch(words, field.wrapping_add(LINE_WORDS));
        // Those that will move.
        if inserts {
            prefetch(words, field.wrapping_sub(2 * LINE_WORDS));
        }
        (depth, segment)
    }

    #[inline(always)]
    fn contains<I: Isa>(&self, isa: I, hash: u64, (depth, segment): Found<'_>) -> bool {
        let of = self.depths.of(hash, depth);
        match segment.contains(isa, of, of.place(hash, depth)) {
            Some(found) => found,
            None => self.contains_in_run(isa, hash),
        }
    }

    /// A lookup that takes long in any case. It is told so little, and called last, so that others
    /// need not keep anything for it.
    #[inline(never)]
    fn contains_in_run<I: Isa>(&self, isa: I, hash: u64) -> bool {
        isa.vectorize(
            #[inline(always)]
            || {
                let (depth, segment) = self.directory.segment(hash);
                let of = self.depths.of(hash, depth);
                segment.contains_in_run(isa, of.width(), of.place(hash, depth))
            },
        )
    }

    #[inline(always)]
    fn insert_alone<T: Tools>(&mut self, tools: T, hash: u64, repeat: OnMatch) -> bool {
        self.segment_ahead(hash, true);
        self.insert(tools, hash, repeat)
    }

    /// Whether the key is new. With [`OnMatch::Store`], it is stored in any case.
    #[inline(always)]
    fn insert<T: Tools>(&mut self, tools: T, hash: u64, repeat: OnMatch) -> bool {
        loop {
            touch_directory(tools, 1);
            let (depth, mut segment) = self.directory.segment_mut(hash);
            let of = self.depths.of(hash, depth);
            let (place, width) = (of.place(hash, depth), of.width());
            if segment.is_blind() {
                return false;
            }
            match segment.insert(tools, width, place, repeat) {
                Outcome::Seen => return false,
                Outcome::Stored { seen } => {
                    self.stock.items += 1;
                    return !seen;
                }
                // Afterwards every block has a free slot.
                Outcome::Full => self.make_room(tools, hash),
            }
        }
    }

    /// Gives the segment of a hash more bins, or splits it.
    #[inline(never)]
    pub(super) fn make_room<T: Tools>(&mut self, tools: T, hash: u64) {
        let isa = tools.isa();
        self.drop_leftovers(tools, hash);
        let (depth, segment) = self.directory.segment(hash);
        let width = self.parameters.width_at(hash, depth);
        let counts = segment.counts(width);
        let entries: usize = counts.iter().sum();
        let most = self.parameters.bins_of(prefix(hash, depth), depth);
        let bins = self.parameters.bins_at(depth as usize, entries);
        touch(tools, 0, segment.words().len());
        if self.should_split(bins, most, depth) && self.split(tools, hash) {
            return;
        }
        let (_, segment) = self.directory.segment(hash);
        let made = if bins <= MOST_BINS {
            segment.spread_counted(isa, width, &counts, words_of(width, bins))
        } else {
            self.stock.lose(entries as u64);
            Segment::blind()
        };
        touch(tools, ELSEWHERE, made.words().len());
        self.directory.replace(hash, made);
        let made = self.directory.make_entries_ahead(self.stock.items, self.parameters.capacity());
        touch_directory(tools, 2 * made);
    }

    /// Splits the segment of a hash, if that can be done now.
    pub(super) fn split<T: Tools>(&mut self, tools: T, hash: u64) -> bool {
        let isa = tools.isa();
        let (depth, segment) = self.directory.segment(hash);
        if !self.directory.can_split(depth) {
            return false;
        }
        let width = self.parameters.width_at(hash, depth);
        let below = children(hash, depth).map(|child| self.parameters.width_at(child, depth + 1));
        let halves = halves(isa, &segment, width, below);
        for (child, half) in halves.iter().enumerate() {
            touch(tools, ELSEWHERE << child, half.segment.words().len());
        }
        let origins = self.origins_of_halves(hash, &halves);
        let is_little = origins.iter().all(|origins| origins.words().len() <= MOST_NOTES);
        if is_little {
            let segments = halves.map(|half| half.segment);
            touch_directory(tools, self.directory.split(hash, segments, origins));
        }
        is_little
    }

    /// Whether a segment of this depth that needs so many bins is better split, which has `most` at most.
    fn should_split(&self, bins: usize, most: usize, depth: u32) -> bool {
        let usual = self.stock.usual_load(depth, most * SLOTS);
        bins > most && (usual > SPLIT_FROM || bins > 2 * most)
    }

    /// How a repeat is treated when it counts as an insertion.
    #[inline(always)]
    fn repeat(&self) -> OnMatch {
        if self.parameters.removing { OnMatch::Store(MOST_EQUAL) } else { OnMatch::Keep }
    }

    #[inline(always)]
    fn insert_batch(&mut self, hashes: &[u64], repeat: OnMatch, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.level, |isa| {
            hashes.iter().take(AHEAD).for_each(|&hash| _ = self.segment_ahead(hash, true));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.segment_ahead(hashes[(index + AHEAD).min(hashes.len() - 1)], true);
                *new = self.insert(isa, hash, repeat);
            }
        });
    }
}

impl Membership for Growing {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert_alone(isa, hash, self.repeat()))
    }

    #[inline]
    fn insert_fetched_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert(isa, hash, self.repeat()))
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert_alone(isa, hash, OnMatch::Keep))
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.contains(isa, hash, self.segment_ahead(hash, false)))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.segment_ahead(hash, true);
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, self.repeat(), new);
    }

    fn insert_new_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, OnMatch::Keep, new);
    }

    fn contains_hashes(&self, hashes: &[u64], _now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        vectorized!(self.level, |isa| {
            hashes.iter().take(AHEAD).for_each(|&hash| _ = self.segment_ahead(hash, false));
            for (index, (&hash, seen)) in hashes.iter().zip(seen).enumerate() {
                self.segment_ahead(hashes[(index + AHEAD).min(hashes.len() - 1)], false);
                *seen = self.contains(isa, hash, self.directory.segment(hash));
            }
        });
    }
}

impl Filter for Growing {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.directory.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.directory.mean_rate(SEGMENTS_ASKED, |hash, depth, segment| {
            segment.false_positive_rate(self.parameters.width_at(hash, depth))
        })
    }

    fn write_payload(&self, out: &mut Writer) {
        state::write(self, out);
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        // Of what can be taken back, every sighting is an item.
        (self.stock.lost == 0 && !self.parameters.removing).then_some(self.stock.items as f64)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        self.parameters.removing.then_some(self)
    }

    fn unite(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.blueprint().check_alike(other.blueprint())?;
        if self.parameters.removing {
            return Err(Error::Unsupported {
                operation: "take in another whose insertions can be taken back",
                instead: "build both without `removing()`, or ask both",
            });
        }
        let other = (other as &dyn Any).downcast_ref::<Self>().expect("it has our parameters");
        memory::ask_for(self.heap_bytes().saturating_add(other.heap_bytes()))?;
        match other.stock.items > self.stock.items {
            true => {
                let smaller = core::mem::replace(self, other.clone());
                self.take_in(&smaller);
            }
            false => self.take_in(other),
        }
        Ok(())
    }
}

/// The depth of a segment, and the segment.
type Found<'a> = (u32, Segment<&'a [u64]>);

/// Words after which another piece of memory is counted: no segment is longer.
pub(super) const ELSEWHERE: usize = 1 << 16;

/// Counts this many entries of tables, each on a cache line of its own.
#[inline(always)]
pub(super) fn touch_directory(tools: impl Tools, lines: usize) {
    touch(tools, ELSEWHERE << 2, LINE_WORDS * lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// Of many segments some are asked how often they err: as often as all, but for chance.
    #[test]
    fn some_segments_err_as_often_as_all() {
        let parameters = GrowingParameters::with_error(0.01, 1_000, false).unwrap();
        let mut filter = Growing::new(GrowingParameters { bins: 1, ..parameters });
        (0..120_000).for_each(|key| _ = filter.insert_hash(remix(key, 1), Time::ZERO));
        assert!(filter.segments() > SEGMENTS_ASKED);
        let rate = |hash, depth, segment: Segment<&[u64]>| {
            segment.false_positive_rate(parameters.width_at(hash, depth))
        };
        let all = filter.directory.mean_rate(usize::MAX, rate);
        let some = filter.directory.mean_rate(SEGMENTS_ASKED, rate);
        assert!((0.9..1.1).contains(&(some / all)), "{some} {all}");
        assert_eq!(filter.false_positive_rate(), some);
    }

    /// One that is too large is split when those of its depth usually are, or if it is twice too large: hashes
    /// that crowd into one segment should not split all of them.
    #[test]
    fn what_is_split() {
        let mut filter = Growing::new(GrowingParameters::with_error(0.01, 1_000, false).unwrap());
        let most = 10;
        for (items, depth, bins, split) in [
            (SLOTS * most, 0, most, false),
            (SLOTS * most, 0, most + 1, true),
            (8 * SLOTS * most, 3, most + 1, true),
            (SLOTS * most, 3, most + 1, false),
            (SLOTS * most, 3, 2 * most, false),
            (SLOTS * most, 3, 2 * most + 1, true),
        ] {
            filter.stock.items = items as u64;
            assert_eq!(filter.should_split(bins, most, depth), split, "{items} {depth} {bins}");
        }
    }
}
