//! The engine's allocator as ours, so that `used_memory`, `maxmemory` and the engine's statistics
//! include every filter.
//!
//! A request that cannot be met answers null, so that the library can refuse a filter instead of taking
//! the server down, and large zeroed vectors come from `calloc`, which touches no page.
//!
//! Allocators give more than they are asked for, and the engine counts what they give. How much more that
//! is for a filter is seen by a [`Heap`] of before it is made or grows.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::api;

/// Allocates through the engine, and through the system in unit tests, which have none.
struct EngineAllocator;

#[global_allocator]
static ALLOCATOR: EngineAllocator = EngineAllocator;

/// What the engine's allocators align to; they ignore requests for more.
const ENGINE_ALIGN: usize = 16;

/// Bytes that the thread of commands has and never asked for.
static ROUNDING: AtomicI64 = AtomicI64::new(0);

/// How often blocks came to that thread or went.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this is the thread of commands: filters are also freed by others, whose doings are of no
    /// interest to whoever looks at [`Heap`] before and after.
    static RUNS_COMMANDS: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread is the one that runs commands.
pub fn begin() {
    RUNS_COMMANDS.set(true);
}

/// How the memory of the thread of commands stood at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Heap {
    rounding: i64,
    changes: u64,
}

impl Heap {
    /// How it stands now.
    #[inline(always)]
    pub fn now() -> Self {
        let rounding = ROUNDING.load(Ordering::Relaxed);
        Self { rounding, changes: CHANGES.load(Ordering::Relaxed) }
    }

    /// Whether blocks came or went since.
    #[inline(always)]
    pub fn has_changed(self) -> bool {
        CHANGES.load(Ordering::Relaxed) != self.changes
    }

    /// Bytes that came since beyond what was asked for.
    pub fn rounding_since(self) -> i64 {
        ROUNDING.load(Ordering::Relaxed) - self.rounding
    }
}

/// Whether a block is the engine's to give.
fn is_of_the_engine(layout: Layout) -> bool {
    !cfg!(test) && layout.align() <= ENGINE_ALIGN
}

/// Counts what a block has beyond what was asked for, when it comes (1) and when it goes (-1).
fn count(block: *mut u8, size: usize, times: i64) {
    if !block.is_null() && RUNS_COMMANDS.get() {
        // SAFETY: the block is one of the engine's, and has not been freed.
        let more = unsafe { api::MallocSize(block.cast()) } as i64 - size as i64;
        // Only this thread writes.
        let Heap { rounding, changes } = Heap::now();
        ROUNDING.store(rounding + times * more, Ordering::Relaxed);
        CHANGES.store(changes.wrapping_add(1), Ordering::Relaxed);
    }
}

// SAFETY: every block goes back to the allocator it came from, because the choice depends only on
// its alignment. The engine's functions are found before the first allocation.
unsafe impl GlobalAlloc for EngineAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_of_the_engine(layout) {
            // SAFETY: plain calls with the size and alignment that the caller vouches for; so below.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: as above.
        let block = unsafe { api::TryAlloc(layout.size()) }.cast();
        count(block, layout.size(), 1);
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_of_the_engine(layout) {
            // SAFETY: as above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as above.
        let block = unsafe { api::Calloc(1, layout.size()) }.cast();
        count(block, layout.size(), 1);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !is_of_the_engine(layout) {
            // SAFETY: as above; `block` came from the allocator that the same choice names.
            return unsafe { System.dealloc(block, layout) };
        }
        count(block, layout.size(), -1);
        // SAFETY: as above.
        unsafe { api::Free(block.cast()) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_of_the_engine(layout) {
            // SAFETY: as above; the alignment does not change, so neither does the choice.
            return unsafe { System.realloc(block, layout, size) };
        }
        count(block, layout.size(), -1);
        // SAFETY: as above.
        let moved: *mut u8 = unsafe { api::Realloc(block.cast(), size) }.cast();
        if moved.is_null() {
            count(block, layout.size(), 1);
        } else {
            count(moved, size, 1);
        }
        moved
    }
}
