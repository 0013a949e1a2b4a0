//! Memory in whole cache lines.

use std::fmt;

/// 64-bit words in a cache line.
pub const LINE_WORDS: usize = 8;

/// An array of cache lines, each on a line of its own.
///
/// The alignment is found at run time inside a plain vector of words, not asked of the allocator:
/// some servers that load us as a module hand out memory of lesser alignment than requested, and
/// a type that claims more would be undefined behaviour there.
pub struct Lines {
    /// The lines, with room for seven words before and after them together.
    words: Vec<u64>,
    /// Words before the first line.
    offset: usize,
}

impl Lines {
    /// This many lines of zeros.
    pub fn new(lines: usize) -> Self {
        let words = vec![0; Self::words_for(lines)];
        let address = words.as_ptr().addr();
        let offset = (address.next_multiple_of(8 * LINE_WORDS) - address) / 8;
        Self { words, offset }
    }

    /// Bytes on the heap for this many lines.
    pub const fn heap_bytes_for(lines: usize) -> u64 {
        8 * Self::words_for(lines) as u64
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.words.len() / LINE_WORDS
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All lines.
    #[inline(always)]
    pub fn as_slice(&self) -> &[[u64; LINE_WORDS]] {
        self.words[self.offset..].as_chunks().0
    }

    /// All lines, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [[u64; LINE_WORDS]] {
        self.words[self.offset..].as_chunks_mut().0
    }

    /// One word of all.
    #[inline(always)]
    pub fn word(&self, index: usize) -> u64 {
        self.words[self.offset + index]
    }

    /// One word of all, to write.
    #[inline(always)]
    pub fn word_mut(&mut self, index: usize) -> &mut u64 {
        &mut self.words[self.offset + index]
    }

    const fn words_for(lines: usize) -> usize {
        lines * LINE_WORDS + LINE_WORDS - 1
    }
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.len());
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lines({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_keep_their_content_when_cloned() {
        for count in [0, 1, 2, 1000] {
            let mut lines = Lines::new(count);
            assert_eq!(lines.len(), count);
            assert_eq!(lines.as_slice().len(), count);
            for (i, line) in lines.as_mut_slice().iter_mut().enumerate() {
                assert_eq!(std::ptr::from_ref(line).addr() % 64, 0);
                line.fill(i as u64);
            }
            let copy = lines.clone();
            assert_eq!(copy.as_slice(), lines.as_slice());
        }
    }
}
