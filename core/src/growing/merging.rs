//! Two segments made one again, when most of what they held was taken back.
//!
//! Merging undoes a split: the bit of the address that told both halves apart becomes the first bit of
//! every remainder again. An entry that used up its remainder *in* that split gets it back, and its
//! note goes; one that was used up before has a copy in both halves, and keeps one of the two.
//!
//! A pair becomes one segment when that would be half as large as one that splits, so that inserting
//! and removing in turns does not split and merge each time. It is looked at when every sixteenth
//! entry goes, as is another at random, and the table of prefixes is made shorter a few entries at a time: no removal does
//! more than a handful of segments' work, and memory follows what is left.

use alloc::vec::Vec;

use super::directory::Directory;
use super::field::{shortened, used_up};
use super::filter::Growing;
use super::origin::{Origin, Origins};
use super::removal::Noted;
use super::segment::{Address, BLOCKS, BUCKETS, SLOTS, Segment};
use crate::bits::{Isa, prefix, sibling};
use crate::hash::remix;

/// A segment is looked at when its entries have become a multiple of so many, and any one when all
/// have: copies of what was taken back elsewhere stay in segments that nobody removes from.
const EVERY: usize = 16;

/// Part of what all prefixes of the directory can hold below which a shorter table is made. A longer
/// one is made from three times as much on.
const HALVE_BELOW: f64 = 0.2;

/// Pairs of entries of the shorter table made at a time.
const PAIRS_AT_ONCE: usize = 16;

impl Growing {
    /// After a removal that left so many entries in the segment of a hash: merges what has become
    /// small, and gives back what the table of prefixes has too much.
    #[inline(always)]
    pub(super) fn after_removal<I: Isa>(&mut self, isa: I, hash: u64, entries: usize) {
        if entries.is_multiple_of(EVERY) {
            self.shrink(isa, hash);
        }
        if self.stock.items.is_multiple_of(EVERY as u64) {
            self.shrink(isa, remix(self.stock.items, 0));
        }
        // Whatever is left are copies of what was taken back, in what segments there still are.
        if self.stock.is_nothing() {
            *self = Self { level: self.level, ..Self::new(self.parameters) };
        }
    }

    #[inline(never)]
    fn shrink<I: Isa>(&mut self, isa: I, hash: u64) {
        while self.directory.can_merge(hash) && self.merge(isa, hash) {}
        let fill = self.stock.items as f64
            / (self.directory.entries() as f64 * self.parameters.capacity());
        if fill < HALVE_BELOW {
            self.directory.make_entries_of_half(PAIRS_AT_ONCE);
        }
    }

    /// Merges the segment of a hash with its sibling if both are small; says whether it did.
    fn merge<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let depth = self.directory.segment(hash).0;
        let (width, parent_width) =
            (self.parameters.width(depth), self.parameters.width(depth - 1));
        let parent = prefix(hash, depth - 1);
        let halves = [parent << 1, parent << 1 | 1].map(|prefix| prefix << 1 << (63 - depth));
        let most = SLOTS * self.parameters.bins_of(parent, depth - 1) / 2;
        let mut entries = 0;
        // That of the hash first: it has just lost an entry, the other need not have.
        for half in [hash, sibling(hash, depth)] {
            self.drop_leftovers(isa, half);
            entries += self.directory.segment(half).1.count(width);
            if entries > most {
                return false;
            }
        }
        let mut merged = Vec::with_capacity(entries);
        for (side, half) in halves.into_iter().enumerate() {
            let segment = self.directory.segment(half).1;
            let whole = segment.entries(width).into_iter().filter(|it| it.field != used_up(width));
            let parents = whole.map(|entry| in_parent(side, entry, width, parent_width));
            merged.extend(parents);
        }
        let Some(used_up) = self.used_up_of_both(halves, depth, width, parent_width) else {
            return false;
        };
        merged.extend(used_up);
        merged.sort_unstable_by_key(|entry| (entry.block, entry.bucket, entry.field));
        let segment = Segment::of_entries(parent_width, &merged).reshaped(isa, parent_width);
        let notes = halves.map(|half| {
            let notes = self.directory.origins(half);
            let above = |notes: Origins<&[u64]>| notes.live().collect::<Vec<_>>();
            notes.map_or(Vec::new(), above)
        });
        let notes = notes.concat().into_iter().filter(|origin| origin.depth < depth).collect();
        self.directory.merge(hash, segment, notes)
    }

    /// Entries of the parent for those of both halves that have no remainder; `None` if the copies in
    /// both do not tell the same, as after entries were lost.
    fn used_up_of_both(
        &self,
        halves: [u64; 2],
        depth: u32,
        width: usize,
        parent_width: usize,
    ) -> Option<Vec<Address>> {
        // By bucket of the parent: what came from above, seen from each of its two children.
        let mut from_above: Vec<(Address, [usize; 2])> = Vec::new();
        let mut merged = Vec::new();
        for (side, half) in halves.into_iter().enumerate() {
            let all = self.directory.segment(half).1.used_up(width);
            for copies in all.chunk_by(|one, other| one == other) {
                let place = copies[0];
                let origin = Origin::new(prefix(half, depth), depth, place.block, place.bucket);
                let Noted::Times(own) = self.noted(origin) else { return None };
                let above = copies.len().checked_sub(own)?;
                let entry = in_parent(side, place, width, parent_width);
                merged.extend(core::iter::repeat_n(entry, own));
                let which = number(side, place) % 2;
                let entry = Address { field: used_up(parent_width), ..entry };
                match from_above.iter_mut().find(|(other, _)| *other == entry) {
                    Some((_, seen)) => seen[which] = above,
                    None => {
                        let mut seen = [0; 2];
                        seen[which] = above;
                        from_above.push((entry, seen));
                    }
                }
            }
        }
        for (entry, [lower, upper]) in from_above {
            if lower != upper {
                return None;
            }
            merged.extend(core::iter::repeat_n(entry, lower));
        }
        Some(merged)
    }
}

impl Directory {
    /// Whether the segment of a hash has a sibling that is not split, and neither knows nothing any
    /// more; not while the table is too long for one segment less.
    fn can_merge(&self, hash: u64) -> bool {
        let (depth, segment) = self.segment(hash);
        if depth == 0 || segment.is_blind() || self.is_too_long_for(self.segment_count() - 1) {
            return false;
        }
        let (other_depth, other) = self.segment(sibling(hash, depth));
        other_depth == depth && !other.is_blind()
    }
}

/// The number of a bucket of a child among those of both.
fn number(side: usize, place: Address) -> usize {
    (side * BLOCKS + place.block as usize) * BUCKETS as usize + place.bucket as usize
}

/// An entry of a child as one of its parent: the last bit of its bucket becomes the first of its
/// remainder, of which the last bits may be too many.
pub(super) fn in_parent(side: usize, entry: Address, width: usize, parent_width: usize) -> Address {
    let number = number(side, entry);
    let field = (number as u64 % 2) << width | entry.field;
    let (block, bucket) = (number / 2 / BUCKETS as usize, number / 2 % BUCKETS as usize);
    Address {
        block: block as u32,
        bucket: bucket as u32,
        field: shortened(field, (width + 1 - parent_width) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place in a child is that in its parent, doubled; so this is the way back.
    #[test]
    fn entries_come_back_where_they_would_have_been() {
        for (bits, parent_bits) in [(9, 10), (9, 9), (9, 3), (3, 4), (1, 2), (1, 1)] {
            for key in 0..2_000 {
                let hash = remix(key, 1);
                for depth in [1, 2, 9, 27] {
                    let child = Address::of(hash, depth, bits);
                    let side = prefix(hash, depth) as usize % 2;
                    let parent = Address::of(hash, depth - 1, parent_bits);
                    let back = in_parent(side, child, bits as usize + 1, parent_bits as usize + 1);
                    assert_eq!(back, parent);
                }
            }
        }
    }
}
