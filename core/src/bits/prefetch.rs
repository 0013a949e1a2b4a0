//! Asking for memory before it is needed.
#![allow(unsafe_code)]

/// Starts loading the cache line that holds `slice[index]`; an index out of bounds does nothing.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    let Some(item) = slice.get(index) else { return };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64, and the pointer comes from a live reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = item;
}
