//! A vector of counters, in as few bits as it takes: one interface, several storages.
//!
//! Most counters of a spectral filter are zero or small, and a few are large. What a counter costs
//! is therefore the question. [`Fixed`] gives each the same bits and saturates at a stated bound.
//! [`Pools`] lets the counters of one 64-bit word share its bits, which is the storage we recommend.
//! [`StringArray`] and [`Serial`] are the paper's: strings of just the length that each counter
//! needs, one behind the other, with an index into them.
//!
//! | Storage | Bits per counter | An access reads |
//! |---|---|---|
//! | [`Fixed`] | 8, 16 or 32 | one word |
//! | [`Pools`] | 6.4, more when most counters are large | one word |
//! | [`StringArray`] | its own length, and about 3.5 | two offsets and a string of at most 20 words |
//! | [`Serial`] | its own length, and about 2.5 | the same, code by code |

mod chunked;
mod code;
mod fixed;
mod huffman;
mod pools;
mod serial;
mod string_array;

pub use chunked::{CHUNK, ChunkCode, Chunked, Work};
pub use code::{Code, read_counters, write_counters};
pub use fixed::Fixed;
pub use pools::{COUNTERS_PER_LINE, Pools};
pub use serial::{Serial, SerialCode};
pub use string_array::{LengthCode, StringArray};

use std::fmt::Debug;

/// The largest value of a counter that widens: beyond it, it stays there. One bit below `u64`, so
/// that a value and one more can be coded.
pub const MOST: u64 = u64::MAX >> 1;

/// A vector of counters that start at zero.
///
/// A counter never wraps around. It widens as it must, and where that ends, at
/// [`most`](Self::most), it stays for good: taking back from it would make it too small.
pub trait Counters: Clone + Debug + Send + Sync + 'static {
    /// Whether the heap grows with the values.
    const ADAPTS: bool;

    /// Cache lines that an access to one counter touches.
    const LINES: f64;

    /// This many zeros.
    fn new(len: usize) -> Self;

    /// How many counters there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest value that a counter can hold.
    fn most(&self) -> u64;

    /// The value of one counter.
    ///
    /// # Panics
    ///
    /// If there is no such counter; so do the other methods.
    fn get(&self, index: usize) -> u64;

    /// Replaces the value of one counter; a value that it cannot hold becomes the largest it can.
    fn set(&mut self, index: usize, value: u64);

    /// Adds to one counter.
    #[inline]
    fn add(&mut self, index: usize, amount: u64) {
        self.set(index, self.get(index).saturating_add(amount));
    }

    /// Makes one counter at least this large.
    #[inline]
    fn raise(&mut self, index: usize, value: u64) {
        if self.get(index) < value {
            self.set(index, value);
        }
    }

    /// Takes back from one counter; one that once reached the largest value keeps it.
    #[inline]
    fn subtract(&mut self, index: usize, amount: u64) {
        let value = self.get(index);
        if value < self.most() {
            self.set(index, value.saturating_sub(amount));
        }
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
            let most = counters.most();
            assert_eq!(counters.len(), len);
            for step in 0..steps {
                let index = (remix(step, 1) % len as u64) as usize;
                // Small values mostly, now and then one of any length.
                let amount = match remix(step, 2) % 16 {
                    0 => remix(step, 3) >> (remix(step, 4) % 64),
                    few => few % 4,
                };
                let old = plain[index];
                match remix(step, 5) % 8 {
                    0 => {
                        counters.set(index, amount);
                        plain[index] = amount.min(most);
                    }
                    1 => {
                        counters.subtract(index, amount);
                        plain[index] = if old == most { most } else { old.saturating_sub(amount) };
                    }
                    2 => {
                        counters.raise(index, amount);
                        plain[index] = old.max(amount.min(most));
                    }
                    _ => {
                        counters.add(index, amount);
                        plain[index] = old.saturating_add(amount).min(most);
                    }
                }
                assert_eq!(counters.get(index), plain[index], "step {step} of {len}");
            }
            let found: Vec<u64> = (0..len).map(|index| counters.get(index)).collect();
            assert_eq!(found, plain);
        }
    }

    #[test]
    fn every_storage_agrees_with_a_plain_vector() {
        agrees_with_a_plain_vector::<Fixed<u8>>(20_000);
        agrees_with_a_plain_vector::<Fixed<u16>>(20_000);
        agrees_with_a_plain_vector::<Fixed<u32>>(20_000);
        agrees_with_a_plain_vector::<Pools>(20_000);
        agrees_with_a_plain_vector::<StringArray>(20_000);
        agrees_with_a_plain_vector::<Serial>(20_000);
    }
}
