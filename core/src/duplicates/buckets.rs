//! Rows of buckets with short fingerprints, which overwrite each other: the table under the
//! quotient hash tables and the streaming quotient filter.
//!
//! A hash chooses a row and a fingerprint; the key is reported if the fingerprint is in one of the
//! row's k buckets. What happens on insertion is the [`Update`]. Bucket value 0 is empty. With
//! k = 2, renewing, and keys `a b c` that all chose one row: `a`, `ab`, then `bc`: `c` pushed `a`
//! out. Had `a` come again before `c`, the row would be `ba`, and then `ac`.

use alloc::vec::Vec;
use core::fmt::Debug;

use super::chain::{CellLaw, Chain, Life};
use super::detector::{Detector, Subfilter};
use super::law::{Crowd, Stream};
use super::moves::Moves;
use super::random::Random;
use super::renewal::Renewal;
use crate::bits::Packed;
use crate::catalog::Row;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::reduce;
use crate::parameters::{List, Parameters};
use crate::plan::effort;
use crate::promise::Mistakes;
use crate::sample::sample;

/// How hashes become fingerprints: what distinguishes the tables built on [`Buckets`].
pub trait Fingerprints: Parameters + Copy + Debug + PartialEq + Send + Sync {
    /// How its rows are updated, unless told otherwise.
    const UPDATE: Update;

    /// All worth trying, shortest first.
    fn candidates() -> Vec<Self>;

    /// Bits of a fingerprint, 1 to 32.
    fn bits(&self) -> u32;

    /// The fingerprint, never 0, from uniform bits of which the highest count most.
    fn of(&self, bits: u64) -> u64;

    /// The chance that a random key has this fingerprint.
    fn chance(&self, fingerprint: u64) -> f64;

    /// The chance that two random keys have the same one: `Σ chance^2`.
    fn collision(&self) -> f64 {
        (1..1u64 << self.bits()).map(|fingerprint| self.chance(fingerprint).powi(2)).sum()
    }
}

/// What an insertion does to its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Update {
    /// QHT: a fingerprint already there is left alone; a new one takes an empty bucket, or a random
    /// one.
    #[default]
    KeepRandom,
    /// QHTD: as before, but a fingerprint already there is stored again.
    AgainRandom,
    /// QQHT: a fingerprint already there is left alone; a new one pushes out the oldest.
    KeepQueue,
    /// QQHTD: every fingerprint is stored and pushes out the oldest.
    AgainQueue,
    /// Ours: a fingerprint already there becomes the newest; a new one pushes out the oldest. The
    /// only one by which a repeat starts its window anew and takes no second bucket.
    Renew,
}

impl Update {
    /// All of them, in the order of their codes in snapshots.
    pub const ALL: [Update; 5] = [
        Update::KeepRandom,
        Update::AgainRandom,
        Update::KeepQueue,
        Update::AgainQueue,
        Update::Renew,
    ];

    /// What rivals do to a fingerprint in a row of `k` buckets, when a rival brings the same one
    /// with chance `same`, and a given other one that is stored with chance `like`.
    pub fn life(self, k: u32, same: f64, like: f64) -> Life {
        let k = k as usize;
        // Those that were newer anyway do not push it.
        let newer = |place: usize| (1.0 - same - place as f64 * like).max(0.0);
        match self {
            Update::KeepRandom => Life::Chain(keep_random(k, same, like)),
            Update::AgainRandom => Life::Chain(again_random(k, same)),
            Update::KeepQueue => Life::Chain(keep_queue(k, same, like)),
            Update::AgainQueue => Life::Queue(Renewal::new(same, &vec![1.0 - same; k])),
            Update::Renew => {
                Life::Queue(Renewal::new(same, &(0..k).map(newer).collect::<Vec<_>>()))
            }
        }
    }
}

/// State: how many pushes away from the newest place, up to `k`, which is out.
fn keep_queue(k: usize, same: f64, like: f64) -> Chain {
    // Of all k that are there, none is moved.
    let pushed = (1.0 - same - (k - 1) as f64 * like).max(0.0);
    let mut rival = vec![(k, 0, same), (k, k, 1.0 - same)];
    for place in 0..k {
        rival.extend([(place, place + 1, pushed), (place, place, 1.0 - pushed)]);
    }
    let own = |place| if place < k { place } else { 0 };
    let itself = (0..=k).map(|place| (place, own(place), 1.0)).collect();
    let stored = (0..=k).map(|place| place < k).collect();
    let [rival, itself] = [rival, itself].map(|moves| Moves::new(k + 1, moves));
    Chain { stored, empty: k, rival, itself }
}

/// State: buckets in use, `0..=k` when the fingerprint is not among them, then `1..=k` when it is.
fn keep_random(k: usize, same: f64, like: f64) -> Chain {
    let mut rival = Vec::new();
    let mut itself = Vec::new();
    let present = |used: usize| k + used;
    for used in 0..=k {
        let others = (used as f64 * like).min(1.0 - same);
        let grown = (used + 1).min(k);
        rival.push((used, present(grown), same));
        rival.push((used, used, others));
        rival.push((used, grown, 1.0 - same - others));
        itself.push((used, present(grown), 1.0));
    }
    for used in 1..=k {
        let here = present(used);
        let new = (1.0 - same - (used - 1) as f64 * like).max(0.0);
        let lost = if used == k { new / k as f64 } else { 0.0 };
        rival.push((here, k, lost));
        rival.push((here, present((used + 1).min(k)), new - lost));
        rival.push((here, here, 1.0 - new));
        itself.push((here, here, 1.0));
    }
    let stored = (0..=2 * k).map(|state| state > k).collect();
    let [rival, itself] = [rival, itself].map(|moves| Moves::new(2 * k + 1, moves));
    Chain { stored, empty: 0, rival, itself }
}

/// State: copies of the fingerprint in a full row.
fn again_random(k: usize, same: f64) -> Chain {
    let mut rival = Vec::new();
    let mut itself = Vec::new();
    for copies in 0..=k {
        // A random bucket is overwritten: one of the copies, or another.
        let own = copies as f64 / k as f64;
        let (fewer, more) = (copies.saturating_sub(1), (copies + 1).min(k));
        rival.push((copies, more, same * (1.0 - own)));
        rival.push((copies, fewer, (1.0 - same) * own));
        rival.push((copies, copies, same * own + (1.0 - same) * (1.0 - own)));
        itself.push((copies, more, 1.0 - own));
        itself.push((copies, copies, own));
    }
    let stored = (0..=k).map(|copies| copies > 0).collect();
    let [rival, itself] = [rival, itself].map(|moves| Moves::new(k + 1, moves));
    Chain { stored, empty: 0, rival, itself }
}

/// Buckets of a row that are tried. More make rows alike, and more to search; beyond these little is gained.
const BUCKETS: [u32; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// A table of rows of buckets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Buckets<F> {
    /// Rows.
    pub rows: u64,
    /// Buckets in a row, 1 to 64.
    pub buckets: u32,
    /// What insertions do.
    pub update: Update,
    /// How hashes become fingerprints.
    pub fingerprints: F,
}

impl<F: Fingerprints> Buckets<F> {
    /// A table that fills `bits`; `None` if not one row does.
    pub fn with_bits(bits: u64, buckets: u32, fingerprints: F) -> Option<Self> {
        let rows = bits / u64::from(buckets * fingerprints.bits());
        (rows > 0).then_some(Self { rows, buckets, update: F::UPDATE, fingerprints })
    }

    /// The error law.
    pub fn law(&self) -> CellLaw<impl Fn(f64, f64) -> Life> {
        let Self { buckets, update, .. } = *self;
        CellLaw {
            life: move |same, like| update.life(buckets, same, like),
            collision: self.fingerprints.collision(),
            cells: self.rows as f64,
        }
    }

    /// The table within `bits` that errs least by `errors`, of all.
    fn best_by(bits: u64, errors: impl Fn(&Self) -> f64) -> Option<Self> {
        /// Longer fingerprints tried in vain before the search ends.
        const PATIENCE: u32 = 3;
        let mut best: Option<(f64, Self)> = None;
        let mut in_vain = 0;
        for fingerprints in F::candidates() {
            in_vain += 1;
            // The error has one minimum in the number of buckets: stop when it is passed.
            let mut least = f64::INFINITY;
            for buckets in BUCKETS {
                let Some(table) = Self::with_bits(bits, buckets, fingerprints) else { break };
                let found = errors(&table);
                if best.is_none_or(|(known, _)| found < known) {
                    best = Some((found, table));
                    in_vain = 0;
                }
                if found > 1.02 * least {
                    break;
                }
                least = least.min(found);
            }
            if in_vain > PATIENCE {
                break;
            }
        }
        best.map(|(_, table)| table)
    }

    /// The same from a table of another size on that is the best there: downhill, as far as it goes.
    fn best_near(near: &Self, bits: u64, errors: impl Fn(&Self) -> f64) -> Option<Self> {
        let candidates = F::candidates();
        let start = candidates.iter().position(|fingerprints| *fingerprints == near.fingerprints);
        let row = BUCKETS.iter().position(|&buckets| buckets == near.buckets);
        let (mut at, mut seen) = ((start?, row?), Vec::new());
        let mut best: Option<(f64, Self)> = None;
        loop {
            let from = at;
            for (length, row) in (from.0.saturating_sub(1)..from.0 + 2).flat_map(|length| {
                (from.1.saturating_sub(1)..from.1 + 2).map(move |row| (length, row))
            }) {
                let (Some(&fingerprints), Some(&buckets)) =
                    (candidates.get(length), BUCKETS.get(row))
                else {
                    continue;
                };
                if seen.contains(&(length, row)) {
                    continue;
                }
                seen.push((length, row));
                let Some(table) = Self::with_bits(bits, buckets, fingerprints) else { continue };
                let found = errors(&table);
                if best.is_none_or(|(known, _)| found < known) {
                    best = Some((found, table));
                    at = (length, row);
                }
            }
            if at == from {
                return best.map(|(_, table)| table);
            }
        }
    }

    /// The first bucket of the row, and the fingerprint.
    #[inline]
    fn place(&self, base: usize, hash: u64) -> (usize, u64) {
        let (row, rest) = reduce(hash, self.rows);
        (base + row as usize * self.buckets as usize, self.fingerprints.of(rest))
    }

    #[inline]
    fn find(&self, cells: &Packed, row: usize, fingerprint: u64) -> Option<usize> {
        (row..row + self.buckets as usize).find(|&bucket| cells.get(bucket) == fingerprint)
    }

    /// Stores a fingerprint in the first empty bucket, or in a random one.
    fn store(&self, cells: &mut Packed, row: usize, fingerprint: u64, random: &mut Random) {
        let bucket = self
            .find(cells, row, 0)
            .unwrap_or_else(|| row + random.below(self.buckets.into()) as usize);
        cells.set(bucket, fingerprint);
    }

    /// Moves the buckets after `gap` down by one, and stores a fingerprint in the last.
    fn push(&self, cells: &mut Packed, row: usize, gap: usize, fingerprint: u64) {
        let last = row + self.buckets as usize - 1;
        for bucket in gap..last {
            cells.set(bucket, cells.get(bucket + 1));
        }
        cells.set(last, fingerprint);
    }
}

impl<F: Fingerprints> Parameters for Buckets<F> {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("rows", &mut self.rows, 1..=1 << 56, "from 1 to 2^56")?;
        list.add("buckets", &mut self.buckets, 1..=64, "from 1 to 64")?;
        let text = |update| format!("{update:?}");
        list.one_of("update", &mut self.update, &Update::ALL, (text, "from 0 to 4"))?;
        self.fingerprints.list(list)
    }

    fn rows() -> &'static [Row] {
        F::rows()
    }
}

impl<F: Fingerprints> Subfilter for Buckets<F> {
    fn best_in_queue(bits: u64, turn: f64, stream: Stream, near: Option<&Self>) -> Option<Self> {
        // The subfilter's own errors stand in for the queue's, of which false positives add up.
        let filters = (stream.window / turn).max(1.0);
        let errors = |table: &Self| {
            let errors = table.after(turn, turn, stream, Crowd::AVERAGE);
            filters * errors.false_positives + errors.false_negatives
        };
        /// Tables of fewer bits have few rows, and their errors jump from shape to shape.
        const SMOOTH: u64 = 1 << 13;
        match near.filter(|_| bits >= SMOOTH) {
            Some(near) => Self::best_near(near, bits, errors),
            None => Self::best_by(bits, errors),
        }
    }

    fn cells(&self) -> u64 {
        self.rows * u64::from(self.buckets)
    }

    fn cell_bits(&self) -> u32 {
        self.fingerprints.bits()
    }

    fn contains(&self, cells: &Packed, base: usize, hash: u64) -> bool {
        let (row, fingerprint) = self.place(base, hash);
        self.find(cells, row, fingerprint).is_some()
    }

    fn insert(&self, cells: &mut Packed, base: usize, hash: u64, random: &mut Random) -> bool {
        let (row, fingerprint) = self.place(base, hash);
        let found = self.find(cells, row, fingerprint);
        match (self.update, found) {
            (Update::KeepRandom | Update::KeepQueue, Some(_)) => {}
            (Update::KeepRandom, None) | (Update::AgainRandom, _) => {
                self.store(cells, row, fingerprint, random);
            }
            (Update::Renew, Some(bucket)) => self.push(cells, row, bucket, fingerprint),
            (Update::KeepQueue | Update::Renew, None) | (Update::AgainQueue, _) => {
                self.push(cells, row, row, fingerprint);
            }
        }
        found.is_some()
    }

    fn after(&self, n: f64, last: f64, stream: Stream, crowd: Crowd) -> Mistakes {
        effort::count();
        self.law().after(n, last, stream, crowd)
    }

    fn crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        self.law().crowds(stream)
    }

    fn estimate(&self, cells: &Packed, base: usize, places: usize) -> f64 {
        let rows = sample(self.rows as usize, places);
        let looked = rows.len() as f64;
        let rows = rows.map(|row| {
            let start = base + row * self.buckets as usize;
            let mut held: Vec<u64> =
                (start..start + self.buckets as usize).map(|bucket| cells.get(bucket)).collect();
            held.sort_unstable();
            held.dedup();
            held.iter().map(|&fingerprint| self.fingerprints.chance(fingerprint)).sum::<f64>()
        });
        rows.sum::<f64>() / looked
    }

    fn lines_touched(&self) -> f64 {
        1.0 + f64::from(self.buckets * self.cell_bits()) / 512.0
    }

    fn first_cell(&self, hash: u64) -> usize {
        self.place(0, hash).0
    }
}

impl<F: Fingerprints> Detector for Buckets<F> {
    fn best(bits: u64, stream: Stream) -> Option<Self> {
        Self::best_by(bits, |table| table.in_the_long_run(stream).total())
    }

    fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        self.law().in_the_long_run(stream)
    }
}
