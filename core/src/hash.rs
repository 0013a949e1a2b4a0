//! Hash at the door: a key is bytes, and becomes one `u64` under a seed.
//!
//! Structures see only these hashes. Snapshots and clusters depend on them, so the functions below
//! never change their output: test vectors pin it. [`Hashing::Fast`] is XXH3 with a seed, right for
//! keys nobody chooses against us. Its seed is no secret to someone who can watch answers, so
//! hostile input gets [`Hashing::Keyed`], SipHash-2-4 under a 128-bit key.
//!
//! # How one hash serves many purposes
//!
//! - [`reduce`] cuts a hash into an index below any bound and 64 fresh-looking bits below it: the
//!   high and the low half of one wide product. `hash = 3/4 of the range`, `bound = 10`: index 7,
//!   and the rest says where between 7 and 8 we were.
//! - [`remix`] makes another hash, independent for our purposes, when the bits of the first are
//!   used up.

mod xxh3;

use siphasher::sip::SipHasher24;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::bits::{Level, vectorized};

/// What distinguishes one filter's hashes, and its random choices, from another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed(pub u64);

/// How keys become hashes. Part of every snapshot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hashing {
    /// XXH3 (64 bits) with a seed: for keys that nobody chooses against us.
    Fast(Seed),
    /// SipHash-2-4 under a secret key: for keys an adversary may choose.
    ///
    /// The key is written into snapshots, so whoever can read those can forge collisions.
    Keyed([u8; 16]),
}

impl Hashing {
    /// The hash of a key. Its output is part of the snapshot format and never changes.
    ///
    /// ```
    /// use lately::{Hashing, Seed};
    ///
    /// assert_eq!(Hashing::Fast(Seed(0)).hash(b""), 0x2d06_8005_38d3_94c2);
    /// ```
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        match self {
            Hashing::Fast(seed) => {
                xxh3::of_short(key, seed.0).unwrap_or_else(|| self.hash_of_any_length(key))
            }
            Hashing::Keyed(_) => self.hash_of_any_length(key),
        }
    }

    /// The hashes of many keys of eight bytes, as integers are: several at a time where the processor can.
    ///
    /// ```
    /// use lately::Hashing;
    ///
    /// let (hashing, mut hashes) = (Hashing::default(), [0; 2]);
    /// hashing.hash_words(&[7_u64.to_le_bytes(), *b"12345678"], &mut hashes);
    /// assert_eq!(hashes[1], hashing.hash(b"12345678"));
    /// ```
    ///
    /// # Panics
    ///
    /// If there are not as many hashes as keys.
    pub fn hash_words(&self, keys: &[[u8; 8]], hashes: &mut [u64]) {
        assert_eq!(keys.len(), hashes.len(), "one hash per key");
        let each = keys.iter().zip(hashes);
        match *self {
            Hashing::Fast(Seed(seed)) => vectorized!(Level::detect(), |_isa| {
                each.for_each(
                    #[inline(always)]
                    |(key, hash)| *hash = xxh3::of_number(u64::from_le_bytes(*key), seed),
                )
            }),
            Hashing::Keyed(_) => each.for_each(|(key, hash)| *hash = self.hash(key)),
        }
    }

    /// Out of line, so that the short ways above are short enough for the caller's loop.
    #[inline(never)]
    fn hash_of_any_length(&self, key: &[u8]) -> u64 {
        match self {
            Hashing::Fast(seed) => xxh3_64_with_seed(key, seed.0),
            Hashing::Keyed(secret) => SipHasher24::new_with_key(secret).hash(key),
        }
    }

    /// A seed for a structure's own random choices, derived from the seed or key.
    pub fn structure_seed(&self) -> Seed {
        // Any fixed label would do; it keeps this hash apart from those of ordinary keys.
        Seed(remix(self.hash(b"lately: structure seed"), 0))
    }
}

impl Default for Hashing {
    fn default() -> Self {
        Hashing::Fast(Seed::default())
    }
}

impl core::fmt::Debug for Hashing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Hashing::Fast(seed) => f.debug_tuple("Fast").field(&seed.0).finish(),
            // A secret must not reach logs.
            Hashing::Keyed(_) => f.write_str("Keyed(..)"),
        }
    }
}

/// Splits `hash` into an index below `bound` and the bits that remain.
///
/// The index is the high half of `hash * bound`, the rest its low half. Given the index, the rest
/// is uniform over about `2^64 / bound` evenly spaced values, so its *high* bits are the ones to
/// use, and can be reduced again. `bound` is any positive number.
#[inline]
pub fn reduce(hash: u64, bound: u64) -> (u64, u64) {
    let product = u128::from(hash) * u128::from(bound);
    ((product >> 64) as u64, product as u64)
}

/// Another hash made from this one; different `stream`s are independent for our purposes.
///
/// One round of a 64-bit finalizer (Stafford's variant 13) over the hash offset by a multiple of
/// the golden ratio.
#[inline]
pub fn remix(hash: u64, stream: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut x = hash.wrapping_add(GOLDEN.wrapping_mul(stream.wrapping_add(1)));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::stats::assert_uniform;

    const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// These values are published with the functions or were frozen with format version 1. If one
    /// changes, every snapshot in the world becomes unreadable: fix the code, not the vector.
    #[test]
    fn output_is_pinned_forever() {
        let fast = |seed, key: &[u8]| Hashing::Fast(Seed(seed)).hash(key);
        assert_eq!(fast(0, b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(fast(0, b"lately"), PINNED[0]);
        assert_eq!(fast(42, b"lately"), PINNED[1]);
        assert_eq!(fast(42, &[7; 200]), PINNED[2]);
        assert_eq!(fast(42, &[7; 1000]), PINNED[3]);
        // The example of the SipHash paper: key 00..0f, message 00..0e.
        assert_eq!(Hashing::Keyed(KEY).hash(&KEY[..15]), 0xa129_ca61_49be_45e5);
        assert_eq!(remix(0, 0), PINNED[4]);
        assert_eq!(remix(u64::MAX, 3), PINNED[5]);
        assert_eq!(Hashing::Keyed(KEY).structure_seed(), Seed(PINNED[6]));
    }

    #[test]
    fn many_words_hash_as_each() {
        let keys: Vec<[u8; 8]> = (0..100).map(|number| remix(number, 0).to_le_bytes()).collect();
        for hashing in [Hashing::Fast(Seed(0)), Hashing::Fast(Seed(!7)), Hashing::Keyed(KEY)] {
            for len in 0..keys.len() {
                let mut hashes = vec![0; len];
                hashing.hash_words(&keys[..len], &mut hashes);
                assert!(keys.iter().zip(hashes).all(|(key, hash)| hashing.hash(key) == hash));
            }
        }
    }

    const PINNED: [u64; 7] = [
        0x847f_ee57_4405_b46e,
        0x8d67_1733_71a7_5e4d,
        0xe1db_b5a4_5bdc_4c77,
        0x1190_6ec5_1d1b_b378,
        0xe220_a839_7b1d_cdaf,
        0x6d1d_b36c_cba9_82d2,
        0x0ee0_9a13_f06d_8a6d,
    ];

    #[test]
    fn secrets_stay_out_of_debug_output() {
        assert_eq!(format!("{:?}", Hashing::Keyed([7; 16])), "Keyed(..)");
    }

    /// Keys that differ in little give indices, rests and remixes that are jointly uniform.
    /// Each assertion fails by luck once in 1e9 runs; the seeds are fixed.
    #[test]
    fn parts_of_a_hash_are_independent() {
        let families: [fn(u64) -> Vec<u8>; 3] = [
            |i| i.to_le_bytes().to_vec(),
            |i| (i << 40).to_le_bytes().to_vec(),
            |i| format!("user-{i:012}@example.com").into_bytes(),
        ];
        for hashing in [Hashing::Fast(Seed(1)), Hashing::Keyed(KEY)] {
            for (bound, key) in [10u64, 16, 1_000_003].into_iter().zip(families) {
                let mut address_and_rest = vec![0; 10 * 16];
                let mut rest_and_remix = vec![0; 16 * 16];
                let mut two_remixes = vec![0; 16 * 16];
                for i in 0..200_000 {
                    let hash = hashing.hash(&key(i));
                    let (index, rest) = reduce(hash, bound);
                    let index = (u128::from(index) * 10 / u128::from(bound)) as usize;
                    let rest = (rest >> 60) as usize;
                    let first = (remix(hash, 1) >> 60) as usize;
                    let second = (remix(hash, 2) >> 60) as usize;
                    if bound.is_multiple_of(10) {
                        address_and_rest[index * 16 + rest] += 1;
                    }
                    rest_and_remix[rest * 16 + first] += 1;
                    two_remixes[first * 16 + second] += 1;
                }
                if bound.is_multiple_of(10) {
                    assert_uniform(&address_and_rest, 1e-9);
                }
                assert_uniform(&rest_and_remix, 1e-9);
                assert_uniform(&two_remixes, 1e-9);
            }
        }
    }

    #[test]
    fn reduce_covers_its_range_and_keeps_order() {
        for bound in [1, 2, 3, 64, 1_000_003, u64::MAX] {
            assert_eq!(reduce(0, bound).0, 0);
            assert_eq!(reduce(u64::MAX, bound).0, bound - 1);
        }
        assert_eq!(reduce(3 << 62, 10), (7, 1 << 63));
    }
}
