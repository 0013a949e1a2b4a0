//! The words of a block, read once: who has which slot.

use super::block::SLOTS;
use super::run::{Bucket, GOES_ON, Run};
use crate::bits::Isa;

/// The words of a block that say who has which slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockWords {
    pub(super) ends: u64,
    /// The buckets with entries. Of the first word the last bit is [`GOES_ON`]; of the second, as many
    /// bits are buckets as the layout says, and above is anything.
    pub(super) occupied: [u64; 2],
    /// Entries of earlier homes from the start of this block on, also beyond its end; at most 255.
    pub(super) guests: u32,
}

impl BlockWords {
    /// True if no slot is free.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        (self.ends | self.occupied[0]) & GOES_ON != 0
    }

    /// Slots in use.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        if self.is_full() { SLOTS } else { SLOTS - self.ends.leading_zeros() }
    }

    /// The run of a bucket, as far as it lies at home.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, bucket: Bucket) -> Run {
        Run::new(isa, self.ends, self.guests, bucket.rank(self.occupied))
    }
}
