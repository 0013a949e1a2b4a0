//! One slice: blocks of at most a cache line; a key sets a few bits of one block.

use alloc::borrow::Cow;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::sync::OnceLock;

use crate::bits::LINE_WORDS;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::probability::least;

/// How large the blocks of a slice are, and how many bits of one a key sets.
///
/// The words of a block take turns: of 6 bits in a block of 4 words, the first two words get two
/// and the others one. Where a bit goes is then known before the hash is, and the bits of a key
/// are put together without a detour through memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockShape {
    /// Words in a block: 1, 2, 4 or 8.
    pub words: u32,
    /// Bits that a key sets in its block, at least one in every word; a bit may be chosen twice.
    pub bits: u32,
}

impl BlockShape {
    /// Sizes of blocks, in words: those that never straddle a cache line.
    pub const WORDS: [u32; 4] = [1, 2, 4, LINE_WORDS as u32];

    /// As many bits as one hash can choose, six bits of it for each.
    pub const MOST_BITS: u32 = 10;

    /// Whether the words are of a known number, and each gets a bit.
    pub fn is_valid(self) -> bool {
        Self::WORDS.contains(&self.words) && (self.words..=Self::MOST_BITS).contains(&self.bits)
    }

    /// Numbers of bits worth trying for slices that hold an unseen key with this chance.
    pub fn bits_worth_trying(chance: f64) -> impl Iterator<Item = u32> {
        // At the best size half of the bits are set, so about log2(1/chance) of them tell. Fuller
        // slices can be smaller yet, if all words of their blocks get as many bits.
        let best = (-chance.log2()).round() as u32;
        let near = best.saturating_sub(1)..=best + 1;
        let even = [4_u32, 8].into_iter().filter(move |bits| bits.abs_diff(best) > 1);
        near.chain(even).filter(|bits| (1..=Self::MOST_BITS).contains(bits))
    }

    /// Chance that a key never inserted finds its bits set in a slice of `blocks` blocks that
    /// holds `items` keys. Exact for every size.
    ///
    /// Given how many keys share the block, its words are independent, and for each the chance is a
    /// sum of terms `a q^keys` (see `word_terms`); so it is for their product. Every key is in the
    /// block with chance `1 / blocks`, which makes of the term `a (1 - (1 - q) / blocks)^items`.
    pub fn chance(self, items: u64, blocks: u64) -> f64 {
        self.chance_in_one_of(items, blocks as f64)
    }

    /// The same for a block that gets a key with chance `1 / blocks`, whatever the others are like.
    pub fn chance_in_one_of(self, items: u64, blocks: f64) -> f64 {
        self.law().chance(items, blocks)
    }

    /// What [`chance`](Self::chance) is computed from. There are few shapes, and planners ask about
    /// each of them for many sizes: what all sizes have in common is computed once.
    #[cfg(feature = "std")]
    pub fn law(self) -> Cow<'static, Law> {
        static LAWS: [[OnceLock<Law>; BlockShape::MOST_BITS as usize]; BlockShape::WORDS.len()] =
            [const { [const { OnceLock::new() }; BlockShape::MOST_BITS as usize] };
                BlockShape::WORDS.len()];
        let law = || Law { terms: self.terms() };
        match Self::WORDS.iter().position(|&words| words == self.words) {
            Some(size) if (1..=Self::MOST_BITS).contains(&self.bits) => {
                Cow::Borrowed(LAWS[size][self.bits as usize - 1].get_or_init(law))
            }
            _ => Cow::Owned(law()),
        }
    }

    /// The same where nothing can be computed once for all.
    #[cfg(not(feature = "std"))]
    pub fn law(self) -> Cow<'static, Law> {
        Cow::Owned(Law { terms: self.terms() })
    }

    /// The fewest blocks for which [`chance`](Self::chance) is at most `most`.
    pub fn blocks_for(self, items: u64, most: f64) -> u64 {
        // More keys than bits: a start, not a limit.
        let start = (items / u64::from(64 * self.words)).max(1);
        let law = self.law();
        least(start, |blocks| law.chance(items, blocks as f64) <= most)
    }

    /// The chance, as terms `a q^keys` of the number of keys that share the block.
    fn terms(self) -> Vec<(f64, f64)> {
        let mut terms = vec![(1.0, 1.0)];
        for word in 0..self.words {
            let factors = word_terms(self.bits_in(word));
            let times = |&(a, q): &(f64, f64)| factors.iter().map(move |&(b, r)| (a * b, q * r));
            let mut products: Vec<(f64, f64)> = Vec::with_capacity(terms.len() + factors.len());
            for (a, q) in terms.iter().flat_map(times) {
                // Words that get as many bits have the same factors: of 256 products of eight words
                // with a bit each, 9 differ.
                match products.iter_mut().find(|(_, other)| *other == q) {
                    Some((sum, _)) => *sum += a,
                    None => products.push((a, q)),
                }
            }
            terms = products;
        }
        terms
    }

    /// The share of keys whose bits are all set in a block, averaged over blocks given as words.
    pub fn chance_now<'a>(self, blocks: impl Iterator<Item = &'a [u64]>) -> f64 {
        let (mut sum, mut count) = (0.0, 0_u64);
        for block in blocks {
            let fill = |(word, bits): (u32, &u64)| {
                (f64::from(bits.count_ones()) / 64.0).powi(self.bits_in(word) as i32)
            };
            sum += (0..self.words).zip(block).map(fill).product::<f64>();
            count += 1;
        }
        sum / count.max(1) as f64
    }

    /// Bits that a key sets in this word of its block.
    fn bits_in(self, word: u32) -> u32 {
        (self.bits + self.words - 1 - word) / self.words
    }
}

/// How the chance of a shape depends on the size of the slice: all but that is computed.
#[derive(Debug, Clone)]
pub struct Law {
    /// Terms `a q^keys` of the number of keys that share a block.
    terms: Vec<(f64, f64)>,
}

impl Law {
    /// The mean of the terms over the number of `items` that share a block which each is in with
    /// chance `1 / blocks`.
    pub fn chance(&self, items: u64, blocks: f64) -> f64 {
        let mean = |&(a, q): &(f64, f64)| a * (items as f64 * (-(1.0 - q) / blocks).ln_1p()).exp();
        // Terms of both signs nearly cancel when the slice is nearly empty.
        self.terms.iter().map(mean).sum::<f64>().max(0.0)
    }
}

/// Chance that a word holds all of `bits` choices of an unseen key, as terms `a q^keys` of the
/// number of keys that share the block.
///
/// If the choices fall on `d` different bits, inclusion and exclusion over those that stayed empty
/// gives `sum (-1)^i C(d,i) e_i`, with `e_i = ((1 - i/64)^bits)^keys` the chance that `i` given bits
/// did.
fn word_terms(bits: u32) -> Vec<(f64, f64)> {
    let choices = bits as usize;
    // distinct[d]: the chance that the choices so far fell on d different bits.
    let mut distinct = vec![0.0; choices + 1];
    distinct[0] = 1.0;
    for _ in 0..choices {
        for d in (0..choices).rev() {
            let (again, other) = ((d + 1) as f64 / 64.0, 1.0 - d as f64 / 64.0);
            distinct[d + 1] = distinct[d + 1] * again + distinct[d] * other;
        }
        distinct[0] = 0.0;
    }
    let mut terms: Vec<(f64, f64)> =
        (0..=choices).map(|i| (0.0, (1.0 - i as f64 / 64.0).powi(bits as i32))).collect();
    for (d, chance) in distinct.into_iter().enumerate() {
        let mut choose = chance;
        for (i, term) in terms.iter_mut().take(d + 1).enumerate() {
            term.0 += choose;
            choose *= -((d - i) as f64) / (i + 1) as f64;
        }
    }
    terms
}

/// What a key is to the slices of one class: which block, and which bits of it.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    place: u64,
    bits: u64,
}

impl Probe {
    /// The probe of a key for a class.
    #[inline(always)]
    pub fn new(hash: u64, class: usize) -> Self {
        // Two hashes: in a large slice the choice of the block uses up the first.
        let stream = 2 * class as u64;
        Self { place: remix(hash, stream), bits: remix(hash, stream + 1) }
    }

    /// Which of so many blocks, words or bits.
    #[inline(always)]
    pub fn one_of(self, many: u64) -> usize {
        reduce(self.place, many).0 as usize
    }

    /// In which of these blocks, side by side, all bits of the key are set: bit i for block i.
    #[inline]
    pub fn hits(self, blocks: &[u64], shape: BlockShape) -> u64 {
        match shape.words {
            1 => hits(blocks, &self.spread::<1>(shape.bits)),
            2 => hits(blocks, &self.spread::<2>(shape.bits)),
            4 => hits(blocks, &self.spread::<4>(shape.bits)),
            _ => hits(blocks, &self.spread::<LINE_WORDS>(shape.bits)),
        }
    }

    /// Sets the bits of the key in a block, and says whether one was not set before.
    #[inline]
    pub fn set(self, block: &mut [u64], shape: BlockShape) -> bool {
        match shape.words {
            1 => set(block, &self.spread::<1>(shape.bits)),
            2 => set(block, &self.spread::<2>(shape.bits)),
            4 => set(block, &self.spread::<4>(shape.bits)),
            _ => set(block, &self.spread::<LINE_WORDS>(shape.bits)),
        }
    }

    /// So many bits of the key, for blocks of whatever size.
    #[inline(always)]
    pub fn mask(self, bits: u32) -> Mask {
        Mask(self.spread(bits))
    }

    /// So many bits of the key in a block of `W` words.
    #[inline(always)]
    fn spread<const W: usize>(self, bits: u32) -> [u64; W] {
        let mut words = [0; W];
        let mut rest = self.bits;
        let mut left = bits as usize;
        // So often all words may have a turn. Written so that the compiler makes them at once.
        for _ in 0..BlockShape::MOST_BITS as usize / W {
            if left < W {
                break;
            }
            for (turn, word) in words.iter_mut().enumerate() {
                *word |= 1 << (rest >> (6 * turn) & 63);
            }
            rest >>= 6 * W;
            left -= W;
        }
        for word in words.iter_mut().take(left) {
            *word |= 1 << (rest & 63);
            rest >>= 6;
        }
        words
    }
}

/// The bits of a key in a block of the largest size; and so in smaller ones, whose words take turns
/// in the same order: where there are 4, the first gets what the first and the fifth of 8 get.
#[derive(Debug, Clone, Copy)]
pub struct Mask([u64; LINE_WORDS]);

impl Mask {
    /// Whether all bits are set in a block of the largest size.
    #[inline(always)]
    pub fn is_in_line(&self, line: &[u64; LINE_WORDS]) -> bool {
        missing(line, &self.0) == 0
    }

    /// Sets all bits in a block of the largest size, and says whether one was not set before.
    #[inline(always)]
    pub fn set_in_line(&self, line: &mut [u64; LINE_WORDS]) -> bool {
        set(line, &self.0)
    }

    /// Whether all bits are set in a block of a known size.
    pub fn is_in(&self, block: &[u64]) -> bool {
        if let Ok(line) = block.try_into() {
            return self.is_in_line(line);
        }
        match block.len() {
            4 => hits(block, &self.folded::<4>()) != 0,
            2 => hits(block, &self.folded::<2>()) != 0,
            _ => hits(block, &self.folded::<1>()) != 0,
        }
    }

    /// Sets all bits in a block of a known size, and says whether one was not set before.
    pub fn set_in(&self, block: &mut [u64]) -> bool {
        if let Ok(line) = block.try_into() {
            return self.set_in_line(line);
        }
        match block.len() {
            4 => set(block, &self.folded::<4>()),
            2 => set(block, &self.folded::<2>()),
            _ => set(block, &self.folded::<1>()),
        }
    }

    #[inline(always)]
    fn folded<const W: usize>(&self) -> [u64; W] {
        let mut folded = [0; W];
        for words in self.0.as_chunks::<W>().0 {
            folded.iter_mut().zip(words).for_each(|(word, more)| *word |= more);
        }
        folded
    }
}

/// In which of these blocks, side by side, all these bits are set: bit i for block i.
#[inline(always)]
fn hits<const W: usize>(blocks: &[u64], mask: &[u64; W]) -> u64 {
    let mut hits = 0;
    for (slot, block) in blocks.as_chunks::<W>().0.iter().enumerate() {
        hits |= u64::from(missing(block, mask) == 0) << (slot % 64);
    }
    hits
}

/// Some bits, if any of these is not set in a block.
#[inline(always)]
fn missing<const W: usize>(block: &[u64; W], mask: &[u64; W]) -> u64 {
    // No early exit: a few more words of one line cost less than a mispredicted branch.
    block.iter().zip(mask).fold(0, |missing, (word, mask)| missing | (mask & !word))
}

/// Sets these bits in a block, and says whether one was not set before.
#[inline(always)]
fn set<const W: usize>(block: &mut [u64], mask: &[u64; W]) -> bool {
    let mut missing = 0;
    for (word, mask) in block[..W].iter_mut().zip(mask) {
        missing |= mask & !*word;
        *word |= mask;
    }
    missing != 0
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
            (2, 3, 50, 1_200),
            (2, 4, 50, 900),
            (2, 9, 2, 12),
            (4, 6, 1, 30),
            (4, 10, 5, 100),
            (8, 8, 3, 120),
        ] {
            let shape = BlockShape { words, bits };
            let (mut hits, mut trials) = (0, 0);
            for seed in 0..2_000 {
                let mut slice = vec![0; blocks * words as usize];
                let words = words as usize;
                for i in 0..items {
                    let probe = Probe::new(remix(i, seed), 0);
                    let block = probe.one_of(blocks as u64) * words;
                    probe.set(&mut slice[block..block + words], shape);
                }
                for i in 0..2_000 {
                    let probe = Probe::new(remix(1 << 40 | i, seed), 0);
                    let block = probe.one_of(blocks as u64) * words;
                    hits += probe.hits(&slice[block..block + words], shape);
                    trials += 1;
                }
            }
            assert_rate_within(hits, trials, shape.chance(items, blocks as u64), 0.01, 1e-9);
        }
    }

    /// One mask for all sizes of blocks sets and finds what the probe does in each.
    #[test]
    fn a_mask_fits_blocks_of_every_size() {
        for words in BlockShape::WORDS {
            for bits in words..=BlockShape::MOST_BITS {
                let shape = BlockShape { words, bits };
                let mut block = vec![0; words as usize];
                let mut twin = block.clone();
                for i in 0..20 {
                    let probe = Probe::new(remix(i, bits.into()), words as usize);
                    let mask = probe.mask(bits);
                    assert_eq!(mask.is_in(&block), probe.hits(&block, shape) == 1);
                    assert_eq!(mask.set_in(&mut block), probe.set(&mut twin, shape));
                    assert_eq!(block, twin, "{shape:?}");
                    assert!(mask.is_in(&block) && !mask.set_in(&mut block));
                }
            }
        }
    }

    #[test]
    fn block_counts_are_the_least_that_will_do() {
        for words in BlockShape::WORDS {
            for (bits, most) in [(1, 0.5), (4, 0.06), (5, 0.01), (8, 0.004)] {
                let shape = BlockShape { words, bits };
                if !shape.is_valid() {
                    continue;
                }
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
        let shape = BlockShape { words: 1, bits: 1 };
        let chance = shape.chance(1_000_000, 24_000);
        let fill: f64 = 1.0 - (-1_000_000.0 / (512.0 * 3_000.0_f64)).exp();
        assert!((chance / fill - 1.0).abs() < 1e-5, "{chance} {fill}");
    }
}
