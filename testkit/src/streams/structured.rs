//! Keys with a pattern, on which weak hashes fail.
//!
//! Identifiers are counters, pointers are multiples of 16, addresses share a prefix. A good hash makes
//! them look like any other keys; these streams are here to check it. Hash them before use.

use crate::random::{GAMMA, permute};

/// The integers from `start`.
pub fn sequential(start: u64) -> impl Iterator<Item = u64> + Clone + Send {
    (0..).map(move |step| start.wrapping_add(step))
}

/// The integers from `start`, counted in the highest bits: all entropy far from the low end.
pub fn bit_reversed(start: u64) -> impl Iterator<Item = u64> + Clone + Send {
    sequential(start).map(u64::reverse_bits)
}

/// Keys with the same `bits` low bits; distinct for `2^(64 - bits)` steps.
///
/// # Panics
///
/// Unless `bits` is in `1..=63`.
pub fn shared_low_bits(bits: u32, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!((1..=63).contains(&bits), "cannot share {bits} bits");
    let shared = permute(seed, 0) & !(u64::MAX << bits);
    // An odd multiplier permutes the remaining bits, so that they are distinct and not a counter.
    sequential(0).map(move |step| shared | step.wrapping_mul(GAMMA) << bits)
}

/// Keys with the same `bits` high bits; distinct for `2^(64 - bits)` steps.
///
/// # Panics
///
/// Unless `bits` is in `1..=63`.
pub fn shared_high_bits(bits: u32, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!((1..=63).contains(&bits), "cannot share {bits} bits");
    let free = u64::MAX >> bits;
    let shared = permute(seed, 0) & !free;
    sequential(0).map(move |step| shared | step.wrapping_mul(GAMMA) & free)
}

/// Distinct keys, each one bit away from the one before (a Gray code).
///
/// ```
/// let keys: Vec<u64> = testkit::streams::one_bit_apart(7).take(100).collect();
/// assert!(keys.windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
/// ```
pub fn one_bit_apart(seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    let start = permute(seed, 0);
    sequential(0).map(move |step| start ^ step ^ (step >> 1))
}

/// The words that sentinels and shifts trip over, in turn: none, all, lowest, highest, and alternate
/// bits, and the halves.
pub fn extremes() -> impl Iterator<Item = u64> + Clone + Send {
    const WORDS: [u64; 8] = [
        0,
        u64::MAX,
        1,
        1 << 63,
        0x5555_5555_5555_5555,
        0xaaaa_aaaa_aaaa_aaaa,
        0x0000_0000_ffff_ffff,
        0xffff_ffff_0000_0000,
    ];
    WORDS.into_iter().cycle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Ever;

    fn assert_distinct(keys: impl Iterator<Item = u64>) {
        let mut ever = Ever::new();
        assert!(keys.take(50_000).all(|key| ever.insert(key)));
    }

    #[test]
    fn counters_count_and_wrap() {
        let keys: Vec<u64> = sequential(u64::MAX - 1).take(3).collect();
        assert_eq!(keys, [u64::MAX - 1, u64::MAX, 0]);
        let keys: Vec<u64> = bit_reversed(1).take(3).collect();
        assert_eq!(keys, [1 << 63, 1 << 62, 3 << 62]);
    }

    #[test]
    fn shared_bits_are_shared_and_the_rest_is_distinct() {
        for bits in [1, 16, 32, 48] {
            let first = shared_low_bits(bits, 1).next().unwrap();
            assert!(
                shared_low_bits(bits, 1).take(1000).all(|key| (key ^ first) << (64 - bits) == 0)
            );
            assert_distinct(shared_low_bits(bits, 1));

            let first = shared_high_bits(bits, 1).next().unwrap();
            assert!(
                shared_high_bits(bits, 1).take(1000).all(|key| (key ^ first) >> (64 - bits) == 0)
            );
            assert_distinct(shared_high_bits(bits, 1));
        }
        assert_eq!(shared_low_bits(63, 1).take(2).map(|key| key >> 63).sum::<u64>(), 1);
    }

    #[test]
    fn gray_codes_are_distinct_neighbours() {
        let keys: Vec<u64> = one_bit_apart(1).take(10_000).collect();
        assert!(keys.windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
        assert_distinct(one_bit_apart(1));
    }

    #[test]
    fn extremes_repeat_after_eight() {
        let keys: Vec<u64> = extremes().take(16).collect();
        assert_eq!(keys[..8], keys[8..]);
        assert_eq!(keys[..2], [0, u64::MAX]);
    }

    #[test]
    #[should_panic(expected = "cannot share 64 bits")]
    fn sharing_everything_is_refused() {
        let _ = shared_low_bits(64, 1);
    }
}
