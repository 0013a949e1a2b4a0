//! A vector of counters, in as few bits as it takes: one interface, several storages.
//!
//! Most counters of a spectral filter are zero or small, and a few are large. What a counter costs
//! is therefore the question. [`Fixed`] gives each the same bits and saturates at a stated bound.
//! [`Bytes`] gives each a byte and keeps the few that outgrow it elsewhere, which is the storage we
//! recommend. [`Pools`] lets the counters of one 64-bit word share its bits. [`StringArray`] and
//! [`Serial`] are the paper's: strings of just the length that each counter needs, one behind the
//! other, with an index into them.
//!
//! | Storage | Bits per counter | An access reads |
//! |---|---|---|
//! | [`Fixed`] | 8, 16 or 32 | one word |
//! | [`Bytes`] | 8, more when many counters are large | one word, or two |
//! | [`Pools`] | 6.4, more when many counters are large | one word, or two |
//! | [`StringArray`] | its own length, and about 3.5 | two offsets and a string of at most 21 words |
//! | [`Serial`] | its own length, and about 2.5 | the same, code by code |

mod bytes;
mod chunked;
mod code;
mod fixed;
mod grow;
mod huffman;
mod pools;
mod serial;
mod spilled;
mod string_array;
mod words;

pub use bytes::{ByteLanes, Bytes, COUNTERS_PER_LINE};
pub use chunked::{CHUNK, ChunkCode, Chunked, Moved};
pub use code::{Code, read_counters, write_counters};
pub use fixed::Fixed;
pub use pools::{Marks, Pools};
pub use serial::{Serial, SerialCode};
pub use string_array::{LengthCode, StringArray};
pub use words::{Field, Layout, Words};

use core::fmt::Debug;

/// The largest value of a counter that widens: beyond it, it stays there. One bit below `u64`, so
/// that a value and one more can be coded.
pub const MOST: u64 = u64::MAX >> 1;

/// A vector of counters that start at zero.
///
/// A counter never wraps around. It widens as it must, and where that ends, at
/// [`LARGEST`](Self::LARGEST), it stays for good: taking back from it would make it too small.
pub trait Counters: Clone + Debug + Send + Sync + 'static {
    /// Whether the heap grows with the values.
    const ADAPTS: bool;

    /// Cache lines that an access to one counter touches.
    const LINES: f64;

    /// The largest value that a counter can hold.
    const LARGEST: u64;

    /// This many zeros.
    fn new(len: usize) -> Self;

    /// Counters of these values, of which each is at most [`LARGEST`](Self::LARGEST); `None` if one
    /// is `None`. They come from the first on, and again whenever they are asked for; what is made of
    /// them takes time in proportion to them.
    fn from_values<I>(len: usize, values: impl Fn() -> I) -> Option<Self>
    where
        I: Iterator<Item = Option<u64>>,
    {
        let mut counters = Self::new(len);
        for (index, value) in values().enumerate() {
            match value? {
                0 => {}
                value => counters.set(index, value),
            }
        }
        Some(counters)
    }

    /// How many counters there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of one counter.
    ///
    /// # Panics
    ///
    /// If the index is far beyond the last counter, in this as in all methods; just beyond it,
    /// there may be room that nobody should use.
    fn get(&self, index: usize) -> u64;

    /// Replaces the value of one counter; a value that it cannot hold becomes the largest it can.
    fn set(&mut self, index: usize, value: u64);

    /// The least of several counters.
    #[inline]
    fn least(&self, at: &[usize]) -> u64 {
        at.iter().fold(MOST, |least, &index| least.min(self.get(index)))
    }

    /// Adds to several different counters, and gives the least there was before.
    #[inline]
    fn add_to_all(&mut self, at: &[usize], amount: u64) -> u64 {
        let least = self.least(at);
        for &index in at {
            self.set(index, self.get(index).saturating_add(amount));
        }
        least
    }

    /// Makes several different counters at least as large as the least of them and `amount` more,
    /// and gives the least there was before.
    #[inline]
    fn raise_least(&mut self, at: &[usize], amount: u64) -> u64 {
        let least = self.least(at);
        let grown = least.saturating_add(amount);
        for &index in at {
            self.set(index, self.get(index).max(grown));
        }
        least
    }

    /// Takes back from several different counters; one that once reached the largest value keeps
    /// it.
    fn subtract_from_all(&mut self, at: &[usize], amount: u64) {
        for &index in at {
            let value = self.get(index);
            if value < Self::LARGEST {
                self.set(index, value.saturating_sub(amount));
            }
        }
    }

    /// Replaces every counter by what `by` makes of it and of its like in another vector of as many.
    fn combine(&mut self, other: &Self, by: impl Fn(u64, u64) -> u64) {
        for index in 0..self.len() {
            self.set(index, by(self.get(index), other.get(index)));
        }
    }

    /// Adds to every counter its like in another vector of as many.
    fn add_all(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// Starts loading what the next access to this counter reads.
    fn prefetch(&self, index: usize);

    /// Bytes on the heap at this moment.
    fn heap_bytes(&self) -> u64;

    /// Bytes on the heap for this many counters of which half are small and the rest zero: what a
    /// filter holds that counts each of the keys it was built for a few times.
    fn heap_bytes_for(len: usize) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// Any storage against a plain vector, through values of every size.
    fn agrees_with_a_plain_vector<C: Counters>(steps: u64) {
        for len in [1, 15, 16, 17, 513, 3_000] {
            let mut counters = C::new(len);
            let mut plain = vec![0_u64; len];
            let most = C::LARGEST;
            assert_eq!(counters.len(), len);
            for step in 0..steps {
                let index = (remix(step, 1) % len as u64) as usize;
                // One counter, or two that may share a word.
                let other = (index + 1) % len;
                let at =
                    if step % 2 == 0 || other == index { vec![index] } else { vec![index, other] };
                // Small values mostly, now and then one of any length.
                let amount = match remix(step, 2) % 16 {
                    0 => remix(step, 3) >> (remix(step, 4) % 64),
                    few => few % 4,
                };
                let old: Vec<u64> = at.iter().map(|&index| plain[index]).collect();
                let least = *old.iter().min().unwrap();
                assert_eq!(counters.least(&at), least);
                let change: Box<dyn Fn(u64) -> u64> = match remix(step, 5) % 8 {
                    0 => {
                        at.iter().for_each(|&index| counters.set(index, amount));
                        Box::new(move |_| amount.min(most))
                    }
                    1 => {
                        counters.subtract_from_all(&at, amount);
                        Box::new(
                            move |old| if old == most { old } else { old.saturating_sub(amount) },
                        )
                    }
                    2..5 => {
                        assert_eq!(counters.raise_least(&at, amount), least);
                        Box::new(move |old| old.max(least.saturating_add(amount).min(most)))
                    }
                    _ => {
                        assert_eq!(counters.add_to_all(&at, amount), least);
                        Box::new(move |old| old.saturating_add(amount).min(most))
                    }
                };
                for &index in &at {
                    plain[index] = change(plain[index]);
                    assert_eq!(counters.get(index), plain[index], "step {step} of {len}");
                }
            }
            let found: Vec<u64> = (0..len).map(|index| counters.get(index)).collect();
            assert_eq!(found, plain);
        }
    }

    /// Values of every size, most of them small: the more of them are large, the larger `large`.
    fn values(len: usize, seed: u64, large: u64) -> Vec<u64> {
        let value = |index| match remix(index, seed) % 100 {
            draw if draw < large => remix(index, seed + 1) >> (1 + remix(index, seed + 2) % 63),
            draw => draw % 4,
        };
        (0..len as u64).map(value).collect()
    }

    fn all<C: Counters>(counters: &C) -> Vec<u64> {
        (0..counters.len()).map(|index| counters.get(index)).collect()
    }

    /// Many at once is what one by one would be, through all widths and on the way between them.
    fn many_at_once_are_as_one_by_one<C: Counters>() {
        for (len, large) in [(1, 0), (17, 50), (3_000, 0), (3_001, 1), (5_000, 30), (5_000, 100)] {
            let limited = |seed| {
                let values = values(len, seed, large).into_iter();
                values.map(|value| value.min(C::LARGEST)).collect::<Vec<_>>()
            };
            let (ours, theirs) = (limited(1), limited(9));
            let make = |values: &[u64]| {
                C::from_values(len, || values.iter().map(|&value| Some(value))).unwrap()
            };
            assert_eq!(all(&make(&ours)), ours);
            let missing = || ours.iter().map(|&value| Some(value)).take(len - 1).chain([None]);
            assert!(C::from_values(len, missing).is_none());
            for turns in [[&ours, &theirs], [&theirs, &ours], [&ours, &ours]] {
                let [mut sum, mut product, other] = [turns[0], turns[0], turns[1]].map(|v| make(v));
                sum.add_all(&other);
                product.combine(&other, u64::saturating_mul);
                let by = |by: fn(u64, u64) -> u64| {
                    let pairs = turns[0].iter().zip(turns[1]);
                    pairs.map(|(&a, &b)| by(a, b).min(C::LARGEST)).collect::<Vec<_>>()
                };
                assert_eq!(all(&sum), by(u64::saturating_add), "{len} {large}");
                assert_eq!(all(&product), by(u64::saturating_mul), "{len} {large}");
                let mut again = sum.clone();
                again.add_all(&sum);
                let twice: Vec<u64> =
                    all(&sum).iter().map(|&v| v.saturating_add(v).min(C::LARGEST)).collect();
                assert_eq!(all(&again), twice);
            }
        }
    }

    #[test]
    fn every_storage_takes_many_at_once() {
        many_at_once_are_as_one_by_one::<Fixed<u8>>();
        many_at_once_are_as_one_by_one::<Fixed<u16>>();
        many_at_once_are_as_one_by_one::<Fixed<u32>>();
        many_at_once_are_as_one_by_one::<Bytes>();
        many_at_once_are_as_one_by_one::<Pools>();
        many_at_once_are_as_one_by_one::<StringArray>();
        many_at_once_are_as_one_by_one::<Serial>();
    }

    #[test]
    fn every_storage_agrees_with_a_plain_vector() {
        agrees_with_a_plain_vector::<Fixed<u8>>(20_000);
        agrees_with_a_plain_vector::<Fixed<u16>>(20_000);
        agrees_with_a_plain_vector::<Fixed<u32>>(20_000);
        agrees_with_a_plain_vector::<Bytes>(20_000);
        agrees_with_a_plain_vector::<Pools>(20_000);
        agrees_with_a_plain_vector::<StringArray>(20_000);
        agrees_with_a_plain_vector::<Serial>(20_000);
    }
}
