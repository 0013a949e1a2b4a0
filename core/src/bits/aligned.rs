//! Memory that begins on a cache line.
#![allow(unsafe_code)]

use super::given_back::give_back;
use super::large_pages::ask_for_large_pages;
use super::lines::LINE_WORDS;
use super::prefetch::prefetch;
use alloc::vec::Vec;
use core::ops::Range;
use core::ptr::NonNull;
use core::slice;

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// A fixed number of items, the first of them on a cache line.
///
/// The alignment is found at run time inside a plain vector, not asked of the allocator: some
/// servers that load us as a module hand out memory of lesser alignment than requested, and a type
/// that claims more would be undefined behaviour there.
pub struct Aligned<T> {
    /// Where the items are: in `memory`, which nobody else looks at.
    start: NonNull<T>,
    len: usize,
    /// Owns the items, with room for less than a line before and after them together.
    memory: Vec<T>,
}

// SAFETY: the pointer is into memory that this owns, like the vector itself.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: shared access reads only.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T: Copy + Default> Aligned<T> {
    /// This many items with the default value. `T` is an unsigned integer: a larger item could not
    /// begin on a line wherever the allocator puts it.
    pub fn new(len: usize) -> Self {
        let all = len.checked_add(Self::SPARE).expect("more items than addresses");
        let mut memory = vec![T::default(); all];
        ask_for_large_pages(&mut memory);
        let address = memory.as_ptr().addr();
        let before = (address.next_multiple_of(LINE_BYTES) - address) / size_of::<T>();
        let start = NonNull::from(&mut memory[before..][..len]).cast();
        Self { start, len, memory }
    }

    /// Bytes on the heap for this many items.
    pub const fn heap_bytes_for(len: usize) -> u64 {
        (len as u64).saturating_add(Self::SPARE as u64).saturating_mul(size_of::<T>() as u64)
    }

    /// All items.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: so many items begin there, they live as long as `memory`, and `self` is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// All items, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed by nobody else.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// One item.
    #[inline(always)]
    pub fn item(&self, index: usize) -> T {
        self.as_slice()[index]
    }

    /// One item, to write.
    #[inline(always)]
    pub fn item_mut(&mut self, index: usize) -> &mut T {
        &mut self.as_mut_slice()[index]
    }

    /// The items of a range.
    #[inline(always)]
    pub fn range(&self, range: Range<usize>) -> &[T] {
        &self.as_slice()[range]
    }

    /// The items of a range, to write.
    #[inline(always)]
    pub fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.as_mut_slice()[range]
    }

    /// Gives the memory of items that are not needed any more back to the system, as far as it is
    /// whole pages; they are zero from now on, or what they were.
    pub fn give_back(&mut self, range: Range<usize>) {
        give_back(self.range_mut(range));
    }

    /// Asks for the cache line of an item, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.as_slice(), index);
    }

    const SPARE: usize = LINE_BYTES / size_of::<T>() - 1;
}

impl Aligned<u64> {
    /// All whole lines.
    #[inline(always)]
    pub fn lines(&self) -> &[[u64; LINE_WORDS]] {
        self.as_slice().as_chunks().0
    }

    /// All whole lines, to write.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> &mut [[u64; LINE_WORDS]] {
        self.as_mut_slice().as_chunks_mut().0
    }
}

impl<T: Copy + Default> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.as_slice().len());
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl<T: Copy + Default> core::fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Aligned({} of {})", self.len, self.memory.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins_on_a_line<T: Copy + Default + PartialEq + std::fmt::Debug>(value: T) {
        for len in [0, 1, 7, 8, 9, 1000] {
            let mut aligned = Aligned::new(len);
            assert_eq!(aligned.as_slice(), vec![T::default(); len]);
            aligned.as_mut_slice().fill(value);
            let copy = aligned.clone();
            assert_eq!(copy.range(len / 2..len), &copy.as_slice()[len / 2..]);
            for aligned in [&aligned, &copy] {
                assert_eq!(aligned.as_slice().as_ptr().addr() % LINE_BYTES, 0);
                assert_eq!(aligned.as_slice(), vec![value; len]);
            }
        }
    }

    #[test]
    fn every_kind_of_item_begins_on_a_line() {
        begins_on_a_line(7_u8);
        begins_on_a_line(7_u64);
    }
}
