//! Records of one length, one after the other.
#![allow(unsafe_code)]

use super::aligned::{Aligned, LINE_BYTES};
use super::footprint::fetch_record;
use super::isa::Level;

/// A fixed number of records of equal length without gaps, the first of them on a cache line.
///
/// `FRONT` bytes of every record are known to be there when the program is compiled, so that reading
/// them costs one comparison: that of the record's number.
#[derive(Debug, Clone)]
pub struct Records<const FRONT: usize> {
    bytes: Aligned<u8>,
    count: usize,
    /// Bytes of a record.
    stride: u16,
}

impl<const FRONT: usize> Records<FRONT> {
    /// So many records of so many zeros.
    ///
    /// # Panics
    ///
    /// If a record is shorter than its front, or so many take more bytes than can be addressed.
    pub fn new(count: usize, stride: u16) -> Self {
        assert!(usize::from(stride) >= FRONT, "{stride} bytes have no front of {FRONT}");
        // Every access relies on the product of both: it must not come round to a small one.
        let bytes = count.checked_mul(usize::from(stride)).expect("more bytes than addresses");
        Self { bytes: Aligned::new(bytes), count, stride }
    }

    /// The beginning of a record, if there is such a record.
    #[inline(always)]
    pub fn front(&self, index: usize) -> Option<&[u8; FRONT]> {
        if index >= self.count {
            return None;
        }
        let start = index * usize::from(self.stride);
        // SAFETY: the whole record is there, and begins with its front.
        Some(unsafe { &*self.bytes.as_slice().as_ptr().add(start).cast() })
    }

    /// A record.
    #[inline(always)]
    pub fn get(&self, index: usize) -> &[u8] {
        assert!(index < self.count, "no such record");
        let start = index * usize::from(self.stride);
        // SAFETY: all records up to `count` are there.
        unsafe { self.bytes.as_slice().get_unchecked(start..start + usize::from(self.stride)) }
    }

    /// A record, to write.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.count, "no such record");
        let stride = usize::from(self.stride);
        let start = index * stride;
        // SAFETY: all records up to `count` are there, and none is shorter than its front.
        unsafe {
            core::hint::assert_unchecked(stride >= FRONT);
            self.bytes.as_mut_slice().get_unchecked_mut(start..start + stride)
        }
    }

    /// A record and the one after it, to write.
    #[inline(always)]
    pub fn neighbours_mut(&mut self, index: usize) -> (&mut [u8], &mut [u8]) {
        assert!(index < self.count && index + 1 < self.count, "no such record");
        let stride = usize::from(self.stride);
        let start = index * stride;
        // SAFETY: all records up to `count` are there, and none is shorter than its front.
        let both = unsafe {
            core::hint::assert_unchecked(stride >= FRONT);
            self.bytes.as_mut_slice().get_unchecked_mut(start..start + 2 * stride)
        };
        both.split_at_mut(stride)
    }

    /// Bytes of a record.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride.into()
    }

    /// All records.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// All records, to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.bytes.as_mut_slice()
    }

    /// Asks for a whole record, to be written, which need not exist.
    #[inline(always)]
    pub fn prefetch_to_write(&self, level: Level, index: usize) {
        let first = self.bytes.as_slice().as_ptr().addr();
        fetch_record(level, first, self.stride(), index);
    }

    /// Asks for a whole record, which need not exist.
    #[inline(always)]
    pub fn prefetch_all(&self, index: usize) {
        let stride = self.stride();
        self.prefetch(index, 0);
        self.prefetch(index, LINE_BYTES);
        if stride > 2 * LINE_BYTES {
            self.prefetch(index, 2 * LINE_BYTES);
        }
        self.prefetch(index, stride - 1);
    }

    /// Asks for the front of a record, which need not exist.
    #[inline(always)]
    pub fn prefetch_front(&self, index: usize) {
        for byte in [0, LINE_BYTES, FRONT - 1] {
            self.prefetch(index, byte);
        }
    }

    /// Asks for the cache line of a byte of a record, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, index: usize, byte: usize) {
        self.bytes.prefetch(index.wrapping_mul(self.stride()).wrapping_add(byte));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_lie_one_after_the_other() {
        let mut records = Records::<2>::new(5, 3);
        for index in 0..5 {
            records.get_mut(index).fill(index as u8);
        }
        assert_eq!(records.as_slice(), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
        assert_eq!(records.front(3), Some(&[3, 3]));
        assert_eq!(records.front(5), None);
        assert_eq!(records.get(4), [4; 3]);
        let (one, next) = records.neighbours_mut(3);
        assert_eq!((&*one, &*next), (&[3; 3][..], &[4; 3][..]));
    }

    #[test]
    #[should_panic(expected = "no such record")]
    fn there_is_no_record_after_the_last() {
        Records::<2>::new(5, 3).get(5);
    }

    #[test]
    #[should_panic(expected = "no such record")]
    fn the_last_record_has_no_neighbour() {
        Records::<2>::new(5, 3).neighbours_mut(4);
    }

    /// By the check of the product and nothing else: where a product comes round in silence, the
    /// last record would lie far behind the bytes.
    #[test]
    fn records_that_no_memory_holds_are_refused() {
        for (count, stride) in
            [(usize::MAX / 2 + 2, 2), (usize::MAX, 3), (1 << (usize::BITS - 3), 8)]
        {
            let made = std::panic::catch_unwind(|| Records::<2>::new(count, stride));
            let panic = made.expect_err("refused");
            let complaint = panic.downcast_ref::<String>().map(String::as_str);
            let complaint = complaint.or_else(|| panic.downcast_ref::<&str>().copied());
            assert_eq!(complaint, Some("more bytes than addresses"), "{count} of {stride} bytes");
        }
    }

    #[test]
    #[should_panic(expected = "no front")]
    fn a_record_has_a_front() {
        Records::<4>::new(5, 3);
    }
}
