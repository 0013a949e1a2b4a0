//! Two counters made one.
//!
//! Segments of the two cut the hashes at different prefixes. So for every segment of the one, the entries of
//! the other are dealt out or put together until they have its prefix; then counts of one fingerprint and
//! generation are added up.

use alloc::vec::Vec;

use super::super::entry::{Entry, halves, united};
use super::super::filter::TimedWindow;
use super::super::segment::Segment;
use super::digits::{add_up, counted, entries_of};
use crate::bits::{Isa, Scalar, prefix};
use crate::window::Time;

impl TimedWindow {
    /// Adds all that another counter counted, which is built alike.
    pub(super) fn merge_counts<I: Isa>(&mut self, isa: I, other: &Self) {
        let mut other = other.clone();
        let now = self.clock.max(other.clock).map_or(Time::ZERO, Time::from_millis);
        self.advance(now);
        other.advance(now);
        let late: Vec<u64> = other.segments.first_hashes().collect();
        late.into_iter().for_each(|hash| other.sweep(isa, hash));
        let mut hash = 0;
        loop {
            self.sweep(isa, hash);
            let (depth, _) = self.segments.get(hash);
            let (theirs, blind) = other.entries_at(hash, depth);
            self.merge_segment(hash, &theirs, blind);
            // It may have become several.
            let next = prefix(hash, depth) + 1;
            self.split_all(isa, hash, depth);
            if next >> depth != 0 {
                break;
            }
            hash = next << (u64::BITS - depth);
        }
        self.lost += other.lost;
        self.quiet = 0;
    }

    /// The entries of all hashes with a prefix, as if they were in a segment of it, and for how many
    /// generations it would report everything.
    fn entries_at(&self, hash: u64, depth: u32) -> (Vec<Entry>, u32) {
        let (found, words) = self.segments.get(hash);
        if found <= depth {
            let segment = Segment { words };
            let mut entries = segment.entries(Scalar, &self.shape);
            for length in found..depth {
                let side = (hash << length >> (u64::BITS - 1)) as usize;
                let [lower, upper] = halves(&entries, self.shape.buckets);
                entries = if side == 0 { lower } else { upper };
            }
            return (entries, segment.info().blind);
        }
        let first = hash & !(u64::MAX >> depth);
        let (lower, one) = self.entries_at(first, depth + 1);
        let (upper, two) = self.entries_at(first | 1 << (u64::BITS - 1 - depth), depth + 1);
        (united(&lower, &upper, self.shape.buckets), one.max(two))
    }

    fn merge_segment(&mut self, hash: u64, theirs: &[Entry], blind: u32) {
        let (depth, words) = self.segments.get(hash);
        let (info, ours) = (Segment { words }.info(), self.take_entries(Scalar, hash));
        let mut numbers = counted(&ours);
        numbers.extend(counted(theirs));
        numbers.sort_by_key(|number| number.entry.key());
        add_up(&mut numbers);
        let entries = entries_of(&numbers);
        let blind = blind.max(info.blind);
        match self.made_of(Scalar, hash, depth, entries, blind) {
            Some((made, entries)) => {
                self.weigh(hash, depth, &entries);
                self.replace(hash, made);
                self.replaced(hash, ours.len(), entries.len());
            }
            None => {
                self.weigh(hash, depth, &ours);
                self.give_up(hash);
            }
        }
    }

    /// Splits what has become too large beneath a prefix, as far as the table allows.
    fn split_all<I: Isa>(&mut self, isa: I, hash: u64, depth: u32) {
        let mut hash = hash;
        loop {
            while self.lacks_entries() {
                self.segments.make_entries();
            }
            let (before, _) = self.segments.get(hash);
            self.split_if_large(isa, hash);
            let (now, _) = self.segments.get(hash);
            if now > before {
                continue;
            }
            let next = prefix(hash, now) + 1;
            let last = next >> (now - depth) != prefix(hash, depth);
            if last {
                return;
            }
            hash = next << (u64::BITS - now);
        }
    }
}
