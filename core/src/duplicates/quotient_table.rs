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
use alloc::string::{String, ToString};

use super::buckets::{Buckets, Fingerprints, Update};
use super::detector::Identity;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::hash::reduce;

/// The quotient hash table.
pub type QuotientTable = Buckets<Even>;

/// Fingerprints that are uniform on all values but 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Even {
    /// Bits, 1 to 32.
    pub bits: u32,
}

impl Fingerprints for Even {
    const ALONE: Identity = Identity {
        name: "quotient-table",
        family: 23,
        strength: "one cache line per check in any memory, but the window's end is blurred",
    };
    const QUEUED: Identity = Identity {
        name: "queued-quotient-table",
        family: 29,
        strength: "tables that take turns: short memories, sharper than one table",
    };
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

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![("fingerprint bits", self.bits.to_string())]
    }

    fn write(&self, out: &mut Writer) {
        out.u32(self.bits);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Error> {
        let bits = from.u32("fingerprint bits")?;
        if !(1..=32).contains(&bits) {
            let expected = "from 1 to 32";
            return Err(Error::Field { field: "fingerprint bits", found: bits.into(), expected });
        }
        Ok(Self { bits })
    }
}
