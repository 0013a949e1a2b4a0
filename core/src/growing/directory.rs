//! Which segment a hash belongs to.
//!
//! Every segment stands for a prefix, its *depth* is the length of that, and segments split one by
//! one as they fill up: extendible hashing. A segment's address is its prefix without the zeros at
//! its end, so of the two halves of a segment the lower one takes its place and only the upper one
//! needs a new address. Addresses are made in order, the shorter ones first, and never move:
//!
//! ```text
//! address     -   1   01  11  001 011 101 ...
//! prefixes    0.. 10. 010 110 001 011 101
//! ```
//!
//! So that a segment can split at once when it has to, addresses for the next length are made while
//! the segments fill up. An address without a segment knows the depth of the one that covers it.
//!
//! A lookup starts at the depth that most segments have, and usually ends there.

use super::chunks::Chunks;
use super::origin::Origins;
use super::segment::Segment;

/// Most segments: at 900 entries each, more than machines hold.
pub(super) const MOST_SEGMENTS: usize = 1 << MOST_DEPTH;
const MOST_DEPTH: u32 = 27;

/// Lengths that the prefix of a segment can have: from none on.
pub(super) const DEPTHS: usize = MOST_DEPTH as usize + 1;

/// Addresses below a prefix that one split may have to rewrite, as a power of two. With random
/// hashes there are two.
const MOST_BELOW: u32 = 8;

/// Where the segment of a hash is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Location {
    chunk: u32,
    offset: u32,
    pub(super) depth: u32,
}

/// All segments.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// By address, the depth of the segment that covers it, followed by zeros. Apart from the
    /// segments, so that the search for one stays in the nearest cache.
    depths: Chunks<u8>,
    /// By address, the segment; blind, and never asked, if the address is that of a longer prefix
    /// than any segment there has.
    segments: Chunks<Segment>,
    /// By address, what is noted with the segment, if anything is ever taken back.
    origins: Option<Chunks<Origins>>,
    /// Segments that are asked.
    count: usize,
    /// Depth at which lookups start: every prefix of this length has an address.
    usual_depth: u32,
}

impl Directory {
    /// One segment for all.
    pub(super) fn new(segment: Segment, notes: bool) -> Self {
        let mut directory = Self::empty(notes);
        directory.push(segment, 0, Origins::default());
        directory.count = 1;
        directory
    }

    /// No address, to be filled by a reader; with or without notes of origins.
    pub(super) fn empty(notes: bool) -> Self {
        Self {
            depths: Chunks::new(),
            segments: Chunks::new(),
            origins: notes.then(Chunks::new),
            count: 0,
            usual_depth: 0,
        }
    }

    /// Appends the next address.
    pub(super) fn push(&mut self, segment: Segment, depth: u8, origins: Origins) {
        self.segments.push(segment);
        self.depths.push(depth);
        if let Some(notes) = &mut self.origins {
            notes.push(origins);
        }
    }

    /// Counts the segments, after all addresses were appended.
    pub(super) fn count_segments(&mut self, segments: usize) {
        self.count = segments;
        self.usual_depth = segments.ilog2();
    }

    /// All addresses in the order in which they were made.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Segment, u8)> {
        self.segments.iter().zip(self.depths.iter().copied())
    }

    /// What is noted with them, in the same order.
    pub(super) fn notes(&self) -> impl Iterator<Item = &Origins> {
        self.origins.iter().flat_map(Chunks::iter)
    }

    pub(super) fn address_count(&self) -> usize {
        self.depths.len()
    }

    pub(super) fn segment_count(&self) -> usize {
        self.count
    }

    /// All segments with their depths, in the order of their addresses.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&Segment, u32)> {
        let lengths = (0..self.depths.len()).map(|index| usize::BITS - index.leading_zeros());
        let entries = self.entries().zip(lengths);
        entries
            .filter(|((_, depth), length)| u32::from(*depth) >= *length)
            .map(|((segment, depth), _)| (segment, depth.into()))
    }

    /// Bytes on the heap, those of the segments not counted.
    pub(super) fn heap_bytes(&self) -> u64 {
        let notes = self.origins.as_ref().map_or(0, Chunks::heap_bytes);
        self.depths.heap_bytes() + self.segments.heap_bytes() + notes
    }

    /// Where the segment of a hash is.
    #[inline(always)]
    pub(super) fn locate(&self, hash: u64) -> Location {
        // One step always: the usual depth and the next share the segments between them, and which
        // it is cannot be guessed.
        let (chunk, offset) = address(self.usual_depth, prefix(hash, self.usual_depth));
        let found = u32::from(*self.depths.at(chunk, offset));
        let mut depth = found.min(self.usual_depth + 1);
        loop {
            let (chunk, offset) = address(depth, prefix(hash, depth));
            let found = u32::from(*self.depths.at(chunk, offset));
            if found == depth {
                return Location { chunk: chunk as u32, offset: offset as u32, depth };
            }
            // A longer prefix has an address, because its sibling has a segment; but not more than
            // one bit longer is certain. A shorter one is that of the segment itself.
            depth = found.min(depth + 1);
        }
    }

    #[inline(always)]
    pub(super) fn segment(&self, at: Location) -> &Segment {
        self.segments.at(at.chunk as usize, at.offset as usize)
    }

    #[inline(always)]
    pub(super) fn segment_mut(&mut self, at: Location) -> &mut Segment {
        self.segments.at_mut(at.chunk as usize, at.offset as usize)
    }

    /// What is noted with a segment.
    pub(super) fn origins(&self, at: Location) -> Option<&Origins> {
        self.origins.as_ref().map(|notes| notes.at(at.chunk as usize, at.offset as usize))
    }

    /// What is noted with a segment, to change.
    pub(super) fn origins_mut(&mut self, at: Location) -> Option<&mut Origins> {
        self.origins.as_mut().map(|notes| notes.at_mut(at.chunk as usize, at.offset as usize))
    }

    /// Whether the segment of a hash can be split now.
    pub(super) fn can_split(&self, hash: u64, at: Location) -> bool {
        let upper = prefix(hash, at.depth) << 1 | 1;
        let (chunk, offset) = address(at.depth + 1, upper);
        let longest = usize::BITS - self.depths.len().leading_zeros();
        at.depth < MOST_DEPTH
            && self.depths.has(chunk, offset)
            && longest - at.depth <= MOST_BELOW
            && self.count < MOST_SEGMENTS
    }

    /// Replaces a segment by its halves, and returns how many addresses that touched. It must be
    /// one that can be split.
    pub(super) fn split(
        &mut self,
        hash: u64,
        at: Location,
        halves: [Segment; 2],
        origins: [Origins; 2],
    ) -> usize {
        let parent = prefix(hash, at.depth);
        let depth = at.depth + 1;
        let ([lower, upper], [lower_notes, upper_notes]) = (halves, origins);
        *self.segment_mut(at) = lower;
        // The addresses below the parent: its own, and for each length a row of longer ones.
        let mut touched = 1;
        *self.depths.at_mut(at.chunk as usize, at.offset as usize) = depth as u8;
        for length in depth..=MOST_DEPTH {
            let first = (parent << (length - depth)) as usize;
            for offset in first..first + (1 << (length - depth)) {
                if !self.depths.has(length as usize, offset) {
                    break;
                }
                *self.depths.at_mut(length as usize, offset) = depth as u8;
                touched += 1;
            }
            if !self.depths.has(length as usize, 0) {
                break;
            }
        }
        let (chunk, offset) = address(depth, parent << 1 | 1);
        *self.segments.at_mut(chunk, offset) = upper;
        if let Some(notes) = &mut self.origins {
            *notes.at_mut(at.chunk as usize, at.offset as usize) = lower_notes;
            *notes.at_mut(chunk, offset) = upper_notes;
        }
        self.count_segments(self.count + 1);
        touched
    }

    /// Makes the next address.
    pub(super) fn make_address(&mut self) {
        let length = usize::BITS - self.depths.len().leading_zeros();
        let sibling = self.depths.len() - (1 << (length - 1));
        let (chunk, offset) = address(length - 1, sibling as u64);
        let depth = *self.depths.at(chunk, offset);
        self.push(Segment::blind(), depth, Origins::default());
    }
}

/// The first bits of a hash.
#[inline(always)]
pub(super) fn prefix(hash: u64, length: u32) -> u64 {
    // In two steps, so that no bits are not a shift by 64.
    hash >> 1 >> (63 - length)
}

/// Chunk and offset of the address of a prefix.
#[inline(always)]
pub(super) fn address(length: u32, prefix: u64) -> (usize, usize) {
    let zeros = (prefix | 1 << length).trailing_zeros();
    ((length - zeros) as usize, (prefix >> zeros >> 1) as usize)
}
