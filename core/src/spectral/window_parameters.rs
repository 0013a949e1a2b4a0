//! The parameters of a window that counts, and their formulas.

use alloc::boxed::Box;

use super::parameters::SpectralParameters;
use super::rule::Rule;
use super::window::SpectralWindow;
use super::{Allotment, Rows, Storage, hashes_for};
use crate::bits::{Packed, size};
use crate::blueprint::Blueprint;
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::promise::Promise;

/// How many short hashes of how many bits, and the counters for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpectralWindowParameters {
    /// Insertions counted, exactly.
    pub window: u64,
    /// Bits of each hash in the ring, 2 to 64.
    pub hash_bits: u32,
    /// Where the counters of a key are.
    pub rows: Rows,
}

/// Short hashes collide so much less often than counters.
const COLLISION_SHARE: f64 = 1.0 / 16.0;

impl SpectralWindowParameters {
    /// The smallest that keeps `rate`, even if all keys of a window differ.
    pub fn with_error(window: u64, rate: f64) -> Self {
        let hash_bits = (window as f64 / (COLLISION_SHARE * rate)).log2().ceil();
        let rate = rate * (1.0 - COLLISION_SHARE);
        let rows = Rows::for_items(window, rate, hashes_for(rate));
        Self { window, hash_bits: hash_bits.clamp(2.0, 64.0) as u32, rows }
    }

    /// Those that err least within `bytes`; `None` if there is no room for a counter beside the
    /// ring.
    pub fn with_memory(window: u64, bytes: u64) -> Option<Self> {
        let choices = (2..=64).filter_map(|hash_bits| {
            let left = bytes.checked_sub(Packed::heap_bytes_for(hash_bits, size(window)))?;
            let rule = Rule::MinimumSelection;
            let rows = SpectralParameters::with_memory(window, left, rule)?.rows;
            Some(Self { window, hash_bits, rows })
        });
        choices.min_by(|a, b| a.false_positive_rate().total_cmp(&b.false_positive_rate()))
    }

    /// Chance that an unseen key seems seen when all keys of the window differ: by its counters, or
    /// by its short hash.
    pub fn false_positive_rate(&self) -> f64 {
        let collision = -(self.window as f64 * (-1.0 / self.hash_values() as f64).ln_1p()).exp_m1();
        let counters = self.rows.collision_rate(self.window);
        collision + (1.0 - collision) * counters
    }

    pub(super) fn hash_values(&self) -> u64 {
        u64::MAX >> (64 - self.hash_bits)
    }

    pub(super) fn counting(&self) -> SpectralParameters {
        SpectralParameters {
            items: self.window,
            rows: self.rows,
            rule: Rule::MinimumSelection,
            storage: Storage::Bytes,
        }
    }
}

impl Parameters for SpectralWindowParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("hash bits", &mut self.hash_bits, 2..=64, "from 2 to 64")?;
        self.rows.list(list)
    }
}

impl Blueprint for SpectralWindowParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, 0, self.false_positive_rate())
    }

    fn heap_bytes(&self) -> u64 {
        let ring = Packed::heap_bytes_for(self.hash_bits, size(self.window));
        ring + self.counting().heap_bytes()
    }

    fn adapts(&self) -> bool {
        self.counting().adapts()
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        // The counters of the key that comes and of the one that goes, and the ring.
        2.0 * self.counting().lines_touched() + 1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(SpectralWindow::new(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_error_are_inverse() {
        for window in [1, 100, 100_000] {
            for rate in [0.1, 0.001] {
                let given = SpectralWindowParameters::with_error(window, rate);
                assert!(given.false_positive_rate() <= rate, "{given:?}");
                let bytes = given.heap_bytes();
                let back = SpectralWindowParameters::with_memory(window, bytes).unwrap();
                assert!(back.heap_bytes() <= bytes);
                assert!(back.false_positive_rate() <= 1.4 * rate, "{given:?} {back:?}");
            }
        }
    }
}
