//! The engine's allocator as ours, so that `used_memory`, `maxmemory` and the engine's statistics
//! include every filter.
//!
//! A request that cannot be met answers null, so that the library can refuse a filter instead of taking
//! the server down, and large zeroed vectors come from `calloc`, which touches no page.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use super::api;

/// Allocates through the engine, and through the system in unit tests, which have none.
struct EngineAllocator;

#[global_allocator]
static ALLOCATOR: EngineAllocator = EngineAllocator;

/// What the engine's allocators align to; they ignore requests for more.
const ENGINE_ALIGN: usize = 16;

/// Whether a block is the engine's to give.
fn is_of_the_engine(layout: Layout) -> bool {
    !cfg!(test) && layout.align() <= ENGINE_ALIGN
}

// SAFETY: every block goes back to the allocator it came from, because the choice depends only on
// its alignment. The engine's functions are found before the first allocation.
unsafe impl GlobalAlloc for EngineAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls with the size and alignment that the caller vouches for.
        unsafe {
            if is_of_the_engine(layout) {
                api::TryAlloc(layout.size()).cast()
            } else {
                System.alloc(layout)
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            if is_of_the_engine(layout) {
                api::Calloc(1, layout.size()).cast()
            } else {
                System.alloc_zeroed(layout)
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from the allocator that the same choice names.
        unsafe {
            if is_of_the_engine(layout) {
                api::Free(block.cast());
            } else {
                System.dealloc(block, layout);
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the alignment does not change, so neither does the choice.
        unsafe {
            if is_of_the_engine(layout) {
                api::Realloc(block.cast(), size).cast()
            } else {
                System.realloc(block, layout, size)
            }
        }
    }
}
