//! Asking for memory before it is needed.
#![allow(unsafe_code)]

/// Starts loading the cache line of `slice[index]`. An index out of bounds is no fault: whatever is
/// there, or nothing, is asked for, and never read.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    prefetch_address(slice.as_ptr().wrapping_add(index).addr());
}

/// Starts loading the cache line of an address, which is never read: any address will do.
#[inline(always)]
pub(super) fn prefetch_address(address: usize) {
    let item = core::ptr::without_provenance::<i8>(address);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64, and a prefetch of any address is harmless.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(item) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = item;
}
