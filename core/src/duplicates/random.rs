//! Choices that look random and can be repeated: a counter under a seed.

use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::hash::{Seed, reduce, remix};

/// A sequence of random numbers that a snapshot can interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    /// The sequence of this seed, from its beginning.
    pub fn new(seed: Seed) -> Self {
        Self { seed: seed.0, drawn: 0 }
    }

    /// The next number, below `bound`.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        reduce(remix(self.seed, self.drawn), bound).0
    }

    /// Writes where the sequence stands.
    pub fn write(&self, out: &mut Writer) {
        out.u64(self.seed);
        out.u64(self.drawn);
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self { seed: from.u64("random seed")?, drawn: from.u64("random numbers drawn")? })
    }
}
