//! Queued Bloom filters whose blocks lie side by side: a window at the speed of a blocked filter.
//!
//! L split-block Bloom filters take turns, as in [`Queuing`](super::Queuing). A key has the same
//! place in all of them, so we store by place: the L blocks of a place, one of each filter, lie
//! together and are read together. With L = 4 and blocks of 256 bits a place is two cache lines
//! that lie side by side, where two filters that take turns ([`DoubleBuffer`](crate::sliding::DoubleBuffer))
//! read two lines far apart; and four filters of a third of the window each need a fifth less
//! memory than two of a whole one.
//!
//! The queuing construction is that of Géraud-Stewart, Lombard-Platet and Naccache, section 5; the
//! interleaving is ours. Nothing is forgotten inside the window; keys up to w/(L-1) older may still
//! be reported. Not guaranteed: a bounded worst case. At each turn a block of every place is
//! emptied, in time linear in w.

use alloc::boxed::Box;

use super::law::{Stream, queued};
use crate::bits::{Isa, LINE_WORDS, Level, Lines, prefetch, size_of_parts, vectorized};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{BATCH, Filter, Membership};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{Seed, reduce, remix};
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::probability::least;
use crate::promise::{Mistakes, Promise};
use crate::sample::{LINES, sample};
use crate::split_block::false_positive_rate_in_lanes;
use crate::window::Time;

/// 64-bit words of a block: eight lanes of 32 bits.
const BLOCK_WORDS: usize = 4;
const LANE_BITS: u32 = 32;
/// Filters whose blocks share a cache line.
const FILTERS_PER_LINE: u64 = (LINE_WORDS / BLOCK_WORDS) as u64;

/// How many filters of how many blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InterleavedParameters {
    /// Insertions that are never forgotten.
    pub window: u64,
    /// Filters that take turns: an even number, 2 to 64.
    pub filters: u64,
    /// Places, each with a block of every filter.
    pub places: u64,
}

/// The number of filters when the slack does not ask for more: two cache lines per place.
const FILTERS: u64 = 4;
/// The most filters: more cost time and memory for little slack.
const MOST_FILTERS: u64 = 64;

impl InterleavedParameters {
    /// The smallest that keeps `rate` with this many filters.
    pub fn with_error(window: u64, filters: u64, rate: f64) -> Self {
        // Full filters err alike, and independently.
        let each = -((-rate).ln_1p() / filters as f64).exp_m1();
        let turn = window.div_ceil(filters - 1) as f64;
        let places = least((window / 256).max(1), |places| {
            false_positive_rate_in_lanes(turn / places as f64, LANE_BITS) <= each
        });
        Self { window, filters, places }
    }

    /// The largest with this many filters that fits into `bytes`; `None` if not one place does.
    pub fn with_memory(window: u64, filters: u64, bytes: u64) -> Option<Self> {
        let place = 64 * filters / FILTERS_PER_LINE;
        let places = bytes.checked_sub(Lines::heap_bytes_for(0))? / place;
        (places > 0).then_some(Self { window, filters, places })
    }

    /// The fewest filters whose slack is at most this; `None` if none do.
    pub fn filters_for(window: u64, most_slack: Option<u64>) -> Option<u64> {
        let candidates = (FILTERS..=MOST_FILTERS).step_by(FILTERS_PER_LINE as usize);
        let parameters = candidates.map(|filters| Self { window, filters, places: 1 });
        let mut fitting =
            parameters.filter(|found| most_slack.is_none_or(|most| found.slack() <= most));
        fitting.next().map(|found| found.filters)
    }

    /// Insertions between turns.
    pub fn turn(&self) -> u64 {
        self.window.div_ceil(self.filters - 1)
    }

    /// How much older than the window a reported key can be.
    pub fn slack(&self) -> u64 {
        self.filters * self.turn() - self.window
    }

    /// Chance that an unseen key is reported by one filter with `n` keys.
    fn each(&self, n: f64) -> f64 {
        false_positive_rate_in_lanes(n / self.places as f64, LANE_BITS)
    }

    /// Chance that an unseen key is reported when all filters are full.
    pub fn false_positive_rate(&self) -> f64 {
        let each = self.each(self.turn() as f64);
        -(self.filters as f64 * (-each).ln_1p()).exp_m1()
    }

    fn lines_per_place(&self) -> usize {
        (self.filters / FILTERS_PER_LINE) as usize
    }

    fn lines(&self) -> usize {
        size_of_parts(self.places, self.filters / FILTERS_PER_LINE)
    }
}

impl Parameters for InterleavedParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let (filters, expected) = (&mut self.filters, "an even number from 2 to 64");
        list.window(&mut self.window)?;
        list.add("filters", filters, 2..=MOST_FILTERS, expected)?;
        list.check(filters.is_multiple_of(FILTERS_PER_LINE), "filters", *filters, expected)?;
        list.add("places", &mut self.places, 1..=1 << 48, "from 1 to 2^48")
    }
}

impl Blueprint for InterleavedParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, self.slack(), self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        let stream = Stream::new(self.window, alphabet);
        queued(stream, self.filters, self.turn() as f64, |n, _| Mistakes {
            false_positives: self.each(stream.distinct(n)),
            false_negatives: 0.0,
        })
    }

    fn heap_bytes(&self) -> u64 {
        Lines::heap_bytes_for(self.lines())
    }

    fn lines_touched(&self) -> f64 {
        self.lines_per_place() as f64
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Interleaved::new(*self))
    }
}

/// Filters that take turns, block beside block.
#[derive(Debug, Clone)]
pub struct Interleaved {
    parameters: InterleavedParameters,
    /// Place after place; in each, a block of every filter.
    lines: Lines,
    /// Insertions between turns; `parameters.turn()`.
    turn: u64,
    /// Which filter receives insertions.
    newest: usize,
    /// Insertions into it; at most `turn`.
    held: u64,
    /// What this CPU can do.
    level: Level,
}

type Mask = [u64; BLOCK_WORDS];

impl Interleaved {
    /// An empty window.
    pub fn new(parameters: InterleavedParameters) -> Self {
        let lines = Lines::new(parameters.lines());
        let (turn, level) = (parameters.turn(), Level::detect());
        Self { parameters, lines, turn, newest: 0, held: 0, level }
    }

    /// First line of the place of a hash, and one bit for each lane.
    #[inline(always)]
    fn place(&self, hash: u64) -> (usize, Mask) {
        let (place, _) = reduce(hash, self.parameters.places);
        // The high bits chose the place; the lanes need 40 bits that do not depend on them.
        let bits = remix(hash, 0);
        let mask = core::array::from_fn(|word| {
            let (low, high) = (bits >> (10 * word), bits >> (10 * word + 5));
            1 << (low & 31) | (1 << 32) << (high & 31)
        });
        (place as usize * self.parameters.lines_per_place(), mask)
    }

    #[inline(always)]
    fn seen(&self, isa: impl Isa, first: usize, mask: &Mask) -> bool {
        let lines = &self.lines.as_slice()[first..first + self.parameters.lines_per_place()];
        let line = |line: &[u64; LINE_WORDS]| {
            // No early exit: all blocks cost less than one mispredicted branch.
            let [low, high] = line.as_chunks::<BLOCK_WORDS>().0 else { return false };
            isa.covers(low, mask) | isa.covers(high, mask)
        };
        match lines {
            // The usual number without a loop.
            [first, second] => line(first) | line(second),
            lines => lines.iter().fold(false, |seen, next| seen | line(next)),
        }
    }

    #[inline(always)]
    fn set(&mut self, first: usize, mask: &Mask) {
        let (line, block) = self.newest_block();
        let line = &mut self.lines.as_mut_slice()[first + line];
        for (word, bits) in line.as_chunks_mut::<BLOCK_WORDS>().0[block].iter_mut().zip(mask) {
            *word |= bits;
        }
    }

    /// Where the newest filter has its block: which line of a place, and which half of it.
    #[inline(always)]
    fn newest_block(&self) -> (usize, usize) {
        (self.newest / FILTERS_PER_LINE as usize, self.newest % FILTERS_PER_LINE as usize)
    }

    #[inline(always)]
    fn insert_by(&mut self, isa: impl Isa, hash: u64) -> bool {
        self.advance();
        let (first, mask) = self.place(hash);
        let seen = self.seen(isa, first, &mask);
        self.set(first, &mask);
        !seen
    }

    #[inline]
    fn advance(&mut self) {
        if self.held == self.turn {
            self.rotate();
        }
        self.held += 1;
    }

    /// Empties the oldest filter and makes it the newest.
    #[cold]
    fn rotate(&mut self) {
        self.newest = (self.newest + 1) % self.parameters.filters as usize;
        self.held = 0;
        let (line, block) = self.newest_block();
        let step = self.parameters.lines_per_place();
        for line in self.lines.as_mut_slice().iter_mut().skip(line).step_by(step) {
            line.as_chunks_mut::<BLOCK_WORDS>().0[block].fill(0);
        }
    }
}

impl Membership for Interleaved {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert_by(isa, hash))
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.advance();
        let seen = self.contains_hash(hash, now);
        if !seen {
            let (first, mask) = self.place(hash);
            self.set(first, &mask);
        }
        !seen
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| {
            let (first, mask) = self.place(hash);
            self.seen(isa, first, &mask)
        })
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let (place, _) = reduce(hash, self.parameters.places);
        let first = place as usize * self.parameters.lines_per_place();
        for line in first..first + self.parameters.lines_per_place() {
            prefetch(self.lines.as_slice(), line);
        }
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.level, |isa| {
            for (hashes, new) in hashes.chunks(BATCH).zip(new.chunks_mut(BATCH)) {
                for &hash in hashes {
                    self.prefetch_hash(hash);
                }
                for (&hash, new) in hashes.iter().zip(new) {
                    *new = self.insert_by(isa, hash);
                }
            }
        });
    }
}

impl Filter for Interleaved {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let lines = self.parameters.lines_per_place();
        let places = sample(self.parameters.places as usize, LINES);
        let looked = places.len() as f64;
        let reported = places.map(|place| {
            let lines = &self.lines.as_slice()[place * lines..][..lines];
            let blocks = lines.iter().flat_map(|line| line.as_chunks::<BLOCK_WORDS>().0);
            1.0 - blocks.map(|block| 1.0 - all_set(block)).product::<f64>()
        });
        reported.sum::<f64>() / looked
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.newest as u64);
        out.u64(self.held);
        out.words(self.lines.as_slice().as_flattened());
    }
}

/// Chance that eight random bits, one per lane, are all set.
fn all_set(block: &Mask) -> f64 {
    let lanes = block.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
    lanes.map(|lane| f64::from(lane.count_ones()) / f64::from(LANE_BITS)).product()
}

impl Structure for InterleavedParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.neither_counts_nor_removes()?;
        let filters = Self::filters_for(window, goal.slack_in_items());
        let filters = filters.ok_or(Unfit("needs a larger slack"))?;
        match goal.limit {
            Limit::Error(rate) => Ok(Self::with_error(window, filters, rate.get())),
            Limit::Memory(memory) => {
                Self::with_memory(window, filters, memory.bytes()).ok_or(Unfit("needs more memory"))
            }
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let last = self.filters - 1;
        let newest = payload.u64_at_most("newest", last, "one of the filters")? as usize;
        let turn = self.turn();
        let held = payload.u64_at_most("held", turn, "at most a turn")?;
        let words = (self.lines() as u64).saturating_mul(LINE_WORDS as u64);
        let words = payload.last_words("blocks", words)?;
        let mut lines = Lines::new(self.lines());
        lines.as_mut_slice().as_flattened_mut().copy_from_slice(&words);
        let level = Level::detect();
        Ok(Box::new(Interleaved { parameters: self, lines, turn, newest, held, level }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_error_are_inverse() {
        for window in [1, 100, 1_000_000] {
            for filters in [2, 4, 10] {
                let given = InterleavedParameters::with_error(window, filters, 0.01);
                let back = InterleavedParameters::with_memory(window, filters, given.heap_bytes());
                assert_eq!(back, Some(given));
            }
        }
    }

    #[test]
    fn a_small_slack_takes_more_filters() {
        assert_eq!(InterleavedParameters::filters_for(3000, None), Some(4));
        assert_eq!(InterleavedParameters::filters_for(3000, Some(1000)), Some(4));
        let filters = InterleavedParameters::filters_for(3000, Some(300)).unwrap();
        assert_eq!(filters, 12);
        assert_eq!(InterleavedParameters::filters_for(3000, Some(1)), None);
    }
}
