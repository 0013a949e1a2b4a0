//! The cuckoo detector: two possible cells per fingerprint, and the one that finds no place is lost.
//!
//! A fingerprint may lie in either of two cells; who finds both full pushes a random one of their
//! fingerprints out, which moves to its other cell, and so on until one finds room. In an endless
//! stream the table is always full; then the first fingerprint pushed is dropped: forgetting is a
//! random fingerprint at a time. With 6 fingerprints in all and one new key per step, a key is
//! still there after 6 steps with chance (5/6)^6, about a third.
//!
//! Fan et al. 2014, used for streams as Géraud, Lombard-Platet and Naccache 2019 suggest. What we
//! changed: their benchmark divides the memory by 2^f where f was meant, takes fingerprints as
//! their own hash, and inserts what it has just detected; here cells fill the memory, in any
//! number: the two cells of a fingerprint add up to a sum that depends on it alone. And theirs
//! drops the last fingerprint of fifty moves, which is more often a young one, because those in
//! cells that few keys choose are never pushed; ours looks for room first, moves only if there is
//! some, and else drops the first, which is evenly anyone.

use lately::Error;
use lately::bits::Packed;
use lately::catalog::Row;
use lately::duplicates::Random;
use lately::duplicates::law::{Crowd, Stream};
use lately::duplicates::{Detector, Subfilter};
use lately::probability::{mean_decay, poisson_nodes};
use lately::raw::Mistakes;
use lately::raw::{List, Parameters};
use lately::raw::{reduce, remix};
use lately::sample::sample;

/// Cells in which room is sought before a fingerprint is dropped.
const MOVES: usize = 50;

/// A cuckoo table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

    /// Chance that a given fingerprint is in its two cells, a share `load` of whose places is
    /// taken: `2b load / (2^f - 1)`, because no two of them are alike.
    pub fn collision(&self, load: f64) -> f64 {
        (2.0 * f64::from(self.buckets) * load / self.values() as f64).min(1.0)
    }

    /// The chance that a key has the same fingerprint and cells as a given one.
    fn alike(&self) -> f64 {
        2.0 / (self.cells as f64 * self.values() as f64)
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

    /// The chance that a fingerprint is there, after `n` insertions of different keys into an empty
    /// table: one that was not among them, and those put in at each of `STEPS` moments. Each
    /// insertion brings it anew with chance `alike`.
    fn presence(&self, n: f64, alike: f64) -> (f64, [f64; STEPS]) {
        let step = n / STEPS as f64;
        let brought = 1.0 - (-step * alike).exp();
        let mut taken = 0.0;
        let (mut absent, mut missing) = (1.0, [0.0; STEPS]);
        for moment in 0..STEPS {
            let load: f64 = taken / self.places();
            let new = step * (1.0 - self.collision(load));
            let dropped = new * self.failing(load);
            taken = (taken + new - dropped).min(self.places());
            let lost = 1.0 - (-dropped / taken.max(1.0)).exp();
            for missing in missing[..=moment].iter_mut().chain([&mut absent]) {
                *missing = (*missing + (1.0 - *missing) * lost) * (1.0 - brought);
            }
        }
        (1.0 - absent, missing.map(|missing| 1.0 - missing))
    }

    /// The chance that no room is found at this load. No law of the literature covers fifty moves
    /// in small tables; this follows our own measurements, of which a test keeps some: room gets
    /// scarce at a load that depends on the buckets, earlier in some of the small tables, and is
    /// found now and then until the last place is taken.
    fn failing(&self, load: f64) -> f64 {
        let (scarce, sometimes) = match self.buckets {
            1 => (0.45, 0.4),
            2 => (0.885, 0.75),
            3 => (0.94, 0.83),
            _ => (0.962, 0.875),
        };
        let buckets = self.buckets as i32;
        let large = (load / scarce).powi(20 * buckets);
        let small = 2.5 * (self.cells as f64).powf(-0.75) * (load / sometimes).powi(7 * buckets);
        (large + small).min(load.powi(2 * buckets))
    }

    fn best_by(bits: u64, errors: impl Fn(&Self) -> f64) -> Option<Self> {
        // Single places find no room when half are taken.
        let shapes = [2, 4].into_iter().flat_map(|b| (2..=24).map(move |f| (b, f)));
        shapes
            .filter_map(|(buckets, f)| Self::with_bits(bits, buckets, f))
            .map(|table| (errors(&table), table))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, table)| table)
    }
}

/// Steps in which the filling of a table is followed.
const STEPS: usize = 64;

impl Parameters for Cuckoo {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("cells", &mut self.cells, 2..=1 << 56, "from 2 to 2^56")?;
        list.add("buckets", &mut self.buckets, 1..=8, "from 1 to 8")?;
        list.add("fingerprint bits", &mut self.bits, 2..=32, "from 2 to 32")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Subfilter for Cuckoo {
    fn best_in_queue(bits: u64, turn: f64, stream: Stream, _near: Option<&Self>) -> Option<Self> {
        let filters = (stream.window / turn).max(1.0);
        Self::best_by(bits, |table| {
            let errors = table.after(turn, turn, stream, Crowd::AVERAGE);
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
        let first = fingerprint;
        // The buckets whose fingerprints would move on, one to the place of the next.
        let mut path = [0; MOVES];
        for moves in 0..MOVES {
            let other = self.other(fingerprint, cell);
            let empty =
                self.find(cells, base, cell, 0).or_else(|| self.find(cells, base, other, 0));
            if let Some(mut room) = empty {
                for &bucket in path[..moves].iter().rev() {
                    cells.set(room, cells.get(bucket));
                    room = bucket;
                }
                cells.set(room, first);
                return false;
            }
            let bucket = cell * u64::from(self.buckets) + random.below(self.buckets.into());
            path[moves] = base + bucket as usize;
            fingerprint = cells.get(path[moves]);
            cell = self.other(fingerprint, cell);
        }
        cells.set(path[0], first);
        false
    }

    fn after(&self, n: f64, last: f64, stream: Stream, crowd: Crowd) -> Mistakes {
        let alike = crowd.likeness * self.alike();
        let (reported, there) = self.presence(stream.distinct(n), alike);
        let late = (STEPS as f64 * last / n.max(1.0)).ceil().clamp(1.0, STEPS as f64) as usize;
        let mean = there[STEPS - late..].iter().sum::<f64>() / late as f64;
        Mistakes { false_positives: reported, false_negatives: 1.0 - mean }
    }

    fn crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        let rivals = self.alike() / stream.rate;
        if stream.rate == 0.0 || rivals > 100.0 {
            return vec![(1.0, Crowd::AVERAGE)];
        }
        let nodes = poisson_nodes(rivals, 8).into_iter();
        nodes.map(|(weight, k)| (weight, Crowd { density: 1.0, likeness: k / rivals })).collect()
    }

    fn estimate(&self, cells: &Packed, base: usize, places: usize) -> f64 {
        let start = |cell: usize| base + cell * self.buckets as usize;
        let held = |cell| {
            let buckets = start(cell)..start(cell + 1);
            let mut held: Vec<u64> = buckets.map(|bucket| cells.get(bucket)).collect();
            held.sort_unstable();
            held.dedup();
            held.into_iter().filter(|&fingerprint| fingerprint != 0)
        };
        let looked = sample(self.cells as usize, places);
        let part = looked.len() as f64 / self.cells as f64;
        let all = looked.flat_map(held);
        if self.bits > 12 {
            // So many fingerprints that hardly two are alike.
            return self.collision(all.count() as f64 / part / self.places());
        }
        // By fingerprint, how many cells hold it: a key asks two of them.
        let mut holding = vec![0u32; 1 << self.bits];
        all.for_each(|fingerprint| holding[fingerprint as usize] += 1);
        let reported = holding.iter().map(|&cells| {
            let share = f64::from(cells) / part / self.cells as f64;
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
}

impl Detector for Cuckoo {
    fn best(bits: u64, stream: Stream) -> Option<Self> {
        Self::best_by(bits, |table| table.in_the_long_run(stream).total())
    }

    fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        // Keys with the same fingerprint and cells are one to the table. It is taken in when one
        // of them comes and it is not there, and a full table drops another for it.
        let crowds: Vec<(f64, f64)> = self
            .crowds(stream)
            .into_iter()
            .map(|(weight, crowd)| (weight, crowd.likeness * self.alike()))
            .collect();
        let Stream { window, rate } = stream;
        // The rate of dropping a given fingerprint, which feeds on itself through what is taken in.
        let mut dropping = 1.0 / self.places();
        for _ in 0..200 {
            let taken_in: f64 = crowds
                .iter()
                .map(|&(weight, rivals)| {
                    let absent = dropping / (rivals + dropping);
                    let forgotten = 1.0 - rate / (rate + rivals + dropping);
                    weight * absent * forgotten
                })
                .sum();
            dropping = f64::midpoint(dropping, taken_in / self.places());
        }
        Mistakes::mean_of(crowds.iter().map(|&(weight, rivals)| {
            let there = rivals / (rivals + dropping);
            // What its own coming adds to that fades by dropping and is renewed by rivals.
            let fading = rivals + dropping;
            let young = mean_decay((rate + fading) * window) / mean_decay(rate * window);
            let old =
                if rate == 0.0 { 0.0 } else { (-fading * window).exp() * rate / (rate + fading) };
            let errors = Mistakes {
                false_positives: there + (1.0 - there) * old,
                false_negatives: (1.0 - there) * (1.0 - young),
            };
            (weight, errors)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::Seed;

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

    /// What is lost while a table fills up, measured and predicted, in small and large tables.
    #[test]
    fn losses_while_filling_are_as_predicted() {
        for (cells, buckets) in [(200, 2), (800, 2), (200, 4), (3000, 4)] {
            let table = Cuckoo { cells, buckets, bits: 20 };
            for load in [0.7, 0.85, 0.95, 1.1, 2.0] {
                let n = (table.places() * load) as u64;
                let lives = 1 + 40_000 / n;
                let (mut lost, mut total) = (0, 0);
                for life in 0..lives {
                    let key = |i| remix(i, 1 + life);
                    let mut random = Random::new(Seed(life));
                    let mut places = Packed::new(20, (cells * u64::from(buckets)) as usize);
                    for i in 0..n {
                        table.insert(&mut places, 0, key(i), &mut random);
                    }
                    lost += (0..n).filter(|&i| !table.contains(&places, 0, key(i))).count();
                    total += n;
                }
                let measured = lost as f64 / total as f64;
                let stream = Stream::new(1, None);
                let errors = table.after(n as f64, n as f64, stream, Crowd::AVERAGE);
                let off = (measured - errors.false_negatives).abs();
                assert!(off < 0.03, "{cells} x {buckets} at {load}: {measured} {errors:?}");
            }
        }
    }
}
