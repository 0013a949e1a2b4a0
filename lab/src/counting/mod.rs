//! Experiments on counting: what the paper on spectral Bloom filters measured, and what we claim.

pub mod blocked;
pub mod counter;
pub mod iceberg;
pub mod join;
pub mod pace;
pub mod resident;
pub mod rival;
pub mod rules;
pub mod soak;
pub mod storage;
pub mod taken_back;

use lately::spectral::counters::Fixed;
use lately::spectral::{Rows, Rule, Spectral, SpectralParameters, Storage};
use testkit::oracle::Counts;

/// A filter whose counters are plain, so that only the rule is measured.
pub type Plain = Spectral<Fixed<u32>, SpectralParameters>;

/// An empty one.
pub fn plain(items: u64, rows: Rows, rule: Rule) -> Plain {
    Spectral::new(SpectralParameters { items, rows, rule, storage: Storage::Fixed32 })
}

/// The hash of a key in a life with this seed.
pub fn hash(seed: u64, key: u64) -> u64 {
    lately::Hashing::Fast(lately::Seed(seed)).hash(&key.to_le_bytes())
}

/// How a filter erred over all keys that occurred.
#[derive(Debug, Clone, Copy, Default)]
pub struct Errors {
    /// Keys asked about.
    pub keys: u64,
    /// Keys with a count that is too large.
    pub above: u64,
    /// Keys with a count that is too small.
    pub below: u64,
    /// The sum of all differences, either way.
    pub additive: u64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Errors {
    /// Asks `count` about every key of the oracle.
    pub fn of(truth: &Counts, count: impl Fn(u64) -> u64) -> Self {
        let mut errors = Self::default();
        for (key, exact) in truth.iter() {
            let found = count(key);
            errors.keys += 1;
            errors.above += u64::from(found > exact);
            errors.below += u64::from(found < exact);
            errors.additive += found.abs_diff(exact);
            errors.squares += (found.abs_diff(exact) as f64).powi(2);
        }
        errors
    }

    /// Adds those of another life.
    pub fn add(&mut self, other: Self) {
        self.keys += other.keys;
        self.above += other.above;
        self.below += other.below;
        self.additive += other.additive;
        self.squares += other.squares;
    }

    /// The share of keys with a wrong count.
    pub fn ratio(&self) -> f64 {
        (self.above + self.below) as f64 / self.keys as f64
    }

    /// The mean difference.
    pub fn mean(&self) -> f64 {
        self.additive as f64 / self.keys as f64
    }

    /// The root of the mean square: the paper's additive error.
    pub fn root_mean_square(&self) -> f64 {
        (self.squares / self.keys as f64).sqrt()
    }
}
