//! The last n insertions in fewer bits still: blocks that spill into the next one.
//!
//! The same as [`Sliding`](crate::sliding::Sliding), a fingerprint of every insertion with the number of its
//! generation, in another dictionary. There, what does not fit its bin lives in a second level, and costs
//! as much as three others. Here there is no second level: a full block pushes its last entry into the
//! next one, and the sweep brings it home again. That works at a load of nine tenths because the
//! sweep is interleaved ([`SweepClock`]).
//!
//! Worked example: a window of 1,000,000 at 1%. Seven generations, so three bits of tag; about 1.07
//! million entries are stored at any time, in blocks of 64 slots at load 0.9, with 95 buckets per
//! block and 6 bits of remainder. The heap is 13.9 bits per item of the window.
//!
//! Naor and Yogev, *Sliding Bloom Filters*, section 2, and for any slack their Theorem 1.1; the guests of
//! the next block are those of Pandey, Bender, Johnson and Patro's *rank-and-select quotient filter*, by
//! blocks instead of slots. `docs/sliding.md` draws the layout.
//!
//! What is not guaranteed: the error, if hashes are not random. Blocks may then run out of room: the
//! filter reports too much for a while, never too little, and [`Swept::lost`] and [`SlidingCompact::late`]
//! tell.

mod block;
mod chain;
mod clock;
mod moment;
mod parameters;
mod run;
mod shape;
mod state;
mod store;
mod sweep;
#[cfg(test)]
mod tests;
mod words;

pub use chain::REACH;
pub use clock::{Division, SweepClock};
pub use parameters::SlidingCompactParameters;
pub use shape::Shape;

use super::Swept;
use shape::SPARE_BLOCKS;

/// Remembers the last n insertions.
pub type SlidingCompact = Swept<SlidingCompactParameters>;

impl SlidingCompact {
    /// Cache lines that any operation touches at most, the same for every window: an insertion and its
    /// sweeps each look at no more than [`REACH`] blocks and a home's own.
    pub fn most_lines(&self) -> u64 {
        let blocks = (REACH + SPARE_BLOCKS + 2) as u64;
        (1 + self.most_sweeps()) * (blocks * self.parameters.shape.block_bytes() / 64 + 2)
    }

    /// Sweeps that were left out because too many blocks were full, ever: what they should have removed
    /// is reported for a window longer.
    pub fn late(&self) -> u64 {
        self.table.late
    }
}
