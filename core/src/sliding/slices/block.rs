//! One slice: blocks of at most a cache line; a key sets a few bits of one block.

use crate::bits::LINE_WORDS;
use crate::hash::{reduce, remix};
use crate::probability::least;

/// How large the blocks of a slice are, and how many bits of one a key sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShape {
    /// Words in a block: 1, 2, 4 or 8.
    pub words: u32,
    /// Bits that a key sets in its block; a bit may be chosen twice.
    pub bits: u32,
}

impl BlockShape {
    /// Sizes of blocks, in words: those that never straddle a cache line.
    pub const WORDS: [u32; 4] = [1, 2, 4, LINE_WORDS as u32];

    /// Whether one 64-bit hash can choose all the bits.
    pub fn is_valid(self) -> bool {
        Self::WORDS.contains(&self.words) && (1..=self.most_bits()).contains(&self.bits)
    }

    /// The most bits a key may set in blocks of this size.
    pub fn most_bits(self) -> u32 {
        64 / self.offset_bits()
    }

    /// Chance that a key never inserted finds its bits set in a slice of `blocks` blocks that
    /// holds `items` keys. Exact for every size.
    ///
    /// If the key's `b` choices fall on `d` different bits, inclusion and exclusion over the
    /// subsets that stayed empty gives `sum (-1)^i C(d,i) e_i`. Here `e_i` is the chance that `i`
    /// given bits stayed empty: each of the items chose another block, or chose the block but none
    /// of them, so `e_i = (1 - (1 - (1 - i/B)^b) / blocks)^items` with `B` bits in a block.
    pub fn chance(self, items: u64, blocks: u64) -> f64 {
        let choices = self.bits as usize;
        let size = f64::from(64 * self.words);
        let empty = |i: usize| {
            let avoided = (1.0 - i as f64 / size).powi(self.bits as i32);
            (items as f64 * (-(1.0 - avoided) / blocks as f64).ln_1p()).exp()
        };
        let empty: Vec<f64> = (0..=choices).map(empty).collect();
        let set = |distinct: usize| {
            let (mut sum, mut choose) = (0.0, 1.0);
            for (i, empty) in empty.iter().take(distinct + 1).enumerate() {
                sum += choose * empty;
                choose *= -((distinct - i) as f64) / (i + 1) as f64;
            }
            sum.max(0.0)
        };
        // distinct[d]: the chance that the choices so far fell on d different bits.
        let mut distinct = vec![0.0; choices + 1];
        distinct[0] = 1.0;
        for _ in 0..choices {
            for d in (0..choices).rev() {
                distinct[d + 1] =
                    distinct[d + 1] * (d + 1) as f64 / size + distinct[d] * (1.0 - d as f64 / size);
            }
            distinct[0] = 0.0;
        }
        distinct.iter().enumerate().map(|(d, chance)| chance * set(d)).sum()
    }

    /// The fewest blocks for which [`chance`](Self::chance) is at most `most`.
    pub fn blocks_for(self, items: u64, most: f64) -> u64 {
        least(|blocks| self.chance(items, blocks) <= most)
    }

    /// The share of keys whose bits are all set in a block, averaged over blocks given as words.
    pub fn chance_now<'a>(self, blocks: impl Iterator<Item = &'a [u64]>) -> f64 {
        let (mut sum, mut count) = (0.0, 0_u64);
        for block in blocks {
            let ones: u32 = block.iter().map(|word| word.count_ones()).sum();
            sum += (f64::from(ones) / f64::from(64 * self.words)).powi(self.bits as i32);
            count += 1;
        }
        sum / count.max(1) as f64
    }

    /// Bits that choose one bit of a block.
    #[inline]
    fn offset_bits(self) -> u32 {
        6 + self.words.trailing_zeros()
    }
}

/// What a key is to the slices of one class: which block, and which bits of it.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    place: u64,
    bits: u64,
}

impl Probe {
    /// The probe of a key for a class.
    #[inline]
    pub fn new(hash: u64, class: usize) -> Self {
        // Two hashes: in a large slice the choice of the block uses up the first.
        let stream = 2 * class as u64;
        Self { place: remix(hash, stream), bits: remix(hash, stream + 1) }
    }

    /// Which of so many blocks.
    #[inline]
    pub fn block(self, blocks: u64) -> usize {
        reduce(self.place, blocks).0 as usize
    }

    /// Whether all bits of the key are set in its block.
    #[inline]
    pub fn is_in(self, block: &[u64], shape: BlockShape) -> bool {
        // No early exit: a few more loads from one line cost less than a mispredicted branch.
        let mut missing = 0;
        for (word, bit) in self.choices(shape) {
            missing |= !block[word] & bit;
        }
        missing == 0
    }

    /// Sets the bits of the key in its block, and says whether one of them was not set before.
    #[inline]
    pub fn set_in(self, block: &mut [u64], shape: BlockShape) -> bool {
        let mut missing = 0;
        for (word, bit) in self.choices(shape) {
            missing |= !block[word] & bit;
            block[word] |= bit;
        }
        missing != 0
    }

    /// Word and bit of every choice.
    #[inline]
    fn choices(self, shape: BlockShape) -> impl Iterator<Item = (usize, u64)> {
        let (width, mask) = (shape.offset_bits(), 64 * shape.words - 1);
        let mut rest = self.bits;
        (0..shape.bits).map(move |_| {
            let offset = rest as u32 & mask;
            rest >>= width;
            ((offset / 64) as usize, 1 << (offset % 64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::stats::assert_rate_within;

    /// Small and large slices, few and many bits: the formula is the measured rate to 1%, over
    /// many slices because a small one differs from the next. Each assertion fails by luck once in
    /// 1e9.
    #[test]
    fn chance_is_exact_at_every_size() {
        for (words, bits, blocks, items) in [
            (1, 1, 3, 100),
            (1, 4, 1, 9),
            (2, 4, 50, 900),
            (2, 9, 2, 12),
            (8, 6, 1, 60),
            (8, 5, 9, 700),
        ] {
            let shape = BlockShape { words, bits };
            let (mut hits, mut trials) = (0, 0);
            for seed in 0..2_000 {
                let mut slice = vec![0; blocks * words as usize];
                let words = words as usize;
                for i in 0..items {
                    let probe = Probe::new(remix(i, seed), 0);
                    let block = probe.block(blocks as u64) * words;
                    probe.set_in(&mut slice[block..block + words], shape);
                }
                for i in 0..2_000 {
                    let probe = Probe::new(remix(1 << 40 | i, seed), 0);
                    let block = probe.block(blocks as u64) * words;
                    hits += u64::from(probe.is_in(&slice[block..block + words], shape));
                    trials += 1;
                }
            }
            assert_rate_within(hits, trials, shape.chance(items, blocks as u64), 0.01, 1e-9);
        }
    }

    #[test]
    fn block_counts_are_the_least_that_will_do() {
        for words in BlockShape::WORDS {
            for (bits, most) in [(1, 0.5), (4, 0.06), (5, 0.01)] {
                let shape = BlockShape { words, bits };
                for items in [1, 10, 1_000, 1_000_000] {
                    let blocks = shape.blocks_for(items, most);
                    assert!(shape.chance(items, blocks) <= most);
                    assert!(blocks == 1 || shape.chance(items, blocks - 1) > most);
                }
            }
        }
    }

    #[test]
    fn one_bit_in_a_large_slice_is_the_papers_fill_ratio() {
        let shape = BlockShape { words: 8, bits: 1 };
        let chance = shape.chance(1_000_000, 3_000);
        let fill: f64 = 1.0 - (-1_000_000.0 / (512.0 * 3_000.0_f64)).exp();
        assert!((chance / fill - 1.0).abs() < 1e-5, "{chance} {fill}");
    }
}
