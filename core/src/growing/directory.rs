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
use super::segment::Segment;

/// Most segments: at 900 entries each, more than machines hold.
pub(super) const MOST_SEGMENTS: usize = 1 << MOST_DEPTH;
const MOST_DEPTH: u32 = 27;

/// Lengths that the prefix of a segment can have: from none on.
pub(super) const DEPTHS: usize = MOST_DEPTH as usize + 1;

/// Addresses below a prefix that one split may have to rewrite, as a power of two. With random
/// hashes there are two.
const MOST_BELOW: u32 = 8;

/// An address: where a segment lies, or will lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The segment; blind, and never asked, if the address is that of a longer prefix than any
    /// segment there has.
    pub(super) segment: Segment,
    /// Depth of the segment that covers the address, followed by zeros.
    pub(super) depth: u8,
}

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
    entries: Chunks<Entry>,
    /// Segments among the entries.
    segments: usize,
    /// Depth at which lookups start: every prefix of this length has an address.
    usual_depth: u32,
}

impl Directory {
    /// One segment for all.
    pub(super) fn new(segment: Segment) -> Self {
        let mut directory = Self::empty();
        directory.push(Entry { segment, depth: 0 });
        directory.segments = 1;
        directory
    }

    /// No address, to be filled by a reader.
    pub(super) fn empty() -> Self {
        Self { entries: Chunks::new(), segments: 0, usual_depth: 0 }
    }

    /// Appends the next address.
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Counts the segments, after all addresses were appended.
    pub(super) fn count_segments(&mut self, segments: usize) {
        self.segments = segments;
        self.usual_depth = segments.ilog2();
    }

    /// All addresses in the order in which they were made.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(super) fn address_count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn segment_count(&self) -> usize {
        self.segments
    }

    /// All segments with their depths, in the order of their addresses.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&Segment, u32)> {
        let lengths = (0..self.entries.len()).map(|index| usize::BITS - index.leading_zeros());
        let entries = self.entries.iter().zip(lengths);
        entries
            .filter(|(entry, length)| u32::from(entry.depth) >= *length)
            .map(|(entry, _)| (&entry.segment, entry.depth.into()))
    }

    /// Bytes on the heap, those of the segments not counted.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.entries.heap_bytes()
    }

    /// Where the segment of a hash is.
    #[inline(always)]
    pub(super) fn locate(&self, hash: u64) -> Location {
        let mut depth = self.usual_depth;
        loop {
            let (chunk, offset) = address(depth, prefix(hash, depth));
            let found = u32::from(self.entries.at(chunk, offset).depth);
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
        &self.entries.at(at.chunk as usize, at.offset as usize).segment
    }

    #[inline(always)]
    pub(super) fn segment_mut(&mut self, at: Location) -> &mut Segment {
        &mut self.entries.at_mut(at.chunk as usize, at.offset as usize).segment
    }

    /// Whether the segment of a hash can be split now.
    pub(super) fn can_split(&self, hash: u64, at: Location) -> bool {
        let upper = prefix(hash, at.depth) << 1 | 1;
        let (chunk, offset) = address(at.depth + 1, upper);
        let longest = usize::BITS - self.entries.len().leading_zeros();
        at.depth < MOST_DEPTH
            && self.entries.has(chunk, offset)
            && longest - at.depth <= MOST_BELOW
            && self.segments < MOST_SEGMENTS
    }

    /// Replaces a segment by its halves, and returns how many addresses that touched. It must be
    /// one that can be split.
    pub(super) fn split(&mut self, hash: u64, at: Location, halves: [Segment; 2]) -> usize {
        let parent = prefix(hash, at.depth);
        let depth = at.depth + 1;
        let [lower, upper] = halves;
        *self.segment_mut(at) = lower;
        // The addresses below the parent: its own, and for each length a row of longer ones.
        let mut touched = 1;
        self.entries.at_mut(at.chunk as usize, at.offset as usize).depth = depth as u8;
        for length in depth..=MOST_DEPTH {
            let first = (parent << (length - depth)) as usize;
            for offset in first..first + (1 << (length - depth)) {
                if !self.entries.has(length as usize, offset) {
                    break;
                }
                self.entries.at_mut(length as usize, offset).depth = depth as u8;
                touched += 1;
            }
            if !self.entries.has(length as usize, 0) {
                break;
            }
        }
        let (chunk, offset) = address(depth, parent << 1 | 1);
        self.entries.at_mut(chunk, offset).segment = upper;
        self.count_segments(self.segments + 1);
        touched
    }

    /// Makes the next address.
    pub(super) fn make_address(&mut self) {
        let length = usize::BITS - self.entries.len().leading_zeros();
        let sibling = self.entries.len() - (1 << (length - 1));
        let (chunk, offset) = address(length - 1, sibling as u64);
        let depth = self.entries.at(chunk, offset).depth;
        self.push(Entry { segment: Segment::blind(), depth });
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
