//! How often in the last n: a spectral filter that takes back what leaves its window.
//!
//! A ring holds a short hash of each of the last n insertions, and a spectral filter under minimum
//! selection counts them. An insertion first takes back the oldest. With n = 3 and the stream
//! `a b a c`, the ring holds `b a c` and `a` counts one: its first sighting was taken back when
//! `c` came.
//!
//! The sliding window of the paper (section 2.2) for those who do not keep the items themselves: it
//! assumes that what leaves is at hand for deletion, and the ring is that hand. The filter only ever
//! sees short hashes, so what it takes back is exactly what it counted.
//!
//! Many sightings recorded at once are one entry beside the ring: see [`Latest`].

use super::Spectral;
use super::counters::Bytes;
use super::parameters::SpectralParameters;
use super::window_parameters::SpectralWindowParameters;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter, Membership};
use crate::hash::{reduce, remix};
use crate::latest::Latest;
use crate::plan::{Goal, Limit};
use crate::window::Time;
use alloc::boxed::Box;

/// A ring of short hashes, and how often each is in it.
#[derive(Debug, Clone)]
pub struct SpectralWindow {
    parameters: SpectralWindowParameters,
    /// The last `window` insertions.
    latest: Latest,
    /// Counts them.
    filter: Spectral<Bytes, SpectralParameters>,
}

impl SpectralWindow {
    /// An empty window.
    pub fn new(parameters: SpectralWindowParameters) -> Self {
        let latest = Latest::new(parameters.window, parameters.hash_bits);
        Self { parameters, latest, filter: Spectral::new(parameters.counting()) }
    }

    fn short(&self, hash: u64) -> u64 {
        1 + reduce(hash, self.parameters.hash_values()).0
    }

    /// Takes back the oldest insertion, and puts this one in its place; 0 is none.
    fn push(&mut self, short: u64) {
        take_back(&mut self.filter, self.latest.push(short), 1);
        if short > 0 {
            self.filter.add(spread(short), 1);
        }
    }

    /// Takes back so many of the oldest insertions, and puts as many of this one in their place.
    fn push_many(&mut self, short: u64, times: u64) {
        let window = self.parameters.window;
        if times >= window && self.latest.is_better_cleared(self.filter.heap_bytes()) {
            self.filter = Spectral::new(self.parameters.counting());
            self.latest.fill(short);
        } else {
            let Self { latest, filter, .. } = self;
            latest.push_many(short, times.min(window), |short, times| {
                take_back(filter, short, times);
            });
        }
        self.filter.add(spread(short), times.min(window));
    }

    fn count(&self, hash: u64) -> u64 {
        self.filter.count(spread(self.short(hash)))
    }
}

fn take_back(filter: &mut Spectral<Bytes, SpectralParameters>, short: u64, times: u64) {
    if short > 0 {
        // Refused only if a forged snapshot counts less than its ring holds: then nothing is there to
        // take back.
        let _ = filter.take_back(spread(short), times);
    }
}

/// A full hash from a short one.
fn spread(short: u64) -> u64 {
    remix(short, 0)
}

impl Membership for SpectralWindow {
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        let seen = self.count(hash) > 0;
        self.push(self.short(hash));
        !seen
    }

    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        let seen = self.count(hash) > 0;
        self.push(if seen { 0 } else { self.short(hash) });
        !seen
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.count(hash) > 0
    }

    fn prefetch_hash(&self, hash: u64) {
        self.filter.prefetch_hash(spread(self.short(hash)));
    }
}

impl Counting for SpectralWindow {
    fn add_hash(&mut self, hash: u64, times: u64, _now: Time) -> u64 {
        // Every sighting is an insertion.
        self.push_many(self.short(hash), times);
        self.count(hash)
    }

    fn displaced_by(&self, crowds: &[u64]) -> u64 {
        self.latest.work_of(crowds, self.filter.heap_bytes())
    }

    fn count_hash(&self, hash: u64, _now: Time) -> u64 {
        self.count(hash)
    }

    fn take_back_hash(&mut self, _hash: u64, _times: u64, _now: Time) -> Result<u64, Error> {
        Err(Error::Unsupported {
            operation: "take back sightings: its window does",
            instead: "count without end, for removing, to take back yourself",
        })
    }
}

impl Filter for SpectralWindow {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.latest.heap_bytes() + self.filter.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    fn write_payload(&self, out: &mut Writer) {
        self.latest.write(out);
        self.filter.write_payload(out);
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }
}

impl Structure for SpectralWindowParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.counts()?;
        if goal.removing {
            return Err(Unfit("takes back by itself what leaves its window, and nothing else"));
        }
        match goal.limit {
            Limit::Error(rate) => Ok(Self::with_error(window, rate.get())),
            Limit::Memory(memory) => Self::with_memory(window, memory.bytes())
                .ok_or(Unfit("needs room for a hash of every item and for counters")),
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let latest = Latest::read(payload, self.window, self.hash_bits)?;
        let filter = Spectral::read(self.counting(), payload)?;
        Ok(Box::new(SpectralWindow { parameters: self, latest, filter }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use testkit::streams::sightings;

    #[test]
    fn the_example_of_the_documentation() {
        let parameters = SpectralWindowParameters::with_error(3, 1e-6);
        let mut filter = SpectralWindow::new(parameters);
        let key = |name: u8| remix(name.into(), 0);
        for name in *b"abac" {
            filter.insert_hash(key(name), Time::ZERO);
        }
        let counts = (*b"abcd").map(|name| filter.count_hash(key(name), Time::ZERO));
        assert_eq!(counts, [1, 1, 1, 0]);
        assert_eq!(filter.add_hash(key(b'd'), 1_000_000, Time::ZERO), 3);
        assert!(!filter.contains_hash(key(b'a'), Time::ZERO));
    }

    /// Sightings by the hundred against a plain window, through snapshots.
    #[test]
    fn many_at_once_are_as_many_one_by_one() {
        for window in [1, 150, 1_000, 5_000] {
            let parameters = SpectralWindowParameters::with_error(window, 1e-6);
            let mut filter = SpectralWindow::new(parameters);
            let mut plain: VecDeque<u64> = VecDeque::new();
            for (step, (key, times)) in sightings(7, window, 1).take(400).enumerate() {
                plain.extend(std::iter::repeat_n(key, times.min(window) as usize));
                plain.drain(..plain.len().saturating_sub(window as usize));
                filter.add_hash(remix(key, 0), times, Time::ZERO);
                if step % 50 == 0 {
                    let mut out = Writer::new();
                    filter.write_payload(&mut out);
                    let payload = out.into_bytes();
                    let opened = filter.parameters.open(&mut Reader::new(&payload)).unwrap();
                    let opened: Box<dyn core::any::Any> = opened;
                    filter = *opened.downcast().unwrap();
                }
                for key in 0..7 {
                    let expected = plain.iter().filter(|&&other| other == key).count() as u64;
                    assert_eq!(filter.count_hash(remix(key, 0), Time::ZERO), expected, "{window}");
                }
            }
        }
    }
}
