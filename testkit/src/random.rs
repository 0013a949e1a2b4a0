//! A random generator that never changes.
//!
//! Tests fix their seeds, so a different generator would be a different test. This one is SplitMix64
//! (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, 2014, figure 17): a counter
//! that grows by an odd constant, followed by a bijection of 64-bit words. Published values pin it.
//!
//! It is fast and statistically sound, and it is no secret: do not use it where an adversary guesses.

/// What the counter grows by: odd, hence no state repeats before all `2^64` were visited.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of uniform 64-bit words, the same forever for the same seed.
///
/// ```
/// use testkit::random::SplitMix64;
///
/// let mut random = SplitMix64::new(7);
/// assert!(random.below(6) < 6);
/// assert_eq!(SplitMix64::new(7).next_u64(), SplitMix64::new(7).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator for `seed`; every seed is as good as any other.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next word. No word comes twice within `2^64` calls.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A uniform number in `0..bound`, without bias (Lemire 2019: multiply, reject the uneven rest).
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below 0");
        let uneven = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// A uniform number in `[0, 1)`, a multiple of `2^-53`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A bijection of 64-bit words in which every input bit moves every output bit; `mix(0)` is 0.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The `index`-th word of the permutation that belongs to `seed`: different indices, different words.
///
/// ```
/// use testkit::random::permute;
///
/// assert_ne!(permute(7, 0), permute(7, 1));
/// ```
pub fn permute(seed: u64, index: u64) -> u64 {
    let start = SplitMix64::new(seed).next_u64();
    mix(start.wrapping_add(index.wrapping_mul(GAMMA)))
}

/// A seed for one purpose, so that two users of the same seed do not draw the same numbers.
///
/// ```
/// use testkit::random::derive;
///
/// assert_ne!(derive(7, "keys"), derive(7, "times"));
/// ```
pub fn derive(seed: u64, purpose: &str) -> u64 {
    purpose
        .bytes()
        .fold(mix(seed ^ GAMMA), |state, byte| mix(state.wrapping_add(GAMMA) ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn output_is_the_published_one() {
        let mut zero = SplitMix64::new(0);
        assert_eq!(
            [zero.next_u64(), zero.next_u64(), zero.next_u64()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f],
        );
        let mut other = SplitMix64::new(1_234_567);
        assert_eq!(
            [other.next_u64(), other.next_u64(), other.next_u64()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423],
        );
    }

    #[test]
    fn below_is_uniform_and_reaches_every_number() {
        let mut random = SplitMix64::new(1);
        let mut counts = [0; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        crate::stats::assert_uniform(&counts, 1e-9);
    }

    #[test]
    fn below_rejects_the_uneven_rest() {
        // Four words share three results: without rejection, multiples of 3 would come twice as
        // often as others.
        let bound = 3 << 62;
        let mut random = SplitMix64::new(2);
        let mut thirds = [0; 3];
        for _ in 0..30_000 {
            thirds[(random.below(bound) % 3) as usize] += 1;
        }
        crate::stats::assert_uniform(&thirds, 1e-9);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    #[should_panic(expected = "below 0")]
    fn below_zero_panics() {
        SplitMix64::new(1).below(0);
    }

    #[test]
    fn unit_fills_the_interval() {
        let mut random = SplitMix64::new(3);
        let mut tenths = [0; 10];
        for _ in 0..10_000 {
            let unit = random.unit();
            assert!((0.0..1.0).contains(&unit));
            tenths[(unit * 10.0) as usize] += 1;
        }
        crate::stats::assert_uniform(&tenths, 1e-9);
    }

    #[test]
    fn permutations_do_not_repeat_and_differ_by_seed() {
        let words: HashSet<u64> =
            (0..4).flat_map(|seed| (0..10_000).map(move |index| permute(seed, index))).collect();
        assert_eq!(words.len(), 40_000);
    }

    #[test]
    fn derived_seeds_depend_on_seed_and_purpose() {
        let seeds: HashSet<u64> = (0..1000)
            .flat_map(|seed| ["", "a", "b", "ab", "ba"].map(|purpose| derive(seed, purpose)))
            .collect();
        assert_eq!(seeds.len(), 5000);
    }
}
