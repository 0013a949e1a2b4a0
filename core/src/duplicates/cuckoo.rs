//! The cuckoo detector: two possible cells per fingerprint, and the one that finds no place is lost.
//!
//! A fingerprint may lie in either of two cells; who finds both full pushes a random one of their
//! fingerprints out, which moves to its other cell, and so on. In an endless stream the table is
//! always full, every chain of moves ends at its limit, and the last fingerprint pushed is dropped:
//! forgetting is a random fingerprint at a time. With 6 fingerprints in all and one new key per
//! step, a key is still there after 6 steps with chance (5/6)^6, about a third.
//!
//! Fan et al. 2014, used for streams as Géraud, Lombard-Platet and Naccache 2019 suggest. What we
//! changed: their benchmark divides the memory by 2^f where f was meant, takes fingerprints as
//! their own hash, and inserts what it has just detected; here cells fill the memory, in any
//! number: the two cells of a fingerprint add up to a sum that depends on it alone.

use super::detector::{Detector, Identity, Subfilter};
use super::law::Stream;
use super::random::Random;
use crate::bits::Packed;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Mistakes;
use crate::hash::{reduce, remix};
use crate::probability::mean_decay;

/// Fingerprints that are pushed around before one is dropped.
const MOVES: u32 = 50;

/// A cuckoo table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuckoo {
    /// Cells.
    pub cells: u64,
    /// Fingerprints in a cell, 1 to 8.
    pub buckets: u32,
    /// Bits of a fingerprint, 2 to 32.
    pub bits: u32,
}

impl Cuckoo {
    /// A table that fills `bits`; `None` if two cells do not fit.
    pub fn with_bits(bits: u64, buckets: u32, fingerprint_bits: u32) -> Option<Self> {
        let cells = bits / u64::from(buckets * fingerprint_bits);
        (cells >= 2).then_some(Self { cells, buckets, bits: fingerprint_bits })
    }

    /// Chance that one of the fingerprints in two cells, a share `load` of whose places is taken,
    /// is a given one: `1 - (1 - load q)^(2b)`.
    pub fn collision(&self, load: f64) -> f64 {
        let places = 2.0 * f64::from(self.buckets);
        -(places * (-load / self.values() as f64).ln_1p()).exp_m1()
    }

    fn values(&self) -> u64 {
        (1 << self.bits) - 1
    }

    fn places(&self) -> f64 {
        self.cells as f64 * f64::from(self.buckets)
    }

    /// Fingerprint and first cell.
    #[inline]
    fn place(&self, hash: u64) -> (u64, u64) {
        let (cell, rest) = reduce(hash, self.cells);
        (1 + reduce(rest, self.values()).0, cell)
    }

    /// The cell where a fingerprint may lie instead; its own inverse.
    #[inline]
    fn other(&self, fingerprint: u64, cell: u64) -> u64 {
        let sum = reduce(remix(fingerprint, 0), self.cells).0;
        if sum >= cell { sum - cell } else { sum + self.cells - cell }
    }

    /// Index of the bucket in this cell that holds the fingerprint.
    #[inline]
    fn find(&self, cells: &Packed, base: usize, cell: u64, fingerprint: u64) -> Option<usize> {
        let start = base + cell as usize * self.buckets as usize;
        (start..start + self.buckets as usize).find(|&bucket| cells.get(bucket) == fingerprint)
    }

    fn is_in(&self, cells: &Packed, base: usize, cell: u64, fingerprint: u64) -> bool {
        self.find(cells, base, cell, fingerprint).is_some()
            || self.find(cells, base, self.other(fingerprint, cell), fingerprint).is_some()
    }

    /// How full the table is, and the chance that a fingerprint put in at each of `STEPS` moments
    /// is still there, after `n` insertions of different keys into an empty one.
    fn filled(&self, n: f64) -> (f64, [f64; STEPS]) {
        let step = n / STEPS as f64;
        let (mut taken, mut kept) = (0.0, [1.0; STEPS]);
        for moment in 0..STEPS {
            let load: f64 = taken / self.places();
            let new = step * (1.0 - self.collision(load));
            // A chain of moves fails if every cell it meets is full.
            let full = load.powi(self.buckets as i32);
            let dropped = new * full.powi(MOVES as i32);
            taken = (taken + new - dropped).min(self.places());
            for kept in &mut kept[..=moment] {
                *kept *= (-dropped / taken).exp();
            }
        }
        (taken / self.places(), kept)
    }

    fn best_by(bits: u64, errors: impl Fn(&Self) -> f64) -> Option<Self> {
        let shapes = [1, 2, 4].into_iter().flat_map(|b| (2..=24).map(move |f| (b, f)));
        shapes
            .filter_map(|(buckets, f)| Self::with_bits(bits, buckets, f))
            .map(|table| (errors(&table), table))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, table)| table)
    }
}

/// Steps in which the filling of a table is followed.
const STEPS: usize = 64;

impl Subfilter for Cuckoo {
    const QUEUED: Identity = Identity {
        name: "queued-cuckoo",
        family: 31,
        strength: "cuckoo tables that take turns: small errors from few bits",
    };

    fn best_in_queue(bits: u64, turn: f64, stream: Stream) -> Option<Self> {
        let filters = (stream.window / turn).max(1.0);
        Self::best_by(bits, |table| {
            let errors = table.after(turn, stream);
            filters * errors.false_positives + errors.false_negatives
        })
    }

    fn cells(&self) -> u64 {
        self.cells * u64::from(self.buckets)
    }

    fn cell_bits(&self) -> u32 {
        self.bits
    }

    fn contains(&self, cells: &Packed, base: usize, hash: u64) -> bool {
        let (fingerprint, cell) = self.place(hash);
        self.is_in(cells, base, cell, fingerprint)
    }

    fn insert(&self, cells: &mut Packed, base: usize, hash: u64, random: &mut Random) -> bool {
        let (mut fingerprint, mut cell) = self.place(hash);
        if self.is_in(cells, base, cell, fingerprint) {
            return true;
        }
        if random.below(2) == 1 {
            cell = self.other(fingerprint, cell);
        }
        for _ in 0..MOVES {
            let other = self.other(fingerprint, cell);
            let empty =
                self.find(cells, base, cell, 0).or_else(|| self.find(cells, base, other, 0));
            if let Some(bucket) = empty {
                cells.set(bucket, fingerprint);
                return false;
            }
            let bucket = cell * u64::from(self.buckets) + random.below(self.buckets.into());
            let pushed = cells.get(base + bucket as usize);
            cells.set(base + bucket as usize, fingerprint);
            fingerprint = pushed;
            cell = self.other(fingerprint, cell);
        }
        // The last one pushed out is forgotten.
        false
    }

    fn after(&self, n: f64, stream: Stream) -> Mistakes {
        let (load, kept) = self.filled(stream.distinct(n));
        let false_positives = self.collision(load);
        let mean = kept.iter().sum::<f64>() / STEPS as f64;
        Mistakes { false_positives, false_negatives: (1.0 - mean) * (1.0 - false_positives) }
    }

    fn estimate(&self, cells: &Packed, base: usize) -> f64 {
        let start = |cell: usize| base + cell * self.buckets as usize;
        let held = |cell| {
            let buckets = start(cell)..start(cell + 1);
            let mut held: Vec<u64> = buckets.map(|bucket| cells.get(bucket)).collect();
            held.sort_unstable();
            held.dedup();
            held.into_iter().filter(|&fingerprint| fingerprint != 0)
        };
        let all = (0..self.cells as usize).flat_map(held);
        if self.bits > 12 {
            // So many fingerprints that hardly two are alike.
            return self.collision(all.count() as f64 / self.places());
        }
        // By fingerprint, how many cells hold it: a key asks two of them.
        let mut holding = vec![0u32; 1 << self.bits];
        all.for_each(|fingerprint| holding[fingerprint as usize] += 1);
        let reported = holding.iter().map(|&cells| {
            let share = f64::from(cells) / self.cells as f64;
            share * (2.0 - share)
        });
        reported.sum::<f64>() / self.values() as f64
    }

    fn lines_touched(&self) -> f64 {
        2.0
    }

    fn first_cell(&self, hash: u64) -> usize {
        self.place(hash).1 as usize * self.buckets as usize
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("cells", self.cells.to_string()),
            ("buckets", self.buckets.to_string()),
            ("fingerprint bits", self.bits.to_string()),
        ]
    }

    fn write(&self, out: &mut Writer) {
        out.u64(self.cells);
        out.u32(self.buckets);
        out.u32(self.bits);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Error> {
        let cells = from.u64("cells")?;
        if !(2..=1 << 56).contains(&cells) {
            return Err(Error::Field { field: "cells", found: cells, expected: "from 2 to 2^56" });
        }
        let buckets = from.u32("buckets")?;
        if !(1..=8).contains(&buckets) {
            let expected = "from 1 to 8";
            return Err(Error::Field { field: "buckets", found: buckets.into(), expected });
        }
        let bits = from.u32("fingerprint bits")?;
        if !(2..=32).contains(&bits) {
            let expected = "from 2 to 32";
            return Err(Error::Field { field: "fingerprint bits", found: bits.into(), expected });
        }
        Ok(Self { cells, buckets, bits })
    }
}

impl Detector for Cuckoo {
    const ALONE: Identity = Identity {
        name: "cuckoo",
        family: 25,
        strength: "full of fingerprints, it forgets at random; kept for comparison",
    };

    fn best(bits: u64, stream: Stream) -> Option<Self> {
        Self::best_by(bits, |table| table.in_the_long_run(stream).total())
    }

    fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        // A full table forgets one fingerprint for each that it takes in: `1/places` of the rest.
        let collision = self.collision(1.0);
        let forgetting = |taken_in: f64| taken_in / self.places();
        // Keys are taken in unless reported; the rate at which that happens feeds on itself.
        let mut taken_in = 1.0 - collision;
        for _ in 0..100 {
            let known = if stream.rate == 0.0 {
                0.0
            } else {
                stream.rate / (stream.rate + forgetting(taken_in))
            };
            taken_in = f64::midpoint(taken_in, (1.0 - known) * (1.0 - collision));
        }
        let (fading, window) = (forgetting(taken_in), stream.window);
        let stored = mean_decay((fading + stream.rate) * window) / mean_decay(stream.rate * window);
        let older = if stream.rate == 0.0 {
            0.0
        } else {
            (-fading * window).exp() * stream.rate / (stream.rate + fading)
        };
        Mistakes {
            false_positives: 1.0 - (1.0 - older) * (1.0 - collision),
            false_negatives: (1.0 - stored) * (1.0 - collision),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_cell_leads_to_the_other() {
        let table = Cuckoo { cells: 37, buckets: 2, bits: 9 };
        for i in 0..5000 {
            let (fingerprint, cell) = table.place(remix(i, 1));
            let other = table.other(fingerprint, cell);
            assert!(cell < 37 && other < 37 && (1..512).contains(&fingerprint));
            assert_eq!(table.other(fingerprint, other), cell);
        }
    }
}
