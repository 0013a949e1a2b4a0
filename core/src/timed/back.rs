//! A clock that is set back.
//!
//! What follows from it for all entries together is done at once, in a time that does not depend on how many there are: the
//! sums of their chances move to other tags. The entries themselves follow segment by segment, as these are swept: see
//! `turns`. So no operation touches more segments than after a generation that has ended.

use alloc::vec::Vec;

use super::clock::{REGIONS, region_of};
use super::counted::set_tags;
use super::entry::Entry;
use super::filter::{TimedWindow, part};
use super::segment::Segment;
use super::turns::Sight;
use crate::bits::Scalar;

impl TimedWindow {
    /// Sets the clock back: what was seen later counts as seen then, and what had left the window does not come
    /// back.
    ///
    /// Only if this happens again and again before the hand has gone round once, all segments take part at once in what is noted.
    pub(super) fn set_back(&mut self, now: u64) {
        let before = self.current();
        let ticks = core::array::from_fn(|region| self.ticks.generation(region, now));
        self.clock = Some(now);
        if before.map(|generation| self.turns.tick(generation)) == ticks {
            return;
        }
        self.turns.forget(&self.shape, before);
        if self.turns.end_before_turn(before, self.segments.arrays()) {
            self.sweep_all();
        }
        let backs: [u32; REGIONS] = core::array::from_fn(|region| {
            self.turns.back(&self.shape, before[region], ticks[region])
        });
        self.turns.note(&self.shape, before, ticks, self.segments.arrays());
        for (number, region) in self.regions.iter_mut().enumerate() {
            region.generation = self.turns.generation(ticks[number]);
            let (from, to) = (before[number], region.generation);
            self.weights.set_back(&self.shape, number, from, to, backs[number]);
            region.population.set_back(part(&self.shape, ticks[number]));
        }
        self.find_next_change();
        self.quiet = 0;
    }

    /// Lets all segments take part in all turns.
    #[cold]
    pub(super) fn sweep_all(&mut self) {
        let hashes: Vec<u64> = self.segments.first_hashes().collect();
        hashes.into_iter().for_each(|hash| self.sweep(Scalar, hash));
    }

    /// Lets a segment take part in the turns that it has missed: it is swept but for the tags that are due.
    #[cold]
    #[inline(never)]
    pub(super) fn take_part(&mut self, hash: u64, sight: &Sight) {
        self.turns.take_part();
        let shape = self.shape;
        // None has left that is still there.
        let due = |tag| sight.tag(&shape, tag).unwrap_or(tag);
        let mut segment = Segment { words: self.segments.get_mut(hash).1 };
        match shape.payload_bits {
            _ if segment.info().count == 0 => (),
            0 => segment.retag(&shape, due),
            _ => self.add_up(hash, due),
        }
    }

    /// Gives counts the tags that are due, and adds up those that are of one generation then.
    fn add_up(&mut self, hash: u64, due: impl Fn(u32) -> u32) {
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let (info, generation) = (segment.info(), segment.generation());
        let mut before = segment.entries(Scalar, &self.shape);
        let entries = set_tags(&before, &due);
        let made = Segment::of_bins(Scalar, &self.shape, generation, info, &entries);
        before.iter_mut().for_each(|Entry { tag, .. }| *tag = due(*tag));
        self.unweigh(hash, depth, &before);
        match made {
            Some(made) => {
                self.weigh(hash, depth, &entries);
                self.replace(hash, made);
                self.replaced(hash, before.len(), entries.len());
            }
            None => self.lose(hash, before.len()),
        }
    }

    /// What [`find`](Self::find) says of a segment that may be behind, or may report everything, where this age was
    /// found.
    #[cold]
    #[inline(never)]
    pub(super) fn find_apart(
        &self,
        hash: u64,
        now: u64,
        found: Option<u32>,
    ) -> Option<Option<u32>> {
        let sight = self.sight(hash, self.generation(region_of(hash), now));
        match found.and_then(|age| sight.age(age)) {
            Some(age) => Some(Some(age)),
            None => (sight.blind > 0).then_some(None),
        }
    }

    /// What is to be seen in the segment of a hash at a generation.
    pub(super) fn sight(&self, hash: u64, generation: u64) -> Sight {
        let segment = Segment { words: self.segments.get(hash).1 };
        self.turns.sight(&self.shape, region_of(hash), &segment, generation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::counted::{Unit, WindowCounts, WindowCountsParameters};
    use super::super::parameters::TimedWindowParameters;
    use super::*;
    use crate::filter::{Counting, Filter, Membership};
    use crate::hash::remix;
    use crate::window::{Span, Time};

    fn tiny(payload_bits: u32) -> TimedWindowParameters {
        TimedWindowParameters {
            span: Span::from_millis(7_000),
            generations: 7,
            groups: 8,
            remainder_bits: 12,
            entries: 24,
            expected: 0,
            most_bytes: 0,
            payload_bits,
        }
    }

    /// Keys come, and the clock goes back and forth.
    fn turned(mut filter: impl FnMut(u64, u64, Option<u64>), seed: u64) {
        let mut now = 10_000_000;
        for step in 0..800 {
            let draw = |stream| remix(remix(seed, step), stream);
            now += draw(1) % 60;
            let to = now - draw(2) % [100, 3_000, 9_000, 50_000][(draw(3) % 4) as usize];
            let turn = (step > 600 && draw(4).is_multiple_of(20)).then_some(to);
            now = turn.unwrap_or(now);
            // All over, or all in one segment.
            filter(
                if seed.is_multiple_of(2) { remix(step % 300, 7) } else { step << 30 },
                now,
                turn,
            );
        }
    }

    /// What is seen in segments that are behind is what all sweeps at once make of them, to the last bit of what is
    /// summed up.
    #[test]
    fn what_is_behind_looks_as_if_it_were_not() {
        let (mut behind, mut blind) = (0, 0);
        for seed in 0..24 {
            let mut filter = TimedWindow::new(tiny(0));
            let insert = |hash, now, turn: Option<u64>| {
                filter.insert_hash(hash, Time::from_millis(now));
                if turn.is_some() && filter.lost() == 0 && seed % 4 == 1 {
                    filter.give_up(hash);
                }
                turn.into_iter().for_each(|to| filter.turn_back(Time::from_millis(to)));
                let mut swept = filter.clone();
                swept.sweep_all();
                assert_eq!(swept.turns.behind(), 0);
                swept.validate().unwrap();
                behind += filter.turns.behind();
                blind += usize::from(filter.blind_share() > 0.0);
                assert_eq!(filter.weights, swept.weights);
                assert_eq!(filter.blind_share(), swept.blind_share());
                for ahead in [0, 900, 4_000, 9_000] {
                    let later = filter.clock.unwrap_or(0) + ahead;
                    let off = filter.distinct_at(later) - swept.distinct_at(later);
                    assert!(off.abs() < 1e-6, "{seed}: off by {off}");
                    for hash in (0..300).map(|key| remix(key, 7)).chain([hash]) {
                        let found = [&filter, &swept].map(|one| one.find(Scalar, hash, later));
                        assert_eq!(found[0], found[1], "{seed}");
                    }
                }
            };
            turned(insert, seed);
        }
        assert!(behind > 3_000 && blind > 100, "{behind} {blind}");
    }

    /// The same of counts: whoever is asked says what it says when those of one generation are added up.
    #[test]
    fn counts_that_are_behind_look_as_if_they_were_not() {
        let mut behind = 0;
        for seed in 0..24 {
            let parameters = WindowCountsParameters { unit: Unit::Millis, segments: tiny(1) };
            let mut counter = WindowCounts::new(parameters);
            let insert = |hash, now, turn: Option<u64>| {
                counter.add_hash(hash, 1 + now % 5, Time::from_millis(now));
                turn.into_iter().for_each(|to| counter.turn_back(Time::from_millis(to)));
                counter.validate().unwrap();
                let mut swept = counter.clone();
                swept.inner.sweep_all();
                swept.validate().unwrap();
                behind += counter.inner.turns.behind();
                for ahead in [0, 900, 4_000, 9_000] {
                    let later = Time::from_millis(counter.inner.clock.unwrap_or(0) + ahead);
                    let [one, other] = [&counter, &swept].map(|counter| {
                        let count = counter.count_hash(hash, later);
                        let estimate = counter.estimate_hash(hash, later);
                        let mut leaving = 0;
                        counter.groups_hash(hash, later, &mut |group| {
                            leaving += u128::from(group.leaves) * u128::from(group.count);
                        });
                        (count, estimate.to_bits(), leaving, counter.distinct(later))
                    });
                    assert_eq!(one, other, "{seed}");
                }
            };
            turned(insert, seed);
        }
        assert!(behind > 3_000, "{behind}");
    }
}
