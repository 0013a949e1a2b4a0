//! The last n insertions in the fewest bits we know how to reach.
//!
//! A [`Swept`] filter over a succinct dictionary.
//!
//! Worked example: a window of 1,000,000 at 1%. Seven generations, so three bits of tag; about 1.07
//! million entries are stored at any time, in bins of 64 slots at load 0.85, with 89 buckets per bin
//! and 6 bits of remainder: one chance in 5696 per entry of the bin, of which there are 54. The heap
//! is 14.9 bits per item of the window.
//!
//! What we changed: generations end bin by bin ([`Generations`]), and the dictionary is ours
//! ([`Dictionary`]). `docs/sliding.md` draws the layout.

mod generations;
mod parameters;

pub use generations::Generations;
pub use parameters::SlidingParameters;

use super::Swept;
use crate::bits::LINE_BYTES;
use crate::dictionary::{Dictionary, Stats};

/// Remembers the last n insertions.
pub type Sliding = Swept<SlidingParameters>;

// As many bytes as a footprint asks for.
const _: () = assert!(core::mem::offset_of!(Sliding, table) + Dictionary::NEEDED <= 3 * LINE_BYTES);

impl Sliding {
    /// Sizes of the second level, counted.
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }
}
