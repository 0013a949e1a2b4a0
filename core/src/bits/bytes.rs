//! Words as the bytes that they are in memory.
#![allow(unsafe_code)]

/// The bytes of words, in the order of this machine's memory.
#[inline(always)]
pub fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: eight readable bytes for every word, and every byte is a number.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The same, to write.
#[inline(always)]
pub fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above, they may be written, and whatever is written makes words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
