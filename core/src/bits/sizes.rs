//! How much memory numbers of items ask for, where the numbers come from outside.
//!
//! A number that no address space of this machine holds becomes the largest there is: whoever then
//! compares it with the bytes that are there, or asks for the memory, is refused. Cut off instead,
//! it would be a small number that fits, and everything computed from the true one would lie outside.

/// So many items as a size in memory.
#[inline]
pub const fn size(items: u64) -> usize {
    if items > usize::MAX as u64 { usize::MAX } else { items as usize }
}

/// As many items in each of so many parts.
#[inline]
pub const fn size_of_parts(parts: u64, items: u64) -> usize {
    size(parts.saturating_mul(items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{Aligned, Lines, Packed};

    /// On every machine, 32-bit ones too: no product of sizes comes round to a small number.
    #[test]
    fn sizes_too_large_are_the_largest() {
        assert_eq!((size(0), size(7)), (0, 7));
        assert_eq!(size(u64::MAX), usize::MAX);
        assert_eq!(size_of_parts(1 << 40, 1 << 40), usize::MAX);
        assert_eq!(size_of_parts(3, 5), 15);
        if usize::BITS == 32 {
            assert_eq!(size((1 << 32) + 5), usize::MAX);
        }
        let many = usize::MAX;
        for width in [2, 5, 64] {
            assert_eq!(Packed::words_for(width, many), many);
            // Two bits each are a quarter of a byte.
            assert!(Packed::heap_bytes_for(width, many) >= many as u64 / 4);
            assert_eq!(Packed::from_words(width, many, vec![0; 5]), None);
            assert!(std::panic::catch_unwind(|| Packed::new(width, many)).is_err());
        }
        assert!(Lines::heap_bytes_for(many) >= many as u64);
        assert!(Aligned::<u64>::heap_bytes_for(many) >= many as u64);
        assert!(Aligned::<u8>::heap_bytes_for(many) >= many as u64);
    }
}
