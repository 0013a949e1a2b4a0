//! The first level: bins of 64 slots that store neither their number nor the bucket.
//!
//! A bin is a run of bytes:
//!
//! ```text
//! ends       one bit per slot: the last of its bucket?              64 bits
//! threshold  from this bucket up, somebody may live elsewhere        7 bits
//! occupied   one bit per bucket: does anybody live in it?      57 to 121 bits
//! remainders one plane per bit, slots in order of their buckets   r x 64 bits
//! tags       one plane per bit                                    s x 64 bits
//! ```
//!
//! Worked example, six buckets, entries in buckets 1, 1, 4: occupied `010010`,
//! ends `110` (slots 1 and 2 end a run). Bucket 4 is the second that is
//! occupied, so its run stops at the second end and starts after the first one.
//! For about two bits per slot this saves the 6 to 7 bits of the bucket.

use super::Shape;
use crate::bits::{Aligned, Isa, planes};
use std::ops::Range;

/// Slots in a bin: one per bit of a word.
pub(super) const SLOTS: u32 = u64::BITS;
/// Bits of the threshold.
pub(super) const THRESHOLD_BITS: u32 = 7;
/// The threshold of a bin whose entries are all at home. Above every bucket.
pub(super) const NOBODY: u32 = (1 << THRESHOLD_BITS) - 1;

/// Where the parts of a bin lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The bits of the third word that belong to `occupied`.
    high: u64,
    /// Bytes of `occupied` beyond the first word of it, at most eight. So small a type that the
    /// compiler sees that no offset overflows.
    high_bytes: u8,
    pub(super) remainder_bits: usize,
    pub(super) tag_bits: usize,
}

impl Layout {
    pub(super) const fn new(shape: &Shape) -> Self {
        let high = (u128::MAX >> (128 - THRESHOLD_BITS - shape.buckets) >> 64) as u64;
        Self {
            high,
            high_bytes: ((shape.buckets + THRESHOLD_BITS) / 8 - 8) as u8,
            remainder_bits: shape.remainder_bits as usize,
            tag_bits: shape.tag_bits as usize,
        }
    }

    /// The same, if these are its numbers of planes.
    #[inline(always)]
    pub(super) const fn with(self, tag_bits: usize, remainder_bits: usize) -> Self {
        Self { tag_bits, remainder_bits, ..self }
    }

    /// Bytes from one bin to the next.
    #[inline(always)]
    pub(super) const fn stride(&self) -> usize {
        self.planes() + 8 * (self.remainder_bits + self.tag_bits)
    }

    /// Where the planes begin, those of the remainders first.
    #[inline(always)]
    const fn planes(&self) -> usize {
        16 + self.high_bytes as usize
    }

    #[inline(always)]
    pub(super) fn bytes_of(&self, bin: usize) -> Range<usize> {
        let start = bin * self.stride();
        start..start + self.stride()
    }
}

/// Compiles an expression once for every usual number of planes, which the compiler then knows:
/// half of an operation would otherwise be spent on counting them.
macro_rules! usual {
    ($layout:expr, |$known:ident| $body:expr) => {
        usual!($layout, |$known| $body, 5 6 7 8 9 10 11 12 13 14)
    };
    ($layout:expr, |$known:ident| $body:expr, $($usual:literal)*) => {{
        let layout: $crate::dictionary::bins::Layout = $layout;
        match (layout.tag_bits, layout.remainder_bits) {
            $((3, $usual) => {
                let $known = layout.with(3, $usual);
                $body
            })*
            _ => {
                let $known = layout;
                $body
            }
        }
    }};
}
pub(super) use usual;

/// All bins, one after the other, without gaps.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    pub(super) layout: Layout,
    pub(super) bytes: Aligned<u8>,
}

impl Bins {
    pub(super) fn new(shape: &Shape) -> Self {
        let layout = Layout::new(shape);
        Self { layout, bytes: Aligned::new(layout.stride() * shape.bins) }
    }

    #[inline(always)]
    pub(super) fn get(&self, bin: usize) -> Bin<&[u8]> {
        self.get_by(self.layout, bin)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, bin: usize) -> Bin<&mut [u8]> {
        self.get_mut_by(self.layout, bin)
    }

    /// A bin, by what the compiler may know of the layout.
    #[inline(always)]
    pub(super) fn get_by(&self, layout: Layout, bin: usize) -> Bin<&[u8]> {
        Bin { layout, bytes: self.bytes.range(layout.bytes_of(bin)) }
    }

    /// A bin to write, by what the compiler may know of the layout.
    #[inline(always)]
    pub(super) fn get_mut_by(&mut self, layout: Layout, bin: usize) -> Bin<&mut [u8]> {
        Bin { layout, bytes: self.bytes.range_mut(layout.bytes_of(bin)) }
    }
}

/// The words of a bin that say who lives where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Bit b + 7: bucket b has entries. As many bits are set as in `ends`.
    pub(super) occupied: [u64; 2],
    /// Entries of smaller buckets are all in this bin. Stored inverted, so that zeroed memory is an
    /// empty bin.
    pub(super) threshold: u32,
    /// Bit i: slot i is the last of its bucket. The highest one is the last used slot.
    pub(super) ends: u64,
}

/// The slots of one bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first slot, or where it would be; zero beyond the last slot of a full bin.
    pub(super) first: u64,
    /// All its slots.
    pub(super) slots: u64,
}

impl Head {
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        SLOTS - self.ends.leading_zeros()
    }

    /// The slots in use.
    #[inline(always)]
    pub(super) fn used(&self) -> u64 {
        u64::MAX.unbounded_shr(self.ends.leading_zeros())
    }

    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, bucket: u32) -> Run {
        let [low, high] = self.occupied;
        let bit = bucket + THRESHOLD_BITS;
        // One of the two words is counted up to the bucket, the other whole or not at all.
        let (word, before) = if bit >= 64 { (high, low) } else { (low, 0) };
        let below = (1 << (bit % 64)) - 1u64;
        let rank = (word & below).count_ones() + before.count_ones();
        let occupied = word >> (bit % 64) & 1;
        // Rank 64 happens only beyond the last bucket of a full bin; nobody uses the answer then.
        let selector = 1u64.wrapping_shl(rank);
        let end = isa.deposit(selector, self.ends);
        let end_before = isa.deposit(selector >> 1, self.ends);
        let first = (end_before << 1) | u64::from(rank == 0);
        let slots = (end << 1).wrapping_sub(first) & occupied.wrapping_neg();
        Run { first, slots }
    }

    /// The buckets with entries, in order.
    pub(super) fn buckets(&self) -> impl Iterator<Item = u32> + use<> {
        let [low, high] = self.occupied;
        let occupied = u128::from(high) << 64 | u128::from(low);
        (0..128 - THRESHOLD_BITS)
            .filter(move |bucket| occupied >> (bucket + THRESHOLD_BITS) & 1 == 1)
    }

    /// Makes room for one more entry of `bucket` at the start of its run. The bin must not be full.
    #[inline(always)]
    fn open(&mut self, bucket: u32, run: Run) {
        self.ends = planes::open(self.ends, run.first, u64::from(run.slots == 0));
        let bit = bucket + THRESHOLD_BITS;
        let one = 1 << (bit % 64);
        self.occupied[0] |= if bit < 64 { one } else { 0 };
        self.occupied[1] |= if bit < 64 { 0 } else { one };
    }

    /// The largest bucket. The bin must not be empty.
    #[inline(always)]
    pub(super) fn last_bucket(&self) -> u32 {
        let [low, high] = self.occupied;
        let last = if high != 0 { 127 - high.leading_zeros() } else { 63 - low.leading_zeros() };
        last - THRESHOLD_BITS
    }

    /// Removes the last slot of a full bin.
    #[inline(always)]
    fn shorten(&mut self) {
        let alone = self.ends >> 62 & 1;
        let bit = self.last_bucket() + THRESHOLD_BITS;
        self.occupied[(bit / 64) as usize] ^= alone << (bit % 64);
        self.ends = self.ends << 1 >> 1 | 1 << 62;
    }

    /// Keeps only the slots in `kept`, a part of the used ones.
    #[inline(always)]
    fn keep<I: Isa>(&mut self, isa: I, kept: u64) {
        let (used, ends) = (self.used(), self.ends);
        let dead = used & !kept;
        // A run with a survivor: adding the survivors to the ones before its end carries into the
        // end.
        let inner = used & !ends;
        let survives = (inner.wrapping_add(kept & inner) | kept) & ends;
        let runs = isa.extract(survives, ends);
        let [low, high] = self.occupied;
        let runs_above = runs.unbounded_shr(low.count_ones());
        self.occupied = [isa.deposit(runs, low), isa.deposit(runs_above, high)];
        // A run's first slot moves up to its first survivor: a carry through the dead.
        let first = ends << 1 | 1;
        let moved = dead.wrapping_add(first & dead) & !dead;
        let first = isa.extract(first | moved, kept);
        let last = 1u64.unbounded_shl(kept.count_ones().wrapping_sub(1));
        self.ends = first >> 1 | last;
    }
}

/// A bin over its bytes.
pub(super) struct Bin<B> {
    layout: Layout,
    bytes: B,
}

impl<B: AsRef<[u8]>> Bin<B> {
    #[inline(always)]
    pub(super) fn head(&self) -> Head {
        let [ends, low, high] = self.words();
        Head {
            occupied: [low & !u64::from(NOBODY), high & self.layout.high],
            threshold: !low as u32 & NOBODY,
            ends,
        }
    }

    /// Of the slots of a run, the one with this remainder; at most one has it.
    #[inline(always)]
    pub(super) fn find<I: Isa>(&self, isa: I, run: Run, remainder: u64) -> u64 {
        planes::holding(isa, self.remainders(), remainder) & run.slots
    }

    #[inline(always)]
    pub(super) fn tag<I: Isa>(&self, isa: I, slot: u64) -> u64 {
        isa.get(self.tags(), slot)
    }

    /// Remainder and tag of a slot.
    #[inline(always)]
    pub(super) fn entry<I: Isa>(&self, isa: I, slot: u64) -> (u64, u64) {
        let value = isa.get(self.planes(), slot);
        let remainder_bits = self.layout.remainder_bits;
        (value & ((1 << remainder_bits) - 1), value >> remainder_bits)
    }

    /// The slots with this tag, used or not.
    #[inline(always)]
    pub(super) fn tagged<I: Isa>(&self, isa: I, tag: u64) -> u64 {
        planes::holding(isa, self.tags(), tag)
    }

    /// True if no plane has a bit outside the used slots.
    pub(super) fn is_clean(&self) -> bool {
        let unused = !self.head().used();
        self.planes().iter().all(|plane| u64::from_le_bytes(*plane) & unused == 0)
    }

    #[inline(always)]
    fn remainders(&self) -> &[planes::Plane] {
        &self.planes()[..self.layout.remainder_bits]
    }

    #[inline(always)]
    fn tags(&self) -> &[planes::Plane] {
        &self.planes()[self.layout.remainder_bits..]
    }

    #[inline(always)]
    fn planes(&self) -> &[planes::Plane] {
        let Layout { remainder_bits, tag_bits, .. } = self.layout;
        planes::of(&self.bytes.as_ref()[self.layout.planes()..][..8 * (remainder_bits + tag_bits)])
    }

    /// The first three words; no bin is shorter. Of the third, a part may be planes.
    #[inline(always)]
    fn words(&self) -> [u64; 3] {
        let bytes: &[u8; 24] = self.bytes.as_ref().first_chunk().unwrap();
        [0, 8, 16].map(|at| planes::word(bytes, at))
    }
}

impl Bin<&mut [u8]> {
    #[inline(always)]
    pub(super) fn set_tag<I: Isa>(&mut self, isa: I, slot: u64, tag: u64) {
        let remainder_bits = self.layout.remainder_bits;
        isa.set(&mut self.planes_mut()[remainder_bits..], slot, tag);
    }

    /// Adds an entry to a bin that is not full. `head` is not written back.
    #[inline(always)]
    pub(super) fn insert<I: Isa>(
        &mut self,
        isa: I,
        head: &mut Head,
        bucket: u32,
        run: Run,
        remainder: u64,
        tag: u64,
    ) {
        // Remainders and tags are one row of planes.
        let value = remainder | tag << self.layout.remainder_bits;
        isa.insert(self.planes_mut(), run.first, value);
        head.open(bucket, run);
    }

    /// Forgets the last slot of a full bin; the next insert pushes its planes out. `head` is not
    /// written back.
    #[inline(always)]
    pub(super) fn shorten(&mut self, head: &mut Head) {
        head.shorten();
    }

    /// Keeps only the slots in `kept`, a part of the used ones. `head` is not written back.
    #[inline(always)]
    pub(super) fn keep<I: Isa>(&mut self, isa: I, head: &mut Head, kept: u64) {
        planes::keep(isa, self.planes_mut(), kept);
        head.keep(isa, kept);
    }

    #[inline(always)]
    pub(super) fn set_head(&mut self, head: Head) {
        let [low, high] = head.occupied;
        let low = low | u64::from(!head.threshold & NOBODY);
        // The bytes of the third word behind `occupied` are planes. Reading them to write them back
        // would wait for planes that were just stored, so the end of `occupied` is written by a
        // word that begins earlier.
        let high_bytes = usize::from(self.layout.high_bytes).min(8);
        let last = (u128::from(high) << 64 | u128::from(low)) >> (8 * high_bytes);
        let bytes: &mut [u8; 24] = self.bytes.first_chunk_mut().unwrap();
        planes::set_word(bytes, 0, head.ends);
        planes::set_word(bytes, 8, low);
        planes::set_word(bytes, 8 + high_bytes, last as u64);
    }

    #[inline(always)]
    fn planes_mut(&mut self) -> &mut [planes::Plane] {
        let Layout { remainder_bits, tag_bits, .. } = self.layout;
        planes::of_mut(&mut self.bytes[self.layout.planes()..][..8 * (remainder_bits + tag_bits)])
    }
}
