//! All counters of a key in one cache line.
//!
//! A key chooses a line of 64 small counters, and in it one counter of each of k equal parts. With
//! k = 4 and parts of 16, keys that share a line meet in all four counters once in 65,536 times,
//! but a line that happens to hold many keys errs more often than one with few: that unevenness is
//! the price of touching one line instead of k.
//!
//! The paper's remark on external memory (section 2.2), with a cache line for a disk block. When
//! counters have grown so much that pools hold fewer of them, the 64 counters take two lines, side
//! by side.

use super::allotment::Allotment;
use super::counters::{COUNTERS_PER_LINE, Counters};
use crate::bits::size_of_parts;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::probability::{least, poisson_mean};
use crate::sample::{PLACES, sample};

/// Lines of 64 counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocked {
    /// How many lines.
    pub lines: u64,
    /// Counters of a key, at most [`MOST_HASHES_IN_LINE`].
    pub hashes: u32,
}

/// The most counters a key can have in a line: with more, parts of a line get too small.
pub const MOST_HASHES_IN_LINE: u32 = 8;

/// Counters in each part of a line, by the number of parts: looking is faster than dividing.
const PARTS: [usize; MOST_HASHES_IN_LINE as usize + 1] = {
    let mut parts = [0; MOST_HASHES_IN_LINE as usize + 1];
    let mut hashes = 1;
    while hashes < parts.len() {
        parts[hashes] = COUNTERS_PER_LINE / hashes;
        hashes += 1;
    }
    parts
};

impl Blocked {
    /// The fewest lines in which `items` keys meet `rate`, and the hashes that make them so few.
    pub fn for_items(items: u64, rate: f64) -> Self {
        let with_hashes = |hashes| {
            let enough = |lines| Blocked { lines, hashes }.collision_rate(items) <= rate;
            Blocked { lines: least((items / 64).max(1), enough), hashes }
        };
        let choices = (1..=MOST_HASHES_IN_LINE).map(with_hashes);
        choices.min_by_key(|blocked| blocked.lines).expect("there are choices")
    }

    /// The hashes with which `items` keys collide least in so many lines.
    pub fn for_lines(items: u64, lines: u64) -> Self {
        let choices = (1..=MOST_HASHES_IN_LINE).map(|hashes| Blocked { lines, hashes });
        let rate = |blocked: &Blocked| blocked.collision_rate(items);
        choices.min_by(|a, b| rate(a).total_cmp(&rate(b))).expect("there are choices")
    }

    /// Counters in each part of a line.
    #[inline]
    fn part(&self) -> usize {
        PARTS[self.hashes as usize]
    }
}

impl Allotment for Blocked {
    #[inline]
    fn counters(&self) -> usize {
        size_of_parts(self.lines, COUNTERS_PER_LINE as u64)
    }

    fn hashes(&self) -> u32 {
        self.hashes
    }

    #[inline(always)]
    fn walk(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (line, _) = reduce(hash, self.lines);
        let part = self.part();
        let mut start = line as usize * COUNTERS_PER_LINE;
        // The parts together take less than 27 bits of one hash.
        let mut bits = remix(hash, 0);
        core::iter::repeat_with(move || {
            let (index, rest) = reduce(bits, part as u64);
            let index = start + index as usize;
            start += part;
            bits = rest;
            index
        })
    }

    /// The mean of `(1 - (1 - 1/g)^j)^k` over the Poisson number j of keys in a line, where g is
    /// the size of a part. The cost of blocking is this over the error of as many counters in rows.
    fn collision_rate(&self, items: u64) -> f64 {
        let stay = (-1.0 / self.part() as f64).ln_1p();
        let keys = items as f64 / self.lines as f64;
        poisson_mean(keys, |j| (-(j as f64 * stay).exp_m1()).powi(self.hashes as i32))
    }

    fn reach_rate(&self, counters: &impl Counters, threshold: u64) -> f64 {
        let part = self.part();
        let lines = sample(self.lines as usize, PLACES);
        let looked = lines.len() as f64;
        let lines = lines.map(|line| {
            let taken =
                |start: usize| (start..start + part).filter(|&i| counters.get(i) >= threshold);
            let first = line * COUNTERS_PER_LINE;
            let starts = (0..self.hashes as usize).map(|turn| first + turn * part);
            starts.map(|start| taken(start).count() as f64 / part as f64).product::<f64>()
        });
        lines.sum::<f64>() / looked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_in_its_line_and_meets_no_counter_twice() {
        for hashes in 1..=MOST_HASHES_IN_LINE {
            let blocked = Blocked { lines: 13, hashes };
            for key in 0..2_000 {
                let at = blocked.indices(remix(key, 1));
                let lines = at.iter().map(|index| index / COUNTERS_PER_LINE);
                assert!(lines.clone().all(|line| line == at[0] / COUNTERS_PER_LINE && line < 13));
                assert!(at.is_sorted_by(|a, b| a < b));
                assert_eq!(at.len(), hashes as usize);
            }
        }
    }

    #[test]
    fn lines_are_the_fewest_that_will_do() {
        for items in [1, 100, 100_000] {
            for rate in [0.1, 0.01, 0.001] {
                let blocked = Blocked::for_items(items, rate);
                assert!(blocked.collision_rate(items) <= rate);
                let fewer = Blocked::for_lines(items, blocked.lines.max(2) - 1);
                assert!(blocked.lines == 1 || fewer.collision_rate(items) > rate);
            }
        }
    }
}
