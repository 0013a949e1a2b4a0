//! A segment: a thousand signatures in sorted order, coded by their differences.
//!
//! What is left of a hash after the segment's own prefix is cut into block (3 bits), bucket (one of
//! 104) and remainder. Block and bucket are an address and are not stored. A segment is a row of
//! words:
//!
//! ```text
//! 8 blocks   start 12 bits | count 12 bits | occupied 104 bits: does anybody live in the bucket?
//! b bins     ends: one bit per slot, the last of its bucket? | one plane per bit of the remainder
//! ```
//!
//! A bin is 64 slots; plane k holds bit k of all of them. The entries of a block lie in `count`
//! slots from `start` on, across bins, sorted by bucket and then remainder. Between two blocks
//! there may be free slots, which are all zero.
//!
//! Remainders have different lengths: entries of which less is known are shorter. A remainder is
//! stored from its first bit on, followed by a one and then zeros: `101` among planes for five bits
//! is `101100`. An entry whose remainder is empty matches all of its bucket.
//!
//! Worked example, one block, entries in buckets 1, 1, 4: occupied `010010`, ends `110` (slots 1 and
//! 2 end a run). Bucket 4 is the second that is occupied, so its run stops at the second end and
//! starts after the first one. An entry for bucket 2 would go to slot 2, and slot 2 moves to slot 3.

use crate::bits::Isa;
use crate::dictionary::work::{Part, Work};
use crate::hash::reduce;

/// Blocks of a segment; a power of two, so that halves of a segment are blocks of its children.
pub(super) const BLOCKS: usize = 1 << BLOCK_BITS;
const BLOCK_BITS: u32 = 3;

/// Buckets of a block: what two words can hold beside start and count. Even, so that a bucket's
/// halves are two buckets of a child.
pub(super) const BUCKETS: u32 = 128 - META_BITS;
const META_BITS: u32 = 2 * POSITION_BITS;
const POSITION_BITS: u32 = 12;

/// Words before the bins.
pub(super) const HEAD: usize = 2 * BLOCKS;

/// Slots of a bin.
pub(super) const SLOTS: usize = 64;

/// Most bins of a segment: positions must fit their field.
pub(super) const MOST_BINS: usize = (1 << POSITION_BITS) / SLOTS - 1;

/// Where a hash lives inside its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) bucket: u32,
    /// The remainder from the highest bit on, then a one, then zeros.
    pub(super) field: u64,
}

impl Place {
    /// The place of a hash in a segment that stands for its first `depth` bits.
    ///
    /// The arithmetic is exact, so a place in a child is the place in its parent, doubled.
    #[inline(always)]
    pub(super) fn of(hash: u64, depth: u32, remainder_bits: u32) -> Self {
        let rest = hash << depth;
        let block = (rest >> (64 - BLOCK_BITS)) as usize;
        let (bucket, remainder) = reduce(rest << BLOCK_BITS, BUCKETS.into());
        let field = remainder & !(u64::MAX >> remainder_bits) | 1 << (63 - remainder_bits);
        Self { block, bucket: bucket as u32, field }
    }
}

/// Chance that a random hash of a segment has a given block and bucket.
pub(super) const ADDRESS_CHANCE: f64 = 1.0 / (BLOCKS as f64 * BUCKETS as f64);

/// A block's two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Block(pub(super) u128);

impl Block {
    pub(super) fn new(start: usize, count: usize, occupied: u128) -> Self {
        Self(start as u128 | (count as u128) << POSITION_BITS | occupied << META_BITS)
    }

    #[inline(always)]
    pub(super) fn start(self) -> usize {
        self.0 as usize % (1 << POSITION_BITS)
    }

    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.0 >> POSITION_BITS) as usize % (1 << POSITION_BITS)
    }

    #[inline(always)]
    pub(super) fn end(self) -> usize {
        self.start() + self.count()
    }

    #[inline(always)]
    pub(super) fn occupied(self) -> u128 {
        self.0 >> META_BITS
    }

    #[inline(always)]
    fn has(self, bucket: u32) -> bool {
        self.0 >> (META_BITS + bucket) & 1 != 0
    }

    /// Occupied buckets below this one.
    #[inline(always)]
    fn rank(self, bucket: u32) -> u32 {
        let below = (1 << (META_BITS + bucket)) - 1u128;
        (self.0 & below & !((1 << META_BITS) - 1)).count_ones()
    }

    const ONE_START: u128 = 1;
    const ONE_COUNT: u128 = 1 << POSITION_BITS;

    fn bit(bucket: u32) -> u128 {
        1 << (META_BITS + bucket)
    }
}

/// The slots of a bucket that has entries, first and last.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: usize,
    last: usize,
}

/// What became of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is stored now.
    Stored {
        /// Whether another entry matched before.
        seen: bool,
    },
    /// An entry matches; nothing changed.
    Seen,
    /// There is no free slot where one is needed; nothing changed.
    Full,
}

/// What to do when an entry already matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Nothing.
    Keep,
    /// Store another, unless there are already this many that are equal.
    Store(u32),
}

/// Signatures with a common prefix. How many planes a bin has depends on the prefix, so every call
/// is told the `stride`, words of a bin: one more than planes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Segment {
    /// Empty in a segment that ran out of room for good; see [`Segment::blind`].
    words: Box<[u64]>,
}

impl Segment {
    /// A segment of so many empty bins.
    pub(super) fn new(stride: usize, bins: usize) -> Self {
        Self { words: vec![0; HEAD + stride * bins].into() }
    }

    /// A segment with these words.
    pub(super) fn from_words(words: Vec<u64>) -> Self {
        Self { words: words.into() }
    }

    /// A segment that knows nothing any more, and has to report everything.
    pub(super) fn blind() -> Self {
        Self::default()
    }

    #[inline(always)]
    pub(super) fn is_blind(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    pub(super) fn bins(&self, stride: usize) -> usize {
        self.words.len().saturating_sub(HEAD) / stride
    }

    /// Entries stored.
    pub(super) fn count(&self) -> usize {
        if self.is_blind() { 0 } else { (0..BLOCKS).map(|block| self.block(block).count()).sum() }
    }

    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> Block {
        let words = &self.words[2 * block..][..2];
        Block(u128::from(words[0]) | u128::from(words[1]) << 64)
    }

    #[inline(always)]
    pub(super) fn set_block(&mut self, block: usize, value: Block) {
        let words = &mut self.words[2 * block..][..2];
        words[0] = value.0 as u64;
        words[1] = (value.0 >> 64) as u64;
    }

    /// The words of a bin: ends, then planes.
    #[inline(always)]
    pub(super) fn bin(&self, stride: usize, bin: usize) -> &[u64] {
        &self.words[HEAD + bin * stride..][..stride]
    }

    /// Whether an entry matches.
    #[inline(always)]
    pub(super) fn contains<I: Isa>(
        &self,
        isa: I,
        stride: usize,
        place: Place,
        work: &mut impl Work,
    ) -> bool {
        let block = self.block(place.block);
        touch(work, 2 * place.block, 2);
        if !block.has(place.bucket) {
            return false;
        }
        let run = self.run(isa, stride, block, place.bucket);
        touch_bins(work, stride, run.first, run.last);
        bins_of(run.first, run.last)
            .any(|(bin, slots)| matching(self.planes(stride, bin), place.field) & slots != 0)
    }

    /// Stores an entry unless one matches, or there is no room.
    #[inline(always)]
    pub(super) fn insert<I: Isa>(
        &mut self,
        isa: I,
        stride: usize,
        place: Place,
        repeat: Repeat,
        work: &mut impl Work,
    ) -> Outcome {
        let Place { block: number, bucket, field } = place;
        let block = self.block(number);
        touch(work, 2 * number, 2);
        let (at, ends, seen) = if block.has(bucket) {
            let run = self.run(isa, stride, block, bucket);
            let (mut seen, mut equal, mut smaller) = (false, 0, 0);
            for (bin, slots) in bins_of(run.first, run.last) {
                let planes = self.planes(stride, bin);
                seen |= matching(planes, field) & slots != 0;
                let (less, same) = compared(planes, field);
                smaller += (less & slots).count_ones();
                equal += (same & slots).count_ones();
            }
            let refused = match repeat {
                Repeat::Keep => seen,
                Repeat::Store(most) => equal >= most,
            };
            if refused {
                touch_bins(work, stride, run.first, run.last);
                return Outcome::Seen;
            }
            let at = run.first + smaller as usize;
            (at, at > run.last, seen)
        } else {
            (self.start_of(isa, stride, block, block.rank(bucket)), true, false)
        };
        let Some((last_moved, gap)) = self.gap(stride, number) else { return Outcome::Full };
        touch(work, 2 * number, 2 * (last_moved + 1 - number));
        touch_bins(work, stride, at, gap);
        self.open(stride, at, gap, ends, field);
        if ends && block.has(bucket) {
            // The last of the run is no longer the last.
            self.words[HEAD + (at - 1) / SLOTS * stride] &= !(1 << ((at - 1) % SLOTS));
        }
        self.set_block(number, Block(block.0 + Block::ONE_COUNT | Block::bit(bucket)));
        for moved in number + 1..=last_moved {
            self.set_block(moved, Block(self.block(moved).0 + Block::ONE_START));
        }
        Outcome::Stored { seen }
    }

    /// Removes the longest entry that matches, and says whether there was one. One of which there
    /// are `kept` equals stays, because nobody knows how many it stands for.
    pub(super) fn remove<I: Isa>(
        &mut self,
        isa: I,
        stride: usize,
        place: Place,
        kept: u32,
    ) -> bool {
        let block = self.block(place.block);
        if !block.has(place.bucket) {
            return false;
        }
        let run = self.run(isa, stride, block, place.bucket);
        let (mut longest, mut found, mut equal) = (0, None, 0);
        for (bin, slots) in bins_of(run.first, run.last) {
            let planes = self.planes(stride, bin);
            equal += (compared(planes, place.field).1 & slots).count_ones();
            let matching = matching(planes, place.field) & slots;
            for (length, plane) in planes.iter().enumerate().rev() {
                if plane & matching != 0 {
                    if found.is_none() || length > longest {
                        let slot = (plane & matching).trailing_zeros() as usize;
                        (longest, found) = (length, Some(SLOTS * bin + slot));
                    }
                    break;
                }
            }
        }
        let Some(at) = found else { return false };
        if equal < kept {
            self.remove_at(stride, place.block, place.bucket, (run.first, run.last), at);
        }
        true
    }

    /// Removes the entry in slot `at` of the run of a bucket.
    pub(super) fn remove_at(
        &mut self,
        stride: usize,
        number: usize,
        bucket: u32,
        (first, last): (usize, usize),
        at: usize,
    ) {
        let block = self.block(number);
        self.close(stride, at, block.end());
        let alone = first == last;
        if !alone && at == last {
            self.words[HEAD + (at - 1) / SLOTS * stride] |= 1 << ((at - 1) % SLOTS);
        }
        let left = if alone { Block::bit(bucket) } else { 0 };
        self.set_block(number, Block((block.0 - Block::ONE_COUNT) & !left));
    }

    /// The chance that a random hash of this segment matches: entries are disjoint.
    pub(super) fn false_positive_rate(&self, stride: usize) -> f64 {
        if self.is_blind() {
            return 1.0;
        }
        let mut chance = 0.0;
        for bin in 0..self.bins(stride) {
            let mut longer = 0;
            for (length, plane) in self.planes(stride, bin).iter().enumerate().rev() {
                // The last one of a field stands after its last bit.
                let here = (plane & !longer).count_ones();
                chance += f64::from(here) * (-(length as f64)).exp2();
                longer |= plane;
            }
        }
        chance * ADDRESS_CHANCE
    }

    /// The n-th end from slot `from` on.
    #[inline(always)]
    pub(super) fn select<I: Isa>(&self, isa: I, stride: usize, from: usize, nth: u32) -> usize {
        let (mut bin, mut nth) = (from / SLOTS, nth);
        let mut ends = self.words[HEAD + bin * stride] & u64::MAX << (from % SLOTS);
        loop {
            let here = ends.count_ones();
            if nth < here {
                return SLOTS * bin + isa.deposit(1 << nth, ends).trailing_zeros() as usize;
            }
            nth -= here;
            bin += 1;
            ends = self.words[HEAD + bin * stride];
        }
    }

    /// The slot after the first `runs` runs of a block.
    #[inline(always)]
    pub(super) fn start_of<I: Isa>(&self, isa: I, stride: usize, block: Block, runs: u32) -> usize {
        if runs == 0 {
            block.start()
        } else {
            self.select(isa, stride, block.start(), runs - 1) + 1
        }
    }

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, stride: usize, block: Block, bucket: u32) -> Run {
        let first = self.start_of(isa, stride, block, block.rank(bucket));
        Run { first, last: self.select(isa, stride, first, 0) }
    }

    #[inline(always)]
    pub(super) fn planes(&self, stride: usize, bin: usize) -> &[u64] {
        &self.bin(stride, bin)[1..]
    }

    /// The first free slot after a block, and the last block that moves if it is taken.
    #[inline(always)]
    fn gap(&self, stride: usize, number: usize) -> Option<(usize, usize)> {
        for block in number..BLOCKS - 1 {
            let end = self.block(block).end();
            if end < self.block(block + 1).start() {
                return Some((block, end));
            }
        }
        let end = self.block(BLOCKS - 1).end();
        (HEAD + end / SLOTS * stride < self.words.len()).then_some((BLOCKS - 1, end))
    }

    /// Moves the slots from `at` on up to the free slot `gap` by one, and fills `at`.
    #[inline(always)]
    fn open(&mut self, stride: usize, at: usize, gap: usize, ends: bool, field: u64) {
        let (first, last) = (at / SLOTS, gap / SLOTS);
        for bin in (first..=last).rev() {
            let low = if bin == first { at % SLOTS } else { 0 };
            let high = if bin == last { gap % SLOTS } else { SLOTS - 1 };
            let moved = u64::MAX << low & u64::MAX >> (SLOTS - 1 - high);
            let above = moved & !(1 << low);
            let (before, here) = self.words.split_at_mut(HEAD + bin * stride);
            let here = &mut here[..stride];
            if bin == first {
                let (head, planes) = here.split_first_mut().expect("a bin has ends");
                *head = *head & !moved | *head << 1 & above | u64::from(ends) << low;
                let mut bits = field;
                for plane in planes {
                    *plane = *plane & !moved | *plane << 1 & above | bits >> 63 << low;
                    bits <<= 1;
                }
            } else {
                let before = &before[before.len() - stride..];
                for (word, before) in here.iter_mut().zip(before) {
                    *word = *word & !moved | *word << 1 & above | before >> 63;
                }
            }
        }
    }

    /// Moves the slots after `at` and below `end` down by one, over slot `at`.
    fn close(&mut self, stride: usize, at: usize, end: usize) {
        let (first, last) = (at / SLOTS, (end - 1) / SLOTS);
        for bin in first..=last {
            let low = if bin == first { at % SLOTS } else { 0 };
            let high = if bin == last { (end - 1) % SLOTS } else { SLOTS - 1 };
            let moved = u64::MAX << low & u64::MAX >> (SLOTS - 1 - high);
            let below = moved & !(1 << high);
            let (here, after) = self.words[HEAD + bin * stride..].split_at_mut(stride);
            for (k, word) in here.iter_mut().enumerate() {
                let entering = if bin == last { 0 } else { after[k] & 1 };
                *word = *word & !moved | *word >> 1 & below | entering << high;
            }
        }
    }
}

/// The bins of the slots from `first` to `last`, each with its part of them.
#[inline(always)]
pub(super) fn bins_of(first: usize, last: usize) -> impl Iterator<Item = (usize, u64)> {
    (first / SLOTS..=last / SLOTS).map(move |bin| {
        let low = if bin == first / SLOTS { first % SLOTS } else { 0 };
        let high = if bin == last / SLOTS { last % SLOTS } else { SLOTS - 1 };
        (bin, u64::MAX << low & u64::MAX >> (SLOTS - 1 - high))
    })
}

/// The slots whose entry is as long as it may be and a prefix of `field`, or free.
#[inline(always)]
fn matching(planes: &[u64], field: u64) -> u64 {
    let (mut differing, mut known) = (0, 0);
    // From the end: what comes before the last one of a field is its remainder.
    let mut bits = field.rotate_left(planes.len() as u32);
    for plane in planes.iter().rev() {
        let wanted = (bits & 1).wrapping_neg();
        bits = bits.rotate_right(1);
        differing |= known & (plane ^ wanted);
        known |= plane;
    }
    !differing
}

/// The slots with a smaller field, and those with an equal one.
#[inline(always)]
fn compared(planes: &[u64], field: u64) -> (u64, u64) {
    let (mut less, mut equal, mut bits) = (0, u64::MAX, field);
    for plane in planes {
        let wanted = ((bits as i64) >> 63) as u64;
        bits <<= 1;
        less |= equal & !plane & wanted;
        equal &= !(plane ^ wanted);
    }
    (less, equal)
}

/// Counts words of a segment. Its first word may be the last of a cache line, so assume that.
#[inline(always)]
pub(super) fn touch(work: &mut impl Work, word: usize, count: usize) {
    work.touch(Part::Bins, 56 + 8 * word, 8 * count);
}

#[inline(always)]
fn touch_bins(work: &mut impl Work, stride: usize, first: usize, last: usize) {
    let (first, last) = (first / SLOTS, last / SLOTS);
    touch(work, HEAD + first * stride, (last + 1 - first) * stride);
}
