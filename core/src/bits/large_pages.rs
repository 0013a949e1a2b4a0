//! Large tables in large pages.
//!
//! A lookup goes to a random place of its table. In pages of 4 KiB a processor knows the way to some
//! eight megabytes by heart, and has to look up the way to everything else, which takes about as long
//! as the memory itself; in pages of 2 MiB it knows the way to some gigabytes.
#![allow(unsafe_code)]

use std::ops::Range;

/// Asks the system for large pages wherever a whole one fits into this memory, which should not have
/// been touched yet. It may or may not heed that; the contents are the same.
pub fn ask_for_large_pages<T>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let pages = whole_pages(range.start.addr()..range.end.addr());
    if pages.len() >= LEAST {
        advise(range.start.cast::<u8>().with_addr(pages.start), pages.len());
    }
}

/// Bytes of a large page where ordinary ones have 4 KiB.
const PAGE: usize = 1 << 21;

/// Below, ordinary pages are as good, and a system call costs more than it brings.
const LEAST: usize = 2 * PAGE;

/// Where whole pages lie in a range of addresses.
fn whole_pages(addresses: Range<usize>) -> Range<usize> {
    let start = addresses.start.checked_next_multiple_of(PAGE).unwrap_or(addresses.end);
    let end = addresses.end / PAGE * PAGE;
    start..end.max(start)
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: advice changes neither what this memory holds nor who may use it. It lies in a slice
    // that is borrowed for writing.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_are_asked_for() {
        assert_eq!(whole_pages(0..PAGE), 0..PAGE);
        assert_eq!(whole_pages(1..3 * PAGE + 5), PAGE..3 * PAGE);
        assert!(whole_pages(1..PAGE).is_empty());
        assert!(whole_pages(PAGE + 1..2 * PAGE - 1).is_empty());
        assert!(whole_pages(usize::MAX - 5..usize::MAX).is_empty());
    }
}
