//! A plain Bloom filter as a subfilter: alone it never forgets, in a queue it is the smallest.
//!
//! k bits, anywhere. Where a split-block filter reads one line, this reads k; in exchange it needs
//! fewer bits for the same error. The errors are one-sided, so a queue of these forgets nothing
//! inside its window.

use alloc::vec::Vec;

use super::detector::Subfilter;
use super::law::{Crowd, Stream};
use super::random::Random;
use crate::bits::Packed;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::parameters::{List, Parameters};
use crate::probability::poisson_nodes;
use crate::promise::Mistakes;
use crate::sample::share;

/// A Bloom filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlainBloom {
    /// Bits.
    pub bits: u64,
    /// Bits that a key sets, 1 to 32.
    pub hashes: u32,
}

impl PlainBloom {
    /// Chance that an unseen key finds its bits set after `n` different keys:
    /// `(1 - (1 - 1/m)^(kn))^k`.
    pub fn false_positive_rate(&self, n: f64) -> f64 {
        let set = -(f64::from(self.hashes) * n * (-1.0 / self.bits as f64).ln_1p()).exp_m1();
        set.powi(self.hashes as i32)
    }

    /// The number of hashes that errs least with `n` keys in `bits`.
    pub fn with_bits(bits: u64, n: f64) -> Option<Self> {
        if bits == 0 {
            return None;
        }
        (1..=32)
            .map(|hashes| Self { bits, hashes })
            .min_by(|a, b| a.false_positive_rate(n).total_cmp(&b.false_positive_rate(n)))
    }

    /// Sets the bits of a key, counted from `base` on, and says whether all were set.
    pub fn set(&self, bits: &mut Packed, base: usize, hash: u64) -> bool {
        let mut seen = true;
        for bit in self.positions(hash) {
            seen &= bits.get(base + bit) != 0;
            bits.set(base + bit, 1);
        }
        seen
    }

    #[inline]
    fn positions(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let bits = self.bits;
        (0..u64::from(self.hashes)).map(move |i| reduce(remix(hash, i), bits).0 as usize)
    }
}

impl Parameters for PlainBloom {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("bits", &mut self.bits, 1.., "at least 1")?;
        list.add("hashes", &mut self.hashes, 1..=32, "from 1 to 32")
    }
}

impl Subfilter for PlainBloom {
    const FORGETS: bool = false;

    fn best_in_queue(bits: u64, turn: f64, stream: Stream, _near: Option<&Self>) -> Option<Self> {
        Self::with_bits(bits, stream.distinct(turn))
    }

    fn cells(&self) -> u64 {
        self.bits
    }

    fn cell_bits(&self) -> u32 {
        1
    }

    fn contains(&self, cells: &Packed, base: usize, hash: u64) -> bool {
        self.positions(hash).all(|bit| cells.get(base + bit) != 0)
    }

    fn insert(&self, cells: &mut Packed, base: usize, hash: u64, _random: &mut Random) -> bool {
        self.set(cells, base, hash)
    }

    fn after(&self, n: f64, _last: f64, stream: Stream, crowd: Crowd) -> Mistakes {
        // In a given crowd every copy counts; of all keys, only different ones do.
        let single = stream.rate > 0.0 && self.hashes == 1;
        let keys = if single { crowd.density * n } else { stream.distinct(n) };
        let false_positives = self.false_positive_rate(keys);
        Mistakes { false_positives, false_negatives: 0.0 }
    }

    fn crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        // A key with several bits meets several crowds, which even out.
        if stream.rate == 0.0 || self.hashes > 1 {
            return vec![(1.0, Crowd::AVERAGE)];
        }
        let rivals = 1.0 / (stream.rate * self.bits as f64);
        let nodes = poisson_nodes(rivals, 12).into_iter();
        nodes.map(|(weight, k)| (weight, Crowd { density: k / rivals, likeness: 1.0 })).collect()
    }

    fn estimate(&self, cells: &Packed, base: usize, places: usize) -> f64 {
        let bits = base..base + self.bits as usize;
        share(bits, places, |bit| cells.get(bit) != 0).powi(self.hashes as i32)
    }

    fn lines_touched(&self) -> f64 {
        // A check ends at the first bit that is not set: two of them when half are.
        2.0
    }

    fn first_cell(&self, hash: u64) -> usize {
        reduce(remix(hash, 0), self.bits).0 as usize
    }
}
