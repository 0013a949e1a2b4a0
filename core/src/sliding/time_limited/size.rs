//! How large a slice is: as small as its keys and its chance allow.

use crate::bits::{LINE_WORDS, Lines};
use crate::probability::least;
use crate::sliding::slices::BlockShape;

/// How large a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceSize {
    /// So many blocks of this shape.
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
        let size = |block: BlockShape| (block, block.blocks_for(keys, chance));
        let sizes = blocks.into_iter().filter(|block| block.is_valid()).map(size);
        let sizes = sizes.map(|(block, blocks)| Self::Blocks(block, blocks));
        sizes.min_by_key(|size| (size.bits(), size.parts())).expect("blocks of one word are valid")
    }

    /// How many keys it holds at this chance: at least as many as it was made for, and what whole
    /// blocks leave room for besides.
    pub fn capacity(self, made_for: u64, chance: f64) -> u64 {
        let too_many = least(made_for + 1, |keys| self.chance(keys) > chance);
        (too_many - 1).max(made_for)
    }

    /// What a snapshot calls blocks of so many words, or bits if these are 0; `None` if keys that
    /// set so many bits cannot use them.
    pub fn of_parts(words: u32, parts: u64, bits: u32) -> Option<Self> {
        let block = BlockShape { words, bits };
        match words {
            _ if parts == 0 => None,
            0 => (bits == 1).then_some(Self::Bits(parts)),
            _ => block.is_valid().then_some(Self::Blocks(block, parts)),
        }
    }

    /// Words of a block; 0 if there are only bits.
    pub fn block_words(self) -> u32 {
        match self {
            Self::Blocks(block, _) => block.words,
            Self::Bits(_) => 0,
        }
    }

    /// How many blocks, or bits, there are.
    pub fn parts(self) -> u64 {
        match self {
            Self::Blocks(_, parts) | Self::Bits(parts) => parts,
        }
    }

    /// Chance that a key never inserted is held by a slice that holds so many.
    pub fn chance(self, keys: u64) -> f64 {
        match self {
            Self::Blocks(block, blocks) => block.chance(keys, blocks),
            Self::Bits(_) if keys == 0 => 0.0,
            Self::Bits(bits) => -(keys as f64 * (-1.0 / bits as f64).ln_1p()).exp_m1(),
        }
    }

    /// Chance that a key never inserted is held by a slice of these words.
    pub fn chance_now(self, words: &[u64]) -> f64 {
        match self {
            Self::Blocks(block, _) => block.chance_now(words.chunks(block.words as usize)),
            Self::Bits(bits) => {
                let set = words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                set as f64 / bits as f64
            }
        }
    }

    /// Bits that a key may set.
    pub fn bits(self) -> u64 {
        match self {
            Self::Blocks(..) => self.words().saturating_mul(64),
            Self::Bits(bits) => bits,
        }
    }

    /// Words in which they lie.
    pub fn words(self) -> u64 {
        match self {
            Self::Blocks(block, blocks) => blocks.saturating_mul(block.words.into()),
            Self::Bits(bits) => bits.div_ceil(64),
        }
    }

    /// Cache lines in which they lie.
    pub fn lines(self) -> usize {
        self.words().div_ceil(LINE_WORDS as u64) as usize
    }

    /// Bytes on the heap.
    pub fn heap_bytes(self) -> u64 {
        Lines::heap_bytes_for(self.lines())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
