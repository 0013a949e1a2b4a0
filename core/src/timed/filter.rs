//! The filter: segments by prefix, the clock, and what an operation does.

use alloc::boxed::Box;

use super::clock::{REGIONS, Ticks, region_of};
use super::level::{Headcount, PARTS};
use super::parameters::TimedWindowParameters;
use super::segment::{Segment, Shape};
use super::slots::{Outcome, Repeat};
use super::turns::Turns;
use super::weights::Weights;
use crate::bits::{Extendible, Isa, Level, Scalar, prefix, vectorized};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::window::Time;

/// Insertions of which one looks after another segment than its own.
const TURNS: u32 = 4;

/// Remembers every key for a span of time, at whatever rate they come.
#[derive(Debug, Clone)]
pub struct TimedWindow {
    pub(super) parameters: TimedWindowParameters,
    pub(super) ticks: Ticks,
    pub(super) shape: Shape,
    pub(super) level: Level,
    /// The latest moment it was told, if any.
    pub(super) clock: Option<u64>,
    /// When the generation of a region changes next.
    pub(super) next_change: u64,
    pub(super) regions: Box<[Region; REGIONS]>,
    pub(super) weights: Weights,
    pub(super) segments: Extendible,
    /// Words of all segments, as [`reckoned_words`](super::placing::reckoned_words) says.
    pub(super) reckoned: u64,
    /// Entries of all segments, also those that are too old and not yet swept.
    pub(super) items: u64,
    /// Entries that found no room.
    pub(super) lost: u64,
    /// A hash of the segment that is looked after next.
    pub(super) hand: u64,
    /// Insertions since the last look, modulo [`TURNS`].
    pub(super) turn: u32,
    /// Segments that were looked after in a row without anything to do.
    pub(super) quiet: u32,
    /// Bits that remainders lack because memory is bounded and keys are many.
    pub(super) short: u32,
    /// Segments that were looked after since they lack as many.
    pub(super) round: u32,
    /// Segments that were swept or made, ever: what operations cost beside the usual.
    pub(super) work: u64,
    /// When the clock was set back, for segments that do not know it yet.
    pub(super) turns: Turns,
}

/// The hashes that change their generation together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) generation: u64,
    pub(super) population: Headcount,
}

impl TimedWindow {
    /// An empty filter.
    pub fn new(parameters: TimedWindowParameters) -> Self {
        let region = || Region { generation: 0, population: Headcount::new(parameters.floor()) };
        let empty = |_| (REGIONS.ilog2(), Segment::empty(0, 0).words);
        let segments = Extendible::new(REGIONS.ilog2(), (0..REGIONS).map(empty));
        Self::from_parts(parameters, Box::new([(); REGIONS].map(|()| region())), segments)
    }

    pub(super) fn from_parts(
        parameters: TimedWindowParameters,
        regions: Box<[Region; REGIONS]>,
        segments: Extendible,
    ) -> Self {
        let shape = parameters.shape();
        let mut made = Self {
            parameters,
            ticks: parameters.ticks(),
            shape,
            level: Level::detect(),
            clock: None,
            next_change: 0,
            items: regions.iter().map(|region| region.population.items()).sum(),
            regions,
            weights: Weights::new(&shape),
            reckoned: 0,
            segments,
            lost: 0,
            hand: 0,
            turn: 0,
            quiet: 0,
            short: 0,
            round: u32::MAX,
            work: 0,
            turns: Turns::default(),
        };
        made.place_all();
        made
    }

    /// Entries stored at this moment: about one for every different key of the span, and half a
    /// generation more.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Segments at this moment.
    pub fn segments(&self) -> usize {
        self.segments.arrays()
    }

    /// Entries that found no room, ever: zero unless hashes are not random. Their part of the filter
    /// reports everything until they would have been forgotten, so answers stay one-sided.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Segments that were swept or made since the beginning.
    #[doc(hidden)]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { level: Level::Scalar(Scalar), ..self }
    }

    /// Records a sighting of an earlier moment that is told only now. `true` if the key was not in the
    /// window; a sighting that is older than the window is not recorded.
    pub fn insert_late_hash(&mut self, hash: u64, now: Time, sighting: Time) -> bool {
        let sighting = sighting.min(now).millis();
        vectorized!(self.level, |isa| {
            self.insert_seen_at(isa, hash, now, sighting, Repeat::Refresh)
        })
    }

    /// The generations that regions are in.
    pub(super) fn current(&self) -> [u64; REGIONS] {
        self.regions.each_ref().map(|region| region.generation)
    }

    /// The generation of a region at a moment that is not before the clock.
    #[inline(always)]
    pub(super) fn generation(&self, region: usize, now: u64) -> u64 {
        if now < self.next_change {
            self.regions[region].generation
        } else {
            self.turns.later_generation(self.ticks.generation(region, now))
        }
    }

    /// The age in generations of a hash that is in the window, and whether it is known: `None` inside if
    /// its segment reports everything.
    #[inline(always)]
    pub(super) fn find<I: Isa>(&self, isa: I, hash: u64, now: u64) -> Option<Option<u32>> {
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let info = segment.info();
        let found = segment.find(isa, &self.shape, info, hash << depth);
        if found.is_none() && info.blind == 0 {
            return None;
        }
        let ages = u64::from(self.shape.ages);
        let late = self.generation(region_of(hash), now).wrapping_sub(segment.generation());
        match found {
            Some(age) if u64::from(age) <= ages.saturating_sub(late) && late <= ages => {
                Some(Some(age + late as u32))
            }
            // It has left, or its segment has missed a turn of the clock, or reports everything.
            _ => self.find_apart(hash, now, found),
        }
    }

    #[inline(always)]
    pub(super) fn contains<I: Isa>(&self, isa: I, hash: u64, now: u64) -> bool {
        self.find(isa, hash, now).is_some()
    }

    /// The latest of this moment and the clock.
    #[inline(always)]
    pub(super) fn now(&self, now: Time) -> u64 {
        self.clock.unwrap_or(0).max(now.millis())
    }

    #[inline(always)]
    pub(super) fn insert<I: Isa>(&mut self, isa: I, hash: u64, now: Time, repeat: Repeat) -> bool {
        self.advance(now);
        self.look_after(isa);
        let generation = self.regions[region_of(hash)].generation;
        self.insert_of(isa, hash, generation, repeat)
    }

    #[inline(always)]
    fn insert_seen_at<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        now: Time,
        seen_at: u64,
        repeat: Repeat,
    ) -> bool {
        self.advance(now);
        self.look_after(isa);
        let region = region_of(hash);
        let current = self.regions[region].generation;
        let seen_in = self.ticks.generation(region, seen_at);
        let age = self.turns.tick(current).saturating_sub(seen_in);
        if age > self.shape.ages.into() {
            return !self.contains(isa, hash, self.now(now));
        }
        self.insert_of(isa, hash, current.wrapping_sub(age), repeat)
    }

    /// Looks, and records a sighting of a generation that is not too old; whether it was new.
    #[inline(always)]
    pub(super) fn insert_of<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        generation: u64,
        repeat: Repeat,
    ) -> bool {
        let tag = self.shape.tag(generation);
        match self.insert_if_ready(isa, hash, tag, repeat) {
            Some(new) => new,
            None => self.make_ready_and_insert(isa, hash, tag, repeat),
        }
    }

    /// The same if the segment is as it should be and has room.
    #[inline(always)]
    fn insert_if_ready<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        tag: u32,
        repeat: Repeat,
    ) -> Option<bool> {
        let number = region_of(hash);
        let region = &mut self.regions[number];
        let (depth, words) = self.segments.get_mut(hash);
        let mut segment = Segment { words };
        let info = segment.info();
        let blind = info.blind > 0 && repeat == Repeat::Keep;
        let more = region.population.bits();
        let long = self.shape.is_long_enough(info.remainder_bits, more, self.short, depth);
        if segment.generation() != region.generation || !long || blind {
            return None;
        }
        match segment.insert(isa, &self.shape, info, hash << depth, tag, repeat) {
            Outcome::Stored { seen } => {
                self.weights.add(number, tag, info.remainder_bits + depth);
                region.population.add();
                self.items += 1;
                if info.count >= segment.most_entries() {
                    self.make_larger(isa, hash);
                }
                Some(!(seen || info.blind > 0))
            }
            Outcome::Refreshed { before } => {
                self.weights.take(number, before, info.remainder_bits + depth);
                self.weights.add(number, tag, info.remainder_bits + depth);
                Some(false)
            }
            Outcome::Seen => Some(false),
            Outcome::Full => None,
        }
    }

    /// The same if it is not: it is swept, made anew or gets room first.
    #[cold]
    #[inline(never)]
    fn make_ready_and_insert<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        tag: u32,
        repeat: Repeat,
    ) -> bool {
        let region = region_of(hash);
        loop {
            let (depth, words) = self.segments.get(hash);
            let segment = Segment { words };
            let info = segment.info();
            let needed = self.needed_bits(hash, depth);
            if segment.generation() != self.regions[region].generation {
                self.sweep(isa, hash);
            } else if info.blind > 0 && repeat == Repeat::Keep {
                return false;
            } else if info.bins == 0 {
                self.make_room(hash);
            } else if info.remainder_bits < needed {
                if !self.shorten_instead() {
                    self.remake(isa, hash);
                }
            } else {
                let inserted = isa.vectorize(
                    #[inline(always)]
                    || self.insert_if_ready(isa, hash, tag, repeat),
                );
                match inserted {
                    Some(new) => return new,
                    None => self.make_room(hash),
                }
            }
        }
    }

    /// Takes notice of the time.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: Time) {
        let now = now.millis();
        if now >= self.next_change {
            self.set_clock(now);
        } else if self.clock < Some(now) {
            self.clock = Some(now);
        }
    }

    /// Sets the clock, which goes forward, and everything that follows from it.
    #[cold]
    pub(super) fn set_clock(&mut self, now: u64) {
        let now = self.clock.unwrap_or(0).max(now);
        let ticks: [u64; REGIONS] =
            core::array::from_fn(|number| self.ticks.generation(number, now));
        let too_far = |number| self.turns.end_before(number, self.turns.generation(ticks[number]));
        if (0..REGIONS).any(too_far) {
            self.sweep_all();
        }
        self.clock = Some(now);
        for (number, region) in self.regions.iter_mut().enumerate() {
            let generation = self.turns.generation(ticks[number]);
            if generation != region.generation {
                self.weights.forget(&self.shape, number, region.generation, generation);
                region.generation = generation;
                region.population.enter(part(&self.shape, ticks[number]));
                self.quiet = 0;
            }
        }
        self.relax();
        self.find_next_change();
    }

    pub(super) fn find_next_change(&mut self) {
        let begins = self.regions.iter().enumerate();
        let begins = begins.map(|(number, region)| {
            let tick = self.turns.tick(region.generation);
            self.ticks.begin(number, tick.saturating_add(1))
        });
        self.next_change = begins.min().unwrap_or(0);
    }

    /// Every few insertions, or with each while there is something to do: looks after a segment.
    #[inline(always)]
    pub(super) fn look_after<I: Isa>(&mut self, isa: I) {
        self.turn = (self.turn + 1) % TURNS;
        if self.turn == 0 || self.quiet == 0 {
            self.tend(isa);
        }
    }

    /// Asks for the beginning of the segment of a hash.
    #[inline(always)]
    pub(super) fn prefetch_head(&self, hash: u64) {
        Segment { words: self.segments.get(hash).1 }.prefetch_head();
    }

    /// Asks for the bin of a hash; the beginning of its segment should be here.
    #[inline(always)]
    pub(super) fn prefetch_bin(&self, hash: u64) {
        let (depth, words) = self.segments.get(hash);
        Segment { words }.prefetch_bin(&self.shape, hash << depth);
    }
}

/// The part of a window that a generation is in: see [`Headcount`]. The parts are so long that all of
/// them but the one that is going on last longer than an entry lives.
pub(super) fn part(shape: &Shape, generation: u64) -> u64 {
    generation / u64::from((shape.ages + 1).div_ceil(PARTS as u32 - 2))
}

/// Entries beyond which the segment of a hash is split: more for larger prefixes, so that not all are
/// split at once.
#[inline(always)]
pub(super) fn limit(parameters: &TimedWindowParameters, hash: u64, depth: u32) -> usize {
    let entries = u64::from(parameters.entries);
    // The prefix as a fraction, in units of 2^-32.
    let fraction = prefix(hash, depth) << (32 - depth);
    (entries + ((fraction * entries) >> 32).min(entries * 3 / 4)) as usize
}
