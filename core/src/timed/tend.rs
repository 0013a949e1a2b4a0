//! Looking after segments: sweeping, splitting, merging, making them anew.
//!
//! Whoever inserts into a segment sweeps it first if it is late. Segments that nobody inserts into are
//! looked after by a hand that goes round: one segment every fourth insertion, or with every one while it
//! finds something to do, or as often as [`expire`](crate::raw::Filter::expire) is told. It sweeps, merges
//! siblings that would do as one, and drops bits of remainders that are no longer needed. So no operation
//! touches more than its own segment and the two under the hand, with what is made of them.

use super::clock::{REGION_BITS, region_of};
use super::deal::{
    MORE_EXILES, bins_after_sweep, is_crowded, is_used_enough, more_bins, more_exiles,
};
use super::filter::{TimedWindow, limit};
use super::segment::{Info, Segment};
use super::stash::{MOST_STASH, stash_word, stash_words};
use crate::bits::{Isa, Scalar, prefix, sibling};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Longest prefix of a segment: more segments than machines hold.
pub(super) const MOST_DEPTH: u32 = 27;

/// How much longer prefixes can be than if all were equally long. With random hashes it is one.
const MOST_UNEVEN: u32 = 2;

/// Entries of the table that one split may have to rewrite, as a power of two. With random hashes there
/// are two.
const MOST_BELOW: u32 = 8;

/// Siblings are merged if they have less than this part of what their parent may have.
const MERGE_BELOW: (usize, usize) = (5, 8);

/// Tenths of what all prefixes of the table can hold from which on a longer table is made, and at which
/// it is complete.
const TABLE_FROM: u64 = 6;
const TABLE_UNTIL: u64 = 8;

impl TimedWindow {
    /// Looks after one segment; `false` if all are as they should be.
    #[inline(always)]
    pub(super) fn tend<I: Isa>(&mut self, isa: I) -> bool {
        if self.is_tidy() && !self.lacks_entries() {
            return false;
        }
        self.tend_next(isa);
        true
    }

    /// Whether nothing is left to do until time goes on or keys come.
    #[inline(always)]
    pub(super) fn is_tidy(&self) -> bool {
        self.quiet as usize >= self.segments.arrays()
    }

    #[inline(never)]
    pub(super) fn tend_next<I: Isa>(&mut self, isa: I) {
        if self.lacks_entries() {
            self.segments.make_entries();
        }
        if self.is_tidy() {
            return;
        }
        let hash = self.hand;
        let depth = self.segments.get(hash).0;
        let worked = self.shorten_table() | self.tend_segment(isa, hash);
        // After a merge it is the next after both.
        let depth = depth.min(self.segments.get(hash).0);
        let next = prefix(hash, depth) + 1;
        self.hand = if next >> depth == 0 { next << (64 - depth) } else { 0 };
        self.quiet = if worked { 0 } else { self.quiet + 1 };
        self.round = self.round.saturating_add(1);
    }

    /// Whether the table will soon be too short.
    #[inline(always)]
    pub(super) fn lacks_entries(&self) -> bool {
        let length = self.segments.length();
        let room = u64::from(self.parameters.entries) << length;
        if 10 * self.items < TABLE_FROM * room || length >= longest_prefix(self.segments.arrays()) {
            return false;
        }
        let made = match self.segments.next_length() {
            Some(next) if next > length => self.segments.next_entries() as u64,
            _ => 0,
        };
        // In the time from the first of these populations to the second, 2^length pairs are made.
        let ahead = 10 * self.items - TABLE_FROM * room;
        made * (TABLE_UNTIL - TABLE_FROM) * u64::from(self.parameters.entries) <= 2 * ahead
    }

    /// Makes some entries of a shorter table if no segment needs the last bits of this one.
    fn shorten_table(&mut self) -> bool {
        let length = self.segments.length();
        let unneeded = length > REGION_BITS
            && (length - 1..=length).all(|depth| self.segments.arrays_of_depth(depth) == 0);
        // Twice as many as a longer one would get, since it has half as many.
        for _ in 0..2 {
            if unneeded && self.segments.length() == length {
                self.segments.make_entries_of_half();
            }
        }
        unneeded
    }

    /// Sweeps a segment, merges it with its sibling, or makes it anew; whether there was anything to do.
    fn tend_segment<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let swept = self.sweep_if_late(isa, hash);
        if self.should_merge(hash) {
            let (depth, _) = self.segments.get(hash);
            self.sweep_if_late(isa, sibling(hash, depth));
            self.merge(isa, hash);
            return true;
        }
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let info = segment.info();
        let needed = self.needed_bits(hash, depth);
        let too_long = info.bins > 0 && info.remainder_bits > needed;
        if too_long || info.mixed && segment.all_long(isa, &self.shape) {
            self.remake(isa, hash);
            return true;
        }
        swept
    }

    /// Whether the segment of a hash and its sibling would do as one.
    fn should_merge(&self, hash: u64) -> bool {
        let (depth, words) = self.segments.get(hash);
        let (segments, length) = (self.segments.arrays(), self.segments.length());
        // A table that is much too long is shortened first.
        if depth <= REGION_BITS || length > longest_prefix(segments - 1) + 1 {
            return false;
        }
        let (other_depth, others) = self.segments.get(sibling(hash, depth));
        if other_depth != depth {
            return false;
        }
        let entries = [words, others].map(|words| Segment { words }.info().count);
        let most = limit(&self.parameters, hash, depth - 1);
        entries.iter().sum::<usize>() * MERGE_BELOW.1 < most * MERGE_BELOW.0
    }

    fn sweep_if_late<I: Isa>(&mut self, isa: I, hash: u64) -> bool {
        let late = self.segments.get(hash).1[0] != self.regions[region_of(hash)].generation;
        if late {
            self.sweep(isa, hash);
        }
        late
    }

    /// Removes what is too old from the segment of a hash.
    #[inline(never)]
    pub(super) fn sweep<I: Isa>(&mut self, isa: I, hash: u64) {
        isa.vectorize(
            #[inline(always)]
            || {
                self.work += 1;
                let generation = self.regions[region_of(hash)].generation;
                let shape = self.shape;
                let sight = self.sight(hash, generation);
                let mut segment = Segment { words: self.segments.get_mut(hash).1 };
                let before = segment.info();
                let left = match sight.oldest {
                    Some(oldest) => segment.sweep(isa, &shape, oldest),
                    None => 0,
                };
                if left == 0 {
                    self.replace(hash, Segment::empty(generation, sight.blind));
                } else {
                    segment.set_generation(generation);
                    let info = segment.info();
                    segment.set_info(Info { blind: sight.blind, ..info });
                }
                self.replaced(hash, before.count, left);
                if sight.behind {
                    self.take_part(hash, &sight);
                }
                let segment = Segment { words: self.segments.get(hash).1 };
                let (info, exiles) = (segment.info(), segment.exiles());
                let most = segment.most_exiles();
                if !is_used_enough(&shape, info) {
                    self.deal(isa, hash, bins_after_sweep(&shape, info.count));
                } else if most > exiles + 2 * MORE_EXILES {
                    self.set_most_exiles(hash, exiles + MORE_EXILES);
                }
            },
        );
    }

    /// Deals the entries of the segment of a hash to so many bins, or more if they need more.
    #[inline(always)]
    pub(super) fn deal<I: Isa>(&mut self, isa: I, hash: u64, bins: usize) {
        let segment = Segment { words: self.segments.get(hash).1 };
        match segment.with_bins(isa, &self.shape, bins) {
            Some(made) => self.replace(hash, made),
            None => self.give_up(hash),
        }
    }

    /// This many entries are where that many were.
    pub(super) fn replaced(&mut self, hash: u64, before: usize, after: usize) {
        self.items = self.items + after as u64 - before as u64;
        self.regions[region_of(hash)].population.replace(before as u64, after as u64);
    }

    /// Makes room in the segment of a hash.
    #[inline(never)]
    pub(super) fn make_room(&mut self, hash: u64) {
        self.work += 1;
        let (depth, words) = self.segments.get(hash);
        let segment = Segment { words };
        let (info, generation) = (segment.info(), segment.generation());
        if info.bins == 0 {
            let needed = self.needed_bits(hash, depth);
            let made = Segment::with_room(&self.shape, needed, generation, info.blind);
            self.replace(hash, made);
        } else {
            let most = segment.most_exiles();
            if !self.set_most_exiles(hash, more_exiles(&self.shape, most)) {
                self.give_up(hash);
            }
        }
    }

    /// Splits the segment of a hash if it has more entries than it should, or deals them to more bins if they
    /// are many for those it has. Only their number decides: how many are exiles is chance.
    #[cold]
    #[inline(never)]
    pub(super) fn make_larger<I: Isa>(&mut self, isa: I, hash: u64) {
        self.split_if_large(isa, hash);
        let info = Segment { words: self.segments.get(hash).1 }.info();
        if is_crowded(&self.shape, info) {
            self.work += 1;
            isa.vectorize(
                #[inline(always)]
                || self.deal(isa, hash, more_bins(info)),
            );
            self.relieve(isa, hash);
        }
    }

    /// Makes the stash of the segment of a hash as large as so many exiles need, which are not fewer than there
    /// are; `false` if that is too large.
    #[inline(always)]
    fn set_most_exiles(&mut self, hash: u64, most: usize) -> bool {
        let shape = self.shape;
        let segment = Segment { words: self.segments.get(hash).1 };
        let (info, stash) = (segment.info(), stash_words(&shape, segment.info(), most));
        if stash > MOST_STASH {
            return false;
        }
        let exiles = segment.exiles() as u64;
        self.segments.resize(hash, info.words(&shape, stash));
        let mut segment = Segment { words: self.segments.get_mut(hash).1 };
        let most_entries = segment.most_entries();
        segment.words[3] = stash_word(&shape, info, stash) | exiles;
        segment.set_most_entries(most_entries);
        true
    }

    /// Forgets all entries of the segment of a hash, which reports everything until they would have been
    /// forgotten.
    pub(super) fn give_up(&mut self, hash: u64) {
        let entries = self.take_entries(Scalar, hash).len();
        self.lose(hash, entries);
    }

    /// The same where so many entries count no longer.
    pub(super) fn lose(&mut self, hash: u64, entries: usize) {
        self.lost += entries as u64;
        let generation = self.regions[region_of(hash)].generation;
        let blind = Segment::empty(generation, self.shape.ages + 1);
        self.replace(hash, blind);
        self.replaced(hash, entries, 0);
    }

    /// Counts the chances of those entries of a segment that are not too old.
    pub(super) fn weigh_living(&mut self, hash: u64, depth: u32) {
        let shape = self.shape;
        let sight = self.sight(hash, self.regions[region_of(hash)].generation);
        let mut entries = Segment { words: self.segments.get(hash).1 }.entries(Scalar, &shape);
        entries.retain_mut(|entry| {
            let due = sight.tag(&shape, entry.tag);
            entry.tag = due.unwrap_or(entry.tag);
            due.is_some()
        });
        self.weigh(hash, depth, &entries);
    }

    /// Bits of remainder that a new entry gets in a segment of this depth.
    pub(super) fn needed_bits(&self, hash: u64, depth: u32) -> u32 {
        self.shape.needed_bits(self.regions[region_of(hash)].population.bits(), self.short, depth)
    }

    /// Whether a segment of this depth can be split now. Where memory is short, it is not: of a
    /// given number of segments, each can become only so large.
    pub(super) fn can_split(&self, depth: u32) -> bool {
        let length = self.segments.length();
        self.short == 0 && depth < length && length - depth <= MOST_BELOW
    }

    /// The part of all hashes that is reported whatever it is.
    pub(super) fn blind_share(&self) -> f64 {
        if self.lost == 0 {
            return 0.0;
        }
        let shares = self.segments.first_hashes().map(|hash| {
            let (depth, _) = self.segments.get(hash);
            let sight = self.sight(hash, self.regions[region_of(hash)].generation);
            f64::from(u8::from(sight.blind > 0)) * (-f64::from(depth)).exp2()
        });
        shares.sum()
    }
}

/// Longest prefix that one of so many segments can have.
pub(super) fn longest_prefix(segments: usize) -> u32 {
    (segments.max(1).ilog2() + MOST_UNEVEN).min(MOST_DEPTH)
}
