//! A Bloom filter that touches one cache line per key.
//!
//! A key chooses one block of eight 64-bit lanes, and one bit in every lane. All eight bits set
//! means "perhaps"; a key that was inserted always finds them set. Two keys in the same block:
//! the first sets bits (3, 17, 60, ...) of lanes (0, 1, 2, ...), and the second is mistaken for it
//! only if its eight choices coincide, one chance in 64^8; with 50 keys in the block about half of
//! each lane is set, and the chance is about 2^-8.
//!
//! This is the split block Bloom filter of Apple's libfilter and of Parquet, with lanes of 64 bits
//! instead of 32: a whole line instead of half of one evens out how full blocks are. It is a part
//! of structures here, not a structure of the catalog: alone it never forgets.

use crate::bits::{LINE_WORDS, Lines, prefetch};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::probability::{least, most_load, poisson_mean};
use crate::sample::{LINES, sample};

/// Bits in a block.
pub const BLOCK_BITS: u64 = 64 * LINE_WORDS as u64;

/// Chance that an unseen key finds its eight bits set, when `items` keys share `blocks` blocks.
pub fn false_positive_rate(items: u64, blocks: u64) -> f64 {
    false_positive_rate_in_lanes(items as f64 / blocks as f64, 64)
}

/// Chance that an unseen key finds one bit set in each of eight lanes of `lane_bits`, when blocks
/// hold `keys_per_block` on average.
///
/// A block holds a Poisson number of keys, and `j` keys set a given bit of a lane with chance
/// `1 - (1 - 1/64)^j`.
pub fn false_positive_rate_in_lanes(keys_per_block: f64, lane_bits: u32) -> f64 {
    poisson_mean(keys_per_block, |j| {
        // (1 - 1/64)^j = e^(-0.0157 j); expm1 keeps the digits when j is small.
        let set = -(j as f64 * (-1.0 / f64::from(lane_bits)).ln_1p()).exp_m1();
        set.powi(LINE_WORDS as i32)
    })
}

/// The fewest blocks that hold `items` keys at a false-positive rate of at most `rate`.
pub fn blocks_for(items: u64, rate: f64) -> u64 {
    // At 256 keys per block hardly a key is refused; starting there keeps the sums short.
    least((items / 256).max(1), |blocks| false_positive_rate(items, blocks) <= rate)
}

/// Fewer blocks than this cannot keep the rate: sooner known than [`blocks_for`].
pub fn blocks_at_least(items: u64, rate: f64) -> u64 {
    let load = most_load(rate, LINE_WORDS as u32);
    ((items as f64 / load / BLOCK_BITS as f64) as u64).max(1)
}

/// The filter.
#[derive(Debug, Clone)]
pub struct SplitBlock {
    blocks: Lines,
}

/// Where a key lives: its block, and one bit for each lane.
#[derive(Debug, Clone, Copy)]
pub struct Lanes {
    block: usize,
    mask: [u64; LINE_WORDS],
}

impl SplitBlock {
    /// An empty filter of this many blocks.
    pub fn new(blocks: usize) -> Self {
        Self { blocks: Lines::new(blocks) }
    }

    /// The filter with this content, block after block.
    pub fn from_words(words: &[u64]) -> Self {
        let mut filter = Self::new(words.len() / LINE_WORDS);
        filter.blocks.as_mut_slice().as_flattened_mut().copy_from_slice(words);
        filter
    }

    /// Bytes on the heap for this many blocks.
    pub const fn heap_bytes_for(blocks: usize) -> u64 {
        Lines::heap_bytes_for(blocks)
    }

    /// Where `hash` lives. The same in every filter of as many blocks, so it can be computed once.
    #[inline]
    pub fn place(&self, hash: u64) -> Lanes {
        let (block, _) = reduce(hash, self.blocks.len() as u64);
        // The high bits chose the block; the lanes need 48 bits that do not depend on them.
        let bits = remix(hash, 0);
        let mask = core::array::from_fn(|lane| 1 << ((bits >> (6 * lane)) & 63));
        Lanes { block: block as usize, mask }
    }

    /// Whether the key at `place` was inserted, or seems so.
    // Always: as a call, with the place passed through memory, a check takes a third longer.
    #[inline(always)]
    pub fn contains(&self, place: &Lanes) -> bool {
        let block = &self.blocks.as_slice()[place.block];
        // No early exit: eight lanes cost less than one mispredicted branch.
        let missing = block.iter().zip(&place.mask).fold(0, |acc, (lane, bit)| acc | (!lane & bit));
        missing == 0
    }

    /// Inserts the key at `place`.
    #[inline]
    pub fn insert(&mut self, place: &Lanes) {
        let block = &mut self.blocks.as_mut_slice()[place.block];
        for (lane, bit) in block.iter_mut().zip(&place.mask) {
            *lane |= bit;
        }
    }

    /// Starts loading the block of `hash`.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let (block, _) = reduce(hash, self.blocks.len() as u64);
        prefetch(self.blocks.as_slice(), block as usize);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks.as_mut_slice().as_flattened_mut().fill(0);
    }

    /// The content, block after block.
    pub fn as_words(&self) -> &[u64] {
        self.blocks.as_slice().as_flattened()
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The chance that an unseen key is reported, from the bits set now.
    pub fn false_positive_rate(&self) -> f64 {
        let blocks = sample(self.blocks.len(), LINES);
        let looked = blocks.len() as f64;
        blocks.map(|block| all_set(&self.blocks.as_slice()[block])).sum::<f64>() / looked
    }

    /// The chance that an unseen key is reported by `self` or by `other`, from the bits set now.
    /// Both must have as many blocks: then a key lives at the same place in both.
    pub fn false_positive_rate_with(&self, other: &SplitBlock) -> f64 {
        let blocks = sample(self.blocks.len(), LINES);
        let looked = blocks.len() as f64;
        let rates = blocks.map(|block| {
            let [a, b] = [self, other].map(|filter| &filter.blocks.as_slice()[block]);
            let both: [u64; LINE_WORDS] = core::array::from_fn(|lane| a[lane] & b[lane]);
            all_set(a) + all_set(b) - all_set(&both)
        });
        rates.sum::<f64>() / looked
    }
}

/// Chance that eight random bits, one per lane, are all set.
fn all_set(block: &[u64; LINE_WORDS]) -> f64 {
    block.iter().map(|lane| f64::from(lane.count_ones()) / 64.0).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::stats::assert_rate_within;

    #[test]
    fn block_count_is_the_least_that_will_do() {
        for items in [1, 10, 1000, 1_000_000] {
            for rate in [0.3, 0.01, 1e-4, 1e-8] {
                let blocks = blocks_for(items, rate);
                assert!(false_positive_rate(items, blocks) <= rate);
                assert!(blocks == 1 || false_positive_rate(items, blocks - 1) > rate);
                assert!((1..=blocks).contains(&blocks_at_least(items, rate)));
            }
        }
    }

    /// The formula, the rate read off the bits and the measured rate agree to 2%; each assertion
    /// fails by luck once in 1e9.
    #[test]
    fn formula_bits_and_measurement_agree() {
        let items = 200_000;
        for blocks in [3_000, 4_000, 8_000] {
            let mut filter = SplitBlock::new(blocks);
            for i in 0..items {
                let place = filter.place(remix(i, 7));
                filter.insert(&place);
            }
            let predicted = false_positive_rate(items, blocks as u64);
            let from_bits = filter.false_positive_rate_with(&SplitBlock::new(blocks));
            assert!((from_bits / predicted - 1.0).abs() < 0.02, "{from_bits} {predicted}");
            let trials = 4_000_000;
            let hits = (0..trials).filter(|i| filter.contains(&filter.place(remix(*i, 8)))).count();
            assert_rate_within(hits as u64, trials, predicted, 0.02, 1e-9);
        }
    }
}
