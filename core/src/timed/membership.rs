//! The filter as all others are seen: membership, batches, what it tells of itself, and its row.

use super::filter::TimedWindow;
use super::parameters::TimedWindowParameters;
use super::slots::Repeat;
use super::state;
use crate::bits::vectorized;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Aging, Deadlines, Filter, Membership, Removing};
use crate::plan::{Goal, Limit};
use crate::window::Time;
use alloc::boxed::Box;

/// How many hashes of a batch before its turn the memory of a hash is asked for: the beginning of its segment,
/// and then the bin, which that tells.
const HEAD_AHEAD: usize = 24;
const BIN_AHEAD: usize = 12;

impl TimedWindow {
    /// Asks for what hashes after the one at this index will need.
    #[inline(always)]
    fn prefetch_later(&self, hashes: &[u64], index: usize) {
        let last = hashes.len() - 1;
        self.prefetch_head(hashes[(index + HEAD_AHEAD).min(last)]);
        self.prefetch_bin(hashes[(index + BIN_AHEAD).min(last)]);
    }

    #[inline(always)]
    fn insert_batch(&mut self, hashes: &[u64], now: Time, repeat: Repeat, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.level, |isa| {
            hashes.iter().take(HEAD_AHEAD).for_each(|&hash| self.prefetch_head(hash));
            hashes.iter().take(BIN_AHEAD).for_each(|&hash| self.prefetch_bin(hash));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.prefetch_later(hashes, index);
                *new = self.insert(isa, hash, now, repeat);
            }
        });
    }
}

impl Membership for TimedWindow {
    #[inline]
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert(isa, hash, now, Repeat::Refresh))
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        vectorized!(self.level, |isa| self.insert(isa, hash, now, Repeat::Keep))
    }

    #[inline]
    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        vectorized!(self.level, |isa| self.contains(isa, hash, self.now(now)))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.prefetch_head(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64], now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, now, Repeat::Refresh, new);
    }

    fn insert_new_hashes(&mut self, hashes: &[u64], now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, now, Repeat::Keep, new);
    }

    fn contains_hashes(&self, hashes: &[u64], now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        let now = self.now(now);
        vectorized!(self.level, |isa| {
            hashes.iter().take(HEAD_AHEAD).for_each(|&hash| self.prefetch_head(hash));
            hashes.iter().take(BIN_AHEAD).for_each(|&hash| self.prefetch_bin(hash));
            for (index, (&hash, seen)) in hashes.iter().zip(seen).enumerate() {
                self.prefetch_later(hashes, index);
                *seen = self.contains(isa, hash, now);
            }
        });
    }
}

impl Filter for TimedWindow {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        let regions = size_of_val(&*self.regions) as u64;
        self.segments.heap_bytes() + self.weights.heap_bytes() + self.turns.heap_bytes() + regions
    }

    fn false_positive_rate(&self) -> f64 {
        let generations = self.current();
        (self.weights.rate(&self.shape, generations) + self.blind_share()).min(1.0)
    }

    fn clock(&self) -> Option<Time> {
        self.clock.map(Time::from_millis)
    }

    fn turn_back(&mut self, now: Time) {
        if self.clock.is_some_and(|clock| clock > now.millis()) {
            self.set_back(now.millis());
        }
    }

    fn expire(&mut self, now: Time, steps: usize) -> bool {
        if self.clock.is_some() {
            self.advance(now);
        }
        vectorized!(self.level, |isa| {
            (0..steps).all(|_| self.tend(isa));
            self.is_tidy()
        })
    }

    fn write_payload(&self, out: &mut Writer) {
        state::write(self, out);
    }

    fn distinct(&self, now: Time) -> Option<f64> {
        Some(self.distinct_at(self.now(now)))
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }

    fn as_deadlines(&mut self) -> Option<&mut dyn Deadlines> {
        Some(self)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}

impl Structure for TimedWindowParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let span = goal.within()?;
        goal.does_not_count()?;
        let slack = goal.slack_in_time()?;
        let expected = goal.expected_items;
        match goal.limit {
            Limit::Error(rate) => {
                TimedWindowParameters::with_error(span, slack, rate.get(), expected)
            }
            Limit::Memory(memory) => {
                TimedWindowParameters::with_memory(span, slack, memory.bytes(), expected)
            }
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(state::read(self, payload)?))
    }
}
