//! Which segment a hash belongs to.
//!
//! Every segment stands for a prefix, its *depth* is the length of that, and segments split one by
//! one as they fill up: extendible hashing. A table with an entry for every prefix of some length
//! says which segment that is, and how deep:
//!
//! ```text
//! prefix      000 001 010 011 100 101 110 111
//! segment      0   0   2   2   1   3   4   4
//! depth        2   2   2   2   3   3   2   2
//! ```
//!
//! A segment as deep as the table is long can be split only when the table was doubled. So that no
//! insertion pays for that, the next table is made a few entries at a time, ahead of need, and takes
//! over when it is complete.

use super::chunks::Chunks;
use super::origin::Origins;
use super::segment::Segment;
use crate::bits::LINE_BYTES;

/// Most segments: at 900 entries each, more than machines hold.
pub(super) const MOST_SEGMENTS: usize = 1 << MOST_DEPTH;
pub(super) const MOST_DEPTH: u32 = 27;

/// Lengths that the prefix of a segment can have: from none on.
pub(super) const DEPTHS: usize = MOST_DEPTH as usize + 1;

/// How much longer prefixes can be than if all were equally long. With random hashes it is one.
const MOST_UNEVEN: u32 = 2;

/// Entries of the table that one split may have to rewrite, as a power of two. With random hashes
/// there are two.
const MOST_BELOW: u32 = 8;

/// Where the segment of a hash is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Location {
    offset: u32,
    chunk: u8,
    depth: u8,
}

impl Location {
    #[inline(always)]
    pub(super) fn depth(self) -> u32 {
        self.depth.into()
    }

    /// The first hash of the next segment, given one of this.
    pub(super) fn next_hash(self, hash: u64) -> Option<u64> {
        let next = prefix(hash, self.depth()) + 1;
        (next >> self.depth == 0).then(|| next << 1 << (63 - self.depth))
    }
}

/// A segment as it is kept: with its depth, and with what is noted of origins.
pub(super) struct Kept {
    pub(super) segment: Segment,
    pub(super) depth: u32,
    pub(super) origins: Origins,
}

/// All segments.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// Length of the prefixes in the table.
    length: u32,
    /// By prefix, the location of its segment.
    table: Vec<Location>,
    /// The first entries of a table twice as long.
    next: Vec<Location>,
    segments: Chunks<Segment>,
    /// What is noted with the segments, if anything is ever taken back.
    origins: Option<Chunks<Origins>>,
}

impl Directory {
    /// Segments that share all prefixes between them, in the order of those, and a table of prefixes
    /// of this length, none shorter than a depth; with or without notes of origins.
    pub(super) fn new(kept: Vec<Kept>, length: u32, notes: bool) -> Self {
        let mut table = Vec::with_capacity(1 << length);
        let (mut segments, mut origins) = (Chunks::new(), notes.then(Chunks::new));
        for kept in kept {
            let (chunk, offset) = segments.push(kept.segment);
            let at = Location { offset, chunk, depth: kept.depth as u8 };
            table.resize(table.len() + (1 << (length - kept.depth)), at);
            if let Some(notes) = &mut origins {
                notes.push(kept.origins);
            }
        }
        Self { length, table, next: Vec::new(), segments, origins }
    }

    /// Length of the prefixes in the table.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    pub(super) fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Where all segments are, in the order of their prefixes.
    pub(super) fn locations(&self) -> impl Iterator<Item = Location> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = *self.table.get(next)?;
            next += 1 << (self.length - at.depth());
            Some(at)
        })
    }

    /// Bytes on the heap, those of the segments not counted.
    pub(super) fn heap_bytes(&self) -> u64 {
        let notes = self.origins.as_ref().map_or(0, Chunks::heap_bytes);
        let entries = self.table.capacity() + self.next.capacity();
        (entries * size_of::<Location>()) as u64 + self.segments.heap_bytes() + notes
    }

    /// Where the segment of a hash is.
    #[inline(always)]
    pub(super) fn locate(&self, hash: u64) -> Location {
        self.table[prefix(hash, self.length) as usize]
    }

    #[inline(always)]
    pub(super) fn segment(&self, at: Location) -> &Segment {
        self.segments.at(at.chunk, at.offset)
    }

    #[inline(always)]
    pub(super) fn segment_mut(&mut self, at: Location) -> &mut Segment {
        self.segments.at_mut(at.chunk, at.offset)
    }

    /// What is noted with a segment.
    pub(super) fn origins(&self, at: Location) -> Option<&Origins> {
        self.origins.as_ref().map(|notes| notes.at(at.chunk, at.offset))
    }

    /// What is noted with a segment, to change.
    pub(super) fn origins_mut(&mut self, at: Location) -> Option<&mut Origins> {
        self.origins.as_mut().map(|notes| notes.at_mut(at.chunk, at.offset))
    }

    /// Whether a segment can be split now.
    pub(super) fn can_split(&self, at: Location) -> bool {
        at.depth() < self.length
            && self.length - at.depth() <= MOST_BELOW
            && self.segments.len() < MOST_SEGMENTS
    }

    /// Replaces the segment of a hash by its halves, and returns how many cache lines that touched. It
    /// must be one that can be split.
    pub(super) fn split(
        &mut self,
        hash: u64,
        at: Location,
        halves: [Segment; 2],
        origins: [Origins; 2],
    ) -> usize {
        let ([lower, upper], [lower_notes, upper_notes]) = (halves, origins);
        *self.segment_mut(at) = lower;
        let (chunk, offset) = self.segments.push(upper);
        if let Some(notes) = &mut self.origins {
            *notes.at_mut(at.chunk, at.offset) = lower_notes;
            notes.push(upper_notes);
        }
        let depth = at.depth() + 1;
        let lower = Location { depth: depth as u8, ..at };
        let halves = [lower, Location { chunk, offset, ..lower }];
        let parent = prefix(hash, at.depth()) as usize;
        // The two segments, and neighbouring entries in both tables, which may begin anywhere.
        let mut lines = 2;
        for (length, table) in [(self.length, &mut self.table), (self.length + 1, &mut self.next)] {
            for (half, entry) in halves.into_iter().enumerate() {
                let first = (2 * parent + half) << (length - depth);
                let below = first..first + (1 << (length - depth));
                for entry_below in table.iter_mut().take(below.end).skip(below.start) {
                    *entry_below = entry;
                }
            }
            lines += 2 + (size_of::<Location>() << (length - depth)) / LINE_BYTES;
        }
        lines
    }

    /// How many entries the next table has, of those that it will have; `None` if segments are too
    /// uneven for a longer one.
    pub(super) fn next_entries(&self) -> Option<(usize, usize)> {
        let longest = longest_prefix(self.segments.len());
        (self.length < longest).then(|| (self.next.len(), 2 * self.table.len()))
    }

    /// Makes two entries of the next table, which takes over when it is complete.
    pub(super) fn make_entries(&mut self) {
        if self.next.is_empty() {
            self.next.reserve_exact(2 * self.table.len());
        }
        let entry = self.table[self.next.len() / 2];
        self.next.extend([entry, entry]);
        if self.next.len() == 2 * self.table.len() {
            self.table = std::mem::take(&mut self.next);
            self.length += 1;
        }
    }
}

/// Longest prefix that one of so many segments can have.
pub(super) fn longest_prefix(segments: usize) -> u32 {
    (segments.ilog2() + MOST_UNEVEN).min(MOST_DEPTH)
}

/// The first bits of a hash.
#[inline(always)]
pub(super) fn prefix(hash: u64, length: u32) -> u64 {
    // In two steps, so that no bits are not a shift by 64.
    hash >> 1 >> (63 - length)
}
