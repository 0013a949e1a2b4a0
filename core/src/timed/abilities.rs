//! What the stored generations can tell beside seen or not: how long ago, how many different keys, a life
//! that ends early, and what is taken back.

use core::ops::Range;

use super::clock::{REGIONS, region_of};
use super::deal::{bins_for, fine, most_bins_for};
use super::filter::TimedWindow;
use super::segment::{Segment, Shape};
use super::slots::Repeat;
use crate::bits::{Isa, vectorized};
use crate::filter::{Age, Aging, Deadlines, Removing};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::sample::spread;
use crate::window::{Span, Time};

/// Segments that are asked for how many keys there are: a million keys or more, so that chance is a
/// thousandth; by their tags alone, so that a server does not wait for the answer.
const SEGMENTS_ASKED: usize = 1 << 10;

impl Aging for TimedWindow {
    /// A key that was inserted with a deadline counts as older than it is: as old as one that leaves then.
    fn age_hash(&self, hash: u64, now: Time) -> Option<Age> {
        let now = self.now(now);
        let region = region_of(hash);
        let found = vectorized!(self.level, |isa| self.find(isa, hash, now))?;
        let (least, most) = match found {
            // It may be among those that were lost.
            None => (0, self.ticks.longest()),
            Some(age) => {
                let seen = self.moments(region, self.generation(region, now), age);
                (now.saturating_sub(seen.end - 1), now.saturating_sub(seen.start))
            }
        };
        Some(Age::Time(Span::from_millis(least)..=Span::from_millis(most)))
    }
}

impl Deadlines for TimedWindow {
    fn insert_until_hash(&mut self, hash: u64, now: Time, deadline: Time) -> bool {
        self.advance(now);
        let now = self.now(now);
        vectorized!(self.level, |isa| self.insert_until(isa, hash, now, deadline.millis()))
    }
}

impl Removing for TimedWindow {
    /// Everything that matches the key goes: what was stored of it before the filter grew, and after. Two
    /// keys that are mistaken for each other have one entry, which goes with either: so of the other keys in
    /// the window, each is forgotten too with the chance that a key is mistaken for a given other one, and
    /// of all of them together at most as many as
    /// [`false_positive_rate`](crate::raw::Filter::false_positive_rate) says.
    fn remove_hash(&mut self, hash: u64) -> bool {
        vectorized!(self.level, |isa| self.remove(isa, hash))
    }
}

impl TimedWindow {
    /// The moments of a generation that is so many old.
    pub(super) fn moments(&self, region: usize, generation: u64, age: u32) -> Range<u64> {
        let then = self.turns.tick(generation).saturating_sub(age.into());
        self.ticks.begin(region, then)..self.ticks.begin(region, then.saturating_add(1)).max(1)
    }

    /// Stores the key as one of the generation that leaves when the deadline has passed.
    #[inline(always)]
    fn insert_until<I: Isa>(&mut self, isa: I, hash: u64, now: u64, deadline: u64) -> bool {
        if deadline < now {
            return self.find(isa, hash, now).is_none();
        }
        self.tend(isa);
        let region = region_of(hash);
        let current = self.regions[region].generation;
        let left = self.ticks.generation(region, deadline) - self.turns.tick(current);
        let age = u64::from(self.shape.ages).saturating_sub(left);
        self.insert_of(isa, hash, current.wrapping_sub(age), Repeat::Refresh)
    }

    /// Removes all entries that match a hash.
    #[inline(always)]
    fn remove<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let (region, shape) = (region_of(hash), self.shape);
        if self.segments.get(hash).1[0] != self.regions[region].generation {
            self.sweep(isa, hash);
        }
        let mut removed = 0;
        loop {
            let (depth, words) = self.segments.get_mut(hash);
            let mut segment = Segment { words };
            let info = segment.info();
            if info.bins == 0 {
                break;
            }
            let site = segment.site(&shape, info, hash << depth);
            let mut matching = None;
            segment.matching(isa, &shape, info, site, |found| matching = Some(found));
            let Some(found) = matching else { break };
            let entry = fine(&shape, info, site.number, found.field, found.beside);
            segment.take_out(isa, &shape, site, found.spot);
            self.weights.take(region, entry.tag, entry.len() + depth);
            removed += 1;
        }
        if removed > 0 {
            self.replaced(hash, removed, 0);
            self.fit(isa, hash);
            // Segments may have become so small that two will do as one.
            self.quiet = 0;
        }
        removed > 0
    }

    /// Makes the segment of a hash smaller if it has become too roomy.
    pub(super) fn fit<I: Isa>(&mut self, isa: I, hash: u64) {
        let (_, words) = self.segments.get(hash);
        let segment = Segment { words };
        let info = segment.info();
        if info.count == 0 {
            self.work += 1;
            let empty = Segment::empty(segment.generation(), info.blind);
            self.replace(hash, empty);
        } else if info.bins > most_bins_for(info.count) {
            self.work += 1;
            isa.vectorize_apart(
                #[inline(always)]
                || self.deal(isa, hash, bins_for(&self.shape, info.count)),
            );
        }
    }

    /// Estimated number of different keys in the window: the entries, those of the two oldest generations
    /// as far as these are in it. Of many segments, from some: keys fall evenly.
    pub(super) fn distinct_at(&self, now: u64) -> f64 {
        let mut parts = [[0.0; 2]; REGIONS];
        for (region, parts) in parts.iter_mut().enumerate() {
            let generation = self.generation(region, now);
            for (back, part) in parts.iter_mut().enumerate() {
                let Some(age) = self.shape.ages.checked_sub(back as u32) else { continue };
                let moments = self.moments(region, generation, age);
                let first = now.saturating_sub(self.parameters.span.millis());
                let inside = moments.end.saturating_sub(first.max(moments.start)) as f64;
                *part = inside / (moments.end - moments.start).max(1) as f64;
            }
        }
        let count = |hash: u64| {
            let region = region_of(hash);
            let (depth, words) = self.segments.get(hash);
            let segment = Segment { words };
            let sight = self.sight(hash, self.generation(region, now));
            let Some(oldest) = sight.oldest else { return (depth, 0.0) };
            let aged = |age: u32| {
                let (segment, shape) = (&segment, &self.shape);
                vectorized!(self.level, |isa| segment.aged(isa, shape, age.into()))
            };
            // All but those that have left, and but for the parts that have of those that are leaving.
            let ages = self.shape.ages;
            let gone: usize = (oldest + 1..=ages).map(aged).sum();
            let leaving = (0..=oldest).rev().map_while(|age| {
                let part = parts[region].get((ages - sight.age(age)?) as usize)?;
                Some((1.0 - part) * aged(age) as f64)
            });
            (depth, (segment.info().count - gone) as f64 - leaving.sum::<f64>())
        };
        if self.segments.arrays() <= SEGMENTS_ASKED {
            return self.segments.first_hashes().map(|hash| count(hash).1).sum();
        }
        let all_like = |hash| {
            let (depth, inside) = count(hash as u64);
            inside * f64::from(depth).exp2()
        };
        spread(usize::MAX, SEGMENTS_ASKED).map(all_like).sum::<f64>() / SEGMENTS_ASKED as f64
    }
}

impl Segment<&[u64]> {
    /// Entries that are so many generations old, counted from the generation of the segment.
    #[inline(always)]
    fn aged<I: Isa>(&self, isa: I, shape: &Shape, age: u64) -> usize {
        let info = self.info();
        if info.bins == 0 {
            return 0;
        }
        let (layout, tag) = (info.layout(shape), shape.tag(self.generation().wrapping_sub(age)));
        let in_bin = |number| {
            let bin = self.bin(&layout, number);
            bin.tagged_in(isa, tag.into(), shape.tag_bits) & bin.head().used()
        };
        let is_exile =
            |&index: &usize| shape.tag(self.exile(shape, info, index).beside(info)) == tag;
        (0..info.bins).map(|number| in_bin(number).count_ones() as usize).sum::<usize>()
            + (0..self.exiles()).filter(is_exile).count()
    }
}
