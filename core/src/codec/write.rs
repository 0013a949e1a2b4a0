//! Writing: fixed-width little-endian fields, one after another.

use alloc::vec::Vec;

/// Collects the bytes of a snapshot.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends a 16-bit number.
    pub fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a 32-bit number.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a 64-bit number.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a floating-point number by its bits.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends 64-bit words; how many is for the reader to know.
    pub fn words(&mut self, words: &[u64]) {
        self.bytes.reserve(8 * words.len());
        for word in words {
            self.u64(*word);
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What was written so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was written, for good.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_stands_in_order() {
        let mut out = Writer::new();
        assert!(out.is_empty());
        out.u8(1);
        out.u16(0x0302);
        out.words(&[4, 5]);
        assert!(!out.is_empty());
        assert_eq!(out.len(), 19);
        let words = [[4, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(out.into_bytes(), [&[1, 2, 3], &words[..]].concat());
    }
}
