//! Where entries whose remainder is used up came from, so that all their copies can be taken back.
//!
//! When a segment is halved, an entry without a remainder goes to both halves, because nobody knows
//! to which it belongs; after k halvings it has 2^k copies. A filter that takes insertions back has
//! to remove them all, long after the entry came, and a copy does not tell how many others there
//! are. So the bucket in which an entry used up its remainder is written down: its *origin*. Every
//! copy lies below it. The paper (section 5) stores that as a length with every key; here one entry
//! in 2^r has such a note, r being the length of remainders, and others pay nothing.
//!
//! A note lies with the segment that holds the first bucket below the origin, as the paper's mark of
//! deletion does, so it is found without knowing more than the origin. Taking an entry back strikes
//! out its note and removes the copy at hand. Whenever a segment is made anew, copies for which no
//! note is left are dropped: until then they are false positives that were promised anyway.
//!
//! Worked example: an entry is used up in bucket 5 of a filter of one segment. After two halvings its
//! copies are in buckets 20 to 23 of what are four segments now, and its note with that of bucket 20.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use super::address::{BLOCKS, BUCKETS};
use crate::hash::reduce;

/// A bucket of a segment of some depth, counted through all segments of that depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) bucket: u64,
    pub(super) depth: u32,
}

/// Buckets of a segment.
const SEGMENT_BUCKETS: u64 = BLOCKS as u64 * BUCKETS as u64;

const LIVE: u64 = 1;
const DEPTH_BITS: u32 = 5;

impl Origin {
    /// A bucket of the segment with a prefix of `depth` bits.
    pub(super) fn new(prefix: u64, depth: u32, block: u32, bucket: u32) -> Self {
        let block = prefix * BLOCKS as u64 + u64::from(block);
        Self { bucket: block * u64::from(BUCKETS) + u64::from(bucket), depth }
    }

    /// The bucket of a hash at this depth.
    pub(super) fn of(hash: u64, depth: u32) -> Self {
        Self { bucket: reduce(hash, SEGMENT_BUCKETS << depth).0, depth }
    }

    /// The lowest hash below it.
    pub(super) fn first_hash(self) -> u64 {
        let below =
            (u128::from(self.bucket) << 64).div_ceil(u128::from(SEGMENT_BUCKETS) << self.depth);
        below as u64
    }

    /// The prefix of the segment of so many bits that holds the first bucket below it.
    pub(super) fn first_prefix(self, depth: u32) -> u64 {
        (self.bucket << (depth - self.depth)) / SEGMENT_BUCKETS
    }

    fn word(self) -> u64 {
        self.bucket << (DEPTH_BITS + 1) | u64::from(self.depth) << 1 | LIVE
    }

    /// Struck out or not.
    fn read(word: u64) -> Self {
        let depth = (word >> 1) as u32 % (1 << DEPTH_BITS);
        Self { bucket: word >> (DEPTH_BITS + 1), depth }
    }
}

/// The notes that lie with a segment, in no order; some may be struck out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Origins<W = Box<[u64]>> {
    words: W,
}

impl Origins {
    pub(super) fn into_words(self) -> Box<[u64]> {
        self.words
    }
}

impl<W: Deref<Target = [u64]>> Origins<W> {
    pub(super) fn from_words(words: W) -> Self {
        Self { words }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Those that are not struck out.
    pub(super) fn live(&self) -> impl Iterator<Item = Origin> {
        self.words.iter().filter(|&word| word & LIVE != 0).map(|&word| Origin::read(word))
    }

    /// How often an origin is noted.
    pub(super) fn count(&self, origin: Origin) -> usize {
        self.words.iter().filter(|&&word| word == origin.word()).count()
    }

    /// Whether all may lie with the segment of this prefix.
    pub(super) fn belong_to(&self, prefix: u64, depth: u32) -> bool {
        self.words.iter().map(|&word| Origin::read(word)).all(|origin| {
            origin.depth <= depth
                && origin.bucket < SEGMENT_BUCKETS << origin.depth
                && origin.first_prefix(depth) == prefix
        })
    }
}

impl<W: DerefMut<Target = [u64]>> Origins<W> {
    /// Strikes out one note.
    pub(super) fn strike(&mut self, origin: Origin) {
        if let Some(word) = self.words.iter_mut().find(|word| **word == origin.word()) {
            *word &= !LIVE;
        }
    }
}

impl FromIterator<Origin> for Origins {
    fn from_iter<I: IntoIterator<Item = Origin>>(origins: I) -> Self {
        Self { words: origins.into_iter().map(Origin::word).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growing::address::Address;
    use crate::hash::remix;

    #[test]
    fn origins_are_found_again() {
        for i in 0..2_000 {
            let hash = remix(i, 1);
            for depth in [0, 1, 9, 27] {
                let place = Address::of(hash, depth, 9);
                let prefix = crate::bits::prefix(hash, depth);
                let origin = Origin::of(hash, depth);
                assert_eq!(origin, Origin::new(prefix, depth, place.block, place.bucket));
                let first = origin.first_hash();
                assert!(first <= hash);
                assert_eq!(Origin::of(first, depth), origin);
                assert_eq!(Origin::of(first, 27).bucket, origin.bucket << (27 - depth));
                assert!(first == 0 || Origin::of(first - 1, depth) != origin);
                assert_eq!(origin.first_prefix(27), crate::bits::prefix(first, 27));
                let noted: Origins = [origin].into_iter().collect();
                assert!(noted.live().eq([origin]) && noted.belong_to(prefix, depth));
            }
        }
    }

    #[test]
    fn notes_are_struck_out_one_by_one() {
        let (one, other) = (Origin { bucket: 5, depth: 3 }, Origin { bucket: 5, depth: 4 });
        let mut notes: Origins = [one, other, one].into_iter().collect();
        notes.strike(one);
        assert_eq!((notes.count(one), notes.count(other)), (1, 1));
        notes.strike(one);
        notes.strike(one);
        assert!(notes.live().eq([other]));
    }
}
