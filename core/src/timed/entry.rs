//! What is known of a stored key, wherever it is stored.
//!
//! A hash begins with the prefix of its segment. What follows, times the number of buckets, is the bucket
//! before the point and the *remainder* after it. Of the remainder the first bits are stored, some entries
//! having more of them than others. As a word that is the remainder from the highest bit on, a one that
//! ends it, and zeros: entries in order of bucket and word are in the order of their hashes.

use alloc::vec::Vec;

/// Buckets of a group: what parameters count.
pub(super) const BUCKETS: u32 = 50;

/// Where a hash lives in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) bin: usize,
    /// Counted from the first of the bin.
    pub(super) bucket: u32,
    /// Counted through the segment.
    pub(super) number: u32,
    /// All that is left of the hash, from the highest bit on.
    pub(super) remainder: u64,
}

/// An entry of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Counted through a segment that has all of them.
    pub(super) bucket: u32,
    /// The remainder, a one, and zeros.
    pub(super) remainder: u64,
    pub(super) tag: u32,
    /// What rides along.
    pub(super) payload: u32,
}

/// The word of an entry of whose remainder nothing is known.
const NOTHING: u64 = 1 << 63;

impl Entry {
    /// Bits of its remainder.
    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        u64::BITS - 1 - self.remainder.trailing_zeros()
    }

    pub(super) fn key(self) -> (u32, u64) {
        (self.bucket, self.remainder)
    }

    /// The entry with at most so many bits of remainder. Keeps the order among entries.
    pub(super) fn cut(self, most: u32) -> Self {
        if self.len() <= most {
            return self;
        }
        let kept = (self.remainder >> 1 >> (63 - most) << 1) | 1;
        Self { remainder: kept << (63 - most), ..self }
    }
}

/// Makes one of entries that are equal but for their tags, the younger one; they are sorted. `age` says
/// how old a tag is.
pub(super) fn unite(entries: &mut Vec<Entry>, age: impl Fn(u32) -> u32) {
    entries.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same && age(next.tag) < age(kept.tag) {
            kept.tag = next.tag;
        }
        same
    });
}

/// The entries of the two halves of a segment with so many buckets: the first bit of the remainder goes
/// into the bucket. An entry without a remainder goes to both places where it may belong.
pub(super) fn halves(entries: &[Entry], buckets: u32) -> [Vec<Entry>; 2] {
    let half = buckets / 2;
    let mut halves = [(); 2].map(|()| Vec::with_capacity(entries.len() / 2 + entries.len() / 8));
    let mut sorted = true;
    for &entry in entries {
        let side = usize::from(entry.bucket >= half);
        let first = 2 * (entry.bucket - side as u32 * half);
        if entry.remainder == NOTHING {
            sorted = false;
            halves[side].extend([first, first + 1].map(|bucket| Entry { bucket, ..entry }));
        } else {
            let bucket = first + (entry.remainder >> 63) as u32;
            halves[side].push(Entry { bucket, remainder: entry.remainder << 1, ..entry });
        }
    }
    if !sorted {
        halves.iter_mut().for_each(|half| half.sort_by_key(|entry| entry.key()));
    }
    halves
}

/// The entries of a segment whose halves have these: the opposite of [`halves`], sorted.
pub(super) fn united(lower: &[Entry], upper: &[Entry], buckets: u32) -> Vec<Entry> {
    let mut all = Vec::with_capacity(lower.len() + upper.len());
    for (side, half) in [(0, lower), (1, upper)] {
        all.extend(half.iter().map(|&entry| {
            let bucket = side * (buckets / 2) + entry.bucket / 2;
            let first = u64::from(entry.bucket % 2) << 63;
            // No entry is so long that the one that ends it would fall out.
            Entry { bucket, remainder: entry.remainder >> 1 | first, ..entry }
        }));
    }
    // Entries of two lengths may have changed their order.
    all.sort_by_key(|entry| entry.key());
    all
}

/// Whether entries are in order, and no two are equal.
pub(super) fn is_sorted(entries: &[Entry]) -> bool {
    entries.is_sorted_by(|before, after| before.key() < after.key())
}

/// A word with so many ones at its lower end.
#[inline(always)]
pub(super) fn ones(count: usize) -> u64 {
    1_u64.unbounded_shl(count as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_ones_as_asked_for() {
        assert_eq!((ones(0), ones(1), ones(64)), (0, 1, u64::MAX));
    }
    use crate::hash::{reduce, remix};

    /// The entry of a hash in a segment of this depth, with so many bits.
    fn entry(hash: u64, depth: u32, groups: usize, len: u32) -> Entry {
        let (bucket, remainder) = reduce(hash << depth, groups as u64 * u64::from(BUCKETS));
        Entry { bucket: bucket as u32, remainder: remainder | 1, tag: 0, payload: 0 }.cut(len)
    }

    #[test]
    fn halves_are_where_their_hashes_are() {
        for i in 0..3_000 {
            let (hash, groups) = (remix(i, 1), 8 << (i % 3));
            let buckets = groups as u32 * BUCKETS;
            for (depth, len) in [(3, 9), (9, 1), (4, 0)] {
                let parent = entry(hash, depth, groups, len);
                assert_eq!(parent.len(), len);
                let side = (hash << depth >> 63) as usize;
                let halves = halves(&[parent], buckets);
                let child = entry(hash, depth + 1, groups, len.saturating_sub(1));
                assert!(halves[side].contains(&child), "{parent:?} {child:?} {halves:?}");
                assert_eq!(halves[0].len() + halves[1].len(), if len == 0 { 2 } else { 1 });
                let back = united(&halves[0], &halves[1], buckets);
                assert!(back.iter().all(|entry| entry.cut(len) == parent), "{back:?}");
            }
            // Half the buckets: the bucket's last bit is the first of the remainder.
            let (fine, coarse) = (entry(hash, 5, groups, 8), entry(hash, 5, groups / 2, 9));
            let first = u64::from(fine.bucket % 2) << 63;
            assert_eq!(coarse.bucket, fine.bucket / 2);
            assert_eq!(coarse.remainder, fine.remainder >> 1 | first);
        }
    }

    #[test]
    fn cutting_keeps_the_order_and_equal_ones_become_one() {
        let mut entries: Vec<Entry> = (0..2_000)
            .map(|i| {
                let tag = (i % 8) as u32;
                Entry {
                    bucket: (remix(i, 1) % 3) as u32,
                    remainder: remix(i, 2) | 1,
                    tag,
                    payload: 0,
                }
                .cut((remix(i, 3) % 9) as u32)
            })
            .collect();
        entries.sort_by_key(|entry| entry.key());
        for most in (0..9).rev() {
            entries.iter_mut().for_each(|entry| *entry = entry.cut(most));
            assert!(entries.is_sorted_by_key(|entry| entry.key()));
            let all = entries.clone();
            unite(&mut entries, |tag| tag);
            assert!(is_sorted(&entries));
            for entry in &entries {
                let youngest = all.iter().filter(|other| other.key() == entry.key());
                assert_eq!(youngest.map(|other| other.tag).min(), Some(entry.tag));
            }
        }
        assert_eq!(entries.len(), 3);
    }
}
