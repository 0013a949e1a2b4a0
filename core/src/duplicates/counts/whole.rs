//! Counts of hashes that are not shortened.

use alloc::vec::Vec;

use super::HashCounts;
use crate::duplicates::short_hash::Counts;

/// A hash map over whole hashes.
#[derive(Debug, Clone)]
pub struct WholeHashes(HashCounts);

impl Counts for WholeHashes {
    const BITS: core::ops::RangeInclusive<u32> = 64..=64;

    fn values(window: u64, bits: u32) -> u64 {
        HashCounts::values(window, bits)
    }

    fn heap_bytes_for(window: u64, bits: u32) -> u64 {
        HashCounts::heap_bytes_for(window, bits)
    }

    fn new(window: u64, bits: u32) -> Self {
        Self(HashCounts::new(window, bits))
    }

    fn of(window: u64, bits: u32, shorts: Vec<u64>) -> Self {
        Self(HashCounts::of(window, bits, shorts))
    }

    fn add(&mut self, short: u64, times: u64) {
        self.0.add(short, times);
    }

    fn take(&mut self, short: u64, times: u64) {
        self.0.take(short, times);
    }

    fn copies(&self, short: u64) -> u64 {
        self.0.copies(short)
    }

    fn distinct(&self) -> u64 {
        self.0.distinct()
    }
}
