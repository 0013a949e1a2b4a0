//! Where an insertion will write, known without a look at the filter.
//!
//! A filter that threads share is looked at only under its lock. The lock, the filter's numbers and the
//! record that a hash belongs to lie on different cache lines, and each may be in another core's cache:
//! asked for one after the other, the second when the first has come, they take longer than all the work.
//! Addresses are no secret of the lock, so all of them are asked for at once, before it is taken.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

use super::aligned::LINE_BYTES;
use super::isa::Level;
use super::prefetch::prefetch_address;
use super::records::Records;
use crate::hash::reduce;

/// Where a filter writes that keeps the entry of a hash in one of its records.
///
/// Nothing is ever read through it, so that a filter that is gone, or elsewhere by now, does no harm.
#[derive(Debug)]
pub struct Footprint {
    level: Level,
    /// Where the numbers are that every insertion needs: as many bytes as three lines have, of which it writes
    /// to the first and the last third.
    numbers: AtomicUsize,
    /// Where the first record is.
    first: AtomicUsize,
    count: u64,
    stride: usize,
}

impl Footprint {
    /// Of records, the one that the highest part of a hash chooses, and of what the numbers begin with.
    pub fn new<const FRONT: usize, N>(
        level: Level,
        records: &Records<FRONT>,
        count: usize,
        numbers: &N,
    ) -> Self {
        Self {
            level,
            numbers: AtomicUsize::new(core::ptr::from_ref(numbers).addr()),
            first: AtomicUsize::new(records.as_slice().as_ptr().addr()),
            count: count as u64,
            stride: records.stride(),
        }
    }

    /// From now on where another of the same dimensions is.
    pub fn move_to(&self, other: &Self) {
        let pairs = [(&self.numbers, &other.numbers), (&self.first, &other.first)];
        for (ours, theirs) in pairs {
            ours.store(theirs.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Starts loading what every insertion needs: the lock, and the numbers.
    #[inline(always)]
    pub fn fetch<L>(&self, lock: &L) {
        fetch_to_write(self.level, core::ptr::from_ref(lock).addr());
        let numbers = self.numbers.load(Ordering::Relaxed);
        fetch_to_write(self.level, numbers);
        prefetch_address(numbers.wrapping_add(LINE_BYTES));
        fetch_to_write(self.level, numbers.wrapping_add(2 * LINE_BYTES));
        // They begin anywhere.
        prefetch_address(numbers.wrapping_add(3 * LINE_BYTES - 1));
    }

    /// Starts loading the record that an insertion of a hash will write.
    #[inline(always)]
    pub fn fetch_record(&self, hash: u64) {
        let (record, _) = reduce(hash, self.count);
        fetch_record(self.level, self.first.load(Ordering::Relaxed), self.stride, record as usize);
    }
}

/// Starts loading a record that will be written, given where the first one is.
#[inline(always)]
pub(super) fn fetch_record(level: Level, first: usize, stride: usize, index: usize) {
    let start = first.wrapping_add(index.wrapping_mul(stride));
    // Most have no more than three lines; a loop over so few would be most of the work.
    fetch_to_write(level, start);
    if stride > LINE_BYTES {
        fetch_to_write(level, start.wrapping_add(LINE_BYTES));
    }
    if stride > 2 * LINE_BYTES {
        fetch_to_write(level, start.wrapping_add(2 * LINE_BYTES));
    }
    if stride > 3 * LINE_BYTES {
        for byte in (3 * LINE_BYTES..stride).step_by(LINE_BYTES) {
            fetch_to_write(level, start.wrapping_add(byte));
        }
    }
    fetch_to_write(level, start.wrapping_add(stride - 1));
}

/// Starts loading the line of something that will be written, from another core's cache if it is there.
/// A line that is asked for to be read has to be asked for again to be written.
#[inline(always)]
fn fetch_to_write(level: Level, address: usize) {
    match level {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Level::Avx2(_) => {
            // SAFETY: asks for a line, and neither reads nor writes, whatever the address. Every CPU with
            // AVX2 takes the instruction, the oldest of them as one that does nothing.
            unsafe {
                core::arch::asm!(
                    "prefetchw [{}]",
                    in(reg) address,
                    options(nostack, preserves_flags, readonly)
                );
            }
        }
        _ => prefetch_address(address),
    }
}
