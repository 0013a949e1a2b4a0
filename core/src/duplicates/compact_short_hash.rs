//! A ring of short hashes: the smallest exact-length window, in linear time.
//!
//! The hash of every insertion, cut to h bits, overwrites the oldest of the last w. A lookup scans
//! them all. With w = 3 and the stream `a b c d`, the ring holds `h(b) h(c) h(d)`: `a` is forgotten
//! exactly when it should be. A false positive is a collision with one of w hashes.
//!
//! The compact short hash filter (CSHF) of Géraud-Stewart, Lombard-Platet and Naccache, section
//! 3.2. We changed one thing: the value 0 marks a position that holds nothing (before the ring is
//! full, or when a repeat must not refresh its key), so hashes take the `2^h - 1` values above it.
//! What is not guaranteed: speed. Every operation reads the whole ring.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::latest_shorts::LatestShorts;
use super::law::{Stream, collision};
use crate::bits::{Packed, size};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{Seed, reduce};
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::promise::{Mistakes, Promise};

/// How many hashes of how many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactShortHashParameters {
    /// Insertions remembered, exactly.
    pub window: u64,
    /// Bits of each hash, 2 to 64.
    pub hash_bits: u32,
}

impl CompactShortHashParameters {
    /// The smallest that keeps `rate`; `None` if hashes of 64 bits would not.
    pub fn with_error(window: u64, rate: f64) -> Option<Self> {
        (2..=64)
            .map(|hash_bits| Self { window, hash_bits })
            .find(|parameters| parameters.false_positive_rate() <= rate)
    }

    /// The largest that fits into `bytes`; `None` if hashes would be shorter than two bits.
    pub fn with_memory(window: u64, bytes: u64) -> Option<Self> {
        (2..=64)
            .rev()
            .map(|hash_bits| Self { window, hash_bits })
            .find(|parameters| parameters.heap_bytes() <= bytes)
    }

    /// Chance that an unseen key collides with one of the window: `1 - (1 - 1/(2^h - 1))^w`
    /// (Theorem 3, with one value set aside).
    pub fn false_positive_rate(&self) -> f64 {
        collision(self.window as f64, self.hash_values())
    }

    fn hash_values(&self) -> u64 {
        u64::MAX >> (64 - self.hash_bits)
    }
}

impl Parameters for CompactShortHashParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("hash bits", &mut self.hash_bits, 2..=64, "from 2 to 64")
    }
}

impl Blueprint for CompactShortHashParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, 0, self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        Stream::new(self.window, alphabet).collisions(self.hash_values())
    }

    fn heap_bytes(&self) -> u64 {
        Packed::heap_bytes_for(self.hash_bits, size(self.window))
    }

    fn lines_touched(&self) -> f64 {
        (self.window as f64 * f64::from(self.hash_bits) / 512.0).ceil()
    }

    fn items_scanned(&self) -> f64 {
        self.window as f64
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(CompactShortHash::new(*self))
    }
}

/// The ring of short hashes.
#[derive(Debug, Clone)]
pub struct CompactShortHash {
    parameters: CompactShortHashParameters,
    /// The last `window` insertions; 0 where there is none.
    ring: Packed,
    /// Where the next insertion goes: the place of the oldest.
    next: u64,
}

impl CompactShortHash {
    /// An empty ring.
    pub fn new(parameters: CompactShortHashParameters) -> Self {
        let ring = Packed::new(parameters.hash_bits, size(parameters.window));
        Self { parameters, ring, next: 0 }
    }
}

impl LatestShorts for CompactShortHash {
    fn short(&self, hash: u64) -> u64 {
        1 + reduce(hash, self.parameters.hash_values()).0
    }

    fn holds(&self, short: u64) -> bool {
        self.ring.contains(short)
    }

    fn push(&mut self, short: u64) {
        self.ring.set(self.next as usize, short);
        self.next += 1;
        if self.next == self.parameters.window {
            self.next = 0;
        }
    }
}

impl Filter for CompactShortHash {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let mut held: Vec<u64> = (0..self.ring.len()).map(|i| self.ring.get(i)).collect();
        held.sort_unstable();
        held.dedup();
        let held = held.len() - usize::from(held.first() == Some(&0));
        held as f64 / self.parameters.hash_values() as f64
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.next);
        out.words(self.ring.as_words());
    }
}

impl Structure for CompactShortHashParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.neither_counts_nor_removes()?;
        match goal.limit {
            Limit::Error(rate) => Self::with_error(window, rate.get())
                .ok_or(Unfit("cannot err so rarely over so long a window")),
            Limit::Memory(memory) => Self::with_memory(window, memory.bytes())
                .ok_or(Unfit("needs at least two bits per item")),
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let Self { window, hash_bits } = self;
        let next = payload.u64_at_most("next", window - 1, "below the window")?;
        let words = Packed::words_for(hash_bits, size(window)) as u64;
        let words = payload.last_words("ring", words)?;
        let ring = Packed::from_words(hash_bits, size(window), words).ok_or(Error::Field {
            field: "ring",
            found: u64::MAX,
            expected: "zero beyond the last hash",
        })?;
        Ok(Box::new(CompactShortHash { parameters: self, ring, next }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Membership;
    use crate::window::Time;

    #[test]
    fn the_example_of_the_documentation() {
        let parameters = CompactShortHashParameters { window: 3, hash_bits: 40 };
        let mut filter = CompactShortHash::new(parameters);
        let key = |name: u8| crate::hash::remix(name.into(), 0);
        for name in *b"abcd" {
            assert!(filter.insert_hash(key(name), Time::ZERO));
        }
        assert!(!filter.contains_hash(key(b'a'), Time::ZERO));
        assert!(filter.contains_hash(key(b'b'), Time::ZERO));
    }

    #[test]
    fn hash_bits_are_the_fewest_that_will_do() {
        for (window, rate) in [(1, 0.3), (100, 0.01), (1_000_000, 0.001), (1 << 48, 0.5)] {
            let chosen = CompactShortHashParameters::with_error(window, rate).unwrap();
            assert!(chosen.false_positive_rate() <= rate);
            let fewer = CompactShortHashParameters { hash_bits: chosen.hash_bits - 1, ..chosen };
            assert!(chosen.hash_bits == 2 || fewer.false_positive_rate() > rate);
        }
        assert_eq!(CompactShortHashParameters::with_error(1 << 48, 1e-9), None);
    }
}
