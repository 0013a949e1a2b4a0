//! Counters that share the bits of one word: the storage we recommend.
//!
//! A pool is a 64-bit word: 16 marks and 16 units of three bits. A mark says that a counter starts
//! at its unit; the last counter has all units that are left. With four counters of 1, 700, 0 and
//! 2, units 0, 1, 5 and 6 are marked: 700 has four units to itself. Ten counters in a word are 6.4
//! bits each, and reading one is a load, a select among 16 marks and a shift.
//!
//! A counter that outgrows its units makes the pool share them out anew. If they do not suffice,
//! the pool *spills*: its counters move to words of their own in a side table, and the word holds
//! their place. When more than a 64th of the pools have spilled, all counters move to pools with
//! fewer in each: 10, 8, 6, 5, 4, 3, 2 and finally one counter per word. So counters stay exact,
//! and memory follows the values.
//!
//! This is the idea of Counter Pools (Ben Basat and others 2025), with marks in place of their
//! numbering of all layouts: no tables to speak of, and what does not fit stays exact.

use super::{Counters, MOST};
use crate::bits::{LINE_WORDS, Lines, prefetch};

/// Counters in pools.
#[derive(Debug, Clone)]
pub struct Pools {
    len: usize,
    /// Index into [`LEVELS`].
    level: usize,
    /// The pools, in whole cache lines. With one counter per pool, its value.
    words: Lines,
    /// The counters of spilled pools, as many for each as a pool has.
    spilled: Vec<u64>,
}

/// Counters per pool, level after level.
const LEVELS: [u32; 8] = [10, 8, 6, 5, 4, 3, 2, 1];

/// Counters in a line while all are small.
pub const COUNTERS_PER_LINE: usize = LEVELS[0] as usize * LINE_WORDS;

/// The lowest bits of a pool: bit i is set if a counter starts at unit i. Unit 0 always starts one,
/// so a pool whose lowest bit is not set is none: it has spilled, and the rest is its place.
const MARKS: u32 = 16;

/// Bits of a unit.
const UNIT: u32 = 3;

/// The largest share of pools that may spill, as a divisor.
const SPILLED_SHARE: usize = 64;

impl Counters for Pools {
    const ADAPTS: bool = true;
    const LINES: f64 = 1.0;

    fn new(len: usize) -> Self {
        Self::at_level(0, len)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn most(&self) -> u64 {
        MOST
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        let (pool, lane) = self.place(index);
        let word = self.words()[pool];
        match self.kind(word) {
            Kind::Shared => Field::of(word, lane).value(word),
            Kind::Single => word,
            Kind::Spilled => self.spilled[self.spill_place(word) + lane as usize],
        }
    }

    #[inline]
    fn set(&mut self, index: usize, value: u64) {
        let value = value.min(MOST);
        let (pool, lane) = self.place(index);
        let word = self.words()[pool];
        match self.kind(word) {
            Kind::Shared => {
                let field = Field::of(word, lane);
                if value <= field.mask {
                    self.words_mut()[pool] =
                        word & !(field.mask << field.shift) | value << field.shift;
                } else {
                    self.outgrow(pool, lane, value);
                }
            }
            Kind::Single => self.words_mut()[pool] = value,
            Kind::Spilled => {
                let place = self.spill_place(word) + lane as usize;
                self.spilled[place] = value;
            }
        }
    }

    #[inline]
    fn add(&mut self, index: usize, amount: u64) {
        let (pool, lane) = self.place(index);
        let word = self.words()[pool];
        if let Kind::Shared = self.kind(word) {
            let field = Field::of(word, lane);
            if amount <= field.mask - field.value(word) {
                self.words_mut()[pool] = word + (amount << field.shift);
                return;
            }
        }
        self.set(index, self.get(index).saturating_add(amount));
    }

    #[inline]
    fn prefetch(&self, index: usize) {
        prefetch(self.words(), self.place(index).0);
    }

    fn heap_bytes(&self) -> u64 {
        Lines::heap_bytes_for(self.words.len()) + 8 * self.spilled.capacity() as u64
    }

    fn heap_bytes_for(len: usize) -> u64 {
        Lines::heap_bytes_for(lines_for(0, len))
    }
}

/// How to read a pool's word.
enum Kind {
    Shared,
    Single,
    Spilled,
}

impl Pools {
    fn at_level(level: usize, len: usize) -> Self {
        let mut pools =
            Self { len, level, words: Lines::new(lines_for(level, len)), spilled: Vec::new() };
        if LEVELS[level] > 1 {
            pools.words_mut().fill(empty_pool(LEVELS[level]));
        }
        pools
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self.words.as_slice().as_flattened()
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self.words.as_mut_slice().as_flattened_mut()
    }

    #[inline]
    fn per_pool(&self) -> u32 {
        LEVELS[self.level]
    }

    /// The pool and the lane of a counter.
    #[inline]
    fn place(&self, index: usize) -> (usize, u32) {
        assert!(index < self.len);
        // Dividing by multiplying: exact for indices below 2^32 times the divisor and more, since
        // the rounded-up reciprocal errs by less than 1/2^64 of the index.
        let per_pool = u64::from(self.per_pool());
        let pool = if per_pool == 1 {
            index
        } else {
            let reciprocal = u64::MAX / per_pool + 1;
            ((index as u128 * u128::from(reciprocal)) >> 64) as usize
        };
        (pool, (index - pool * per_pool as usize) as u32)
    }

    #[inline]
    fn kind(&self, word: u64) -> Kind {
        if word & 1 == 1 && self.per_pool() > 1 {
            Kind::Shared
        } else if self.per_pool() == 1 {
            Kind::Single
        } else {
            Kind::Spilled
        }
    }

    /// Where the counters of a spilled pool begin.
    #[inline]
    fn spill_place(&self, word: u64) -> usize {
        (word >> 1) as usize * self.per_pool() as usize
    }

    /// Gives a counter a value that its units cannot hold.
    #[cold]
    fn outgrow(&mut self, pool: usize, lane: u32, value: u64) {
        let per_pool = self.per_pool() as usize;
        let mut values = [0; LEVELS[0] as usize];
        let values = &mut values[..per_pool];
        let word = self.words()[pool];
        for (lane, value) in (0..).zip(values.iter_mut()) {
            *value = Field::of(word, lane).value(word);
        }
        values[lane as usize] = value;
        if let Some(word) = share_out(values) {
            self.words_mut()[pool] = word;
            return;
        }
        let spills = self.spilled.len() / per_pool;
        self.words_mut()[pool] = (spills as u64) << 1;
        // An eighth more than needed: the table stays close to what it holds.
        if self.spilled.len() + per_pool > self.spilled.capacity() {
            self.spilled.reserve_exact(per_pool * (1 + spills / 8));
        }
        self.spilled.extend_from_slice(values);
        if spills >= self.words().len() / SPILLED_SHARE + 1 {
            self.widen();
        }
    }

    /// Moves all counters to pools with fewer in each.
    fn widen(&mut self) {
        let mut wider = Self::at_level(self.level + 1, self.len);
        for index in 0..self.len {
            let value = self.get(index);
            if value > 0 {
                wider.set(index, value);
            }
        }
        *self = wider;
    }
}

/// Lines for this many counters.
fn lines_for(level: usize, len: usize) -> usize {
    len.div_ceil(LEVELS[level] as usize).div_ceil(LINE_WORDS)
}

/// A pool of zeros: one unit for each counter, the rest for the last.
fn empty_pool(per_pool: u32) -> u64 {
    (1 << per_pool) - 1
}

/// A pool with these counters; `None` if they need more units than there are.
fn share_out(values: &[u64]) -> Option<u64> {
    let (mut word, mut unit) = (0, 0);
    for &value in values {
        if unit == MARKS {
            return None;
        }
        let units = (64 - value.leading_zeros()).div_ceil(UNIT).max(1);
        if units > MARKS - unit {
            return None;
        }
        word |= 1 << unit | value << (MARKS + UNIT * unit);
        unit += units;
    }
    Some(word)
}

/// Where one counter lies in its pool.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    /// As many ones as the counter has bits.
    mask: u64,
}

impl Field {
    #[inline]
    fn of(word: u64, lane: u32) -> Self {
        let marks = word & ((1 << MARKS) - 1);
        let start = select(marks, lane);
        let end = (marks >> (start + 1) | 1 << (MARKS - 1 - start)).trailing_zeros() + start + 1;
        Self { shift: MARKS + UNIT * start, mask: u64::MAX >> (64 - UNIT * (end - start)) }
    }

    #[inline]
    fn value(self, word: u64) -> u64 {
        word >> self.shift & self.mask
    }
}

/// The position of the mark with `lane` marks below it; there must be one.
#[inline]
fn select(marks: u64, lane: u32) -> u32 {
    let low = &SELECT[(marks & 0xff) as usize];
    let high = &SELECT[(marks >> 8) as usize];
    let (positions, lane, base) =
        if lane < low.count { (low.positions, lane, 0) } else { (high.positions, lane - low.count, 8) };
    base + (positions >> (4 * lane) & 15)
}

/// The set bits of a byte.
#[derive(Clone, Copy)]
struct Bits {
    /// Their positions, four bits each, lowest first.
    positions: u32,
    count: u32,
}

static SELECT: [Bits; 256] = {
    let mut table = [Bits { positions: 0, count: 0 }; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                let entry = &mut table[byte];
                entry.positions |= bit << (4 * entry.count);
                entry.count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let word = share_out(&[1, 700, 0, 2]).unwrap();
        assert_eq!(word & 0xffff, 0b110_0011);
        let values: Vec<u64> = (0..4).map(|lane| Field::of(word, lane).value(word)).collect();
        assert_eq!(values, [1, 700, 0, 2]);
    }

    #[test]
    fn every_place_is_found() {
        for (level, &per_pool) in LEVELS.iter().enumerate() {
            let mut pools = Pools::at_level(level, 1);
            for index in [0, 1, 9, 10, 11, 1_000_003, (1 << 40) - 1, 1 << 40] {
                pools.len = index + 1;
                let place = (index / per_pool as usize, (index % per_pool as usize) as u32);
                assert_eq!(pools.place(index), place, "{per_pool} per pool");
            }
        }
    }

    /// Bits per counter when all are large, and that nothing is lost on the way there.
    #[test]
    fn memory_follows_the_values() {
        let mut pools = Pools::new(10_000);
        assert_eq!(pools.heap_bytes(), Pools::heap_bytes_for(10_000));
        for (round, most_bits) in [(4_u64, 7.0), (1 << 9, 22.0), (1 << 20, 36.0), (1 << 60, 70.0)] {
            for index in 0..10_000 {
                pools.set(index, round + index as u64 % 4);
            }
            let bits = pools.heap_bytes() as f64 / 10_000.0 * 8.0;
            assert!(bits < most_bits, "{bits} bits for values around {round}");
            assert!((0..10_000).all(|index| pools.get(index) == round + index as u64 % 4));
        }
    }
}
