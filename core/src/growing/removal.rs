//! Taking insertions back.
//!
//! Of several entries that match a key, the longest goes. The others are prefixes of it, so whoever
//! it belonged to is still matched by the one that the removed key leaves behind. That is why keys
//! with the same signature need no second structure, as they do in the paper (section 5): each has an
//! entry of its own, and it does not matter whose is removed first.
//!
//! Entries whose remainder is used up have copies elsewhere; see [`origin`](super::origin).

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::field::{matches, used_up};
use super::filter::{Growing, MOST_EQUAL, touch_directory};
use super::origin::{Origin, Origins};
use super::reshape::{Half, bins_for};
use super::segment::{Address, Run, Segment};
use crate::bits::{Isa, prefix, vectorized};
use crate::dictionary::tools::Tools;
use crate::filter::Removing;

/// A segment is made smaller when it would be even with so many entries more, so that removing and
/// inserting in turns does not make it anew each time.
const RESERVE: usize = 24;

impl Removing for Growing {
    /// Only what was inserted may be removed, as often as it was inserted; anything else may take
    /// away what another key needs. Of a key that was inserted eight times or more, nobody knows how
    /// often that was, and it stays. A filter that was not built to remove does nothing.
    fn remove_hash(&mut self, hash: u64) -> bool {
        if !self.parameters.removing {
            return false;
        }
        vectorized!(self.level, |isa| self.remove(isa, hash))
    }
}

/// What can be said of the notes on an origin.
pub(super) enum Noted {
    Times(usize),
    /// The segment that had them knows nothing any more.
    Unknown,
}

/// What became of the note on an entry that is taken back.
enum Struck {
    Note,
    /// There is none: the copy at hand is of an entry taken back before.
    Leftover,
    /// There are so many equals, or notes were lost, that nobody knows.
    Nothing,
}

impl Growing {
    #[inline(always)]
    fn remove<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let (depth, segment) = self.directory.segment(hash);
        let of = self.depths.of(hash, depth);
        let (place, width) = (of.place(hash, depth), of.width());
        if segment.is_blind() {
            return true;
        }
        let Some(longest) = segment.longest_match(isa, width, place) else { return false };
        if longest.field == used_up(width) {
            match self.strike_origin(hash, depth) {
                Struck::Note => {}
                Struck::Leftover => {
                    self.directory.segment_mut(hash).1.remove_used_up(isa, width, place);
                    return false;
                }
                Struck::Nothing => return true,
            }
        } else if longest.equal >= MOST_EQUAL {
            return true;
        }
        let (_, mut segment) = self.directory.segment_mut(hash);
        segment.remove_at(width, place, longest.run, longest.at);
        self.stock.items = self.stock.items.saturating_sub(1);
        let entries = segment.count(width);
        if segment.bins(width) > bins_for(entries + RESERVE) {
            self.drop_leftovers(isa, hash);
            let smaller = self.directory.segment(hash).1.reshaped(isa, width);
            self.directory.replace(hash, smaller);
        }
        self.after_removal(isa, hash, entries);
        true
    }

    /// Strikes out the note on the latest origin above a hash.
    fn strike_origin(&mut self, hash: u64, depth: u32) -> Struck {
        for depth in (0..=depth).rev() {
            let origin = Origin::of(hash, depth);
            match self.noted(origin) {
                Noted::Times(0) => {}
                Noted::Times(times) if times < MOST_EQUAL => {
                    if let Some(mut origins) = self.directory.origins_mut(origin.first_hash()) {
                        origins.strike(origin);
                    }
                    return Struck::Note;
                }
                Noted::Times(_) | Noted::Unknown => return Struck::Nothing,
            }
        }
        Struck::Leftover
    }

    pub(super) fn noted(&self, origin: Origin) -> Noted {
        let hash = origin.first_hash();
        if self.directory.segment(hash).1.is_blind() {
            return Noted::Unknown;
        }
        Noted::Times(self.directory.origins(hash).map_or(0, |origins| origins.count(origin)))
    }

    /// Removes, from the segment of a hash, copies of entries that were taken back elsewhere.
    pub(super) fn drop_leftovers<T: Tools>(&mut self, tools: T, hash: u64) {
        if self.parameters.removing {
            let width = self.parameters.width(self.directory.segment(hash).0);
            self.drop_leftovers_for(tools, width, hash);
        }
    }

    /// The same for a segment whose fields have another width.
    pub(super) fn drop_leftovers_for<T: Tools>(&mut self, tools: T, width: usize, hash: u64) {
        let isa = tools.isa();
        let (depth, segment) = self.directory.segment(hash);
        let prefix = prefix(hash, depth);
        let mut used_up = segment.used_up(width);
        // Equal ones come one after the other, and each needs a note of its own.
        while let Some(&place) = used_up.last() {
            let copies = used_up.iter().rev().take_while(|&&other| other == place).count();
            used_up.truncate(used_up.len() - copies);
            let bucket = Origin::new(prefix, depth, place.block, place.bucket);
            touch_directory(tools, 2 * depth as usize);
            let needed = self.needed(bucket);
            for _ in needed.unwrap_or(copies)..copies {
                self.directory.segment_mut(hash).1.remove_used_up(isa, width, place);
            }
        }
    }

    /// Copies that a bucket owes to entries used up there or above; `None` if nobody knows.
    fn needed(&self, bucket: Origin) -> Option<usize> {
        let mut sum = 0;
        for depth in 0..=bucket.depth {
            let above = Origin { bucket: bucket.bucket >> (bucket.depth - depth), depth };
            match self.noted(above) {
                Noted::Times(times) => sum += times,
                Noted::Unknown => return None,
            }
        }
        Some(sum)
    }

    /// What is to be noted with the halves of the segment of a hash: what was noted before, and what
    /// is new.
    pub(super) fn origins_of_halves(&self, hash: u64, halves: &[Half; 2]) -> [Origins; 2] {
        let Some(before) = self.directory.origins(hash) else { return Default::default() };
        let depth = self.directory.segment(hash).0 + 1;
        let parent = prefix(hash, depth - 1);
        [0, 1].map(|side| {
            let child = parent << 1 | side;
            let kept = before.live().filter(|origin| origin.first_prefix(depth) == child);
            let new = halves[side as usize].used_up.iter();
            let new = new.map(|place| Origin::new(child, depth, place.block, place.bucket));
            kept.chain(new).collect()
        })
    }
}

/// The longest entry of a segment that matches a hash.
struct Longest {
    field: u64,
    at: usize,
    run: Run,
    /// Entries with this field.
    equal: usize,
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    fn longest_match<I: Isa>(&self, isa: I, width: usize, place: Address) -> Option<Longest> {
        let run = self.run(isa, self.block(place.block as usize), place.bucket);
        let fields = || (run.first..run.end).map(|at| (self.field(width, at), at));
        let (field, at) = fields()
            .filter(|&(field, _)| matches(field, place.field))
            .min_by_key(|(field, _)| field.trailing_zeros())?;
        let equal = fields().filter(|&(other, _)| other == field).count();
        Some(Longest { field, at, run, equal })
    }

    /// All entries without a remainder, in order.
    pub(super) fn used_up(&self, width: usize) -> Vec<Address> {
        let is_used_up = |place: &Address| place.field == used_up(width);
        self.entries(width).into_iter().filter(is_used_up).collect()
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Removes an entry without a remainder from its bucket, if there is one.
    pub(super) fn remove_used_up<I: Isa>(&mut self, isa: I, width: usize, place: Address) {
        let run = self.run(isa, self.block(place.block as usize), place.bucket);
        let mut slots = run.first..run.end;
        if let Some(at) = slots.find(|&at| self.field(width, at) == used_up(width)) {
            self.remove_at(width, place, run, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Filter, Membership};
    use crate::growing::GrowingParameters;
    use crate::hash::remix;
    use crate::window::Time;

    /// Segments of one bin and remainders of three bits, so that many are used up.
    fn tiny() -> Growing {
        let parameters = GrowingParameters::with_error(0.3, 1_000, true).unwrap();
        let remainder_bits = parameters.remainder_bits.map(|bits| bits.min(3));
        Growing::new(GrowingParameters { bins: 1, remainder_bits, ..parameters })
    }

    /// Copies in all segments, and how many of them have a note; leftovers dropped on demand.
    fn copies(filter: &mut Growing, drop: bool) -> (usize, usize) {
        let (mut copies, mut needed) = (0, 0);
        for hash in filter.directory.first_hashes().collect::<Vec<_>>() {
            if drop {
                filter.drop_leftovers(crate::bits::Scalar, hash);
            }
            let (depth, segment) = filter.directory.segment(hash);
            let mut used_up = segment.used_up(filter.parameters.width(depth));
            copies += used_up.len();
            used_up.dedup();
            let prefix = prefix(hash, depth);
            let owed = used_up.iter().filter_map(|place| {
                filter.needed(Origin::new(prefix, depth, place.block, place.bucket))
            });
            needed += owed.sum::<usize>();
        }
        (copies, needed)
    }

    /// Old keys leave copies in many segments; taken back, all of those go with time.
    #[test]
    fn copies_of_what_was_taken_back_are_dropped() {
        let mut filter = tiny();
        let hash = |key| remix(key, 1);
        for key in 0..20_000 {
            filter.insert_hash(hash(key), Time::ZERO);
        }
        let (before, needed) = copies(&mut filter, false);
        assert!(before == needed && before > 500, "{before} copies, {needed} needed");
        for key in 0..10_000 {
            assert!(filter.remove_hash(hash(key)), "{key}");
        }
        let (left, needed) = copies(&mut filter, false);
        assert!(left > needed, "{left} copies, {needed} needed");
        assert_eq!(copies(&mut filter, true), (needed, needed));
        assert!((10_000..20_000).all(|key| filter.contains_hash(hash(key), Time::ZERO)));
        for key in 10_000..20_000 {
            assert!(filter.remove_hash(hash(key)), "{key}");
        }
        assert_eq!(copies(&mut filter, true), (0, 0));
        assert_eq!((filter.items(), filter.false_positive_rate()), (0, 0.0));
    }

    /// Whoever removes a key of which only a leftover copy is there is told that there was none.
    #[test]
    fn a_leftover_is_nobodys() {
        let mut filter = tiny();
        for key in 0..5_000 {
            filter.insert_hash(remix(key, 2), Time::ZERO);
        }
        for key in 0..5_000 {
            assert!(filter.remove_hash(remix(key, 2)));
        }
        let found = (0..5_000).filter(|&key| filter.remove_hash(remix(key, 3))).count();
        assert_eq!(found, 0);
    }
}
