//! Memory that begins on a cache line.

use super::prefetch::prefetch;
use std::ops::Range;

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// A fixed number of items, the first of them on a cache line.
///
/// The alignment is found at run time inside a plain vector, not asked of the allocator: some
/// servers that load us as a module hand out memory of lesser alignment than requested, and a type
/// that claims more would be undefined behaviour there.
pub struct Aligned<T> {
    /// The items, with room for less than a line before and after them together.
    items: Vec<T>,
    /// Items before the first.
    offset: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// This many items with the default value. `T` is an unsigned integer: a larger item could not
    /// begin on a line wherever the allocator puts it.
    pub fn new(len: usize) -> Self {
        let items = vec![T::default(); len + Self::SPARE];
        let address = items.as_ptr().addr();
        let offset = (address.next_multiple_of(LINE_BYTES) - address) / size_of::<T>();
        Self { items, offset }
    }

    /// Bytes on the heap for this many items.
    pub const fn heap_bytes_for(len: usize) -> u64 {
        ((len + Self::SPARE) * size_of::<T>()) as u64
    }

    /// All items.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.items[self.offset..][..self.items.len() - Self::SPARE]
    }

    /// All items, to write.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = self.items.len() - Self::SPARE;
        &mut self.items[self.offset..][..len]
    }

    /// One item.
    #[inline(always)]
    pub fn item(&self, index: usize) -> T {
        self.items[self.offset + index]
    }

    /// One item, to write.
    #[inline(always)]
    pub fn item_mut(&mut self, index: usize) -> &mut T {
        &mut self.items[self.offset + index]
    }

    /// The items of a range. One check instead of the two of a range of [`as_slice`](Self::as_slice).
    #[inline(always)]
    pub fn range(&self, range: Range<usize>) -> &[T] {
        &self.items[self.offset + range.start..self.offset + range.end]
    }

    /// The items of a range, to write.
    #[inline(always)]
    pub fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.items[self.offset + range.start..self.offset + range.end]
    }

    /// So many items from one on.
    #[inline(always)]
    pub fn chunk<const N: usize>(&self, start: usize) -> &[T; N] {
        self.items[self.offset + start..].first_chunk().unwrap()
    }

    /// Asks for the cache line of an item, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(&self.items, self.offset.wrapping_add(index));
    }

    const SPARE: usize = LINE_BYTES / size_of::<T>() - 1;
}

impl<T: Copy + Default> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.as_slice().len());
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

impl<T: Copy + Default> std::fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Aligned({})", self.as_slice().len())
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
