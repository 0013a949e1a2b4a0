//! The compact serial form: codes that end by themselves, read one after the other.
//!
//! Section 4.3 of the paper: the offsets of [`chunked`](super::chunked) lead to a chunk, and inside
//! it sixteen [`Code`]s follow each other without an index. With the steps 0, 0 the counters
//! 0, 1, 1, 0 are `0 10 10 0`. Smaller than a string array, because no length is kept apart;
//! slower, because finding the last counter of a chunk means reading the fifteen before it.

use super::chunked::{CHUNK, CHUNK_WORDS, ChunkCode, Chunked};
use super::code::Code;
use crate::bits::{BitReader, write_bits};

/// Counters in codes that end by themselves.
pub type Serial = Chunked<SerialCode>;

/// The code of a [`Serial`], chosen anew with every layout.
#[derive(Debug, Clone, Copy)]
pub struct SerialCode {
    code: Code,
}

impl SerialCode {
    /// The first `lanes` counters of a chunk, one by one, and where the next begins.
    #[inline]
    fn scan(
        self,
        words: &[u64],
        position: usize,
        lanes: usize,
        mut each: impl FnMut(usize, u64),
    ) -> usize {
        let mut reader = BitReader::new(words, position);
        for lane in 0..lanes {
            each(lane, self.code.read(&mut reader).expect("chunks hold what was coded"));
        }
        reader.position()
    }

    /// Writes a counter at a position, and says where the next begins.
    fn put(self, value: u64, words: &mut [u64], mut position: usize) -> usize {
        self.code.write(value, |count, bits| {
            write_bits(words, position, count, bits);
            position += count as usize;
        });
        position
    }
}

impl ChunkCode for SerialCode {
    // Two bits for a counter on average, and a little.
    const TYPICAL_BITS: usize = 37;

    fn new() -> Self {
        Self { code: Code::steps(&[0, 0]) }
    }

    fn fitting(values: &[u64]) -> Self {
        Self { code: Code::fitting(values) }
    }

    fn encode(&self, values: &[u64; CHUNK], out: &mut [u64; CHUNK_WORDS]) -> usize {
        values.iter().fold(0, |position, &value| self.put(value, out, position))
    }

    fn decode(&self, words: &[u64], position: usize) -> [u64; CHUNK] {
        let mut values = [0; CHUNK];
        self.scan(words, position, CHUNK, |lane, value| values[lane] = value);
        values
    }

    fn measure(&self, words: &[u64], position: usize) -> usize {
        self.scan(words, position, CHUNK, |_, _| {}) - position
    }

    #[inline]
    fn get(&self, words: &[u64], position: usize, lane: usize) -> u64 {
        let mut value = 0;
        self.scan(words, position, lane + 1, |_, found| value = found);
        value
    }

    fn replace(&self, words: &mut [u64], position: usize, lane: usize, value: u64) -> bool {
        let start = self.scan(words, position, lane, |_, _| {});
        let end = self.scan(words, start, 1, |_, _| {});
        let fits = end - start == self.code.bits(value) as usize;
        if fits {
            self.put(value, words, start);
        }
        fits
    }

    fn heap_bytes(&self) -> u64 {
        0
    }
}
