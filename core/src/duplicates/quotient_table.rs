//! The quotient hash table (QHT): a row of buckets per address, and fingerprints that overwrite
//! each other.
//!
//! Géraud, Lombard-Platet and Naccache 2019, the best streaming detector in the comparison of
//! *Approaching optimal duplicate detection in a sliding window*, which uses one bucket of three
//! bits. All four of its updates are in [`Update`], with one of ours that wins whenever rows have
//! several buckets: a row is then the last k different keys of its address, and the whole table
//! behaves as a window whose end is blurred by how keys spread over rows. What is not guaranteed:
//! that a key is remembered, or forgotten, at any given distance.

use alloc::vec::Vec;

use super::buckets::{Buckets, Fingerprints, Update};
use crate::error::Error;
use crate::hash::reduce;
use crate::parameters::{List, Parameters};

/// The quotient hash table.
pub type QuotientTable = Buckets<Even>;

/// Fingerprints that are uniform on all values but 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Even {
    /// Bits, 1 to 32.
    pub bits: u32,
}

impl Parameters for Even {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("fingerprint bits", &mut self.bits, 1..=32, "from 1 to 32")
    }
}

impl Fingerprints for Even {
    const UPDATE: Update = Update::Renew;

    fn candidates() -> Vec<Self> {
        (2..=20).map(|bits| Self { bits }).collect()
    }

    fn bits(&self) -> u32 {
        self.bits
    }

    #[inline]
    fn of(&self, bits: u64) -> u64 {
        // Not the low bits with 0 replaced: that would double the weight of what replaces it.
        1 + reduce(bits, (1 << self.bits) - 1).0
    }

    fn chance(&self, fingerprint: u64) -> f64 {
        if fingerprint == 0 { 0.0 } else { self.collision() }
    }

    fn collision(&self) -> f64 {
        1.0 / ((1u64 << self.bits) - 1) as f64
    }
}
