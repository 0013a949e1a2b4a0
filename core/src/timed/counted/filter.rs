//! The counter: what an operation does.

use alloc::vec::Vec;

use super::super::clock::region_of;
use super::super::entry::Entry;
use super::super::filter::TimedWindow;
use super::super::segment::Segment;
use super::digits::{MOST_COUNT, add_up, counted, entries_of};
use super::parameters::{Unit, WindowCountsParameters};
use super::slots::Number;
use crate::bits::Isa;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::window::Time;

/// Counts keys in the last *n* or the last *t*, at whatever rate they come.
#[derive(Debug, Clone)]
pub struct WindowCounts {
    pub(super) parameters: WindowCountsParameters,
    pub(in super::super) inner: TimedWindow,
    /// Sightings so far: the clock of a window by count.
    pub(super) sightings: u64,
}

/// How often a key came, by generations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Tally {
    /// In all generations that are not too old: never below the truth.
    pub(super) all: u64,
    /// In those that are wholly in the window: not more than `all`, and of a key that is taken for no other
    /// never above the truth.
    pub(super) surely: u64,
    /// With the oldest generation as far as it is in the window.
    pub(super) estimate: f64,
}

impl WindowCounts {
    /// An empty counter.
    pub fn new(parameters: WindowCountsParameters) -> Self {
        Self { parameters, inner: TimedWindow::new(parameters.segments), sightings: 0 }
    }

    /// Slots in use at this moment: one for every key and generation in which it came, and more for those
    /// that came more than twice.
    pub fn items(&self) -> u64 {
        self.inner.items()
    }

    /// Segments at this moment.
    pub fn segments(&self) -> usize {
        self.inner.segments()
    }

    /// Entries that found no room, ever: zero unless hashes are not random. In their part of the counter
    /// nobody knows how often a key came until they would have been forgotten.
    pub fn lost(&self) -> u64 {
        self.inner.lost()
    }

    /// Checks every invariant, and says which one is broken.
    pub fn validate(&self) -> Result<(), alloc::string::String> {
        self.inner.validate()
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { inner: self.inner.without_vectors(), ..self }
    }

    /// The moment of a look, by the clock of the window.
    #[inline(always)]
    pub(super) fn moment(&self, now: Time) -> u64 {
        match self.parameters.unit {
            Unit::Millis => self.inner.now(now),
            Unit::Sightings => self.sightings,
        }
    }

    /// Counts so many sightings, now.
    #[inline(always)]
    pub(super) fn add<I: Isa>(&mut self, isa: I, hash: u64, times: u64, now: Time) {
        match self.parameters.unit {
            Unit::Millis => self.inner.add(isa, hash, times, now),
            Unit::Sightings => self.add_in_turn(isa, hash, times),
        }
    }

    /// The same where every sighting is a moment: so many of each generation that they reach over. Those
    /// that leave with the last of them are passed over.
    #[inline(always)]
    fn add_in_turn<I: Isa>(&mut self, isa: I, hash: u64, times: u64) {
        let (region, ticks) = (region_of(hash), self.inner.ticks);
        let end = self.sightings.saturating_add(times);
        let mut from = self.sightings.max(end.saturating_sub(ticks.longest() + 1));
        while from < end {
            let generation = ticks.generation(region, from);
            let until = end.min(ticks.begin(region, generation + 1));
            self.inner.add(isa, hash, until - from, Time::from_millis(from));
            from = until;
        }
        self.sightings = end;
    }

    /// A sighting that is not counted takes its place in a window by count all the same.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time) {
        match self.parameters.unit {
            Unit::Millis => self.inner.advance(now),
            Unit::Sightings => {
                self.sightings = self.sightings.saturating_add(1);
                self.inner.advance(Time::from_millis(self.sightings));
            }
        }
    }

    /// How often the key came.
    #[inline(always)]
    pub(super) fn count<I: Isa>(&self, isa: I, hash: u64, now: Time) -> u64 {
        let mut sum = 0_u64;
        let known = self.inner.generations(isa, hash, self.moment(now), |_, number| {
            sum = sum.saturating_add(number.count());
        });
        if known { sum.min(MOST_COUNT) } else { MOST_COUNT }
    }

    /// The same in all the ways it can be told.
    #[inline(always)]
    pub(super) fn tally<I: Isa>(&self, isa: I, hash: u64, now: Time) -> Tally {
        let moment = self.moment(now);
        let region = region_of(hash);
        let generation = self.inner.generation(region, moment);
        let mut tally = Tally::default();
        let known = self.inner.generations(isa, hash, moment, |age, number| {
            let inside = self.inner.inside(region, generation, age, moment);
            tally.all = tally.all.saturating_add(number.count());
            tally.surely += if inside < 1.0 { 0 } else { number.count() };
            tally.estimate += inside * number.count() as f64;
        });
        match known {
            true => Tally { all: tally.all.min(MOST_COUNT), ..tally },
            false => Tally { all: MOST_COUNT, surely: 0, estimate: MOST_COUNT as f64 },
        }
    }

    /// How long until so many sightings of a key have left for sure, in units of the window.
    pub(super) fn wait_for<I: Isa>(&self, isa: I, hash: u64, leaving: u64, now: Time) -> u64 {
        let moment = self.moment(now);
        let region = region_of(hash);
        let generation = self.inner.generation(region, moment);
        let mut ages: Vec<(u32, u64)> = Vec::new();
        self.inner.generations(isa, hash, moment, |age, number| ages.push((age, number.count())));
        ages.sort_unstable_by_key(|&(age, _)| core::cmp::Reverse(age));
        let mut left = 0_u64;
        let leaves = ages.into_iter().find(|&(_, count)| {
            left = left.saturating_add(count);
            left >= leaving
        });
        // Where nobody knows, everything has left when the youngest would have.
        let age = leaves.map_or(0, |(age, _)| age);
        let tick = self.inner.turns.tick(generation);
        let gone = tick + u64::from(self.inner.shape.ages - age) + 1;
        self.inner.ticks.begin(region, gone).saturating_sub(moment)
    }

    /// Takes back so many sightings of a key, and says how many are left. Of all that match, the longest
    /// goes first, which is the key's own; among those the oldest, so that no other that is taken for
    /// it leaves early.
    pub(super) fn take_back<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        times: u64,
        now: Time,
    ) -> Result<u64, Error> {
        let found = self.count(isa, hash, now);
        if times > found {
            return Err(Error::TooFew { asked: times, found });
        }
        let moment = self.moment(now);
        self.inner.advance(Time::from_millis(moment));
        let mut left = times;
        while left > 0 {
            let taken = self.inner.take_some(isa, hash, left);
            if taken == 0 {
                break;
            }
            left -= taken;
        }
        Ok(self.count(isa, hash, now))
    }
}

impl TimedWindow {
    /// Counts so many sightings at a moment.
    #[inline(always)]
    pub(super) fn add<I: Isa>(&mut self, isa: I, hash: u64, times: u64, now: Time) {
        self.advance(now);
        self.look_after(isa);
        if times > 0 {
            let generation = self.regions[region_of(hash)].generation;
            while !self.add_if_ready(isa, hash, self.shape.tag(generation), times) {
                self.make_ready(isa, hash);
            }
        }
    }

    /// The same if the segment is as it should be and has room; whether it is.
    #[inline(always)]
    fn add_if_ready<I: Isa>(&mut self, isa: I, hash: u64, tag: u32, times: u64) -> bool {
        let number = region_of(hash);
        let (depth, words) = self.segments.get_mut(hash);
        let mut segment = Segment { words };
        let info = segment.info();
        let region = &mut self.regions[number];
        let needed = self.shape.needed_bits(region.population.bits(), self.short, depth);
        if segment.generation() != region.generation || info.remainder_bits < needed {
            return false;
        }
        let Some(slots) = segment.add(isa, &self.shape, hash << depth, tag, times) else {
            return false;
        };
        for _ in 0..slots {
            self.weights.add(number, tag, info.remainder_bits + depth);
            region.population.add();
        }
        self.items += slots as u64;
        if info.count + slots > segment.most_entries() {
            self.make_larger(isa, hash);
        }
        true
    }

    /// Sweeps the segment of a hash, makes it anew or gives it room.
    #[cold]
    #[inline(never)]
    fn make_ready<I: Isa>(&mut self, isa: I, hash: u64) {
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let info = segment.info();
        if segment.generation() != self.regions[region_of(hash)].generation {
            self.sweep(isa, hash);
        } else if info.bins == 0 {
            self.make_room(hash);
        } else if info.remainder_bits < self.needed_bits(hash, depth) {
            if !self.shorten_instead() {
                self.remake(isa, hash);
            }
        } else {
            self.make_room(hash);
        }
    }

    /// Tells of every number of a hash that is not too old, with its age in generations; `false` if
    /// some may have been lost.
    #[inline(always)]
    pub(super) fn generations<I: Isa>(
        &self,
        isa: I,
        hash: u64,
        now: u64,
        mut each: impl FnMut(u32, Number),
    ) -> bool {
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let late = self.generation(region_of(hash), now).wrapping_sub(segment.generation());
        let ages = u64::from(self.shape.ages);
        if late > ages {
            // So late is what has missed a turn of the clock, too.
            let sight = self.sight(hash, segment.generation().wrapping_add(late));
            if sight.behind {
                segment.numbers(isa, &self.shape, hash << depth, |number| {
                    if let Some(age) = sight.age_of_tag(&self.shape, number.tag) {
                        each(age, number);
                    }
                });
            }
            return sight.blind == 0;
        }
        segment.numbers(isa, &self.shape, hash << depth, |number| {
            let tag = number.tag;
            let age = u64::from(self.shape.age(segment.generation(), tag)) + late;
            if age <= ages {
                each(age as u32, number);
            }
        });
        u64::from(segment.info().blind) <= late
    }

    /// The part of a generation that is in the window.
    #[inline(always)]
    pub(super) fn inside(&self, region: usize, generation: u64, age: u32, now: u64) -> f64 {
        let moments = self.moments(region, generation, age);
        let first = now.saturating_sub(self.parameters.span.millis());
        if moments.start >= first {
            return 1.0;
        }
        moments.end.saturating_sub(first) as f64 / (moments.end - moments.start) as f64
    }

    /// Takes at most so many sightings of a hash out of one number; how many.
    fn take_some<I: Isa>(&mut self, isa: I, hash: u64, most: u64) -> u64 {
        let (region, shape) = (region_of(hash), self.shape);
        let generation = self.regions[region].generation;
        if self.segments.get(hash).1[0] != generation {
            self.sweep(isa, hash);
        }
        let (depth, words) = self.segments.get_mut(hash);
        let mut segment = Segment { words };
        let info = segment.info();
        let mut best: Option<(u32, u32, Number)> = None;
        segment.numbers(isa, &shape, hash << depth, |number| {
            let missing = info.missing_bits(number.field);
            let youth = shape.ages - shape.age(generation, number.tag);
            if best.is_none_or(|(least, before, _)| (missing, youth) < (least, before)) {
                best = Some((missing, youth, number));
            }
        });
        let Some((missing, _, number)) = best else { return 0 };
        let taken = number.count().min(most);
        let freed = segment.lower(isa, &shape, hash << depth, number, number.count() - taken);
        let known = info.remainder_bits - missing + depth;
        (0..freed).for_each(|_| self.weights.take(region, number.tag, known));
        if freed > 0 {
            self.replaced(hash, freed, 0);
            self.fit(isa, hash);
            self.quiet = 0;
        }
        taken
    }
}

/// Entries with other tags: what has one tag then is added up.
pub(in super::super) fn set_tags(entries: &[Entry], tag: impl Fn(u32) -> u32) -> Vec<Entry> {
    let mut numbers = counted(entries);
    numbers.iter_mut().for_each(|number| number.entry.tag = tag(number.entry.tag));
    add_up(&mut numbers);
    entries_of(&numbers)
}
