//! The string-array index: strings of the counters' own lengths, found without reading them.
//!
//! A counter of value v is the binary form of v + 1 without its leading one: nothing for 0, one bit
//! for 1 and 2, ten bits around a thousand. Its length is kept apart, in a prefix code at the head
//! of its chunk, and a lookup table takes many lengths at once: one step of 11 bits tells how many
//! counters those bits describe and how long they are together. For the counters 0, 0, 5, 1 with
//! code words `0` for length 0, `10` for 1 and `110` for 2, the head is `0 0 110 10` and the
//! strings behind it are `10` (5 + 1 is 110) and `0`.
//!
//! Sections 4.1 and 4.2 of the paper. Its three levels (loglog-sized pieces, offset vectors for
//! long ones) are one here, the chunk of [`chunked`](super::chunked): chunks are so small that the
//! table serves them all. The prefix code for lengths follows what lengths there are, instead of
//! being Elias's.

use alloc::vec::Vec;

use super::chunked::{CHUNK, CHUNK_WORDS, ChunkCode, Chunked};
use super::huffman::{SYMBOLS, code_lengths, code_words};
use crate::bits::{read_bits, write_bits};

/// Counters in strings of the length of each, with a table to find them.
pub type StringArray = Chunked<LengthCode>;

/// A code for the lengths of counters, and its lookup table.
#[derive(Debug, Clone)]
pub struct LengthCode {
    code_lengths: [u8; SYMBOLS],
    code_words: [u16; SYMBOLS],
    /// For the next bits of a head, what they say.
    table: Vec<Entry>,
}

/// Bits of a head that one step looks at; no code word is longer.
const STEP: u32 = 11;

/// What the next bits of a head say.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// Lengths that they describe completely, at most sixteen.
    count: u8,
    /// Bits of the code words of those.
    bits: u8,
    /// The sum of those lengths: eleven bits describe eleven lengths of 63 at most.
    sum: u16,
    /// The first length.
    first: u8,
    /// Bits of its code word.
    first_bits: u8,
}

/// One counter's place in a chunk.
struct Found {
    /// Where its string begins, from the end of the head.
    offset: usize,
    length: u32,
}

impl LengthCode {
    fn with_lengths(code_lengths: [u8; SYMBOLS]) -> Self {
        let code_words = code_words(&code_lengths);
        let mut singles = vec![(0_u8, 0_u8); 1 << STEP];
        for (symbol, (&word, &length)) in code_words.iter().zip(&code_lengths).enumerate() {
            for rest in 0..1_usize << (STEP - u32::from(length)) {
                singles[usize::from(word) | rest << length] = (symbol as u8, length);
            }
        }
        let entry = |head: usize| {
            let (first, first_bits) = singles[head];
            let mut entry = Entry { first, first_bits, ..Entry::default() };
            loop {
                let (symbol, bits) = singles[head >> entry.bits];
                if u32::from(entry.bits + bits) > STEP {
                    return entry;
                }
                entry.count += 1;
                entry.bits += bits;
                entry.sum += u16::from(symbol);
            }
        };
        let table = (0..1 << STEP).map(entry).collect();
        Self { code_lengths, code_words, table }
    }

    /// Reads `lanes` lengths at `position`, moves it behind them and gives their sum.
    #[inline]
    fn skip(&self, words: &[u64], position: &mut usize, mut lanes: usize) -> usize {
        let mut sum = 0;
        while lanes > 0 {
            let entry = self.table[read_bits(words, *position, STEP) as usize];
            if usize::from(entry.count) <= lanes {
                lanes -= usize::from(entry.count);
                sum += usize::from(entry.sum);
                *position += usize::from(entry.bits);
            } else {
                lanes -= 1;
                sum += usize::from(entry.first);
                *position += usize::from(entry.first_bits);
            }
        }
        sum
    }

    /// Where the counter is, and where the head of its chunk ends.
    #[inline]
    fn find(&self, words: &[u64], position: usize, lane: usize) -> (Found, usize) {
        let mut head = position;
        let offset = self.skip(words, &mut head, lane);
        let length = self.skip(words, &mut head, 1) as u32;
        self.skip(words, &mut head, CHUNK - 1 - lane);
        (Found { offset, length }, head)
    }
}

/// Bits of a counter's string.
#[inline]
fn length_of(value: u64) -> u32 {
    (value + 1).ilog2()
}

/// The value whose string has this length and these bits.
#[inline]
fn value_of(length: u32, bits: u64) -> u64 {
    (1 << length | bits) - 1
}

impl ChunkCode for LengthCode {
    // A head of 26 bits, and strings of 14: see the lab's comparison of storages.
    const TYPICAL_BITS: usize = 40;

    fn new() -> Self {
        Self::fitting(&[0; CHUNK])
    }

    fn fitting(values: &[u64]) -> Self {
        let mut weights = [0; SYMBOLS];
        for &value in values {
            weights[length_of(value) as usize] += 1;
        }
        Self::with_lengths(code_lengths(&weights, STEP))
    }

    fn encode(&self, values: &[u64; CHUNK], out: &mut [u64; CHUNK_WORDS]) -> usize {
        let mut position = 0;
        for &value in values {
            let length = length_of(value) as usize;
            let (bits, word) = (self.code_lengths[length], self.code_words[length]);
            write_bits(out, position, bits.into(), word.into());
            position += usize::from(bits);
        }
        for &value in values {
            let length = length_of(value);
            write_bits(out, position, length, value + 1);
            position += length as usize;
        }
        position
    }

    fn decode(&self, words: &[u64], position: usize) -> [u64; CHUNK] {
        let mut head = position;
        let lengths: [u32; CHUNK] = core::array::from_fn(|_| self.skip(words, &mut head, 1) as u32);
        lengths.map(|length| {
            let bits = read_bits(words, head, length);
            head += length as usize;
            value_of(length, bits)
        })
    }

    fn measure(&self, words: &[u64], position: usize) -> usize {
        let mut head = position;
        let strings = self.skip(words, &mut head, CHUNK);
        head + strings - position
    }

    #[inline]
    fn get(&self, words: &[u64], position: usize, lane: usize) -> u64 {
        let (found, head) = self.find(words, position, lane);
        value_of(found.length, read_bits(words, head + found.offset, found.length))
    }

    #[inline]
    fn replace(&self, words: &mut [u64], position: usize, lane: usize, value: u64) -> bool {
        let (found, head) = self.find(words, position, lane);
        let fits = found.length == length_of(value);
        if fits {
            write_bits(words, head + found.offset, found.length, value + 1);
        }
        fits
    }

    fn heap_bytes(&self) -> u64 {
        (self.table.capacity() * size_of::<Entry>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counters, MOST, Moved};
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        assert_eq!([0, 1, 2, 5, 1_000].map(length_of), [0, 1, 1, 2, 9]);
        let values = [0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let code = LengthCode::fitting(&[[0; 4_000].as_slice(), &[1; 2_000], &[5; 1_000]].concat());
        let mut words = [0; CHUNK_WORDS];
        assert_eq!(code.encode(&values, &mut words), 14 + 3 + 2 + 3);
        // Drawn in the order in which they are read, `0 0 110 10` is this number.
        assert_eq!(words[0] & 0x7f, 0b010_1100);
        assert_eq!(words[0] >> 19 & 7, 0b010);
        assert_eq!(code.decode(&words, 0), values);
        assert_eq!(code.measure(&words, 0), 22);
    }

    #[test]
    fn the_longest_chunk_fits() {
        let values = [MOST; CHUNK];
        let code = LengthCode::new();
        let mut words = [0; CHUNK_WORDS];
        let bits = code.encode(&values, &mut words);
        assert!(bits <= 64 * (CHUNK_WORDS - 1), "{bits}");
        assert_eq!(code.decode(&words, 0), values);
    }

    /// Slack is taken, chunks are pushed, and layouts are made anew, seldom.
    #[test]
    fn growing_costs_little() {
        let len = 50_000;
        let mut counters = StringArray::new(len);
        let steps = 1_000_000;
        for step in 0..steps {
            let index = crate::hash::remix(step, 0) % len as u64;
            counters.add_to_all(&[index as usize], 1);
        }
        let Moved { recoded, pushed, laid_out } = counters.work();
        assert!(recoded > 0 && pushed > 0 && laid_out > 0);
        let per_step = (recoded + pushed + laid_out) as f64 / steps as f64;
        assert!(per_step < 1.0, "{per_step} chunks per step");
    }
}
