//! Where a hash lives inside its segment: block, bucket and the run of slots that the bucket owns.

use crate::hash::reduce;

/// Blocks of a segment; a power of two, so that halves of a segment are blocks of its children.
pub(super) const BLOCKS: usize = 1 << BLOCK_BITS;
pub(super) const BLOCK_BITS: u32 = 6;

/// Buckets of a block: what a word can hold beside the start. Even, so that the halves of a block
/// are two blocks of a child.
pub(super) const BUCKETS: u32 = 64 - START_BITS;
const START_BITS: u32 = 14;

/// Words before the bins.
pub(super) const HEAD: usize = BLOCKS;

/// Slots of a bin.
pub(super) const SLOTS: usize = 64;

/// Most bins of a segment: positions must fit their field.
pub(super) const MOST_BINS: usize = (1 << START_BITS) / SLOTS - 1;

/// Words of a segment of so many bins.
pub(super) fn words_of(width: usize, bins: usize) -> usize {
    HEAD + bins * (1 + width)
}

/// Where a hash lives inside its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) block: u32,
    pub(super) bucket: u32,
    /// The remainder, as long as can be, and a one.
    pub(super) field: u64,
}

impl Address {
    /// The place of a hash in a segment that stands for its first `depth` bits.
    ///
    /// The arithmetic is exact, so a place in a child is the place in its parent, doubled.
    #[inline(always)]
    pub(super) fn of(hash: u64, depth: u32, remainder_bits: u32) -> Self {
        let rest = hash << depth;
        let block = (rest >> (64 - BLOCK_BITS)) as u32;
        let (bucket, remainder) = reduce(rest << BLOCK_BITS, BUCKETS.into());
        let field = remainder >> (64 - remainder_bits) << 1 | 1;
        Self { block, bucket: bucket as u32, field }
    }
}

/// Chance that a random hash of a segment has a given block and bucket.
pub(super) const ADDRESS_CHANCE: f64 = 1.0 / (BLOCKS as f64 * BUCKETS as f64);

/// A block's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block(pub(super) u64);

impl Block {
    pub(super) fn new(start: usize, occupied: u64) -> Self {
        Self(start as u64 | occupied << START_BITS)
    }

    #[inline(always)]
    pub(super) fn start(self) -> usize {
        self.0 as usize % (1 << START_BITS)
    }

    #[inline(always)]
    pub(super) fn occupied(self) -> u64 {
        self.0 >> START_BITS
    }

    #[inline(always)]
    pub(super) fn has(self, bucket: u32) -> bool {
        self.0 >> (START_BITS + bucket) & 1 != 0
    }

    /// Occupied buckets below this one.
    #[inline(always)]
    pub(super) fn rank(self, bucket: u32) -> u32 {
        (self.occupied() & ((1 << bucket) - 1)).count_ones()
    }

    #[inline(always)]
    pub(super) fn bit(bucket: u32) -> u64 {
        1 << (START_BITS + bucket)
    }
}

/// The slots of a bucket: none if it is empty, and then `first` is where an entry would go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) end: usize,
}
