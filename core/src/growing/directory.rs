//! Which segment a hash belongs to.
//!
//! Every segment stands for a prefix, and segments split one by one as they fill up: extendible
//! hashing. Its directory has one slot for every prefix of some length, and doubles when prefixes
//! get longer; we let it double slot by slot, as linear hashing does, two slots for every segment
//! that splits. Slots for prefixes of r bits exist everywhere, and for r + 1 bits below the
//! *frontier*:
//!
//! ```text
//! r = 2, frontier 1:   000 001 | 01 | 10 | 11
//! ```
//!
//! The slot of a prefix that ends in zeros is that of the shorter prefix, so refining a slot adds
//! one for its upper half and moves nothing: slots are stored in the order in which they came,
//! prefix p1 of r + 1 bits at 2^r + p. Slots number twice the segments, so a segment of average
//! size always finds its prefix refined when it wants to split.

use super::chunks::Chunks;
use super::segment::Segment;

/// Most segments: their numbers share a slot with their depth.
pub(super) const MOST_SEGMENTS: usize = 1 << NUMBER_BITS;
const NUMBER_BITS: u32 = 26;

/// Lengths that the prefix of a segment can have: from none on.
pub(super) const DEPTHS: usize = NUMBER_BITS as usize + 2;

/// Slots that one split may rewrite, as a power of two. Random hashes need two bits.
const MOST_REFINED: u32 = 8;

/// A segment and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    pub(super) fn new(number: usize, depth: u32) -> Self {
        Self(number as u32 | depth << NUMBER_BITS)
    }

    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.0 as usize % MOST_SEGMENTS
    }

    #[inline(always)]
    pub(super) fn depth(self) -> u32 {
        self.0 >> NUMBER_BITS
    }
}

/// Segments, and the slots that lead to them.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// Every prefix of so many bits has a slot. At least one.
    resolution: u32,
    /// Prefixes of `resolution` bits that are refined: all below this one.
    frontier: u64,
    slots: Chunks<Slot>,
    segments: Chunks<Segment>,
}

impl Directory {
    /// One segment for all.
    pub(super) fn new(segment: Segment) -> Self {
        let mut directory = Self::empty();
        directory.push_slot(Slot::new(0, 0));
        directory.push_slot(Slot::new(0, 0));
        directory.segments.push(segment);
        directory
    }

    /// Nothing at all, to be filled by a reader.
    pub(super) fn empty() -> Self {
        Self { resolution: 0, frontier: 0, slots: Chunks::new(), segments: Chunks::new() }
    }

    /// Appends the next slot.
    pub(super) fn push_slot(&mut self, slot: Slot) {
        self.slots.push(slot);
        if self.slots.len() > 1 {
            self.frontier += 1;
            if self.frontier >> self.resolution != 0 {
                self.resolution += 1;
                self.frontier = 0;
            }
        }
    }

    /// Appends the next segment.
    pub(super) fn push_segment(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// All slots, in the order in which they came.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied()
    }

    /// All segments by their number.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    pub(super) fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Bytes on the heap, those of the segments not counted.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.slots.heap_bytes() + self.segments.heap_bytes()
    }

    /// The slot of a hash.
    #[inline(always)]
    pub(super) fn slot(&self, hash: u64) -> Slot {
        let coarse = hash >> (64 - self.resolution);
        let length = self.resolution + u32::from(coarse < self.frontier);
        let (chunk, offset) = address(length, hash >> (64 - length));
        *self.slots.at(chunk, offset)
    }

    #[inline(always)]
    pub(super) fn segment(&self, number: usize) -> &Segment {
        self.segments.get(number)
    }

    #[inline(always)]
    pub(super) fn segment_mut(&mut self, number: usize) -> &mut Segment {
        self.segments.get_mut(number)
    }

    /// All slots in the order of their prefixes, with the length of the prefix.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, Slot)> + '_ {
        let refined = self.frontier << 1;
        let fine = (0..refined).map(|prefix| (self.resolution + 1, prefix));
        let coarse = (self.frontier..1 << self.resolution).map(|prefix| (self.resolution, prefix));
        fine.chain(coarse).map(|(length, prefix)| {
            let (chunk, offset) = address(length, prefix);
            (length, *self.slots.at(chunk, offset))
        })
    }

    /// Whether the segment of a hash can be split now.
    pub(super) fn can_split(&self, hash: u64) -> bool {
        let depth = self.slot(hash).depth();
        let finest = self.resolution + u32::from(self.frontier != 0);
        // Prefixes are refined in order, so the last one below the segment's is the coarsest.
        let last = (hash | u64::MAX >> depth) >> (64 - self.resolution);
        let coarsest = self.resolution + u32::from(last < self.frontier);
        self.segments.len() < MOST_SEGMENTS
            && depth < coarsest
            && depth as usize + 1 < DEPTHS
            && finest - depth <= MOST_REFINED
    }

    /// Replaces the segment of a hash by its two halves, and refines two slots. It must be one that
    /// can be split. Returns how many slots were touched.
    pub(super) fn split(&mut self, hash: u64, [lower, upper]: [Segment; 2]) -> usize {
        let slot = self.slot(hash);
        let (depth, number) = (slot.depth(), self.segments.len());
        *self.segments.get_mut(slot.number()) = lower;
        self.segments.push(upper);
        let prefix = hash.unbounded_shr(64 - depth);
        let mut touched = 2;
        for coarse in prefix << (self.resolution - depth)..(prefix + 1) << (self.resolution - depth)
        {
            let refined = coarse < self.frontier;
            let length = self.resolution + u32::from(refined);
            for fine in coarse << u32::from(refined)..(coarse + 1) << u32::from(refined) {
                let above = fine >> (length - depth - 1) & 1 == 1;
                let number = if above { number } else { slot.number() };
                let (chunk, offset) = address(length, fine);
                let index = if chunk == 0 { 0 } else { (1 << (chunk - 1)) + offset };
                *self.slots.get_mut(index) = Slot::new(number, depth + 1);
                touched += 1;
            }
        }
        for _ in 0..2 {
            let (chunk, offset) = address(self.resolution, self.frontier);
            self.push_slot(*self.slots.at(chunk, offset));
        }
        touched
    }
}

/// Chunk and offset of the slot of a prefix.
#[inline(always)]
fn address(length: u32, prefix: u64) -> (usize, usize) {
    let zeros = (prefix | 1 << length).trailing_zeros();
    ((length - zeros) as usize, (prefix >> zeros >> 1) as usize)
}
