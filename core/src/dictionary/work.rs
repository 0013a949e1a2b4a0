//! Counting the memory that an operation looks at.

use alloc::vec::Vec;

use crate::bits::LINE_BYTES;

/// The two levels of a dictionary; each begins on a cache line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first level.
    Bins,
    /// The second level.
    Backyard,
}

/// Told of every piece of memory that an operation looks at.
pub trait Work {
    /// Bytes `at..at + count` of one level.
    fn touch(&mut self, part: Part, at: usize, count: usize);
}

impl<W: Work> Work for &mut W {
    #[inline(always)]
    fn touch(&mut self, part: Part, at: usize, count: usize) {
        W::touch(self, part, at, count);
    }
}

/// Counts nothing, and costs nothing; not even a register, where it is handed on by value.
#[derive(Clone, Copy, Debug)]
pub struct Uncounted;

impl Work for Uncounted {
    #[inline(always)]
    fn touch(&mut self, _: Part, _: usize, _: usize) {}
}

/// Counts the different cache lines of one operation.
#[derive(Clone, Debug, Default)]
pub struct CacheLines {
    lines: Vec<(bool, usize)>,
}

impl CacheLines {
    /// How many lines were touched.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Forgets them, to count the next operation.
    pub fn clear(&mut self) {
        self.lines.clear();
    }
}

impl Work for CacheLines {
    fn touch(&mut self, part: Part, at: usize, count: usize) {
        for line in at / LINE_BYTES..(at + count).div_ceil(LINE_BYTES) {
            let line = (part == Part::Bins, line);
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }
}
