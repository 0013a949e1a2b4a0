//! `sbbf-rs-safe`, sized: its interface takes bits per key and hashes, and says no error.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use lately::Seed;
use lately::raw::Unfit;
use sbbf_rs_safe::Filter;

/// The filter, with the hash that `fastbloom` has here too.
pub struct SplitBlock {
    pub(super) filter: Filter,
    hasher: FixedState,
    /// By the formula.
    pub(super) false_positives: f64,
}

/// Bits of a block and of each of its words, in each of which a key sets one.
const BLOCK_BITS: f64 = 256.0;
const WORDS: i32 = 8;
const WORD_BITS: f64 = 32.0;

impl SplitBlock {
    /// With the fewest whole bits per key that keep a rate.
    pub(super) fn new(items: u64, rate: f64, Seed(seed): Seed) -> Result<Self, Unfit> {
        let mut sizes = (1..=64).map(|bits| (bits, false_positives(bits as f64)));
        let (bits, false_positives) =
            sizes.find(|&(_, found)| found <= rate).ok_or(Unfit("cannot err so rarely"))?;
        let filter = Filter::new(bits, items as usize);
        Ok(Self { filter, hasher: FixedState::with_seed(seed), false_positives })
    }

    #[inline]
    pub(super) fn hash(&self, key: u64) -> u64 {
        self.hasher.hash_one(key)
    }
}

/// Chance to report an unseen key with so many bits per key: blocks have keys by Poisson's law, and a word with i
/// keys has this bit set with chance 1 - (31/32)^i.
fn false_positives(bits_per_key: f64) -> f64 {
    let mean = BLOCK_BITS / bits_per_key;
    let (mut chance, mut sum) = ((-mean).exp(), 0.0);
    for keys in 1..1_000 {
        chance *= mean / f64::from(keys);
        sum += chance * (1.0 - (1.0 - 1.0 / WORD_BITS).powi(keys)).powi(WORDS);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of Parquet's specification: bits per key for an error.
    #[test]
    fn errors_are_those_of_the_specification() {
        for (bits, rate) in [(6.0, 0.1), (10.5, 0.01), (16.9, 0.001), (26.4, 0.0001)] {
            let found = false_positives(bits);
            assert!((found / rate - 1.0).abs() < 0.1, "{bits}: {found}");
        }
    }
}
