//! The stable Bloom filter: cells that count down, whoever passes.
//!
//! A key's K cells are set to the largest value of their d bits; before that, P cells in a row from
//! a random place on are counted down by one. A key is reported if all its cells are above zero.
//! So the share of zeros settles, whatever the length of the stream. With d = 1 and P = K half of
//! the cells are zero, and of unseen keys a share of 1/2^K is reported.
//!
//! Deng and Rafiei 2006. The benchmark of *Approaching optimal duplicate detection in a sliding
//! window* reports a key if any of its cells is above zero, which is not this filter and errs
//! thirteen times as often at the settings given there; here all must be. What is not guaranteed:
//! that a key is remembered at any distance.

use lately::Error;
use lately::bits::Packed;
use lately::catalog::Row;
use lately::duplicates::Random;
use lately::duplicates::law::{Crowd, Stream};
use lately::duplicates::{Detector, Subfilter};
use lately::probability::poisson_nodes;
use lately::raw::Mistakes;
use lately::raw::{List, Parameters};
use lately::raw::{reduce, remix};
use lately::sample::share;

/// A stable Bloom filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StableBloom {
    /// Cells.
    pub cells: u64,
    /// Bits of a cell, 1 to 8.
    pub bits: u32,
    /// Cells that a key sets, 1 to 16.
    pub hashes: u32,
    /// Cells counted down per insertion, 1 up to all of them.
    pub decrements: u64,
}

impl StableBloom {
    /// The share of zeros in the long run: `(1 / (1 + 1/(P (1/K - 1/m))))^Max`.
    pub fn stable_zeros(&self) -> f64 {
        let spread = 1.0 / f64::from(self.hashes) - 1.0 / self.cells as f64;
        let down = self.decrements as f64 * spread;
        (1.0 / (1.0 + 1.0 / down)).powi(self.most() as i32)
    }

    /// The decrements for which unseen keys are reported at a rate of `rate` in the long run,
    /// rounded down, as the paper's authors do.
    pub fn decrements_for(cells: u64, bits: u32, hashes: u32, rate: f64) -> u64 {
        let zeros = 1.0 - rate.powf(1.0 / f64::from(hashes));
        let most = f64::from((1 << bits) - 1);
        let spread = 1.0 / f64::from(hashes) - 1.0 / cells as f64;
        (1.0 / ((zeros.powf(-1.0 / most) - 1.0) * spread)) as u64
    }

    /// The largest value of a cell.
    fn most(&self) -> u64 {
        (1 << self.bits) - 1
    }

    #[inline]
    fn positions(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let cells = self.cells;
        (0..u64::from(self.hashes)).map(move |i| reduce(remix(hash, i), cells).0 as usize)
    }

    fn count_down(&self, cells: &mut Packed, base: usize, random: &mut Random) {
        let start = random.below(self.cells);
        for i in 0..self.decrements {
            // At most one turn around: `decrements` are no more than the cells.
            let cell = start + i;
            let cell = base + (if cell < self.cells { cell } else { cell - self.cells }) as usize;
            cells.set(cell, cells.get(cell).saturating_sub(1));
        }
    }

    /// The chance that a cell is above zero after 0, `step`, 2 `step`, ... insertions of others,
    /// each of which sets it with chance `sets`.
    fn above_zero(&self, start: u64, sets: f64, step: f64, steps: usize) -> Vec<f64> {
        let most = self.most() as usize;
        let moves = self.moves(sets, step);
        let mut states = vec![0.0; most + 1];
        states[start as usize] = 1.0;
        let mut above = Vec::with_capacity(steps);
        for _ in 0..steps {
            above.push(1.0 - states[0]);
            states = (0..=most)
                .map(|to| (0..=most).map(|from| states[from] * moves[from][to]).sum())
                .collect();
        }
        above
    }

    /// The chances of a cell's moves from value to value within `step` insertions: those of a short
    /// time, in which hardly two things happen, squared until the time is up.
    fn moves(&self, sets: f64, step: f64) -> Vec<Vec<f64>> {
        /// Chance that something happens in the short time.
        const SHORT: f64 = 0.004;
        let most = self.most() as usize;
        let downs = self.decrements as f64 / self.cells as f64;
        let doublings = ((sets + downs) * step / SHORT).log2().ceil().max(0.0) as i32;
        let short = step / f64::from(doublings).exp2();
        let (set, down) = (-(-sets * short).exp_m1(), -(-downs * short).exp_m1());
        let mut moves = vec![vec![0.0; most + 1]; most + 1];
        for from in 0..=most {
            let down = if from == 0 { 0.0 } else { down };
            moves[from][from.saturating_sub(1)] += (1.0 - set) * down;
            moves[from][from] += (1.0 - set) * (1.0 - down);
            moves[from][most] += set;
        }
        for _ in 0..doublings {
            moves = (0..=most)
                .map(|from| {
                    let chance = |to: usize| -> f64 {
                        (0..=most).map(|by| moves[from][by] * moves[by][to]).sum()
                    };
                    (0..=most).map(chance).collect()
                })
                .collect();
        }
        moves
    }

    /// The same for a cell like any other: over an alphabet, cells differ in how many keys set them.
    fn mean_above_zero(&self, start: u64, stream: Stream, step: f64, steps: usize) -> Vec<f64> {
        let mut mean = vec![0.0; steps];
        for (weight, crowd) in self.cell_crowds(stream) {
            let sets = self.sets(crowd);
            for (mean, above) in mean.iter_mut().zip(self.above_zero(start, sets, step, steps)) {
                *mean += weight * above;
            }
        }
        mean
    }

    /// The chance that an insertion sets a given cell.
    fn sets(&self, crowd: Crowd) -> f64 {
        crowd.density * f64::from(self.hashes) / self.cells as f64
    }

    fn cell_crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        let rivals = self.sets(Crowd::AVERAGE) / stream.rate;
        if stream.rate == 0.0 || rivals > 100.0 {
            return vec![(1.0, Crowd::AVERAGE)];
        }
        let nodes = poisson_nodes(rivals, 8).into_iter();
        nodes.map(|(weight, k)| (weight, Crowd { density: k / rivals, likeness: 1.0 })).collect()
    }

    /// Insertions after which a cell's past no longer shows: once settled, age says nothing.
    fn settling(&self) -> f64 {
        let changes = self.decrements as f64 + f64::from(self.hashes);
        8.0 * self.cells as f64 * self.most() as f64 / changes
    }

    /// The chance that a key whose latest copy is in the window is reported. `above(step)` gives the
    /// chance that one of its cells is above zero at `AGES + 1` ages from 0 on, `step` apart.
    fn mean_reported(&self, stream: Stream, above: impl Fn(f64) -> Vec<f64>) -> f64 {
        let horizon = stream.window.min(self.settling());
        let step = horizon / AGES as f64;
        let reported: Vec<f64> =
            above(step).iter().map(|above| above.powi(self.hashes as i32)).collect();
        let (mut young, mut weights) = (0.0, 0.0);
        for (i, pair) in reported.windows(2).enumerate() {
            // The younger, the likelier.
            let weight = (-stream.rate * (i as f64 + 0.5) * step).exp();
            young += weight * f64::midpoint(pair[0], pair[1]);
            weights += weight;
        }
        let share = stream.share(0.0, horizon, stream.window.max(f64::MIN_POSITIVE));
        share * young / weights + (1.0 - share) * reported[AGES]
    }

    fn best_by(bits: u64, errors: impl Fn(&Self) -> f64) -> Option<Self> {
        let mut best: Option<(f64, Self)> = None;
        for (cell_bits, hashes) in [1, 2, 3].into_iter().flat_map(|d| (1..=5).map(move |k| (d, k)))
        {
            let cells = bits / u64::from(cell_bits);
            if cells <= hashes.into() {
                continue;
            }
            let mut least = f64::INFINITY;
            let mut decrements = 1;
            while decrements <= cells.min(1 << 10) {
                let filter = Self { cells, bits: cell_bits, hashes, decrements };
                let found = errors(&filter);
                if best.is_none_or(|(known, _)| found < known) {
                    best = Some((found, filter));
                }
                // One minimum: stop when it is passed.
                if found > 1.01 * least {
                    break;
                }
                least = least.min(found);
                decrements += 1 + decrements / 4;
            }
        }
        best.map(|(_, filter)| filter)
    }
}

/// Ages at which a law is evaluated.
const AGES: usize = 48;

impl Parameters for StableBloom {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Self { cells, bits, hashes, decrements } = self;
        list.add("cells", cells, .., "")?;
        list.add("cell bits", bits, 1..=8, "from 1 to 8")?;
        list.add("hashes", hashes, 1..=16, "from 1 to 16")?;
        list.check(*cells > (*hashes).into(), "cells", *cells, "more than the hashes")?;
        list.add("decrements", decrements, 1..=*cells, "from 1 to the number of cells")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Subfilter for StableBloom {
    fn best_in_queue(bits: u64, turn: f64, stream: Stream, _near: Option<&Self>) -> Option<Self> {
        let filters = (stream.window / turn).max(1.0);
        Self::best_by(bits, |filter| {
            let errors = filter.after(turn, turn, stream, Crowd::AVERAGE);
            filters * errors.false_positives + errors.false_negatives
        })
    }

    fn cells(&self) -> u64 {
        self.cells
    }

    fn cell_bits(&self) -> u32 {
        self.bits
    }

    fn contains(&self, cells: &Packed, base: usize, hash: u64) -> bool {
        self.positions(hash).all(|cell| cells.get(base + cell) != 0)
    }

    fn insert(&self, cells: &mut Packed, base: usize, hash: u64, random: &mut Random) -> bool {
        // The order matters: test, count down, set.
        let seen = self.contains(cells, base, hash);
        self.count_down(cells, base, random);
        for cell in self.positions(hash) {
            cells.set(base + cell, self.most());
        }
        seen
    }

    fn after(&self, n: f64, last: f64, stream: Stream, crowd: Crowd) -> Mistakes {
        let sets = self.sets(crowd);
        let from_empty = self.above_zero(0, sets, n.min(self.settling()), 2);
        let from_set = |step| self.above_zero(self.most(), sets, step, AGES + 1);
        let reported = self.mean_reported(Stream { window: last, ..stream }, from_set);
        let false_positives = from_empty[1].powi(self.hashes as i32);
        Mistakes { false_positives, false_negatives: 1.0 - reported }
    }

    fn crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        // A key with several cells meets several crowds, which even out.
        if self.hashes > 1 { vec![(1.0, Crowd::AVERAGE)] } else { self.cell_crowds(stream) }
    }

    fn estimate(&self, cells: &Packed, base: usize, places: usize) -> f64 {
        let all = base..base + self.cells as usize;
        share(all, places, |cell| cells.get(cell) != 0).powi(self.hashes as i32)
    }

    fn lines_touched(&self) -> f64 {
        // Its own cells, and those counted down.
        f64::from(self.hashes) + 1.0 + (self.decrements * u64::from(self.bits)) as f64 / 512.0
    }

    fn first_cell(&self, hash: u64) -> usize {
        reduce(remix(hash, 0), self.cells).0 as usize
    }
}

impl Detector for StableBloom {
    fn best(bits: u64, stream: Stream) -> Option<Self> {
        Self::best_by(bits, |filter| filter.in_the_long_run(stream).total())
    }

    fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        let hashes = self.hashes as i32;
        let from_set = |step| self.mean_above_zero(self.most(), stream, step, AGES + 1);
        let repeats = self.mean_reported(stream, from_set);
        let settling = self.settling();
        let settled = self.mean_above_zero(0, stream, settling, 2)[1];
        let older = if stream.rate == 0.0 {
            settled.powi(hashes)
        } else {
            let longest = stream.window + (3.0 / stream.rate).min(settling);
            let step = longest / (2 * AGES) as f64;
            let above = self.mean_above_zero(self.most(), stream, step, 2 * AGES + 1);
            let (mut sum, mut weights) = (0.0, 0.0);
            for (i, above) in above.iter().enumerate() {
                let age = i as f64 * step;
                if age >= stream.window {
                    let weight = (-stream.rate * (age - stream.window)).exp();
                    sum += weight * above.powi(hashes);
                    weights += weight;
                }
            }
            let rest = (-stream.rate * (longest - stream.window)).exp();
            let mean = if weights > 0.0 { sum / weights } else { settled.powi(hashes) };
            (1.0 - rest) * mean + rest * settled.powi(hashes)
        };
        Mistakes { false_positives: older, false_negatives: 1.0 - repeats }
    }

    fn pass(&self, cells: &mut Packed, random: &mut Random) {
        self.count_down(cells, 0, random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of the paper: P = 38, Z = 0.857, and 2% of unseen keys reported.
    #[test]
    fn the_stable_point_of_the_paper() {
        let decrements = StableBloom::decrements_for(50_000, 2, 2, 0.02);
        assert_eq!(decrements, 38);
        let filter = StableBloom { cells: 50_000, bits: 2, hashes: 2, decrements };
        assert!((filter.stable_zeros() - 0.857).abs() < 5e-4);
        let errors = filter.in_the_long_run(Stream::new(1000, None));
        let reported = (1.0 - filter.stable_zeros()).powi(2);
        assert!((errors.false_positives - reported).abs() < 5e-4, "{errors:?} {reported}");
    }
}
