//! Counters that pool the bits of a word: smaller than bytes, as exact, and slower.
//!
//! A pool is a word of 16 marks and 16 units of three bits. A mark says that a counter starts at its
//! unit; the last counter has all units that are left. With four counters of 1, 700, 0 and 2, units
//! 0, 1, 5 and 6 are marked: 700 has four units to itself. Ten counters in a word are 6.4 bits each.
//! A counter that outgrows its units makes the pool share them out anew, and if they do not suffice
//! the word spills (see [`words`](super::words)).
//!
//! This is the idea of Counter Pools (Ben Basat and others 2025), with marks in place of their
//! numbering of all layouts: no tables to speak of, and what does not fit stays exact.

use super::words::{Field, Layout, Words};

/// Counters that share the bits of words as they need them.
pub type Pools = Words<Marks>;

/// The layout of a pool. The lowest 16 bits are marks. Unit 0 always starts a counter, so a word
/// whose lowest bit is not set is no pool: it has spilled, and the rest is its place.
///
/// In memory the marks of an empty pool, one unit for each counter and the rest for the last, are
/// turned over, so that a word of zeros is one.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    lanes: u32,
    /// The marks of an empty pool.
    empty: u64,
    /// `ceil(2^64 / lanes)`, for a division by multiplying; 0 for one lane, where it does not fit.
    reciprocal: u64,
}

const MARKS: u32 = 16;

/// Bits of a unit.
const UNIT: u32 = 3;

impl Layout for Marks {
    const LEVELS: &'static [u32] = &[10, 8, 6, 5, 4, 3, 2, 1];

    fn at_level(level: usize) -> Self {
        let lanes = Self::LEVELS[level];
        let empty = (1 << lanes) - 1;
        Self { lanes, empty, reciprocal: (u64::MAX / u64::from(lanes)).wrapping_add(1) }
    }

    /// Exact below 2^60: the reciprocal is too large by less than one, so the product by less than
    /// the index over 2^64, and quotients end at least a tenth below the next.
    #[inline(always)]
    fn place(self, index: usize) -> (usize, u32) {
        if self.reciprocal == 0 {
            return (index, 0);
        }
        let word = ((index as u128 * u128::from(self.reciprocal)) >> 64) as usize;
        (word, (index - word * self.lanes as usize) as u32)
    }

    #[inline(always)]
    fn field(self, word: u64, lane: u32) -> Result<Field, usize> {
        let word = word ^ self.empty;
        if word & 1 == 0 {
            return Err((word >> 1) as usize);
        }
        let starts = starts(word) >> (4 * lane);
        let start = starts as u32 & 15;
        // The next counter starts at least at unit 1, so 0 stands for the end at 16.
        let end = ((starts >> 4) as u32).wrapping_sub(1) & 15;
        let mask = (1 << (UNIT * (end + 1 - start))) - 1;
        Ok(Field { shift: MARKS + UNIT * start, limit: mask, mask })
    }

    fn share(self, values: &[u64]) -> Option<u64> {
        let (mut word, mut unit) = (self.empty, 0);
        for &value in values {
            let units = (64 - value.leading_zeros()).div_ceil(UNIT).max(1);
            if units > MARKS - unit {
                return None;
            }
            word ^= 1 << unit | value << (MARKS + UNIT * unit);
            unit += units;
        }
        Some(word)
    }

    fn spilled(self, place: usize) -> u64 {
        (place as u64) << 1 ^ self.empty
    }
}

/// The units at which the counters of a pool start, four bits each, the first counter's lowest;
/// zeros behind the last.
///
/// Without a branch: which of its marks a pool has is as good as random.
#[inline(always)]
fn starts(word: u64) -> u64 {
    let low = STARTS.0[(word & 0xff) as usize];
    let high = STARTS.1[(word >> 8 & 0xff) as usize];
    low & u64::from(u32::MAX) | high << (low >> 32)
}

/// The positions of the set bits of a byte, four bits each, lowest first: for the lower byte, with
/// four times their number above; and for the upper byte, where they are eight more.
static STARTS: ([u64; 256], [u64; 256]) = {
    let mut tables = ([0; 256], [0; 256]);
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                tables.0[byte] |= bit << (4 * count);
                tables.1[byte] |= (bit + 8) << (4 * count);
                count += 1;
            }
            bit += 1;
        }
        tables.0[byte] |= (4 * count) << 32;
        byte += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::super::words::tests::memory_follows_the_values;
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let layout = Marks::at_level(4);
        let word = layout.share(&[1, 700, 0, 2]).unwrap();
        assert_eq!(word & 0xffff ^ layout.empty, 0b110_0011);
        let fields = [0, 1, 2, 3].map(|lane| layout.field(word, lane).unwrap());
        let values = fields.map(|field| word >> field.shift & field.mask);
        assert_eq!(values, [1, 700, 0, 2]);
    }

    #[test]
    fn every_place_is_found() {
        for (level, &lanes) in Marks::LEVELS.iter().enumerate() {
            let layout = Marks::at_level(level);
            for index in [0, 1, 9, 10, 11, 1_000_003, (1 << 40) - 1, 1 << 40, (1 << 60) - 1] {
                let place = (index / lanes as usize, (index % lanes as usize) as u32);
                assert_eq!(layout.place(index), place, "{lanes} lanes");
            }
        }
    }

    #[test]
    fn pools_follow_the_values() {
        let expected =
            [(4, 7.0), (1 << 9, 22.0), (1 << 20, 36.0), (1 << 47, 70.0), (1 << 60, 140.0)];
        memory_follows_the_values::<Marks>(&expected);
    }
}
