//! What the counter can do, by trait, and its row.

use core::any::Any;

use super::super::by_count;
use super::super::clock::{Ticks, region_of};
use super::super::entry::Entry;
use super::super::segment::Segment;
use super::super::state;
use super::digits::MOST_COUNT;
use super::filter::WindowCounts;
use super::parameters::{Unit, WindowCountsParameters};
use crate::bits::{Isa, Scalar, vectorized};
use crate::blueprint::Blueprint;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Admission, Counting, Filter, Membership, Removing, Wait};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::group::Group;
use crate::sample::spread;
use crate::window::{Span, Time};

/// Segments that are asked how many different keys they have: some 30,000 keys, so that chance is half a
/// percent. Each of them is looked at, and a server waits for the answer.
const SEGMENTS_ASKED: usize = 16;

impl Membership for WindowCounts {
    #[inline]
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        let new = !self.contains_hash(hash, now);
        vectorized!(self.inner.level, |isa| self.add(isa, hash, 1, now));
        new
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        let new = !self.contains_hash(hash, now);
        if new {
            vectorized!(self.inner.level, |isa| self.add(isa, hash, 1, now));
        } else {
            self.pass(now);
        }
        new
    }

    #[inline]
    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        vectorized!(self.inner.level, |isa| self.inner.contains(isa, hash, self.moment(now)))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.inner.prefetch_head(hash);
    }
}

impl Counting for WindowCounts {
    #[inline]
    fn add_hash(&mut self, hash: u64, times: u64, now: Time) -> u64 {
        vectorized!(self.inner.level, |isa| {
            self.add(isa, hash, times, now);
            self.count(isa, hash, now)
        })
    }

    #[inline]
    fn count_hash(&self, hash: u64, now: Time) -> u64 {
        vectorized!(self.inner.level, |isa| self.count(isa, hash, now))
    }

    fn estimate_hash(&self, hash: u64, now: Time) -> f64 {
        vectorized!(self.inner.level, |isa| self.tally(isa, hash, now)).estimate
    }

    fn admit_hash(&mut self, hash: u64, times: u64, limit: u64, now: Time) -> Admission {
        vectorized!(self.inner.level, |isa| self.admit(isa, hash, times, limit, now))
    }

    fn groups_hash(&self, hash: u64, now: Time, each: &mut dyn FnMut(Group)) -> bool {
        vectorized!(self.inner.level, |isa| self.groups(isa, hash, now, each));
        true
    }

    fn group_clock(&self, now: Time) -> u64 {
        self.inner.ticks.eighth(self.moment(now))
    }

    fn take_back_hash(&mut self, hash: u64, times: u64, now: Time) -> Result<u64, Error> {
        vectorized!(self.inner.level, |isa| self.take_back(isa, hash, times, now))
    }

    fn largest_count(&self) -> u64 {
        MOST_COUNT
    }

    fn check_mergeable(&self, other: &dyn Filter) -> Result<(), Error> {
        self.alike(other).map(|_| ())
    }

    fn merge(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = self.alike(other)?;
        vectorized!(self.inner.level, |isa| self.inner.merge_counts(isa, &other.inner));
        Ok(())
    }

    fn multiply(&mut self, _other: &dyn Filter) -> Result<(), Error> {
        Err(Error::Unsupported {
            operation: "multiply",
            instead: "count without end: those counters can",
        })
    }
}

impl WindowCounts {
    fn admit<I: Isa>(&mut self, isa: I, hash: u64, times: u64, limit: u64, now: Time) -> Admission {
        let before = self.tally(isa, hash, now);
        let allowed = before.all.checked_add(times).is_some_and(|count| count <= limit);
        let count = if allowed {
            self.add(isa, hash, times, now);
            self.count(isa, hash, now)
        } else {
            before.all
        };
        let (surely, left) = (before.surely, limit.saturating_sub(count));
        // What never fits need not wait.
        let leaving = before.all.saturating_add(times).saturating_sub(limit).min(before.all);
        let wait = (!allowed && times <= limit).then(|| {
            let wait = self.wait_for(isa, hash, leaving, now);
            match self.parameters.unit {
                Unit::Millis => Wait::Time(Span::from_millis(wait)),
                Unit::Sightings => Wait::Items(wait),
            }
        });
        Admission { allowed, count, surely, left, wait }
    }

    /// Each generation of a key leaves as one.
    fn groups<I: Isa>(&self, isa: I, hash: u64, now: Time, each: &mut dyn FnMut(Group)) {
        let moment = self.moment(now);
        let (region, ages) = (region_of(hash), self.inner.shape.ages);
        let tick = self.inner.turns.tick(self.inner.generation(region, moment));
        let leaves = |age| Ticks::first_eighth(region, tick + u64::from(ages - age) + 1);
        let known = self.inner.generations(isa, hash, moment, |age, number| {
            each(Group { leaves: leaves(age), count: number.count() });
        });
        if !known {
            // Nobody knows how many, until the youngest would have left.
            each(Group { leaves: leaves(0), count: MOST_COUNT });
        }
    }

    /// The other filter, if it counts the same window in the same way.
    fn alike<'o>(&self, other: &'o dyn Filter) -> Result<&'o Self, Error> {
        if self.parameters.unit == Unit::Sightings {
            return Err(Error::Unsupported {
                operation: "merge windows by count",
                instead: "nobody knows in which order their sightings came; count by time",
            });
        }
        self.blueprint().check_alike(other.blueprint())?;
        Ok((other as &dyn Any).downcast_ref().expect("built alike, so of the same type"))
    }

    /// Different keys of a segment that are in the window, those of partial generations in part.
    fn distinct_in(&self, hash: u64, now: u64) -> (u32, f64) {
        let (depth, words) = self.inner.segments.get(hash);
        let (segment, region, shape) = (Segment { words }, region_of(hash), &self.inner.shape);
        let generation = self.inner.generation(region, now);
        let sight = self.inner.sight(hash, generation);
        let mut entries = segment.entries(Scalar, shape);
        let age = |entry: &Entry| sight.age_of_tag(shape, entry.tag);
        entries.retain(|entry| age(entry).is_some());
        let inside = |key: &[Entry]| {
            let youngest = key.iter().filter_map(age).min().unwrap_or_default();
            self.inner.inside(region, generation, youngest, now)
        };
        let mut sum = 0.0;
        for bucket in entries.chunk_by(|one, next| one.bucket == next.bucket) {
            for key in bucket.chunk_by(|one, next| one.key() == next.key()) {
                // A short one beside a longer one is of the same key, seen before the filter grew.
                let short = |other: &Entry| {
                    other.len() > key[0].len() && other.cut(key[0].len()).key() == key[0].key()
                };
                if !bucket.iter().any(short) {
                    sum += inside(key);
                }
            }
        }
        (depth, sum)
    }
}

impl Removing for WindowCounts {
    fn remove_hash(&mut self, hash: u64) -> bool {
        let now = self.inner.clock.map_or(Time::ZERO, Time::from_millis);
        self.take_back_hash(hash, 1, now).is_ok()
    }
}

impl Filter for WindowCounts {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.inner.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.inner.false_positive_rate()
    }

    fn clock(&self) -> Option<Time> {
        match self.parameters.unit {
            Unit::Millis => self.inner.clock(),
            Unit::Sightings => None,
        }
    }

    fn turn_back(&mut self, now: Time) {
        if self.parameters.unit == Unit::Millis {
            self.inner.turn_back(now);
        }
    }

    fn expire(&mut self, now: Time, steps: usize) -> bool {
        let now = self.moment(now);
        self.inner.expire(Time::from_millis(now), steps)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.sightings);
        state::write(&self.inner, out);
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }

    /// From all segments if they are few, otherwise from an even sample of them.
    fn distinct(&self, now: Time) -> Option<f64> {
        let now = self.moment(now);
        if self.inner.segments.arrays() <= SEGMENTS_ASKED {
            let hashes = self.inner.segments.first_hashes();
            return Some(hashes.map(|hash| self.distinct_in(hash, now).1).sum());
        }
        // Evenly spread hashes meet a segment as often as keys do.
        let asked = spread(usize::MAX, SEGMENTS_ASKED).map(|hash| {
            let (depth, keys) = self.distinct_in(hash as u64, now);
            keys * f64::from(depth).exp2()
        });
        Some(asked.sum::<f64>() / SEGMENTS_ASKED as f64)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}

impl WindowCounts {
    /// Reads what [`Filter::write_payload`] wrote.
    pub(super) fn read(
        parameters: WindowCountsParameters,
        payload: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let (sightings, inner) = match parameters.unit {
            Unit::Sightings => by_count::read(parameters.segments, payload)?,
            Unit::Millis => match payload.u64("sightings")? {
                0 => (0, state::read(parameters.segments, payload)?),
                found => {
                    let expected = "0 in a window by time";
                    return Err(Error::Field { field: "sightings", found, expected });
                }
            },
        };
        Ok(Self { parameters, inner, sightings })
    }
}
