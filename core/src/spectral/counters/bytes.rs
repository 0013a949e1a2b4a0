//! A byte for each counter, and words of their own for the few that outgrow it: the storage we
//! recommend.
//!
//! Eight counters lie in a word, and reading one is a load, a shift and a comparison. Counters go up
//! to 254, because a lowest byte of 255 says that the word has spilled (see
//! [`words`](super::words)); the rest of it is then the place of its eight counters. Counts are
//! skewed, so few words spill. Where many do, all counters get 16 bits, then 32 and 64.

use super::MOST;
use super::words::{Field, Layout, Line, Words};

/// Counters of a byte each, or wider when many have outgrown that.
pub type Bytes = Words<ByteLanes>;

/// Counters in a cache line while few have outgrown their bytes.
pub const COUNTERS_PER_LINE: usize = 64;

/// Equal lanes: eight, four, two or one in a word.
#[derive(Debug, Clone, Copy)]
pub struct ByteLanes {
    /// The counters in a word are 2 to the power of this.
    power: u32,
    /// As many ones as a lane has bits: in the lowest lane, the mark of a spilled word.
    mask: u64,
    /// The largest value of a counter.
    limit: u64,
}

impl Layout for ByteLanes {
    const LEVELS: &'static [u32] = &[8, 4, 2, 1];

    fn at_level(level: usize) -> Self {
        let lanes = Self::LEVELS[level];
        let mask = u64::MAX >> (64 - 64 / lanes);
        // The widest lane could hold more than a counter may be.
        Self { power: lanes.ilog2(), mask, limit: (mask - 1).min(MOST) }
    }

    #[inline(always)]
    fn place(self, index: usize) -> (usize, u32) {
        (index >> self.power, index as u32 & ((1 << self.power) - 1))
    }

    #[inline(always)]
    fn field(self, word: u64, lane: u32) -> Result<Field, usize> {
        if word & self.mask == self.mask {
            // A lane that fills its word is never full: counters end far below.
            return Err((word >> (64 >> self.power)) as usize);
        }
        let shift = lane << (6 - self.power);
        Ok(Field { shift, limit: self.limit, mask: self.mask })
    }

    fn share(self, _values: &[u64]) -> Option<u64> {
        None
    }

    fn spilled(self, place: usize) -> u64 {
        (place as u64) << (64 >> self.power) | self.mask
    }

    /// All lanes of all words without looking at one by one: no lane reaches into the next as long as
    /// none carries, and a lane of all ones is a mark or one value too many.
    #[inline]
    fn add_lines(self, ours: &Line, theirs: &Line) -> Option<Line> {
        let lowest = u64::MAX / self.mask;
        let highest = lowest << (63 >> self.power);
        // The widest lane has a bit more than a counter may.
        let beyond = if self.power == 0 { highest } else { 0 };
        let mut sums = *ours;
        let mut unfit = 0;
        for (sum, &more) in sums.iter_mut().zip(theirs) {
            let (a, b) = (*sum, more);
            *sum = a.wrapping_add(b);
            // Where a lane carries, and where it is all ones: its complement is nothing, so that
            // taking one from that borrows.
            let carries = a & b | (a | b) & !*sum;
            let full = (!*sum).wrapping_sub(lowest) & *sum;
            unfit |= (carries | full) & highest | *sum & beyond;
        }
        (unfit == 0).then_some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Counters;
    use super::super::words::tests::memory_follows_the_values;
    use super::*;

    #[test]
    fn bytes_follow_the_values() {
        let expected = [(200, 8.1), (60_000, 16.1), (1 << 31, 32.1), (1 << 60, 64.1)];
        memory_follows_the_values::<ByteLanes>(&expected);
    }

    #[test]
    fn a_word_spills_and_nothing_else_does() {
        let mut counters = Bytes::new(1_000);
        for (index, value) in [(0, 3), (1, 254), (7, 1), (8, 5)] {
            counters.set(index, value);
        }
        let before = counters.heap_bytes();
        counters.set(1, 255);
        let index = size_of::<Vec<u64>>() as u64;
        assert_eq!(counters.heap_bytes(), before + 64 + index, "a word for each of eight counters");
        let found = [0, 1, 2, 7, 8].map(|index| counters.get(index));
        assert_eq!(found, [3, 255, 0, 1, 5]);
    }
}
