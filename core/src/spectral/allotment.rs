//! Where the counters of a key are: one in each row, or all in one cache line.

use core::ops::Deref;

use super::counters::Counters;
use crate::bits::size_of_parts;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::parameters::{List, Parameters};
use crate::sample::{PLACES, share};

/// The most counters a key has.
pub const MOST_HASHES: u32 = 16;

/// The counters of one key, all different.
#[derive(Debug, Clone, Copy)]
pub struct Indices {
    at: [usize; MOST_HASHES as usize],
    count: usize,
}

impl Indices {
    /// None yet.
    #[inline]
    pub fn new() -> Self {
        Self { at: [0; MOST_HASHES as usize], count: 0 }
    }

    /// Adds one.
    ///
    /// # Panics
    ///
    /// If there are [`MOST_HASHES`] already.
    #[inline]
    pub fn push(&mut self, index: usize) {
        self.at[self.count] = index;
        self.count += 1;
    }
}

impl Default for Indices {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Indices {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        &self.at[..self.count]
    }
}

/// How keys are given their counters.
pub trait Allotment: Copy + core::fmt::Debug + PartialEq + Send + Sync + 'static {
    /// How many counters there are.
    fn counters(&self) -> usize;

    /// How many of them a key has.
    fn hashes(&self) -> u32;

    /// The counters of a key, as many as it has, and then some that are not its own.
    fn walk(&self, hash: u64) -> impl Iterator<Item = usize>;

    /// The counters of a key.
    #[inline]
    fn indices(&self, hash: u64) -> Indices {
        let mut at = Indices::new();
        self.walk(hash).take(self.hashes() as usize).for_each(|index| at.push(index));
        at
    }

    /// The counters of a key that has `K`.
    #[inline(always)]
    fn index_array<const K: usize>(&self, hash: u64) -> [usize; K] {
        let mut walk = self.walk(hash);
        core::array::from_fn(|_| walk.next().expect("a walk does not end"))
    }

    /// Chance that a key finds all its counters taken by others when `items` different keys were
    /// counted.
    fn collision_rate(&self, items: u64) -> f64;

    /// Chance that all counters of a key never seen are at least so large, from those there are.
    fn reach_rate(&self, counters: &impl Counters, threshold: u64) -> f64;
}

/// A row of counters for each hash, so that no two counters of a key are the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    /// Counters in a row.
    pub width: u64,
    /// Rows.
    pub hashes: u32,
}

impl Parameters for Rows {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("width", &mut self.width, 1..=WIDEST, "from 1 to 2^48")?;
        list.add("hashes", &mut self.hashes, 1..=MOST_HASHES, "from 1 to 16")
    }
}

impl Rows {
    /// The narrowest rows in which `items` keys meet `rate`.
    pub fn for_items(items: u64, rate: f64, hashes: u32) -> Self {
        // (1 - 1/w)^n = 1 - rate^(1/k), solved for w.
        let free = -(rate.powf(1.0 / f64::from(hashes)));
        let width = -1.0 / (free.ln_1p() / items as f64).exp_m1();
        let mut rows = Rows { width: width.ceil().clamp(1.0, WIDEST as f64) as u64, hashes };
        while rows.collision_rate(items) > rate && rows.width < WIDEST {
            rows.width += 1 + rows.width / 1_000_000;
        }
        rows
    }
}

/// The widest row: far more than any memory holds, far less than would overflow.
pub(super) const WIDEST: u64 = 1 << 48;

/// Below this width one hash has bits enough for two indices: the second still falls evenly, to
/// one part in 256.
const NARROW: u64 = 1 << 28;

impl Allotment for Rows {
    #[inline]
    fn counters(&self) -> usize {
        size_of_parts(self.width, self.hashes.into())
    }

    fn hashes(&self) -> u32 {
        self.hashes
    }

    #[inline(always)]
    fn walk(&self, hash: u64) -> impl Iterator<Item = usize> {
        let width = self.width;
        let (mut rest, mut row) = (0, 0);
        (0..).map(move |turn| {
            let bits = if turn % 2 == 0 || width > NARROW { remix(hash, turn) } else { rest };
            let (index, left) = reduce(bits, width);
            let index = row + index as usize;
            rest = left;
            row += width as usize;
            index
        })
    }

    /// `(1 - (1 - 1/w)^n)^k`: the error of a Bloom filter with its bits in k parts (paper, section
    /// 2.1, where `n k / m` is γ).
    fn collision_rate(&self, items: u64) -> f64 {
        let taken = -(items as f64 * (-1.0 / self.width as f64).ln_1p()).exp_m1();
        taken.powi(self.hashes as i32)
    }

    fn reach_rate(&self, counters: &impl Counters, threshold: u64) -> f64 {
        let (width, rows) = (self.width as usize, self.hashes as usize);
        let reaches = |counter| counters.get(counter) >= threshold;
        let row = |row: usize| share(row * width..(row + 1) * width, PLACES / rows, reaches);
        (0..rows).map(row).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::stats::assert_uniform;

    #[test]
    fn rows_are_the_narrowest_that_will_do() {
        for items in [1, 10, 1_000, 1_000_000] {
            for (rate, hashes) in [(0.5, 1), (0.1, 3), (0.01, 5), (1e-4, 10), (1e-9, 16)] {
                let rows = Rows::for_items(items, rate, hashes);
                assert!(rows.collision_rate(items) <= rate, "{rows:?}");
                let narrower = Rows { width: rows.width - 1 - rows.width / 100_000, ..rows };
                assert!(rows.width == 1 || narrower.collision_rate(items) > rate, "{rows:?}");
            }
        }
    }

    /// Pairs of neighbouring rows are hit evenly together. Fails by luck once in 1e9 runs.
    #[test]
    fn indices_are_even_and_independent() {
        let rows = Rows { width: 16, hashes: 4 };
        let mut pairs = vec![vec![0; 256]; 3];
        for key in 0..100_000_u64 {
            let at = rows.indices(remix(key, 9));
            for (row, pairs) in pairs.iter_mut().enumerate() {
                let (a, b) = (at[row] - 16 * row, at[row + 1] - 16 * (row + 1));
                pairs[16 * a + b] += 1;
            }
        }
        for pairs in &pairs {
            assert_uniform(pairs, 1e-9);
        }
    }
}
