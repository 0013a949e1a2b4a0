//! The first level: bins of 64 slots that store neither their number nor the bucket.
//!
//! A bin is a run of bytes:
//!
//! ```text
//! row        the low 8 bits of every entry, in order of buckets      64 bytes
//! ends       one bit per slot: the last of its bucket?              64 bits
//! occupied   one bit per bucket: does anybody live in it?      57 to 121 bits
//! threshold  from this bucket up, somebody may live elsewhere        7 bits, after 57 buckets
//! planes     the other bits of the entries, one plane per bit
//! ```
//!
//! An entry is a remainder and, above it, a tag. Most lookups are of absent keys and need no more
//! than the few bytes of one bucket, one load; whatever concerns all 64 slots is cheapest in planes.
//!
//! Worked example, six buckets, entries in buckets 1, 1, 4: occupied `010010`,
//! ends `110` (slots 1 and 2 end a run). Bucket 4 is the second that is
//! occupied, so its run stops at the second end and starts after the first one.
//! For about two bits per slot this saves the 6 to 7 bits of the bucket.

use super::backyard::Exile;
use super::head::{Bucket, FIRST_MASK, Head, Run, View};
pub(crate) use super::layout::{
    FRONT, LEAST_BUCKETS, Layout, MOST_BUCKETS, NOBODY, SLOTS, THRESHOLD_BITS,
};
use super::layout::{ROW_BITS, WORDS};
use super::{Repeat, Shape};
use crate::bits::{Isa, NEAR, Records, STRETCH, Scalar, SlotBytes, planes, prefetch, row};

/// All bins, one after the other, without gaps.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Bins {
    pub(crate) records: Records<FRONT>,
    pub(crate) layout: Layout,
}

impl Bins {
    pub(crate) fn new(shape: &Shape) -> Self {
        let layout = Layout::new(shape);
        Self { layout, records: Records::new(shape.bins, layout.stride) }
    }

    #[inline(always)]
    pub(crate) fn get(&self, bin: usize) -> Bin<'_, &[u8]> {
        Bin { layout: &self.layout, bytes: self.records.get(bin) }
    }

    /// The row and the words of a bin: enough to say of most keys that they are not there.
    #[inline(always)]
    pub(crate) fn front(&self, bin: usize) -> Option<Bin<'_, &[u8; FRONT]>> {
        Some(Bin { layout: &self.layout, bytes: self.records.front(bin)? })
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, bin: usize) -> Bin<'_, &mut [u8]> {
        Bin { layout: &self.layout, bytes: self.records.get_mut(bin) }
    }
}

/// A bin over its bytes.
pub(crate) struct Bin<'a, B> {
    /// By reference: what only the rare ways need should be read by them.
    layout: &'a Layout,
    bytes: B,
}

impl<'a, B: AsRef<[u8]>> Bin<'a, B> {
    /// The bin in these bytes, as many as its layout says.
    #[inline(always)]
    pub(crate) fn over(layout: &'a Layout, bytes: B) -> Self {
        Self { layout, bytes }
    }

    #[inline(always)]
    pub(crate) fn head(&self) -> Head {
        let [ends, first, second] = [0, 8, 16].map(|at| self.word(at));
        Head {
            occupied: [first & FIRST_MASK, second & self.layout.high],
            threshold: NOBODY - (first >> FIRST_MASK.count_ones()) as u32,
            ends,
        }
    }

    /// The words as a bucket sees them.
    #[inline(always)]
    pub(crate) fn view(&self, bucket: u32) -> View {
        let bucket = Bucket::new(bucket);
        let byte = self.front()[WORDS + 8 + bucket.byte()];
        View::new(bucket, self.word(0), [self.word(8), self.word(16)], byte)
    }

    /// Asks for the row. Which part of it is needed is known after the words have come; it should be
    /// here by then.
    #[inline(always)]
    pub(crate) fn prefetch_row(&self) {
        prefetch(self.bytes.as_ref(), 0);
    }

    /// The slots from the first of a run on whose byte in the row agrees with a remainder. One of the
    /// slots always counts, so that very long runs are never denied anything.
    #[inline(always)]
    pub(crate) fn candidates<I: Isa>(&self, isa: I, run: Run, remainder: u64) -> u64 {
        // The words after the row are readable as well.
        let near: &[u8; NEAR] = self.front()[run.first as usize..].first_chunk().unwrap();
        isa.near_bytes_holding(near, &self.layout.near_masks, remainder as u8)
    }

    /// Whether a run may hold a remainder, as far as a few bytes of the row tell.
    #[inline(always)]
    pub(crate) fn may_hold<I: Isa>(&self, isa: I, run: Run, remainder: u64) -> bool {
        run.reaches(self.candidates(isa, run, remainder)) & run.occupied
    }

    /// The same where fields are of several lengths, each ended by a one and zeros, and one matches that is
    /// the beginning of this. Runs of more than 32 may always.
    #[inline(always)]
    pub(crate) fn may_begin<I: Isa>(&self, isa: I, run: Run, field: u64) -> bool {
        // At least one plane is behind the words, so that there are as many bytes behind every slot.
        let near = self.bytes.as_ref()[run.first as usize % SLOTS as usize..].first_chunk();
        let Some(near) = near else { return true };
        let last = 1 << (STRETCH - 1);
        run.reaches((isa.bytes_beginning(near, field as u8) | last).into()) & run.occupied
    }

    /// The slot of the lowest candidate of a run; none if it is the one that counts unseen.
    #[inline(always)]
    pub(crate) fn nearest(run: Run, candidates: u64) -> u64 {
        let nearest = candidates & candidates.wrapping_neg();
        (nearest & !(1 << (NEAR - 1))).unbounded_shl(run.first)
    }

    /// True if the row has all of a remainder.
    #[inline(always)]
    pub(crate) fn row_proves(&self) -> bool {
        self.layout.remainder_planes() == 0
    }

    /// True if a slot whose byte in the row agrees with a remainder has all of it. Few planes tell, so
    /// that plain words will do.
    #[inline(always)]
    pub(crate) fn planes_prove(&self, slot: u64, remainder: u64) -> bool {
        let planes = &self.planes()[..self.layout.remainder_planes()];
        planes::holding(Scalar, planes, remainder.unbounded_shr(ROW_BITS as u32)) & slot != 0
    }

    /// Of the slots of a run, the one with this remainder; at most one has it.
    #[inline(always)]
    pub(crate) fn find<I: Isa>(&self, isa: I, run: Run, remainder: u64) -> u64 {
        let planes = &self.planes()[..self.layout.remainder_planes()];
        isa.bytes_holding(self.row(), self.layout.row_mask, remainder as u8)
            & planes::holding(isa, planes, remainder.unbounded_shr(ROW_BITS as u32))
            & run.slots()
    }

    #[inline(always)]
    pub(crate) fn tag<I: Isa>(&self, isa: I, slot: u64) -> u64 {
        self.entry(isa, slot).1
    }

    /// Remainder and tag of a slot.
    #[inline(always)]
    pub(crate) fn entry<I: Isa>(&self, isa: I, slot: u64) -> (u64, u64) {
        let byte = self.row()[slot.trailing_zeros() as usize % SLOTS as usize];
        self.layout.parts(u64::from(byte) | isa.get(self.planes(), slot) << ROW_BITS)
    }

    /// The slots with each of these tags, used or not.
    #[inline(always)]
    pub(crate) fn tagged<I: Isa>(&self, isa: I, tags: [u64; 2]) -> [u64; 2] {
        let Layout { row_mask, remainder_bits, .. } = *self.layout;
        let above = tags.map(|tag| tag >> self.layout.row_tag_bits());
        let holding = |planes: &[planes::Plane]| above.map(|tag| planes::holding(isa, planes, tag));
        // The last ones; each of the usual numbers for itself.
        let planes = self.planes();
        let in_planes = match planes.len() - self.layout.remainder_planes() {
            1 => holding(planes.last_chunk::<1>().unwrap()),
            2 => holding(planes.last_chunk::<2>().unwrap()),
            3 => holding(planes.last_chunk::<3>().unwrap()),
            count => holding(&planes[planes.len() - count..]),
        };
        if row_mask == u8::MAX {
            return in_planes;
        }
        let [first, second] =
            tags.map(|tag| isa.bytes_holding(self.row(), !row_mask, (tag << remainder_bits) as u8));
        [in_planes[0] & first, in_planes[1] & second]
    }

    /// The slots whose tag ends in these bits, used or not.
    #[inline(always)]
    pub(crate) fn tagged_in<I: Isa>(&self, isa: I, tag: u64, bits: u32) -> u64 {
        let (in_row, bits) = (self.layout.row_tag_bits().min(bits as usize), bits as usize);
        let planes = &self.planes()[self.layout.remainder_planes()..][..bits - in_row];
        if in_row == 0 {
            // The usual number for itself.
            return match planes.first_chunk::<3>() {
                Some(three) if planes.len() == 3 => planes::holding(Scalar, three, tag),
                _ => planes::holding(isa, planes, tag),
            };
        }
        let in_planes = planes::holding(isa, planes, tag >> in_row);
        let mask = ((1_u64 << in_row) - 1) << self.layout.remainder_bits;
        let in_row = (tag << self.layout.remainder_bits) & mask;
        in_planes & isa.bytes_holding(self.row(), mask as u8, in_row as u8)
    }

    /// True if nothing is stored outside the used slots.
    pub(crate) fn is_clean(&self) -> bool {
        let used = self.head().used();
        self.row()[used.count_ones() as usize..].iter().all(|&byte| byte == 0)
            && self.planes().iter().all(|plane| u64::from_le_bytes(*plane) & !used == 0)
    }

    #[inline(always)]
    pub(crate) fn row(&self) -> &SlotBytes {
        self.bytes.as_ref().first_chunk().unwrap()
    }

    #[inline(always)]
    pub(crate) fn planes(&self) -> &[planes::Plane] {
        planes::of(&self.bytes.as_ref()[self.layout.planes()..])
    }

    /// A word after the row; no bin has less than three. Of the third, a part may be planes.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        planes::word(self.front(), WORDS + at)
    }

    #[inline(always)]
    fn front(&self) -> &[u8; FRONT] {
        self.bytes.as_ref().first_chunk().unwrap()
    }
}

impl Bin<'_, &mut [u8]> {
    #[inline(always)]
    pub(crate) fn set_tag<I: Isa>(&mut self, isa: I, slot: u64, tag: u64) {
        let Layout { row_mask, remainder_bits, .. } = *self.layout;
        let (in_row, remainder_planes) =
            (self.layout.row_tag_bits(), self.layout.remainder_planes());
        if in_row > 0 {
            let byte = &mut self.row_mut()[slot.trailing_zeros() as usize % SLOTS as usize];
            *byte = *byte & row_mask | (tag << remainder_bits) as u8;
        }
        isa.set(&mut self.planes_mut()[remainder_planes..], slot, tag >> in_row);
    }

    /// Remainder and tag of a slot. If the remainder is this, and a repeat refreshes, another tag takes the place of
    /// the one that is told.
    #[inline(always)]
    pub(crate) fn exchange_tag<I: Isa>(
        &mut self,
        isa: I,
        slot: u64,
        remainder: u64,
        tag: u64,
        repeat: Repeat,
    ) -> (u64, u64) {
        let layout = self.layout;
        let index = slot.trailing_zeros() as usize % SLOTS as usize;
        let mut before = u64::from(self.row()[index]);
        let value = remainder | tag << layout.remainder_bits;
        self.change_planes(
            #[inline(always)]
            |planes| {
                before |= isa.get(planes, slot) << ROW_BITS;
                if repeat == Repeat::Refresh && layout.parts(before).0 == remainder {
                    isa.set(planes, slot, value >> ROW_BITS);
                }
            },
        );
        let (held, before) = layout.parts(before);
        if layout.row_tag_bits() > 0 && repeat == Repeat::Refresh && held == remainder {
            self.row_mut()[index] = value as u8;
        }
        (held, before)
    }

    /// Adds an entry at the start of its run, in a bin that is not full. The words stay as they are.
    #[inline(always)]
    pub(crate) fn insert<I: Isa>(&mut self, isa: I, run: Run, remainder: u64, tag: u64) {
        let value = remainder | tag << self.layout.remainder_bits;
        isa.open_byte(self.row_mut(), run.first, value as u8);
        self.change_planes(
            #[inline(always)]
            |planes| isa.insert(planes, 1 << run.first, value >> ROW_BITS),
        );
    }

    /// Makes room in the slots of `guests`, all at once. `head` has it already.
    #[inline(always)]
    pub(crate) fn make_room<I: Isa>(&mut self, isa: I, guests: u64) {
        row::spread(isa, self.row_mut(), !guests);
        self.change_planes(
            #[inline(always)]
            |planes| planes::spread(isa, planes, !guests),
        );
    }

    /// Fills a slot that [`Bin::make_room`] left empty.
    #[inline(always)]
    pub(crate) fn settle<I: Isa>(&mut self, isa: I, slot: u32, exile: Exile) {
        self.fill(isa, slot, exile.remainder | exile.tag << self.layout.remainder_bits);
    }

    /// Fills an empty slot with remainder and tag, as one number.
    #[inline(always)]
    pub(crate) fn fill<I: Isa>(&mut self, isa: I, slot: u32, value: u64) {
        self.row_mut()[slot as usize % SLOTS as usize] = value as u8;
        self.change_planes(
            #[inline(always)]
            |planes| isa.set(planes, 1 << slot, value >> ROW_BITS),
        );
    }

    /// Removes the last entry of a bin that is not empty. `head` is not written back.
    #[inline(always)]
    pub(crate) fn take_last<I: Isa>(&mut self, isa: I, head: &mut Head) -> Exile {
        let (slot, bucket) = head.take_last();
        let byte = &mut self.row_mut()[slot.trailing_zeros() as usize % SLOTS as usize];
        let mut value = u64::from(core::mem::take(byte));
        self.change_planes(
            #[inline(always)]
            |planes| {
                value |= isa.get(planes, slot) << ROW_BITS;
                isa.set(planes, slot, 0);
            },
        );
        let (remainder, tag) = self.layout.parts(value);
        Exile { bucket, remainder, tag }
    }

    /// Keeps only the slots in `kept`, a part of the used ones. `head` is not written back.
    #[inline(always)]
    pub(crate) fn keep<I: Isa>(&mut self, isa: I, head: &mut Head, kept: u64) {
        row::keep(isa, self.row_mut(), kept);
        self.change_planes(
            #[inline(always)]
            |planes| planes::keep(isa, planes, kept),
        );
        head.keep(isa, kept);
    }

    #[inline(always)]
    pub(crate) fn set_head(&mut self, head: Head) {
        let [low, high] = head.occupied;
        let low = low | u64::from(NOBODY - head.threshold) << FIRST_MASK.count_ones();
        // The bytes of the third word behind `occupied` are planes. Reading them to write them back
        // would wait for planes that were just stored, so the end of `occupied` is written by a
        // word that begins earlier.
        let high_bytes = usize::from(self.layout.high_bytes).min(8);
        let last = (u128::from(high) << 64 | u128::from(low)) >> (8 * high_bytes);
        let bytes: &mut [u8; FRONT] = self.bytes.first_chunk_mut().unwrap();
        planes::set_word(bytes, WORDS, head.ends);
        planes::set_word(bytes, WORDS + 8, low);
        planes::set_word(bytes, WORDS + 8 + high_bytes, last as u64);
    }

    /// Writes into the words that `bucket`, which had this run, has one more entry.
    #[inline(always)]
    pub(crate) fn open(&mut self, ends: u64, bucket: u32, run: Run) {
        let bucket = Bucket::new(bucket);
        let bytes: &mut [u8; FRONT] = self.bytes.first_chunk_mut().unwrap();
        planes::set_word(bytes, WORDS, run.open(ends));
        bytes[WORDS + 8 + bucket.byte()] |= bucket.bit();
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self) -> &mut SlotBytes {
        self.bytes.first_chunk_mut().unwrap()
    }

    /// Does something to all planes. One plane, as for errors about a hundredth, and four, as for a
    /// thousandth, for themselves, because counting planes takes longer than changing them. For more
    /// numbers a table of jumps would be as slow.
    #[inline(always)]
    fn change_planes(&mut self, change: impl FnOnce(&mut [planes::Plane])) {
        match self.layout.plane_count {
            1 => change(planes::of_mut(self.bytes.last_chunk_mut::<8>().unwrap())),
            4 => change(planes::of_mut(self.bytes.last_chunk_mut::<32>().unwrap())),
            _ => change(self.planes_mut()),
        }
    }

    #[inline(always)]
    pub(super) fn planes_mut(&mut self) -> &mut [planes::Plane] {
        planes::of_mut(&mut self.bytes[self.layout.planes()..])
    }
}
