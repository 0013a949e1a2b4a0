//! A segment: a thousand signatures in sorted order, coded by their differences.
//!
//! What is left of a hash after the segment's own prefix is cut into block (4 bits), bucket (one of
//! 52) and remainder. Block and bucket are an address and are not stored. A segment is a row of
//! words:
//!
//! ```text
//! 16 blocks  start 12 bits | occupied 52 bits: does anybody live in the bucket?
//! b bins     ends: one bit per slot, the last of its bucket? | one plane per bit of the remainder
//! ```
//!
//! A bin is 64 slots; plane k holds bit k of all of them, the lowest plane first. The entries of a block
//! lie in slots from `start` on, across bins, sorted by bucket and then remainder. After the entries of a block there
//! may be free slots, which are all zero; the last slot of all is always free.
//!
//! Remainders have different lengths: entries of which less is known are shorter. A *field* is a
//! remainder from its highest bit on, followed by a one and then zeros: `101` among fields for five
//! bits is `101100`. An entry whose remainder is empty matches all of its bucket.
//!
//! Worked example, one block, entries in buckets 1, 1, 4: occupied `010010`, ends `110` (slots 1 and
//! 2 end a run). Bucket 4 is the second that is occupied, so its run stops at the second end and
//! starts after the first one. An entry for bucket 2 would go to slot 2, and slot 2 moves to slot 3.

use crate::bits::Isa;
use crate::dictionary::work::Work;

pub(super) use super::address::{
    ADDRESS_CHANCE, BLOCKS, BUCKETS, Block, HEAD, MOST_BINS, Place, Run, SLOTS,
};
use super::field::{Compared, matching, matching_late};
pub(super) use super::outcome::{Outcome, Repeat};
pub(super) use super::work::touch;
use super::work::touch_bins;

/// Compiles an expression once for every usual stride, so that loops over planes need no counting.
macro_rules! known {
    ($stride:expr, |$known:ident| $body:expr) => {
        known!($stride, |$known| $body, 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    };
    ($stride:expr, |$known:ident| $body:expr, $($usual:literal)*) => {
        match $stride {
            $($usual => { let $known = $usual; $body })*
            $known => $body,
        }
    };
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
    pub(super) fn count(&self, stride: usize) -> usize {
        if self.is_blind() {
            return 0;
        }
        let entries = |number| self.end(stride, number) - self.block(number).start();
        (0..BLOCKS).map(entries).sum()
    }

    #[inline(always)]
    pub(super) fn block(&self, number: usize) -> Block {
        Block(self.words[number])
    }

    pub(super) fn set_block(&mut self, number: usize, block: Block) {
        self.words[number] = block.0;
    }

    /// The slot after the last entry of a block.
    #[inline(always)]
    pub(super) fn end(&self, stride: usize, number: usize) -> usize {
        let start = self.block(number).start();
        let limit = if number + 1 < BLOCKS {
            self.block(number + 1).start()
        } else {
            SLOTS * self.bins(stride)
        };
        let mut below = limit;
        while below > start {
            let bin = (below - 1) / SLOTS;
            let low = start.saturating_sub(SLOTS * bin);
            let part = u64::MAX << low & u64::MAX >> (SLOTS * (bin + 1) - below);
            let ends = self.words[HEAD + bin * stride] & part;
            if ends != 0 {
                return SLOTS * (bin + 1) - ends.leading_zeros() as usize;
            }
            below = SLOTS * bin;
        }
        start
    }

    /// The words of a bin: ends, then planes.
    #[inline(always)]
    pub(super) fn bin(&self, stride: usize, bin: usize) -> &[u64] {
        &self.words[HEAD + bin * stride..][..stride]
    }

    #[inline(always)]
    pub(super) fn planes(&self, stride: usize, bin: usize) -> &[u64] {
        &self.bin(stride, bin)[1..]
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
        known!(stride, |stride| self.contains_for(isa, stride, place, work))
    }

    #[inline(always)]
    fn contains_for<I: Isa>(
        &self,
        isa: I,
        stride: usize,
        place: Place,
        work: &mut impl Work,
    ) -> bool {
        touch(work, place.block, 1);
        let block = self.block(place.block);
        if !block.has(place.bucket) {
            return false;
        }
        let run = self.run(isa, stride, block, place.bucket);
        touch_bins(work, stride, run.first, run.end);
        let slots = run.slots_in_first_bin();
        let planes = self.planes(stride, run.first / SLOTS);
        let (ended, matching) = matching_late(isa, planes, place.field);
        // Rare: an entry so old that its remainder ends early, or a run that goes on elsewhere.
        if slots & !ended != 0 || run.crosses() {
            return self.any_matches(stride, run, place.field);
        }
        slots & matching != 0
    }

    /// Whether some entry of a run matches.
    #[cold]
    fn any_matches(&self, stride: usize, run: Run, wanted: u64) -> bool {
        let matching = |bin| matching(self.planes(stride, bin), wanted);
        run.parts().any(|(bin, slots)| matching(bin) & slots != 0)
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
        touch(work, number, 1);
        let block = self.block(number);
        let run = self.run(isa, stride, block, bucket);
        touch_bins(work, stride, run.first, run.end);
        let len = run.end - run.first;
        let mut compared = Compared::default();
        compared.add(self.field(isa, stride, run.first), field, len > 0);
        let second = run.first + usize::from(len > 1);
        compared.add(self.field(isa, stride, second), field, len > 1);
        for at in run.first + 2..run.end {
            compared.add(self.field(isa, stride, at), field, true);
        }
        let refused = match repeat {
            Repeat::Keep => compared.seen,
            Repeat::Store(most) => compared.equal >= most,
        };
        if refused {
            return Outcome::Seen;
        }
        let Some((last_moved, gap)) = self.gap(stride, number) else { return Outcome::Full };
        let at = run.first + compared.less;
        touch(work, number, last_moved + 1 - number);
        touch_bins(work, stride, at, gap);
        self.open(stride, at, gap, at == run.end, field);
        if at == run.end && run.end > run.first {
            // What was the last of the run is no longer.
            self.words[HEAD + (at - 1) / SLOTS * stride] &= !(1 << ((at - 1) % SLOTS));
        }
        self.words[number] |= Block::bit(bucket);
        for start in &mut self.words[number + 1..=last_moved] {
            *start += 1;
        }
        Outcome::Stored { seen: compared.seen }
    }

    /// The chance that a random hash of this segment matches: entries are disjoint.
    pub(super) fn false_positive_rate(&self, stride: usize) -> f64 {
        if self.is_blind() {
            return 1.0;
        }
        let mut chance = 0.0;
        for bin in 0..self.bins(stride) {
            let mut longer = 0;
            for (length, plane) in (0..stride - 1).rev().zip(self.planes(stride, bin)) {
                // The lowest one of a field stands after its last bit.
                let here = (plane & !longer).count_ones();
                chance += f64::from(here) * (-(length as f64)).exp2();
                longer |= plane;
            }
        }
        chance * ADDRESS_CHANCE
    }

    /// The field in a slot.
    #[inline(always)]
    pub(super) fn field<I: Isa>(&self, isa: I, stride: usize, at: usize) -> u64 {
        isa.column(self.planes(stride, at / SLOTS), (at % SLOTS) as u32)
    }

    /// The slots of a bucket.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, stride: usize, block: Block, bucket: u32) -> Run {
        let (start, rank) = (block.start(), block.rank(bucket));
        let occupied = u64::from(block.has(bucket));
        // The ends of the 64 slots from the start on; few blocks have more.
        let (ends, shift) = (HEAD + start / SLOTS * stride, start % SLOTS);
        let next = self.words.get(ends + stride).copied().unwrap_or(0);
        let ends = self.words[ends] >> shift | next << 1 << (SLOTS - 1 - shift);
        let selector = 1 << rank;
        let last = isa.deposit(selector, ends);
        let first = isa.deposit(selector >> 1, ends) << 1 | u64::from(rank == 0);
        if first == 0 || last < occupied {
            return self.distant_run(isa, stride, block, bucket);
        }
        // For an empty bucket `last` belongs to the next one.
        let len = occupied * (1 + last.trailing_zeros() as u64 - first.trailing_zeros() as u64);
        let first = start + first.trailing_zeros() as usize;
        Run { first, end: first + len as usize }
    }

    #[cold]
    fn distant_run<I: Isa>(&self, isa: I, stride: usize, block: Block, bucket: u32) -> Run {
        let first = self.start_of(isa, stride, block, block.rank(bucket));
        let end = if block.has(bucket) { self.select(isa, stride, first, 0) + 1 } else { first };
        Run { first, end }
    }

    /// The slot after the first `runs` runs of a block.
    pub(super) fn start_of<I: Isa>(&self, isa: I, stride: usize, block: Block, runs: u32) -> usize {
        if runs == 0 {
            block.start()
        } else {
            self.select(isa, stride, block.start(), runs - 1) + 1
        }
    }

    /// The n-th end from slot `from` on.
    fn select<I: Isa>(&self, isa: I, stride: usize, from: usize, nth: u32) -> usize {
        let (mut bin, mut nth) = (from / SLOTS, nth);
        let mut ends = self.words[HEAD + bin * stride] & u64::MAX << (from % SLOTS);
        while nth >= ends.count_ones() {
            nth -= ends.count_ones();
            bin += 1;
            ends = self.words[HEAD + bin * stride];
        }
        SLOTS * bin + isa.deposit(1 << nth, ends).trailing_zeros() as usize
    }
}
