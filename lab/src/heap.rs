//! How much heap a piece of work leaves behind.
//!
//! All memory goes through a counting allocator. It passes every call on unchanged, zeroed
//! allocations and reallocations too, so that nobody's speed changes beyond the counting itself.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// Adds up what pieces of work allocate and do not give back.
#[derive(Debug, Default)]
pub struct Meter {
    bytes: i64,
}

impl Meter {
    /// Runs a piece of work and counts what it keeps. Other threads' memory is counted too.
    pub fn during<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let before = HEAP.allocated() as i64;
        let result = work();
        self.bytes += HEAP.allocated() as i64 - before;
        result
    }

    /// Bytes kept by all work so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_kept_and_forgets_what_is_freed() {
        // Tests of other threads allocate meanwhile, but never a gigabyte.
        const LARGE: usize = 1 << 32;
        const OTHERS: u64 = 1 << 30;
        let mut meter = Meter::default();
        let kept: Vec<u8> = meter.during(|| Vec::with_capacity(LARGE));
        assert!(meter.bytes().abs_diff(LARGE as u64) < OTHERS);
        meter.during(|| drop(kept));
        assert!(meter.bytes() < OTHERS);
    }
}
