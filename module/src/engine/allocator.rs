//! The engine's allocator as ours, so that `used_memory`, `maxmemory` and the engine's statistics
//! include every filter.
//!
//! Unlike the allocator that comes with the bindings, a request that cannot be met answers null, so
//! that the library can refuse a filter instead of taking the server down, and large zeroed vectors
//! come from `calloc`, which touches no page.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use valkey_module::raw;

/// Allocates through the engine once it is there, and through the system in unit tests.
struct EngineAllocator;

#[global_allocator]
static ALLOCATOR: EngineAllocator = EngineAllocator;

/// What the engine's allocators align to; they ignore requests for more.
const ENGINE_ALIGN: usize = 16;

// SAFETY: every block goes back to the allocator it came from, because the choice depends only on
// its alignment: the engine's functions are set before the first allocation (`on_load` initializes
// them before anything else) and never change; in unit tests they are never set.
unsafe impl GlobalAlloc for EngineAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls with the size and alignment that the caller vouches for.
        unsafe {
            match raw::RedisModule_TryAlloc {
                Some(try_alloc) if layout.align() <= ENGINE_ALIGN => {
                    try_alloc(layout.size()).cast()
                }
                _ => System.alloc(layout),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match raw::RedisModule_Calloc {
                Some(calloc) if layout.align() <= ENGINE_ALIGN => calloc(1, layout.size()).cast(),
                _ => System.alloc_zeroed(layout),
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from the allocator that the same choice names.
        unsafe {
            match raw::RedisModule_Free {
                Some(free) if layout.align() <= ENGINE_ALIGN => free(block.cast()),
                _ => System.dealloc(block, layout),
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the alignment does not change, so neither does the choice.
        unsafe {
            match raw::RedisModule_Realloc {
                Some(realloc) if layout.align() <= ENGINE_ALIGN => {
                    realloc(block.cast(), size).cast()
                }
                _ => System.realloc(block, layout, size),
            }
        }
    }
}
