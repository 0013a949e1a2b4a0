//! How large a slice is: as small as its keys and its chance allow.
//!
//! A slice is made of blocks, and what is left of it is a smaller block: 98 words are 12 blocks of 8
//! words and a *tail* of 2. A key finds its block by a word chosen at random, so the tail gets its
//! share of keys and no more.

use std::ops::Range;

use lately::bits::{Aligned, size};
use lately::probability::least;
use lately::sample::{sample, share};
use lately::sliding::slices::{BlockShape, Probe};

/// How large a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceSize {
    /// So many words in blocks of this shape, and a tail of 1, 2 or 4 words if these are not all.
    Blocks(BlockShape, u64),
    /// So many bits, of which a key sets one: then nothing asks for whole words (eq. 8).
    Bits(u64),
}

impl SliceSize {
    /// The smallest that holds so many keys, each setting so many bits, at this chance of holding
    /// another.
    pub fn for_keys(keys: u64, bits: u32, chance: f64) -> Self {
        if bits == 1 {
            return Self::Bits(least(keys.max(1), |size| Self::Bits(size).chance(keys) <= chance));
        }
        let blocks = BlockShape::WORDS.map(|words| BlockShape { words, bits });
        let sizes = blocks.into_iter().filter(|block| block.is_valid()).map(|block| {
            let words = block.blocks_for(keys, chance) * u64::from(block.words);
            // A tail instead of the last block, if one will do.
            let tails = BlockShape::WORDS.into_iter().filter(|&tail| tail < block.words);
            tails
                .map(|tail| Self::Blocks(block, words - u64::from(block.words - tail)))
                .find(|size| size.chance(keys) <= chance)
                .unwrap_or(Self::Blocks(block, words))
        });
        // Of equals the one of the largest blocks, because it has the fewest.
        sizes.rev().min_by_key(|size| size.words()).expect("blocks of one word are valid")
    }

    /// How many keys it holds at this chance: at least as many as it was made for, and what whole
    /// words leave room for besides.
    pub fn capacity(self, made_for: u64, chance: f64) -> u64 {
        let too_many = least(made_for + 1, |keys| self.chance(keys) > chance);
        (too_many - 1).max(made_for)
    }

    /// What has so many bits in blocks of so many words (0 if it has only bits) and keys that set
    /// `bits_per_key`; `None` if there is no such thing.
    pub fn of_bits(block_words: u32, bits: u64, bits_per_key: u32) -> Option<Self> {
        if block_words == 0 {
            return (bits_per_key == 1 && bits > 0).then_some(Self::Bits(bits));
        }
        let block = BlockShape { words: block_words, bits: bits_per_key };
        let words = bits / 64;
        let whole = bits > 0 && bits.is_multiple_of(64) && block.is_valid();
        let size = whole.then_some(Self::Blocks(block, words))?;
        size.tail().is_none_or(BlockShape::is_valid).then_some(size)
    }

    /// Words of a block; 0 if there are only bits.
    pub fn block_words(self) -> u32 {
        match self {
            Self::Blocks(block, _) => block.words,
            Self::Bits(_) => 0,
        }
    }

    /// Bits that keys may set.
    pub fn bits(self) -> u64 {
        match self {
            Self::Blocks(_, words) => words.saturating_mul(64),
            Self::Bits(bits) => bits,
        }
    }

    /// Words in which they lie.
    pub fn words(self) -> u64 {
        self.bits().div_ceil(64)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(self) -> u64 {
        Aligned::<u64>::heap_bytes_for(size(self.words()))
    }

    /// Chance that a key never inserted is held by a slice that holds so many.
    pub fn chance(self, keys: u64) -> f64 {
        let in_block = |block: BlockShape, words: u64| {
            block.chance_in_one_of(keys, words as f64 / f64::from(block.words))
        };
        match self {
            Self::Blocks(block, words) => {
                self.mean(in_block(block, words), |tail| in_block(tail, words))
            }
            Self::Bits(_) if keys == 0 => 0.0,
            Self::Bits(bits) => -(keys as f64 * (-1.0 / bits as f64).ln_1p()).exp_m1(),
        }
    }

    /// Chance that a key never inserted is held by a slice of these words, from at most so many
    /// places.
    pub fn chance_now(self, words: &[u64], places: usize) -> f64 {
        match self {
            Self::Blocks(block, _) => {
                let size = block.words as usize;
                let (whole, rest) = words.split_at(words.len() / size * size);
                let blocks = sample(whole.len() / size, places);
                let blocks = blocks.map(|block| &whole[block * size..][..size]);
                self.mean(block.chance_now(blocks), |tail| tail.chance_now([rest].into_iter()))
            }
            Self::Bits(bits) => {
                let is_set = |bit: usize| words[bit / 64] >> (bit % 64) & 1 == 1;
                share(0..bits as usize, places, is_set)
            }
        }
    }

    /// Where a key goes.
    #[inline(always)]
    pub fn place(self, probe: Probe) -> Mark {
        match self {
            Self::Blocks(block, words) => {
                // The tail begins where a block would.
                let block_words = block.words as usize;
                let at = probe.one_of(words) & !(block_words - 1);
                Mark::Block(at..at + block_words.min(words as usize - at))
            }
            Self::Bits(bits) => {
                let bit = probe.one_of(bits);
                Mark::Bit(bit / 64, 1 << (bit % 64))
            }
        }
    }

    /// The shape of the tail, if there is one.
    fn tail(self) -> Option<BlockShape> {
        let Self::Blocks(block, words) = self else { return None };
        let rest = (words % u64::from(block.words)) as u32;
        (rest > 0).then_some(BlockShape { words: rest, ..block })
    }

    /// The mean over all words of what is so much in blocks and that much in the tail.
    fn mean(self, in_blocks: f64, in_tail: impl Fn(BlockShape) -> f64) -> f64 {
        match self.tail() {
            None => in_blocks,
            Some(tail) => {
                let share = f64::from(tail.words) / self.words() as f64;
                share * in_tail(tail) + (1.0 - share) * in_blocks
            }
        }
    }
}

/// What a key sets in a slice.
#[derive(Debug, Clone)]
pub enum Mark {
    /// Bits of the block of these words.
    Block(Range<usize>),
    /// The only bit of this mask, in this word.
    Bit(usize, u64),
}

#[cfg(test)]
mod tests {
    use super::super::slice::{Slice, Trace};
    use super::*;
    use lately::raw::remix;
    use testkit::stats::assert_rate_within;

    /// The paper's size, `c / ln 2` bits for half of them set, to the bit.
    #[test]
    fn a_slice_of_single_bits_is_the_least_that_will_do() {
        for keys in [1, 16, 273 * 14, 1_000_000] {
            for chance in [0.25, 0.5, 0.75] {
                let bits = SliceSize::for_keys(keys, 1, chance).bits();
                assert!(SliceSize::Bits(bits).chance(keys) <= chance);
                assert!(bits == 1 || SliceSize::Bits(bits - 1).chance(keys) > chance);
                let paper = keys as f64 / -(1.0 - chance).ln();
                assert!((bits as f64 - paper).abs() <= 2.0, "{keys} {chance}: {bits} {paper}");
            }
        }
    }

    #[test]
    fn single_bits_and_blocks_of_one_word_err_alike() {
        let block = SliceSize::Blocks(BlockShape { words: 1, bits: 1 }, 100);
        let bits = SliceSize::Bits(6_400);
        for keys in [0, 1, 500, 5_000, 50_000] {
            let (a, b) = (block.chance(keys), bits.chance(keys));
            assert!((a - b).abs() <= 1e-12, "{keys}: {a} {b}");
        }
    }

    /// With and without tails, the formula is the measured rate to 1%; each assertion fails by luck
    /// once in 1e9.
    #[test]
    fn chance_is_exact_with_a_tail() {
        for (words, bits, all, keys) in
            [(8, 8, 12, 120), (4, 5, 5, 60), (2, 3, 3, 50), (8, 9, 4, 30)]
        {
            let size = SliceSize::Blocks(BlockShape { words, bits }, all);
            assert_eq!(SliceSize::of_bits(words, 64 * all, bits), Some(size));
            let (mut hits, mut trials, mut now) = (0, 0, 0.0);
            for seed in 0..2_000 {
                let mut slice = Slice::new(size, keys, 0);
                for i in 0..keys {
                    slice.insert(&Trace::new(remix(i, seed), 0, bits));
                }
                now += slice.chance_now(usize::MAX) / 2_000.0;
                for i in 0..2_000 {
                    hits += u64::from(slice.holds(&Trace::new(remix(1 << 40 | i, seed), 0, bits)));
                    trials += 1;
                }
            }
            assert_rate_within(hits, trials, size.chance(keys), 0.01, 1e-9);
            assert!((now / size.chance(keys) - 1.0).abs() < 0.05, "{now}");
        }
    }

    /// Tails cost nothing but themselves: never more than whole blocks, and often less.
    #[test]
    fn a_tail_is_smaller_than_the_block_it_replaces() {
        let mut tails = 0;
        for keys in 100..300 {
            let size = SliceSize::for_keys(keys, 8, 0.004);
            assert!(size.chance(keys) <= 0.004);
            assert!(size.capacity(keys, 0.004) >= keys);
            assert!(size.chance(size.capacity(keys, 0.004) + 1) > 0.004);
            let blocks = BlockShape { words: 8, bits: 8 }.blocks_for(keys, 0.004);
            assert!(size.words() <= 8 * blocks);
            tails += u32::from(size.words() < 8 * blocks);
        }
        assert!(tails > 50, "{tails}");
    }
}
