//! A segment: one or two thousand signatures in sorted order, coded by their differences.
//!
//! What is left of a hash after the segment's own prefix is cut into block (6 bits), bucket (one of
//! 50) and remainder. Block and bucket are an address and are not stored. A segment is a row of
//! words, cut into bins of 64 slots:
//!
//! ```text
//! 64 blocks   start 14 bits | occupied 50 bits: does anybody live in the bucket?
//! ends        one bit per slot, the last of its bucket?
//! fields      so many bits per slot, the first slot highest: they grow down from the last word
//! ```
//!
//! The entries of a block lie in slots from `start` on, sorted by bucket and then remainder. After the
//! entries of a block there may be free slots, which are all zero; the last slot of all is always
//! free. Ends are found from the first word on and fields from the last, so that a lookup need not
//! know how many slots there are.
//!
//! Remainders have different lengths: entries of which less is known are shorter. A *field* is a
//! remainder from its highest bit on, followed by a one and then zeros: `101` among fields for five
//! bits is `101100`. An entry whose remainder is empty matches all of its bucket.
//!
//! Worked example, one block, entries in buckets 1, 1, 4: occupied `010010`, ends `110` (slots 1 and
//! 2 end a run). Bucket 4 is the second that is occupied, so its run stops at the second end and
//! starts after the first one. An entry for bucket 2 would go to slot 2, and slot 2 moves to slot 3.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use crate::bits::{Isa, insert_bits_down, insert_bits_up, read_bits, read_bits_down, write_bits};
use crate::dictionary::tools::Tools;

pub(super) use super::address::{
    ADDRESS_CHANCE, Address, BLOCK_BITS, BLOCKS, BUCKETS, Block, HEAD, MOST_BINS, Run, SLOTS,
    words_of,
};
use super::depth::Depth;
use super::field::{Compared, matches};
pub(super) use super::outcome::{OnMatch, Outcome};
pub(super) use super::work::touch;

/// Signatures with a common prefix. How wide a field is depends on the prefix, so every call is told
/// the `width` in bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment<W = Box<[u64]>> {
    /// Empty in a segment that ran out of room for good; see [`Segment::blind`].
    words: W,
}

impl Segment {
    /// A segment of so many empty bins.
    pub(super) fn new(width: usize, bins: usize) -> Self {
        Self { words: vec![0; words_of(width, bins)].into() }
    }

    /// An empty segment of so many words, at least those of its head.
    pub(super) fn of_length(words: usize) -> Self {
        Self { words: vec![0; words].into() }
    }

    /// A segment that knows nothing any more, and has to report everything.
    pub(super) fn blind() -> Self {
        Self { words: Box::default() }
    }

    pub(super) fn into_words(self) -> Box<[u64]> {
        self.words
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    #[inline(always)]
    pub(super) fn from_words(words: W) -> Self {
        Self { words }
    }

    #[inline(always)]
    pub(super) fn is_blind(&self) -> bool {
        self.words.is_empty()
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn bins(&self, width: usize) -> usize {
        self.words.len().saturating_sub(HEAD) / (1 + width)
    }

    /// Slots, whether or not they are whole bins. Where they are not, ends and fields share a word: ends
    /// lie in its lowest bits, fields in its highest.
    #[inline(always)]
    pub(super) fn slots(&self, width: usize) -> usize {
        SLOTS * self.words.len().saturating_sub(HEAD) / (1 + width)
    }

    /// Entries stored.
    pub(super) fn count(&self, width: usize) -> usize {
        self.counts(width).iter().sum()
    }

    /// Entries stored in each block.
    pub(super) fn counts(&self, width: usize) -> [usize; BLOCKS] {
        if self.is_blind() {
            return [0; BLOCKS];
        }
        core::array::from_fn(|number| self.end(width, number) - self.block(number).start())
    }

    #[inline(always)]
    pub(super) fn block(&self, number: usize) -> Block {
        Block(self.words[number])
    }

    /// The bit after the highest of a slot's field.
    #[inline(always)]
    pub(super) fn field_end(&self, width: usize, slot: usize) -> usize {
        64 * self.words.len() - width * slot
    }

    /// The field in a slot.
    #[inline(always)]
    pub(super) fn field(&self, width: usize, slot: usize) -> u64 {
        self.fields(width, slot) >> (64 - width)
    }

    /// The fields of a slot and those after it, from the highest bit down.
    #[inline(always)]
    pub(super) fn fields(&self, width: usize, slot: usize) -> u64 {
        read_bits_down(&self.words, width * slot)
    }

    /// The first slot that does not belong to a block.
    fn limit(&self, width: usize, number: usize) -> usize {
        match number + 1 {
            BLOCKS => self.slots(width),
            next => self.block(next).start(),
        }
    }

    /// The slot after the last entry of a block.
    #[inline(always)]
    pub(super) fn end(&self, width: usize, number: usize) -> usize {
        let start = self.block(number).start();
        let mut below = self.limit(width, number);
        while below > start {
            let bin = (below - 1) / SLOTS;
            let low = start.saturating_sub(SLOTS * bin);
            let part = u64::MAX << low & u64::MAX >> (SLOTS * (bin + 1) - below);
            let ends = self.words[HEAD + bin] & part;
            if ends != 0 {
                return SLOTS * (bin + 1) - ends.leading_zeros() as usize;
            }
            below = SLOTS * bin;
        }
        start
    }

    /// Whether an entry matches, if that is easily said: not of a long run. A blind segment has to
    /// report everything.
    #[inline(always)]
    pub(super) fn contains<I: Isa>(&self, isa: I, depth: Depth, place: Address) -> Option<bool> {
        let Some(blocks) = self.words.first_chunk::<BLOCKS>() else { return Some(true) };
        let block = Block(blocks[place.block as usize % BLOCKS]);
        if !block.has(place.bucket) {
            return Some(false);
        }
        let (first, ends) = self.near_run(isa, block, block.rank(place.bucket));
        if ends & depth.few_ends() == 0 {
            return None;
        }
        let width = depth.width();
        let fields = self.fields(width, block.start() + first);
        let matches_first = matches(fields >> (64 - width), place.field);
        let matches_second = matches(fields << (width % 64) >> (64 - width), place.field);
        Some(matches_first | (ends & 1 == 0) & matches_second)
    }

    /// Whether an entry matches, however many there are in its run.
    pub(super) fn contains_in_run<I: Isa>(&self, isa: I, width: usize, place: Address) -> bool {
        let run = self.run(isa, self.block(place.block as usize), place.bucket);
        (run.first..run.end).any(|slot| matches(self.field(width, slot), place.field))
    }

    /// The last block that moves if the first free slot after a block is taken, and that slot. The
    /// last slot of all is never taken.
    #[inline(always)]
    fn gap(&self, width: usize, number: usize) -> Option<(usize, usize)> {
        let (blocks, slots) = self.words.split_first_chunk::<BLOCKS>()?;
        let start = Block(blocks[number % BLOCKS]).start();
        for block in number % BLOCKS..BLOCKS - 1 {
            let next = Block(blocks[block + 1]).start();
            // The last entry of a block ends a run. What is before a block without slots was looked at already, or
            // is not after this one.
            if next > start && slots[(next - 1) / SLOTS] >> ((next - 1) % SLOTS) & 1 == 0 {
                return Some((block, self.end(width, block)));
            }
        }
        let end = self.end(width, BLOCKS - 1);
        (end + 1 < self.slots(width)).then_some((BLOCKS - 1, end))
    }

    /// The chance that a random hash of this segment matches: entries are disjoint.
    pub(super) fn false_positive_rate(&self, width: usize) -> f64 {
        if self.is_blind() {
            return 1.0;
        }
        // The lowest one of a field stands after its last bit.
        let bits = |field: u64| width - 1 - field.trailing_zeros() as usize;
        let chance = |field: u64| 1.0 / (1_u64 << bits(field)) as f64;
        let fields = (0..self.slots(width)).map(|slot| self.field(width, slot));
        fields.filter(|&field| field != 0).map(chance).sum::<f64>() * ADDRESS_CHANCE
    }

    /// The slots of a bucket.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, block: Block, bucket: u32) -> Run {
        let occupied = block.has(bucket);
        let (first, ends) = self.near_run(isa, block, block.rank(bucket));
        if first == SLOTS || occupied && ends == 0 {
            return self.distant_run(isa, block, bucket);
        }
        let first = block.start() + first;
        // The run that was found for an empty bucket is that of the next one.
        let length = if occupied { ends.trailing_zeros() as usize + 1 } else { 0 };
        Run { first, end: first + length }
    }

    /// Where the n-th run begins, counted from the start of the block, and the ends from there on, if
    /// that is in the first 64 slots, as it is for most; otherwise 64 and no ends.
    #[inline(always)]
    fn near_run<I: Isa>(&self, isa: I, block: Block, nth: u32) -> (usize, u64) {
        // Bits beyond the last slot are found only after all ends of the block.
        let ends = read_bits(&self.words, SLOTS * HEAD + block.start(), 64);
        let start = isa.deposit(1 << nth, ends << 1 | 1);
        if start == 0 {
            return (SLOTS, 0);
        }
        let first = start.trailing_zeros();
        (first as usize, ends >> first)
    }

    #[cold]
    fn distant_run<I: Isa>(&self, isa: I, block: Block, bucket: u32) -> Run {
        let first = match block.rank(bucket) {
            0 => block.start(),
            runs => self.select(isa, block.start(), runs - 1) + 1,
        };
        let end = if block.has(bucket) { self.select(isa, first, 0) + 1 } else { first };
        Run { first, end }
    }

    /// The n-th end from slot `from` on.
    fn select<I: Isa>(&self, isa: I, from: usize, nth: u32) -> usize {
        let (mut bin, mut nth) = (from / SLOTS, nth);
        let mut ends = self.words[HEAD + bin] & u64::MAX << (from % SLOTS);
        while nth >= ends.count_ones() {
            nth -= ends.count_ones();
            bin += 1;
            ends = self.words[HEAD + bin];
        }
        SLOTS * bin + isa.deposit(1 << nth, ends).trailing_zeros() as usize
    }

    /// Counts what is read of a run.
    #[inline(always)]
    fn touch_run(&self, tools: impl Tools, width: usize, block: Block, run: Run) {
        touch(tools, HEAD + block.start() / SLOTS, 2);
        self.touch_slots(tools, width, run.first, run.end);
    }

    /// Counts ends and fields of the slots from `first` to `last`.
    #[inline(always)]
    fn touch_slots(&self, tools: impl Tools, width: usize, first: usize, last: usize) {
        touch(tools, HEAD + first / SLOTS, last / SLOTS + 1 - first / SLOTS);
        let low = self.field_end(width, last + 1) / 64;
        let high = self.field_end(width, first) / 64;
        touch(tools, low, high + 1 - low);
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    pub(super) fn set_block(&mut self, number: usize, block: Block) {
        self.words[number] = block.0;
    }

    /// Marks a bucket as one that has entries.
    #[inline(always)]
    pub(super) fn occupy(&mut self, place: Address) {
        self.words[place.block as usize] |= Block::bit(place.bucket);
    }

    #[inline(always)]
    pub(super) fn set_field(&mut self, width: usize, slot: usize, field: u64) {
        self.set_fields(width, slot + 1, 1, field);
    }

    /// Writes the fields of the last so many slots before `end`, which fit a word, the first highest.
    #[inline(always)]
    pub(super) fn set_fields(&mut self, width: usize, end: usize, count: usize, fields: u64) {
        let low = self.field_end(width, end);
        write_bits(&mut self.words, low, (count * width) as u32, fields);
    }

    /// Stores an entry unless one matches, or there is no room.
    #[inline(always)]
    pub(super) fn insert<T: Tools>(
        &mut self,
        tools: T,
        width: usize,
        place: Address,
        repeat: OnMatch,
    ) -> Outcome {
        let isa = tools.isa();
        let Address { block, bucket, field } = place;
        let number = block as usize;
        touch(tools, number, 1);
        let block = self.block(number);
        let run = self.run(isa, block, bucket);
        self.touch_run(tools, width, block, run);
        let mut compared = Compared::default();
        for slot in run.first..run.end {
            compared.add(self.field(width, slot), field);
        }
        let refused = match repeat {
            OnMatch::Keep => compared.seen,
            OnMatch::Store(most) => compared.equal >= most,
        };
        if refused {
            return Outcome::Seen;
        }
        let at = run.first + compared.less;
        if !self.make_slot(width, number, at, at == run.end, field, tools) {
            return Outcome::Full;
        }
        if at == run.end && run.end > run.first {
            self.unset_end(at - 1);
        }
        self.occupy(place);
        Outcome::Stored { seen: compared.seen }
    }

    /// Puts a field into slot `at` of a block, where others move on, and says whether there was room.
    #[inline(always)]
    pub(super) fn make_slot(
        &mut self,
        width: usize,
        number: usize,
        at: usize,
        ends: bool,
        field: u64,
        tools: impl Tools,
    ) -> bool {
        let Some((last_moved, gap)) = self.gap(width, number) else { return false };
        touch(tools, number, last_moved + 1 - number);
        self.touch_slots(tools, width, at, gap);
        self.open(width, at, gap, ends, field);
        for start in &mut self.words[number + 1..=last_moved] {
            *start += 1;
        }
        true
    }

    /// Moves the slots from `at` on up to the free slot `gap` by one, and fills `at`.
    #[inline(always)]
    fn open(&mut self, width: usize, at: usize, gap: usize, ends: bool, field: u64) {
        let (low, high) = (self.field_end(width, gap), self.field_end(width, at));
        insert_bits_up(&mut self.words[HEAD..], at, gap, 1, ends.into());
        insert_bits_down(&mut self.words, low, high, width as u32, field);
    }

    /// Removes the entry in slot `at` of the run of a bucket.
    pub(super) fn remove_at(&mut self, width: usize, place: Address, run: Run, at: usize) {
        let end = self.end(width, place.block as usize);
        let (low, high) = (self.field_end(width, end), self.field_end(width, at + 1));
        insert_bits_down(&mut self.words[HEAD..], at + 1, end, 1, 0);
        insert_bits_up(&mut self.words, low, high, width as u32, 0);
        if run.end - run.first == 1 {
            self.words[place.block as usize] &= !Block::bit(place.bucket);
        } else if at == run.end - 1 {
            self.set_end(at - 1);
        }
    }
}
