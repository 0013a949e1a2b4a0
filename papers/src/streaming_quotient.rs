//! The streaming quotient filter (SQF): fingerprints that count ones.
//!
//! A key's remainder of r bits is reduced to the number of its ones and its lowest r' bits. With
//! r = 2 and r' = 1 the remainders 00, 01, 10, 11 become (0,0), (1,1), (1,0), (2,1): four
//! signatures, in three bits where two would do. Numbers of ones are not evenly spread, so
//! signatures agree more often than their bits suggest; [`Fingerprints::collision`] has the sum.
//!
//! Dutta, Narang and Bera 2013, as the comparison of *Approaching optimal duplicate detection in a
//! sliding window* runs it. We changed one thing: any number of rows, not only powers of two. It is
//! here to be compared with.

use lately::Error;
use lately::catalog::Row;
use lately::duplicates::{Buckets, Fingerprints, Update};
use lately::raw::{List, Parameters};

/// The streaming quotient filter.
pub type StreamingQuotient = Buckets<Ones>;

/// Signatures of a number of ones and a few low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ones {
    /// Bits of the remainder, 1 to 24.
    pub remainder: u32,
    /// Bits of the remainder that are kept, from 1 up to all of them.
    pub kept: u32,
}

/// No ones, yet the lowest bit set: no remainder has this signature, so it marks an empty bucket.
/// Buckets store signatures with this bit flipped, so that the mark is 0.
const IMPOSSIBLE: u64 = 1;

impl Parameters for Ones {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Self { remainder, kept } = self;
        list.add("remainder bits", remainder, 1..=24, "from 1 to 24")?;
        list.add("kept bits", kept, 1..=*remainder, "from 1 to the remainder's")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Fingerprints for Ones {
    const UPDATE: Update = Update::KeepRandom;

    fn candidates() -> Vec<Self> {
        // Of those with as many bits, the one that confuses least.
        (2..=12)
            .filter_map(|bits| {
                let all = (1..=12).flat_map(|r| (1..=r).map(move |kept| (r, kept)));
                all.map(|(remainder, kept)| Self { remainder, kept })
                    .filter(|ones| ones.bits() == bits)
                    .min_by(|a, b| a.collision().total_cmp(&b.collision()))
            })
            .collect()
    }

    fn bits(&self) -> u32 {
        // As many as the largest count, `remainder`, needs, and the bits that are kept.
        (u32::BITS - self.remainder.leading_zeros()) + self.kept
    }

    #[inline]
    fn of(&self, bits: u64) -> u64 {
        self.signature(bits >> (64 - self.remainder))
    }

    fn chance(&self, fingerprint: u64) -> f64 {
        let signature = fingerprint ^ IMPOSSIBLE;
        let ones = (signature >> self.kept) as i64;
        let low = i64::from((signature & ((1 << self.kept) - 1)).count_ones());
        // The ones above the kept bits may lie anywhere among the rest.
        let rest = i64::from(self.remainder - self.kept);
        choose(rest, ones - low) / (1u64 << self.remainder) as f64
    }
}

impl Ones {
    fn signature(self, remainder: u64) -> u64 {
        let ones = u64::from(remainder.count_ones());
        let low = remainder & ((1 << self.kept) - 1);
        (ones << self.kept | low) ^ IMPOSSIBLE
    }
}

/// The number of ways to choose `k` of `n`.
fn choose(n: i64, k: i64) -> f64 {
    if !(0..=n).contains(&k) {
        return 0.0;
    }
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_all_remainders() {
        for ones in Ones::candidates() {
            let mut found = vec![0u32; 1 << ones.bits()];
            for remainder in 0..1 << ones.remainder {
                found[ones.signature(remainder) as usize] += 1;
            }
            assert_eq!(found[0], 0, "{ones:?}: a signature is taken for empty");
            for (fingerprint, &found) in (0..).zip(&found) {
                let chance = f64::from(found) / f64::from(1 << ones.remainder);
                assert!((ones.chance(fingerprint) - chance).abs() < 1e-12, "{ones:?}");
            }
        }
        assert_eq!(Ones { remainder: 2, kept: 1 }.collision(), 0.25);
    }
}
