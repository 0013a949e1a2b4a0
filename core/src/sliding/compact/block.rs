//! A block: 64 slots that store neither their home nor their bucket, and may be lent to neighbours.
//!
//! ```text
//! row        the low 8 bits of every entry                            64 bytes
//! ends       one bit per slot: the last of its bucket?               64 bits
//! occupied   one bit per bucket: does it have entries?          63 to 127 bits
//! goes on    the last slot is used, and its run goes on next door      1 bit, after 63 buckets
//! guests     how many entries of earlier homes come first              8 bits, after the first word
//! planes     the other bits of the entries, one plane per bit
//! ```
//!
//! An entry is a remainder and, above it, a tag. `occupied` speaks of the entries whose home this is,
//! wherever they lie; `ends` and all after it of the slots that are here.

use super::Shape;
use super::run::{Bucket, GOES_ON, Run};
pub(super) use super::words::BlockWords;
use crate::bits::{Isa, NEAR, Plane, Scalar, SlotBytes, planes, prefetch, row};

/// Slots in a block: one per bit of a word.
pub(super) const SLOTS: u32 = u64::BITS;
/// Bits of an entry in the row.
const ROW_BITS: u32 = u8::BITS;

/// Where the words begin: after the row.
pub(super) const ENDS: usize = SLOTS as usize;
const FIRST: usize = ENDS + 8;
const GUESTS: usize = FIRST + 8;
const SECOND: usize = GUESTS + 1;
/// Bytes of the row, the three words and the guests; of the last word, a part may be planes.
pub(super) const FRONT: usize = SECOND + 8;

/// Where the parts of a block lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The bits of the third word that belong to `occupied`.
    high: u64,
    /// Bytes of `occupied` in the third word, at most eight. So small a type that the compiler sees that
    /// no offset overflows.
    high_bytes: u8,
    /// The bits of a byte of the row that belong to the remainder.
    row_mask: u8,
    /// The bits of a byte of the row that belong to the generation.
    generation_mask: u8,
    /// The first of these masks for a part of the row; the last is zero.
    near_masks: [u8; NEAR],
    plane_count: u8,
    stride: u16,
    remainder_bits: u32,
    /// Bits of a tag below the generation.
    fine_bits: u32,
}

impl Layout {
    pub(super) const fn new(shape: &Shape) -> Self {
        let high_bytes = (shape.buckets + 1) / 8 - 8;
        let entry_bits = shape.remainder_bits + shape.fine_bits + shape.tag_bits;
        // At least one plane, so that a block has all its words.
        let planes = if entry_bits > ROW_BITS { entry_bits - ROW_BITS } else { 1 };
        let row_mask = low_byte(shape.remainder_bits);
        let mut near_masks = [row_mask; NEAR];
        near_masks[NEAR - 1] = 0;
        Self {
            high: u64::MAX.unbounded_shr(u64::BITS - 8 * high_bytes),
            high_bytes: high_bytes as u8,
            row_mask,
            generation_mask: !low_byte(shape.remainder_bits + shape.fine_bits),
            near_masks,
            plane_count: planes as u8,
            stride: (SECOND as u32 + high_bytes + 8 * planes) as u16,
            remainder_bits: shape.remainder_bits,
            fine_bits: shape.fine_bits,
        }
    }

    /// Bytes from one block to the next.
    #[inline(always)]
    pub(super) const fn stride(&self) -> u16 {
        self.stride
    }

    /// An entry.
    #[inline(always)]
    pub(super) const fn entry(&self, remainder: u64, tag: u64) -> u64 {
        remainder | tag << self.remainder_bits
    }

    /// Remainder and tag of an entry.
    #[inline(always)]
    pub(super) const fn parts(&self, entry: u64) -> (u64, u64) {
        (entry & ((1 << self.remainder_bits) - 1), entry >> self.remainder_bits)
    }

    /// True if the row has all of a remainder.
    #[inline(always)]
    pub(super) const fn row_proves(&self) -> bool {
        self.remainder_bits <= ROW_BITS
    }

    /// Where the planes begin.
    #[inline(always)]
    const fn planes(&self) -> usize {
        SECOND + self.high_bytes as usize
    }
}

/// A byte with so many low bits set, at most eight.
const fn low_byte(bits: u32) -> u8 {
    (0xff_u32 >> ROW_BITS.saturating_sub(bits)) as u8
}

/// A block over its bytes.
pub(super) struct Block<'a, B> {
    /// By reference: what only the rare ways need should be read by them.
    pub(super) layout: &'a Layout,
    pub(super) bytes: B,
}

impl<B: AsRef<[u8]>> Block<'_, B> {
    #[inline(always)]
    pub(super) fn words(&self) -> BlockWords {
        BlockWords {
            ends: self.ends(),
            occupied: [FIRST, SECOND].map(|at| planes::word(self.front(), at)),
            guests: self.guests(),
        }
    }

    #[inline(always)]
    pub(super) fn ends(&self) -> u64 {
        planes::word(self.front(), ENDS)
    }

    #[inline(always)]
    pub(super) fn guests(&self) -> u32 {
        self.front()[GUESTS].into()
    }

    /// True if no slot is free.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        (self.ends() | planes::word(self.front(), FIRST)) & GOES_ON != 0
    }

    /// The buckets with entries, and nothing else.
    #[inline(always)]
    pub(super) fn buckets(&self) -> [u64; 2] {
        let [first, second] = self.words().occupied;
        [first & !GOES_ON, second & self.layout.high]
    }

    #[inline(always)]
    pub(super) fn is_occupied(&self, bucket: Bucket) -> bool {
        self.front()[FIRST + bucket.byte()] & bucket.bit() != 0
    }

    /// Asks for the row. Which part of it is needed is known after the words have come; it should be
    /// here by then.
    #[inline(always)]
    pub(super) fn prefetch_row(&self) {
        prefetch(self.bytes.as_ref(), 0);
    }

    /// The slots from the first of a run on whose byte agrees with a remainder, as far as the run may
    /// reach. A very long run, or one that goes on next door, always counts.
    #[inline(always)]
    pub(super) fn candidates<I: Isa>(&self, isa: I, run: Run, remainder: u64) -> u64 {
        // The words after the row are readable as well.
        let near: &[u8; NEAR] = self.front()[run.first as usize..].first_chunk().unwrap();
        isa.near_bytes_holding(near, &self.layout.near_masks, remainder as u8) & run.reach()
    }

    /// All slots with a remainder.
    #[inline(always)]
    pub(super) fn holding<I: Isa>(&self, isa: I, remainder: u64) -> u64 {
        let above = self.layout.remainder_bits.saturating_sub(ROW_BITS) as usize;
        let planes = &self.planes()[..above];
        isa.bytes_holding(self.row(), self.layout.row_mask, remainder as u8 & self.layout.row_mask)
            & planes::holding(isa, planes, remainder.unbounded_shr(ROW_BITS))
    }

    /// True if a slot whose byte agrees with a remainder has all of it. Few planes tell, so that plain
    /// words will do.
    #[inline(always)]
    pub(super) fn planes_prove(&self, slot: u64, remainder: u64) -> bool {
        let above = self.layout.remainder_bits.saturating_sub(ROW_BITS) as usize;
        let planes = &self.planes()[..above];
        planes::holding(Scalar, planes, remainder.unbounded_shr(ROW_BITS)) & slot != 0
    }

    /// Remainder and tag of a slot.
    #[inline(always)]
    pub(super) fn entry<I: Isa>(&self, isa: I, slot: u32) -> (u64, u64) {
        let byte = self.row()[slot as usize % SLOTS as usize];
        let planes = isa.get(self.planes(), 1 << slot) << ROW_BITS;
        self.layout.parts(u64::from(byte) | planes)
    }

    /// The slots with each of these generations, used or not.
    #[inline(always)]
    pub(super) fn of_generations<I: Isa>(&self, isa: I, generations: [u64; 2]) -> [u64; 2] {
        let below = self.layout.remainder_bits + self.layout.fine_bits;
        let in_row = ROW_BITS.saturating_sub(below);
        let above = generations.map(|generation| generation >> in_row);
        let holding = |planes: &[Plane]| above.map(|part| planes::holding(isa, planes, part));
        // The last ones; each of the usual numbers for itself.
        let planes = self.planes();
        let in_planes = match planes.len() - below.saturating_sub(ROW_BITS) as usize {
            1 => holding(planes.last_chunk::<1>().unwrap()),
            2 => holding(planes.last_chunk::<2>().unwrap()),
            3 => holding(planes.last_chunk::<3>().unwrap()),
            count => holding(&planes[planes.len() - count..]),
        };
        let mask = self.layout.generation_mask;
        if mask == 0 {
            return in_planes;
        }
        let [first, second] = generations
            .map(|generation| isa.bytes_holding(self.row(), mask, (generation << below) as u8));
        [in_planes[0] & first, in_planes[1] & second]
    }

    #[inline(always)]
    fn row(&self) -> &SlotBytes {
        self.bytes.as_ref().first_chunk().unwrap()
    }

    #[inline(always)]
    fn planes(&self) -> &[Plane] {
        planes::of(&self.bytes.as_ref()[self.layout.planes()..])
    }

    #[inline(always)]
    fn front(&self) -> &[u8; FRONT] {
        self.bytes.as_ref().first_chunk().unwrap()
    }
}

impl Block<'_, &mut [u8]> {
    #[inline(always)]
    pub(super) fn set_ends(&mut self, ends: u64) {
        planes::set_word(self.front_mut(), ENDS, ends);
    }

    #[inline(always)]
    pub(super) fn set_guests(&mut self, guests: u32) {
        self.front_mut()[GUESTS] = guests as u8;
    }

    #[inline(always)]
    pub(super) fn set_occupied(&mut self, bucket: Bucket) {
        self.front_mut()[FIRST + bucket.byte()] |= bucket.bit();
    }

    /// Whether the run of the last slot goes on next door.
    #[inline(always)]
    pub(super) fn set_goes_on(&mut self, goes_on: bool) {
        let last = &mut self.front_mut()[FIRST + 7];
        *last = *last & 0x7f | u8::from(goes_on) << 7;
    }

    /// Replaces the buckets with entries; the run of the last slot does not go on.
    #[inline(always)]
    pub(super) fn set_buckets(&mut self, [first, second]: [u64; 2]) {
        // Behind the second word are planes. Reading them to write them back would wait for planes that
        // were just stored, so the end of it is written by a word that begins earlier.
        let high_bytes = usize::from(self.layout.high_bytes).min(8);
        let before = first >> 8 | u64::from(self.guests()) << 56;
        let last = (u128::from(second) << 64 | u128::from(before)) >> (8 * high_bytes);
        planes::set_word(self.front_mut(), FIRST, first);
        planes::set_word(self.front_mut(), FIRST + 1 + high_bytes, last as u64);
    }

    #[inline(always)]
    pub(super) fn set_tag<I: Isa>(&mut self, isa: I, slot: u32, tag: u64) {
        let Layout { row_mask, remainder_bits, .. } = *self.layout;
        let in_row = ROW_BITS.saturating_sub(remainder_bits);
        if in_row > 0 {
            let byte = &mut self.row_mut()[slot as usize % SLOTS as usize];
            *byte = *byte & row_mask | (tag << remainder_bits) as u8;
        }
        let above = remainder_bits.saturating_sub(ROW_BITS) as usize;
        isa.set(&mut self.planes_mut()[above..], 1 << slot, tag >> in_row);
    }

    /// Opens a slot for an entry; the last one goes out. The words stay as they are.
    #[inline(always)]
    pub(super) fn open<I: Isa>(&mut self, isa: I, slot: u32, entry: u64) {
        isa.open_byte(self.row_mut(), slot, entry as u8);
        self.change_planes(
            #[inline(always)]
            |planes| isa.insert(planes, 1 << slot, entry >> ROW_BITS),
        );
    }

    /// Moves all slots up by one; the last one of the block before enters, and ours goes out. The words
    /// stay as they are.
    #[inline(always)]
    pub(super) fn follow(&mut self, before: &mut Block<'_, &mut [u8]>) {
        let row = self.row_mut();
        row.copy_within(..SLOTS as usize - 1, 1);
        row[0] = before.row()[SLOTS as usize - 1];
        // Each of the usual numbers for itself, as in `change_planes`.
        match self.layout.plane_count {
            1 => planes::follow(self.last_planes::<8>(), before.last_planes::<8>()),
            4 => planes::follow(self.last_planes::<32>(), before.last_planes::<32>()),
            8 => planes::follow(self.last_planes::<64>(), before.last_planes::<64>()),
            _ => planes::follow(self.planes_mut(), before.planes()),
        }
    }

    /// Keeps only these slots, packed to the low end. The words stay as they are.
    #[inline(always)]
    pub(super) fn keep<I: Isa>(&mut self, isa: I, kept: u64) {
        row::keep(isa, self.row_mut(), kept);
        self.change_planes(
            #[inline(always)]
            |planes| planes::keep(isa, planes, kept),
        );
    }

    /// Takes the first `count` slots of the next block behind our first `used`; the others of that block
    /// move down. The words stay as they are. What is then in slots that nobody uses means nothing.
    #[inline(always)]
    pub(super) fn draw(&mut self, used: u32, next: &mut Block<'_, &mut [u8]>, count: u32) {
        let (at, few) = (used as usize, count as usize);
        let (ours, theirs) = (self.row_mut(), next.front_mut());
        // Some bytes more than needed, where they do no harm: mostly few come.
        match ours.get_mut(at..at + NEAR) {
            Some(ours) if few <= NEAR => ours.copy_from_slice(&theirs[..NEAR]),
            _ => ours[at..at + few].copy_from_slice(&theirs[..few]),
        }
        match theirs.get(few..few + SLOTS as usize) {
            Some(_) => theirs.copy_within(few..few + SLOTS as usize, 0),
            None => theirs.copy_within(few..SLOTS as usize, 0),
        }
        match self.layout.plane_count {
            1 => planes::draw(self.last_planes::<8>(), used, next.last_planes::<8>(), count),
            4 => planes::draw(self.last_planes::<32>(), used, next.last_planes::<32>(), count),
            8 => planes::draw(self.last_planes::<64>(), used, next.last_planes::<64>(), count),
            _ => planes::draw(self.planes_mut(), used, next.planes_mut(), count),
        }
    }

    /// Does something to all planes. One plane, as for errors about a hundredth, four, as for a
    /// thousandth, and eight for themselves, because counting planes takes longer than changing them.
    #[inline(always)]
    fn change_planes(&mut self, change: impl FnOnce(&mut [Plane])) {
        match self.layout.plane_count {
            1 => change(self.last_planes::<8>()),
            4 => change(self.last_planes::<32>()),
            8 => change(self.last_planes::<64>()),
            _ => change(self.planes_mut()),
        }
    }

    /// The planes in the last bytes, as many as that.
    #[inline(always)]
    fn last_planes<const BYTES: usize>(&mut self) -> &mut [Plane] {
        planes::of_mut(self.bytes.last_chunk_mut::<BYTES>().unwrap())
    }

    #[inline(always)]
    fn planes_mut(&mut self) -> &mut [Plane] {
        planes::of_mut(&mut self.bytes[self.layout.planes()..])
    }

    #[inline(always)]
    fn row_mut(&mut self) -> &mut SlotBytes {
        self.bytes.first_chunk_mut().unwrap()
    }

    #[inline(always)]
    fn front_mut(&mut self) -> &mut [u8; FRONT] {
        self.bytes.first_chunk_mut().unwrap()
    }
}
