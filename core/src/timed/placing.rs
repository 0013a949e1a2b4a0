//! Segments take the place of others, and what is known of all of them follows.
//!
//! How many entries of a segment are exiles depends on the order in which they came, and so does the room of
//! its stash. Nothing may be decided by that: a replica that was sent a snapshot has the same entries and
//! other exiles, and has to decide alike for ever. So the number of entries alone says when a segment gets more
//! bins or is split, and where memory is bounded, it counts with a stash as large as such segments have
//! at most, but for chance.

use super::deal::{crowded_at, exiles_mostly};
use super::filter::{TimedWindow, limit};
use super::segment::{HEAD, Info, Segment, Shape};
use super::stash::stash_words;
use crate::bits::sibling;
use crate::filter::Filter;

/// Words that a segment with these numbers counts for.
pub(super) fn reckoned_words(shape: &Shape, info: Info) -> u64 {
    if info.bins == 0 {
        return HEAD as u64;
    }
    info.words(shape, stash_words(shape, info, exiles_mostly(info.bins))) as u64
}

impl TimedWindow {
    /// Puts a segment in the place of that of a hash.
    pub(super) fn replace(&mut self, hash: u64, made: Segment) {
        self.reckoned -= self.reckoned_at(hash);
        self.segments.replace(hash, made.words);
        self.placed(hash);
    }

    /// Puts two halves in the place of the segment of a hash.
    pub(super) fn replace_by_halves(&mut self, hash: u64, halves: [Segment; 2]) {
        self.reckoned -= self.reckoned_at(hash);
        self.segments.split(hash, halves.map(|half| half.words));
        let (depth, _) = self.segments.get(hash);
        self.placed(hash);
        self.placed(sibling(hash, depth));
    }

    /// Puts a segment in the place of that of a hash and its sibling.
    pub(super) fn replace_with_sibling(&mut self, hash: u64, made: Segment) {
        let (depth, _) = self.segments.get(hash);
        self.reckoned -= self.reckoned_at(hash) + self.reckoned_at(sibling(hash, depth));
        self.segments.merge(hash, made.words);
        self.placed(hash);
    }

    /// Takes notice of all segments.
    pub(super) fn place_all(&mut self) {
        self.reckoned = 0;
        let mut next = Some(0);
        while let Some(hash) = next {
            self.placed(hash);
            next = self.segments.next_hash(hash);
        }
    }

    /// Bytes by which is decided where memory is bounded: those on the heap, but for what is chance.
    pub(super) fn reckoned_bytes(&self) -> u64 {
        let segments = size_of::<u64>() as u64 * self.reckoned;
        self.heap_bytes() - self.segments.array_bytes() + segments
    }

    fn placed(&mut self, hash: u64) {
        let (depth, words) = self.segments.get_mut(hash);
        let mut segment = Segment { words };
        let crowded = crowded_at(&self.shape, segment.info());
        let most = limit(&self.parameters, hash, depth).min(crowded.saturating_sub(1));
        segment.set_most_entries(most);
        self.reckoned += self.reckoned_at(hash);
    }

    fn reckoned_at(&self, hash: u64) -> u64 {
        reckoned_words(&self.shape, Segment { words: self.segments.get(hash).1 }.info())
    }
}
