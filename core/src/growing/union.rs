//! Two filters made one that remembers what either did.
//!
//! Every entry of the other is brought to the segment here that stands for its keys. If that segment is
//! deeper, the first bits of the entry's remainder become a part of its address, and one that has none left
//! goes to both halves, as in a split. If it is shallower, it is split, or if that cannot be, the last bits of the
//! address become a part of the remainder, as when halves merge. Either way the entry matches all keys that it
//! matched before.
//!
//! Worked example: an entry `01|1` (address, remainder) of a segment for all hashes, in a filter whose
//! segments stand for hashes that begin with 0 and with 1: it goes to the first as `11|`.
//!
//! What one of both takes for a key of its own, both together do: errors add up. Nothing is promised beyond
//! that sum, and [`Filter::false_positive_rate`] tells what it is.

use super::field::used_up;
use super::filter::Growing;
use super::merging::in_parent;
use super::reshape::child;
use super::segment::{Address, OnMatch, Outcome, Segment};
use crate::bits::{Isa, children, prefix, vectorized};

#[cfg(doc)]
use crate::filter::Filter;

/// An entry, and for which hashes its segment stands.
#[derive(Clone, Copy)]
struct Entry {
    /// The first hash of the segment.
    hash: u64,
    depth: u32,
    place: Address,
}

impl Growing {
    /// Remembers also what another filter with the same parameters does. It should be the smaller one, so
    /// that segments are seldom shallower than those of their new entries.
    pub(super) fn take_in(&mut self, other: &Self) {
        self.stock.lost += other.stock.lost;
        for hash in other.directory.first_hashes() {
            let (depth, segment) = other.directory.segment(hash);
            if segment.is_blind() {
                self.blind(hash, depth);
                continue;
            }
            for place in segment.entries(self.parameters.width_at(hash, depth)) {
                let entry = Entry { hash, depth, place };
                let this = &mut *self;
                vectorized!(this.level, |isa| this.take_in_entry(isa, entry));
            }
        }
    }

    fn take_in_entry<I: Isa>(&mut self, isa: I, entry: Entry) {
        loop {
            let (depth, segment) = self.directory.segment(entry.hash);
            if segment.is_blind() {
                return;
            }
            if depth > entry.depth {
                let halves = self.halves_of(entry);
                halves.into_iter().flatten().for_each(|half| self.take_in_entry(isa, half));
                return;
            }
            // Going up would cost entries bits that they have.
            if depth < entry.depth && self.split(isa, entry.hash) {
                continue;
            }
            let widths = |depth| self.parameters.width_at(entry.hash, depth);
            let place = (depth + 1..=entry.depth).rev().fold(entry.place, |place, depth| {
                let side = prefix(entry.hash, depth) % 2;
                in_parent(side as usize, place, widths(depth), widths(depth - 1))
            });
            // A remainder that is as long as can be tells what it matches; of others only equal ones do.
            let repeat = if place.field % 2 == 1 { OnMatch::Keep } else { OnMatch::Store(1) };
            let width = widths(depth);
            let (_, mut segment) = self.directory.segment_mut(entry.hash);
            match segment.insert(isa, width, place, repeat) {
                Outcome::Seen => return,
                Outcome::Stored { .. } => {
                    self.stock.items += 1;
                    return;
                }
                Outcome::Full => self.make_room(isa, entry.hash),
            }
        }
    }

    /// The same entry one depth below: in one of the halves, or in both if it has no remainder.
    fn halves_of(&self, Entry { hash, depth, place }: Entry) -> [Option<Entry>; 2] {
        let width = self.parameters.width_at(hash, depth);
        let half = |bit, rest: u64| {
            let (side, place) = child(place, bit, 0);
            let hash = children(hash, depth)[side];
            let below = self.parameters.width_at(hash, depth + 1);
            let place = Address { field: rest << (below + 1 - width), ..place };
            Some(Entry { hash, depth: depth + 1, place })
        };
        // What is left of a remainder that is used up is nothing, and the one that ends it.
        let nothing = used_up(width) >> 1;
        if place.field == used_up(width) {
            return [0, 1].map(|bit| half(bit, nothing));
        }
        let bit = place.field >> (width - 1);
        [half(bit as u32, place.field % used_up(width)), None]
    }

    /// Reports everything that begins like a hash from now on, and perhaps more.
    fn blind(&mut self, hash: u64, depth: u32) {
        let firsts: alloc::vec::Vec<u64> = self.directory.first_hashes().collect();
        for first in firsts {
            let common = depth.min(self.directory.segment(first).0);
            if prefix(first, common) == prefix(hash, common) {
                self.directory.replace(first, Segment::blind());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::GrowingParameters;
    use super::*;
    use crate::filter::{Filter, Membership};
    use crate::hash::remix;
    use crate::window::Time;

    fn filter(rate: f64, keys: core::ops::Range<u64>) -> Growing {
        let parameters = GrowingParameters::with_error(rate, 1_000, false).unwrap();
        let mut filter = Growing::new(parameters);
        for key in keys {
            filter.insert_hash(remix(key, 1), Time::ZERO);
        }
        filter
    }

    /// Of all sizes, so that either may be the deeper one, and none, one or both have split.
    #[test]
    fn a_union_remembers_both_and_errs_no_more_than_both() {
        const SIZES: [u64; 6] = [0, 1, 500, 3_000, 40_000, 100_000];
        for (rate, ours, theirs) in [0.01, 0.0001]
            .into_iter()
            .flat_map(|rate| SIZES.map(|ours| SIZES.map(|theirs| (rate, ours, theirs))))
            .flatten()
        {
            let begin = ours - ours.min(theirs) / 2;
            let (mut one, other) = (filter(rate, 0..ours), filter(rate, begin..begin + theirs));
            let sum = one.false_positive_rate() + other.false_positive_rate();
            one.unite(&other).unwrap();
            let end = ours.max(begin + theirs);
            let has = |filter: &Growing, key| filter.contains_hash(remix(key, 1), Time::ZERO);
            assert!((0..end).all(|key| has(&one, key)), "{rate} {ours} {theirs}");
            let error = one.false_positive_rate();
            assert!(error <= 1.02 * sum + 1e-12, "{rate} {ours} {theirs}: {error}, {sum}");
            let absent = 200_000;
            let wrong = |key: &u64| one.contains_hash(remix(*key, 2), Time::ZERO);
            let wrong = (0..absent).filter(wrong).count() as u64;
            testkit::stats::assert_rate_at_most(wrong, absent, 1.02 * sum + 1e-6, 1e-9);
            // It goes on.
            for key in end..end + 5_000 {
                one.insert_hash(remix(key, 1), Time::ZERO);
            }
            assert!((0..end + 5_000).all(|key| has(&one, key)), "{rate} {ours} {theirs}");
        }
    }

    /// Segments of the other are so much deeper in a corner that those here cannot be split as often.
    #[test]
    fn a_deep_corner_goes_into_few_segments() {
        let parameters = GrowingParameters::with_error(0.01, 1_000, false).unwrap();
        let parameters = GrowingParameters { bins: 1, ..parameters };
        let of = |hashes: &[u64]| {
            let mut filter = Growing::new(parameters);
            hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash, Time::ZERO));
            filter
        };
        let far = |count| (0..count).map(|key| remix(key, 1)).collect::<Vec<_>>();
        let mut hashes = far(10_000);
        hashes.extend((0..4_000).map(|key| remix(key, 3) >> 5));
        let deep = of(&hashes);
        let (deepest, _) = deep.directory.segment(0);
        for few in [0, 5, 300] {
            let few = far(few);
            let mut one = of(&few);
            let sum = one.false_positive_rate() + deep.false_positive_rate();
            one.take_in(&deep);
            // They become segments as deep as can be: none of their entries loses bits that it need not.
            let error = one.false_positive_rate();
            assert!(error <= 1.5 * sum, "{error}, {sum}");
            assert!(one.directory.segment(0).0 < deepest, "{deepest}");
            assert!(hashes.iter().chain(&few).all(|&hash| one.contains_hash(hash, Time::ZERO)));
            let absent = (0..20_000).filter(|&key| one.contains_hash(remix(key, 4), Time::ZERO));
            assert!(absent.count() < 400);
        }
    }

    /// A segment that ran out of room for good reports all of its keys, and so does a union.
    #[test]
    fn what_reports_everything_goes_on_doing_so() {
        let mut crowded = filter(0.01, 0..50_000);
        let (depth, _) = crowded.directory.segment(0);
        crowded.directory.replace(0, Segment::blind());
        crowded.stock.lost = 7;
        assert!(depth > 0);
        for keys in [100, 10_000, 200_000] {
            let mut one = filter(0.01, 0..keys);
            one.unite(&crowded).unwrap();
            assert_eq!(one.lost(), 7);
            let reported = |key| one.contains_hash(remix(key, 3) >> depth, Time::ZERO);
            let own = |key| one.contains_hash(remix(key, 1), Time::ZERO);
            assert!((0..1_000).all(reported) && (0..keys.max(50_000)).all(own), "{keys}");
        }
    }
}
