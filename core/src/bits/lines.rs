//! Memory in whole cache lines.

use super::aligned::{Aligned, LINE_BYTES};

/// 64-bit words in a cache line.
pub const LINE_WORDS: usize = LINE_BYTES / 8;

/// An array of cache lines, each on a line of its own.
#[derive(Debug, Clone)]
pub struct Lines(Aligned<u64>);

impl Lines {
    /// This many lines of zeros.
    pub fn new(lines: usize) -> Self {
        Self(Aligned::new(lines.checked_mul(LINE_WORDS).expect("more words than addresses")))
    }

    /// Bytes on the heap for this many lines.
    pub const fn heap_bytes_for(lines: usize) -> u64 {
        Aligned::<u64>::heap_bytes_for(lines.saturating_mul(LINE_WORDS))
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All lines.
    #[inline(always)]
    pub fn as_slice(&self) -> &[[u64; LINE_WORDS]] {
        self.0.as_slice().as_chunks().0
    }

    /// All lines, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [[u64; LINE_WORDS]] {
        self.0.as_mut_slice().as_chunks_mut().0
    }
}
