//! All segments, and what is noted with them.
//!
//! Segments split one by one as they fill up; [`Extendible`] says which one a hash belongs to.

use alloc::vec::Vec;

use super::origin::Origins;
use super::segment::Segment;
use crate::bits::{Extendible, MOST_WORDS};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::sample::spread;

/// Most segments: at 900 entries each, more than machines hold.
pub(super) const MOST_SEGMENTS: usize = 1 << MOST_DEPTH;
pub(super) const MOST_DEPTH: u32 = 27;

/// Lengths that the prefix of a segment can have: from none on.
pub(super) const DEPTHS: usize = MOST_DEPTH as usize + 1;

/// Most notes that can lie with a segment. There are a few; thousands only if hashes are not random.
pub(super) const MOST_NOTES: usize = MOST_WORDS;

/// How much longer prefixes can be than if all were equally long. With random hashes it is one.
const MOST_UNEVEN: u32 = 2;

/// Entries of the table that one split may have to rewrite, as a power of two. With random hashes
/// there are two.
const MOST_BELOW: u32 = 8;

/// Part of what all prefixes of the directory can hold from which on a longer table is made, and at
/// which it is complete. Segments differ by a tenth or so in how full they are.
const TABLE_FROM: f64 = 0.6;
const TABLE_UNTIL: f64 = 0.8;

/// Pairs of entries made at a time. A segment grows some ten times before it splits.
const PAIRS_AT_ONCE: usize = 2;

/// A segment as it is kept: with its depth, and with what is noted of origins.
pub(super) struct Listed {
    pub(super) segment: Segment,
    pub(super) depth: u32,
    pub(super) origins: Origins,
}

/// All segments.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    segments: Extendible,
    /// What is noted with the segments, if anything is ever taken back.
    origins: Option<Extendible>,
}

impl Directory {
    /// Segments that share all prefixes between them, in the order of those, and a table of prefixes
    /// of this length, none shorter than a depth; with or without notes of origins.
    pub(super) fn new(kept: Vec<Listed>, length: u32, notes: bool) -> Self {
        let (segments, origins): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .map(|kept| {
                ((kept.depth, kept.segment.into_words()), (kept.depth, kept.origins.into_words()))
            })
            .unzip();
        Self {
            segments: Extendible::new(length, segments),
            origins: notes.then(|| Extendible::new(length, origins)),
        }
    }

    /// Length of the prefixes in the table.
    pub(super) fn length(&self) -> u32 {
        self.segments.length()
    }

    pub(super) fn segment_count(&self) -> usize {
        self.segments.arrays()
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.segments.heap_bytes() + self.origins.as_ref().map_or(0, Extendible::heap_bytes)
    }

    /// The depth of the segment of a hash, and the segment.
    #[inline(always)]
    pub(super) fn segment(&self, hash: u64) -> (u32, Segment<&[u64]>) {
        let (depth, words) = self.segments.get(hash);
        (depth, Segment::from_words(words))
    }

    #[inline(always)]
    pub(super) fn segment_mut(&mut self, hash: u64) -> (u32, Segment<&mut [u64]>) {
        let (depth, words) = self.segments.get_mut(hash);
        (depth, Segment::from_words(words))
    }

    /// What is noted with the segment of a hash.
    pub(super) fn origins(&self, hash: u64) -> Option<Origins<&[u64]>> {
        self.origins.as_ref().map(|notes| Origins::from_words(notes.get(hash).1))
    }

    /// What is noted with the segment of a hash, to change.
    pub(super) fn origins_mut(&mut self, hash: u64) -> Option<Origins<&mut [u64]>> {
        self.origins.as_mut().map(|notes| Origins::from_words(notes.get_mut(hash).1))
    }

    /// The first hashes of all segments.
    pub(super) fn first_hashes(&self) -> impl Iterator<Item = u64> {
        self.segments.first_hashes()
    }

    /// The chance that an unseen key is reported, by that of each segment. If there are many, so many are
    /// asked.
    pub(super) fn mean_rate(
        &self,
        asked: usize,
        rate: impl Fn(u64, u32, Segment<&[u64]>) -> f64,
    ) -> f64 {
        let rate = |hash| {
            let (depth, segment) = self.segment(hash);
            (depth, rate(hash, depth, segment))
        };
        if self.segment_count() <= asked {
            let all = self.first_hashes().map(rate);
            return all.map(|(depth, rate)| rate * (-f64::from(depth)).exp2()).sum();
        }
        // Evenly spread hashes meet a segment as often as keys do.
        let some = spread(usize::MAX, asked).map(|hash| rate(hash as u64).1);
        some.sum::<f64>() / asked as f64
    }

    /// Puts another segment in the place of that of a hash.
    pub(super) fn replace(&mut self, hash: u64, segment: Segment) {
        self.segments.replace(hash, segment.into_words());
    }

    /// Whether a segment of this depth can be split now.
    pub(super) fn can_split(&self, depth: u32) -> bool {
        depth < self.length()
            && self.length() - depth <= MOST_BELOW
            && self.segment_count() < MOST_SEGMENTS
    }

    /// Replaces the segment of a hash by its halves, and returns how many cache lines that touched. It
    /// must be one that can be split.
    pub(super) fn split(
        &mut self,
        hash: u64,
        halves: [Segment; 2],
        origins: [Origins; 2],
    ) -> usize {
        if let Some(notes) = &mut self.origins {
            notes.split(hash, origins.map(Origins::into_words));
        }
        self.segments.split(hash, halves.map(Segment::into_words))
    }

    /// Puts one segment in the place of that of a hash and its sibling, and says whether there was
    /// room for what is noted with it.
    pub(super) fn merge(&mut self, hash: u64, segment: Segment, origins: Origins) -> bool {
        if origins.words().len() > MOST_NOTES {
            return false;
        }
        self.segments.merge(hash, segment.into_words());
        if let Some(notes) = &mut self.origins {
            notes.merge(hash, origins.into_words());
        }
        // A longer table is no longer for so few.
        if self.next_entries().is_none() && !self.is_halving() {
            self.forget_next();
        }
        true
    }

    /// Entries of the table.
    pub(super) fn entries(&self) -> usize {
        1 << self.length()
    }

    /// Whether the table is longer than it may be for so many segments.
    pub(super) fn is_too_long_for(&self, segments: usize) -> bool {
        self.length() > longest_prefix(segments)
    }

    /// How many entries a longer table has, of those that it will have; `None` if segments are too
    /// uneven for one.
    pub(super) fn next_entries(&self) -> Option<(usize, usize)> {
        let longest = longest_prefix(self.segment_count());
        let made = if self.is_halving() { 0 } else { self.segments.next_entries() };
        (self.length() < longest).then(|| (made, 2 << self.length()))
    }

    /// Entries of a shorter table that are made.
    pub(super) fn entries_of_half(&self) -> usize {
        if self.is_halving() { self.segments.next_entries() } else { 0 }
    }

    /// Whether the table can be half as long.
    pub(super) fn can_halve(&self) -> bool {
        let length = self.length();
        length > 0 && self.segments.arrays_of_depth(length) == 0
    }

    /// Makes so many pairs of entries of a table half as long, which takes over when it is complete;
    /// nothing if segments need the one there is.
    pub(super) fn make_entries_of_half(&mut self, pairs: usize) {
        let length = self.length();
        for _ in 0..pairs {
            if self.length() < length || !self.can_halve() {
                return;
            }
            self.segments.make_entries_of_half();
            if let Some(notes) = &mut self.origins {
                notes.make_entries_of_half();
            }
        }
    }

    /// Whether the next table is a shorter one.
    fn is_halving(&self) -> bool {
        self.segments.next_length().is_some_and(|next| next < self.length())
    }

    fn forget_next(&mut self) {
        self.segments.forget_next();
        if let Some(notes) = &mut self.origins {
            notes.forget_next();
        }
    }

    /// Makes a few entries of a longer table, so that it is complete when segments have to split that hold
    /// so many of so many items; says how many pairs.
    pub(super) fn make_entries_ahead(&mut self, items: u64, capacity: f64) -> usize {
        for pair in 0..PAIRS_AT_ONCE {
            let Some((made, all)) = self.next_entries() else { return pair };
            let fill = items as f64 / (all as f64 / 2.0 * capacity);
            let ahead = (fill - TABLE_FROM) / (TABLE_UNTIL - TABLE_FROM);
            if made as f64 >= ahead * all as f64 {
                return pair;
            }
            self.make_entries();
        }
        PAIRS_AT_ONCE
    }

    /// Makes two entries of the next table, which takes over when it is complete.
    pub(super) fn make_entries(&mut self) {
        self.segments.make_entries();
        if let Some(notes) = &mut self.origins {
            notes.make_entries();
        }
    }
}

/// Longest prefix that one of so many segments can have.
pub(super) fn longest_prefix(segments: usize) -> u32 {
    (segments.ilog2() + MOST_UNEVEN).min(MOST_DEPTH)
}
