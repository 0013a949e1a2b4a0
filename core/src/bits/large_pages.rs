//! Large tables in large pages.
//!
//! A lookup goes to a random place of its table. In pages of 4 KiB a processor knows the way to some
//! eight megabytes by heart, and has to look up the way to everything else, which takes about as long
//! as the memory itself; in pages of 2 MiB it knows the way to some gigabytes.
//!
//! The price: the system clears a page when it is first touched, and whoever touches it waits, 2 MiB
//! at once where it would be 4 KiB. A program that looks for throughput gains by that, so that it is
//! the default. A server that answers others meanwhile does not: see [`LargePages::Left`].
#![allow(unsafe_code)]

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether the large tables of this process ask for large pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargePages {
    /// They do, unless the program says otherwise: among ten million items lookups gain 5 to 10%.
    AskedFor,
    /// They do not, so that no insertion waits until the system has cleared 2 MiB. The system may
    /// still give large pages if it does so for everybody.
    Left,
}

static LEFT: AtomicBool = AtomicBool::new(false);

impl LargePages {
    /// What tables do that are made from now on.
    pub fn now() -> Self {
        if LEFT.load(Ordering::Relaxed) { Self::Left } else { Self::AskedFor }
    }

    /// Makes this what tables do that are made from now on, by whatever thread.
    pub fn choose(self) {
        LEFT.store(self == Self::Left, Ordering::Relaxed);
    }
}

/// Asks the system for large pages wherever a whole one fits into this memory, which should not have
/// been touched yet. It may or may not heed that; the contents are the same.
pub fn ask_for_large_pages<T>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let pages = whole_pages(range.start.addr()..range.end.addr());
    if pages.len() >= LEAST && LargePages::now() == LargePages::AskedFor {
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

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: advice changes neither what this memory holds nor who may use it. It lies in a slice
    // that is borrowed for writing.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
fn advise(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test that chooses: it may not leave anything changed.
    #[test]
    fn it_is_a_choice() {
        assert_eq!(LargePages::now(), LargePages::AskedFor);
        LargePages::Left.choose();
        assert_eq!(LargePages::now(), LargePages::Left);
        LargePages::AskedFor.choose();
        assert_eq!(LargePages::now(), LargePages::AskedFor);
    }

    #[test]
    fn only_whole_pages_are_asked_for() {
        assert_eq!(whole_pages(0..PAGE), 0..PAGE);
        assert_eq!(whole_pages(1..3 * PAGE + 5), PAGE..3 * PAGE);
        assert!(whole_pages(1..PAGE).is_empty());
        assert!(whole_pages(PAGE + 1..2 * PAGE - 1).is_empty());
        assert!(whole_pages(usize::MAX - 5..usize::MAX).is_empty());
    }
}
