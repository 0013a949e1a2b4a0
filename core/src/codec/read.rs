//! Reading: every field is checked against what is left before anything is allocated, and a
//! failure names the field.

use alloc::vec::Vec;

use crate::error::Error;

/// Reads fields from bytes that nobody vouches for.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> u64 {
        self.rest.len() as u64
    }

    /// Reads one byte.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, Error> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Reads a 16-bit number.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    /// Reads a 32-bit number.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// Reads a 64-bit number.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// Reads a floating-point number.
    pub fn f64(&mut self, field: &'static str) -> Result<f64, Error> {
        Ok(f64::from_bits(self.u64(field)?))
    }

    /// Reads a 64-bit number that must be at most `most`; `expected` says so to people.
    pub fn u64_at_most(
        &mut self,
        field: &'static str,
        most: u64,
        expected: &'static str,
    ) -> Result<u64, Error> {
        match self.u64(field)? {
            found if found <= most => Ok(found),
            found => Err(Error::Field { field, found, expected }),
        }
    }

    /// Reads `count` bytes without copying them.
    pub fn bytes(&mut self, field: &'static str, count: u64) -> Result<&'a [u8], Error> {
        let found = self.remaining();
        if count > found {
            return Err(Error::Truncated { field, needed: count, found });
        }
        let (bytes, rest) = self.rest.split_at(count as usize);
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads a fixed number of bytes.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let bytes = self.bytes(field, N as u64)?;
        Ok(bytes.try_into().expect("`bytes` returns as many as it was asked for"))
    }

    /// Reads `count` 64-bit words; nothing is allocated unless they are all there.
    pub fn words(&mut self, field: &'static str, count: u64) -> Result<Vec<u64>, Error> {
        let needed = count.saturating_mul(8);
        let bytes = self.bytes(field, needed)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// Reads exactly as many 64-bit words as are left, which must be `count`.
    pub fn last_words(&mut self, field: &'static str, count: u64) -> Result<Vec<u64>, Error> {
        let found = self.remaining();
        let declared = count.saturating_mul(8);
        if declared != found {
            return Err(Error::Length { field, declared, found });
        }
        self.words(field, count)
    }

    /// Ends reading; bytes that are left over are an error.
    pub fn finish(self, field: &'static str) -> Result<(), Error> {
        match self.remaining() {
            0 => Ok(()),
            found => Err(Error::Length { field, declared: 0, found }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_the_field_and_both_lengths() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u8("first"), Ok(1));
        let error = Error::Truncated { field: "second", needed: 8, found: 2 };
        assert_eq!(reader.u64("second"), Err(error));
        assert_eq!(reader.u16("second"), Ok(0x0302));
    }

    #[test]
    fn numbers_are_at_most_what_they_may_be() {
        let mut reader = Reader::new(&[7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(reader.u64_at_most("n", 7, "at most 7"), Ok(7));
        let error = Error::Field { field: "n", found: 8, expected: "at most 7" };
        assert_eq!(reader.u64_at_most("n", 7, "at most 7"), Err(error));
    }

    #[test]
    fn huge_declared_lengths_allocate_nothing() {
        let mut reader = Reader::new(&[0; 16]);
        assert!(matches!(reader.words("w", u64::MAX), Err(Error::Truncated { .. })));
        assert!(matches!(reader.last_words("w", 1 << 61), Err(Error::Length { .. })));
        assert_eq!(reader.last_words("w", 2), Ok(vec![0, 0]));
    }
}
