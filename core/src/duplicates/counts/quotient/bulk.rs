//! A quotient table made of all its hashes at once.
//!
//! One by one, each would move what lies behind it, up to all of the table if hashes are chosen so. In
//! their order, each run is written where the one before has ended, and nothing moves.

use alloc::vec::Vec;
use core::iter::successors;
use core::ops::Range;

use super::{BLOCK, QuotientCounts, split};
use crate::duplicates::counts::beyond;
use crate::duplicates::short_hash::Counts;

impl QuotientCounts {
    /// Counts of all these hashes.
    pub(super) fn of_all(window: u64, bits: u32, mut shorts: Vec<u64>) -> Self {
        shorts.sort_unstable();
        let runs = || {
            let runs = shorts.chunk_by(|&a, &b| split(bits, a).0 == split(bits, b).0);
            runs.map(|run| (split(bits, run[0]).0, run))
        };
        let mut counts = Self::new(window, bits);
        let lengths = runs().map(|(quotient, run)| (quotient, written(bits, run).count()));
        let mut end = beyond(counts.slots.len(), lengths);
        let mut blocks = 0..counts.spilled.len();
        for (quotient, run) in runs() {
            counts.note_spilled(&mut blocks, quotient, end);
            end = end.max(quotient);
            for value in written(bits, run) {
                counts.slots.set(counts.skip(0, end), value);
                end += 1;
            }
            counts.last.set(counts.skip(0, end - 1), 1);
            counts.occupied.set(quotient, 1);
            counts.distinct += run.chunk_by(|a, b| a == b).count() as u64;
        }
        counts.note_spilled(&mut blocks, usize::MAX, end);
        counts
    }

    /// Notes for blocks that start up to `quotient` that the runs of all quotients before reach to
    /// `end`.
    fn note_spilled(&mut self, blocks: &mut Range<usize>, quotient: usize, end: usize) {
        while blocks.start < blocks.end && blocks.start * BLOCK <= quotient {
            let spilled = end.saturating_sub(blocks.start * BLOCK);
            self.spilled.set(blocks.start, spilled as u64);
            blocks.start += 1;
        }
    }
}

/// What the slots of a run hold that has these hashes, which are sorted.
fn written(remainder_bits: u32, run: &[u64]) -> impl Iterator<Item = u64> {
    run.chunk_by(|a, b| a == b).flat_map(move |copies| {
        let (_, remainder) = split(remainder_bits, copies[0]);
        [remainder].into_iter().chain(marks(remainder_bits, remainder, copies.len() as u64))
    })
}

/// What follows a remainder that occurs so often.
pub(super) fn marks(remainder_bits: u32, remainder: u64, copies: u64) -> impl Iterator<Item = u64> {
    let escape = (1 << remainder_bits) - 1;
    let twice = (copies == 2).then_some(remainder);
    let counted = copies.checked_sub(3);
    let digits = successors(counted, move |&rest| Some(rest / escape).filter(|&rest| rest > 0));
    twice.into_iter().chain(digits.flat_map(move |rest| [escape, 1 + rest % escape]))
}
