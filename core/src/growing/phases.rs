//! What segments take while their number doubles: they split one after the other, the lowest prefixes first.

use super::parameters::bits_of_bins;
use super::reshape::bins_for;
use super::segment::SLOTS;
use crate::plan::effort;

/// A doubling at five moments: how large segments are that have been split, and that have not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phases([Phase; 5]);

#[derive(Debug, Clone, Copy)]
struct Phase {
    /// The part of all that are halves already: those below the fraction that is to be split next.
    split: f64,
    half: Filled,
    whole: Filled,
}

/// A segment with so many entries, and the bins that those take.
#[derive(Debug, Clone, Copy)]
struct Filled {
    entries: f64,
    bins: usize,
}

impl Phases {
    /// Of segments with so many entries on average.
    pub(super) fn new(capacity: f64) -> Self {
        Self([0.0, 0.2, 0.4, 0.6, 0.8].map(|split| {
            let entries = (1.0 + split) * capacity;
            Phase { split, half: Filled::with(entries / 2.0), whole: Filled::with(entries) }
        }))
    }

    /// Bits per item with fields of this width, on average over all moments.
    pub(super) fn bits(&self, width: usize) -> f64 {
        effort::count();
        let each = self.0.map(|Phase { split, half, whole }| {
            split * half.bits(width) / half.entries
                + (1.0 - split) * whole.bits(width) / whole.entries
        });
        each.iter().sum::<f64>() / each.len() as f64
    }
}

impl Filled {
    fn with(entries: f64) -> Self {
        Self { entries, bins: bins_for(entries as usize + SLOTS / 4) }
    }

    fn bits(&self, width: usize) -> f64 {
        bits_of_bins(width, self.bins)
    }
}
