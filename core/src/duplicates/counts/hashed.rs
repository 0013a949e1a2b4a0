//! A hash map with counts, as small as a hash map can be: packed slots, probed one after another.

use alloc::vec::Vec;

use super::beyond;
use crate::bits::{Packed, size};
use crate::duplicates::short_hash::Counts;
use crate::hash::{reduce, remix};

/// Hashes with counts, both stored whole.
#[derive(Debug, Clone)]
pub struct HashCounts {
    /// Hashes; 0 where a slot is free. A hash lies at its home slot, or after it with no free slot
    /// between.
    hashes: Packed,
    /// Copies of the hash in the same slot.
    copies: Packed,
    distinct: u64,
}

impl HashCounts {
    /// One slot in ten stays free, so that every search ends, and soon.
    fn slots(window: u64) -> usize {
        size(window + window / 9 + 2)
    }

    fn count_bits(window: u64) -> u32 {
        64 - window.leading_zeros()
    }

    fn home(&self, short: u64) -> usize {
        reduce(remix(short, 0), self.hashes.len() as u64).0 as usize
    }

    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.hashes.len() { 0 } else { slot + 1 }
    }

    /// The slot of the hash, or the free one where it would go.
    fn slot(&self, short: u64) -> usize {
        let mut slot = self.home(short);
        loop {
            let held = self.hashes.get(slot);
            if held == short || held == 0 {
                return slot;
            }
            slot = self.after(slot);
        }
    }

    /// Frees a slot, and moves up what lies behind it only because it was taken.
    fn free(&mut self, mut gap: usize) {
        let slots = self.hashes.len();
        let mut slot = gap;
        loop {
            slot = self.after(slot);
            let held = self.hashes.get(slot);
            if held == 0 {
                break;
            }
            // How far behind their home the hash and the gap are, around the end.
            let home = self.home(held);
            let behind = |place: usize| (place + slots - home) % slots;
            if behind(gap) < behind(slot) {
                self.hashes.set(gap, held);
                self.copies.set(gap, self.copies.get(slot));
                gap = slot;
            }
        }
        self.hashes.set(gap, 0);
        self.copies.set(gap, 0);
    }
}

impl Counts for HashCounts {
    const BITS: core::ops::RangeInclusive<u32> = 2..=64;

    fn values(_window: u64, bits: u32) -> u64 {
        u64::MAX >> (64 - bits)
    }

    fn heap_bytes_for(window: u64, bits: u32) -> u64 {
        let slots = Self::slots(window);
        Packed::heap_bytes_for(bits, slots)
            + Packed::heap_bytes_for(Self::count_bits(window), slots)
    }

    fn new(window: u64, bits: u32) -> Self {
        let slots = Self::slots(window);
        Self {
            hashes: Packed::new(bits, slots),
            copies: Packed::new(Self::count_bits(window), slots),
            distinct: 0,
        }
    }

    fn of(window: u64, bits: u32, mut shorts: Vec<u64>) -> Self {
        let mut counts = Self::new(window, bits);
        shorts.sort_unstable_by_key(|&short| (counts.home(short), short));
        let slots = counts.hashes.len();
        let homes = shorts.chunk_by(|a, b| a == b).map(|copies| (counts.home(copies[0]), 1));
        let mut end = beyond(slots, homes);
        for copies in shorts.chunk_by(|a, b| a == b) {
            let place = end.max(counts.home(copies[0]));
            let slot = if place < slots { place } else { place - slots };
            counts.hashes.set(slot, copies[0]);
            counts.copies.set(slot, copies.len() as u64);
            counts.distinct += 1;
            end = place + 1;
        }
        counts
    }

    fn add(&mut self, short: u64, times: u64) {
        if times == 0 {
            return;
        }
        let slot = self.slot(short);
        self.distinct += u64::from(self.copies.get(slot) == 0);
        self.hashes.set(slot, short);
        self.copies.set(slot, self.copies.get(slot) + times);
    }

    fn take(&mut self, short: u64, times: u64) {
        let slot = self.slot(short);
        match self.copies.get(slot) - times {
            0 => {
                self.free(slot);
                self.distinct -= 1;
            }
            left => self.copies.set(slot, left),
        }
    }

    fn copies(&self, short: u64) -> u64 {
        // A free slot counts nothing.
        self.copies.get(self.slot(short))
    }

    fn distinct(&self) -> u64 {
        self.distinct
    }
}
