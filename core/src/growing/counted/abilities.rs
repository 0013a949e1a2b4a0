//! What the counter can do, by trait.

use alloc::boxed::Box;

use super::super::parameters::UNKNOWN_ITEMS;
use super::super::segment::ADDRESS_CHANCE;
use super::blueprint::GrowingCountsParameters;
use super::counts::CountedSegment;
use super::filter::GrowingCounts;
use super::shape::MOST_COUNT;
use super::state;
use super::union::Combine;
use crate::bits::vectorized;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter, Membership, Removing};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::plan::{Goal, Limit};
use crate::window::Time;

/// Segments that are asked how often they err, of which each is some kilobytes.
const SEGMENTS_ASKED: usize = 256;

impl Membership for GrowingCounts {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.add(isa, hash, 1)).0 == 0
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        !self.contains_hash(hash, now) && self.insert_hash(hash, now)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.level, |isa| self.count(isa, hash)) > 0
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.ahead(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.add_one_by_one(hashes, new);
    }
}

impl Counting for GrowingCounts {
    #[inline]
    fn add_hash(&mut self, hash: u64, times: u64, _now: Time) -> u64 {
        vectorized!(self.level, |isa| self.add(isa, hash, times)).1
    }

    #[inline]
    fn count_hash(&self, hash: u64, _now: Time) -> u64 {
        vectorized!(self.level, |isa| self.count(isa, hash))
    }

    fn take_back_hash(&mut self, hash: u64, times: u64, _now: Time) -> Result<u64, Error> {
        if self.is_product {
            return Err(Error::Unsupported {
                operation: "take back sightings from a product",
                instead: "take them back before multiplying",
            });
        }
        vectorized!(self.level, |isa| self.take_back(isa, hash, times))
    }

    fn largest_count(&self) -> u64 {
        MOST_COUNT
    }

    fn check_mergeable(&self, other: &dyn Filter) -> Result<(), Error> {
        self.alike(other).map(|_| ())
    }

    fn merge(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.combine(self.alike(other)?, Combine::Sum);
        Ok(())
    }

    fn multiply(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.combine(self.alike(other)?, Combine::Product);
        Ok(())
    }
}

impl Removing for GrowingCounts {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.take_back_hash(hash, 1, Time::ZERO).is_ok()
    }
}

impl Filter for GrowingCounts {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.directory.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.directory.mean_rate(SEGMENTS_ASKED, |_, depth, segment| {
            CountedSegment::of(segment, self.parameters.lengths.width(depth)).matched()
        })
    }

    fn write_payload(&self, out: &mut Writer) {
        state::write(self, out);
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        (self.stock.lost == 0).then_some(self.stock.items as f64)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        (!self.is_product).then_some(self)
    }
}

impl CountedSegment<&[u64]> {
    /// The chance that a random hash of this segment matches: entries are disjoint.
    fn matched(&self) -> f64 {
        if self.segment.is_blind() {
            return 1.0;
        }
        let (mut sum, longest) = (0.0, f64::from(self.shape.key_bits - 1));
        // The lowest one of a key stands after its last bit.
        self.each_of_all(|_, entry| {
            sum += (f64::from(entry.key.trailing_zeros()) - longest).exp2()
        });
        sum * ADDRESS_CHANCE
    }
}

impl Structure for GrowingCountsParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        goal.ever()?;
        goal.counts()?;
        match (goal.limit, goal.expected_items) {
            (Limit::Error(rate), items) => {
                Self::with_error(rate.get(), items.unwrap_or(UNKNOWN_ITEMS))
            }
            (Limit::Memory(memory), Some(items)) => Self::with_memory(memory.bytes(), items),
            (Limit::Memory(_), None) => Err(Unfit("must know how many items a memory is for")),
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(state::read(self, payload)?))
    }
}
