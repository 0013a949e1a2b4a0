//! The tools of an operation: the instructions it may use, and whoever counts the memory that it looks at.

use alloc::vec::Vec;
use core::cell::RefCell;

use crate::bits::{Isa, LINE_BYTES, Records};

/// The two levels of a dictionary; each begins on a cache line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The first level.
    Bins,
    /// The second level.
    Backyard,
}

/// One small value that an operation hands on from step to step.
///
/// An instruction set alone counts nothing, and costs nothing, not even a register.
pub trait Tools: Copy {
    /// The instruction set.
    type Isa: Isa;

    /// The instructions.
    fn isa(self) -> Self::Isa;

    /// Told of every piece of memory that an operation looks at: bytes `at..at + count` of one level.
    fn touch(self, part: Tier, at: usize, count: usize);

    /// The same for a whole record of the first level.
    #[inline(always)]
    fn touch_record<const FRONT: usize>(self, records: &Records<FRONT>, number: usize) {
        let stride = records.stride();
        self.touch(Tier::Bins, number * stride, stride);
    }
}

impl<I: Isa> Tools for I {
    type Isa = I;

    #[inline(always)]
    fn isa(self) -> I {
        self
    }

    #[inline(always)]
    fn touch(self, _: Tier, _: usize, _: usize) {}
}

/// Instructions, and the cache lines that are touched with them.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a, I> {
    isa: I,
    lines: &'a CacheLines,
}

impl<I: Isa> Tools for Counted<'_, I> {
    type Isa = I;

    #[inline(always)]
    fn isa(self) -> I {
        self.isa
    }

    fn touch(self, part: Tier, at: usize, count: usize) {
        let mut lines = self.lines.lines.borrow_mut();
        for line in at / LINE_BYTES..(at + count).div_ceil(LINE_BYTES) {
            let line = (part == Tier::Bins, line);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
}

/// The different cache lines of one operation.
#[derive(Clone, Debug, Default)]
pub struct CacheLines {
    lines: RefCell<Vec<(bool, usize)>>,
}

impl CacheLines {
    /// How many lines were touched.
    pub fn count(&self) -> usize {
        self.lines.borrow().len()
    }

    /// Tools with these instructions whose lines are counted here, and no others.
    pub fn of<I: Isa>(&mut self, isa: I) -> Counted<'_, I> {
        self.lines.get_mut().clear();
        Counted { isa, lines: self }
    }
}
