//! Keys that grow by a bit, the tails that the bit comes from, and where keys lie.

use lately::dictionary::{Place, Shape};
use lately::raw::reduce;

/// Bits of a tail: the paper's r, the logarithm of the 64 bits of a hash.
pub(super) const TAIL_BITS: u32 = 6;

/// A tail as it is stored, from the highest bit on: its bits, a one, and zeros.
pub(super) const EMPTY_TAIL: u64 = 1 << TAIL_BITS;

/// The keys of a dictionary, and the places where they lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    pub(super) shape: Shape,
    /// How many there are.
    count: u64,
    /// Key k lies at place number k times this modulo the count: neighbours come to lie far apart.
    multiplier: u64,
    /// The way back.
    inverse: u64,
}

impl Keys {
    pub(super) fn new(shape: Shape) -> Self {
        let count = (shape.bins as u64 * u64::from(shape.buckets)) << shape.remainder_bits;
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let near = (count as f64 * GOLDEN) as u64 | 1;
        let choices = (near..).step_by(2);
        let (multiplier, inverse) = choices
            .map(|multiplier| (multiplier, inverse(multiplier, count)))
            .find_map(|(multiplier, inverse)| Some((multiplier, inverse?)))
            .expect("a prime that does not divide the count is among the next numbers");
        Self { shape, count, multiplier, inverse }
    }

    /// The key of a hash, and the bits after it as a tail.
    #[inline(always)]
    pub(super) fn of(&self, hash: u64) -> (u64, u64) {
        let (key, rest) = reduce(hash, self.count);
        (key, rest >> (64 - TAIL_BITS) << 1 | 1)
    }

    #[inline(always)]
    pub(super) fn place(&self, key: u64) -> Place {
        let number = times(key, self.multiplier, self.count);
        let bucket = number >> self.shape.remainder_bits;
        Place {
            bin: (bucket / u64::from(self.shape.buckets)) as usize,
            bucket: (bucket % u64::from(self.shape.buckets)) as u32,
            remainder: number & ((1 << self.shape.remainder_bits) - 1),
        }
    }

    pub(super) fn at(&self, place: Place) -> u64 {
        let bucket = place.bin as u64 * u64::from(self.shape.buckets) + u64::from(place.bucket);
        let number = bucket << self.shape.remainder_bits | place.remainder;
        times(number, self.inverse, self.count)
    }
}

/// A product modulo a number.
#[inline(always)]
fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

/// What a number must be multiplied with to give one, modulo another: Euclid's algorithm. `None` if
/// they have a common divisor.
fn inverse(number: u64, modulus: u64) -> Option<u64> {
    let (mut rest, mut next) = (i128::from(modulus), i128::from(number));
    let (mut factor, mut next_factor) = (0, 1);
    while next != 0 {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (factor, next_factor) = (next_factor, factor - quotient * next_factor);
    }
    (rest == 1).then(|| factor.rem_euclid(i128::from(modulus)) as u64)
}

/// The bits that a tail and one as long as can be have in common, as a tail.
pub(super) fn common(tail: u64, longest: u64) -> u64 {
    let ends = tail & tail.wrapping_neg();
    // A forged tail may be zero, and then has nothing to differ in.
    let differing = (tail ^ longest) & !(2 * ends).wrapping_sub(1);
    if differing == 0 {
        return tail;
    }
    let highest = 1 << differing.ilog2();
    longest & !(2 * highest - 1) | highest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growing_tails::GrowingTailsParameters;
    use lately::raw::remix;

    /// A key is found from its place, and in a doubled dictionary it is the old one and the first
    /// bit of its tail.
    #[test]
    fn doubling_is_exact() {
        for rate in [0.3, 0.01, 1e-6] {
            let parameters = GrowingTailsParameters::with_error(rate, 1).unwrap();
            for doublings in 0..8 {
                let keys = Keys::new(parameters.shape(doublings).unwrap());
                let doubled = Keys::new(parameters.shape(doublings + 1).unwrap());
                for i in 0..2_000 {
                    let hash = remix(i, 3);
                    let (key, tail) = keys.of(hash);
                    assert_eq!(keys.at(keys.place(key)), key);
                    assert_eq!(doubled.of(hash).0, 2 * key + (tail >> TAIL_BITS));
                }
            }
        }
    }

    #[test]
    fn tails_shrink_to_what_they_share() {
        for (tail, longest, shared) in [
            (0b1011011, 0b1011011, 0b1011011),
            (0b1011100, 0b1011011, 0b1011100),
            (0b1000000, 0b1011011, 0b1000000),
            (0b1011011, 0b1011001, 0b1011010),
            (0b1011011, 0b0011011, 0b1000000),
            (0b1011010, 0b1001011, 0b1010000),
        ] {
            assert_eq!(common(tail, longest), shared, "{tail:b} {longest:b}");
        }
    }
}
