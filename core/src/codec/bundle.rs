//! Snapshots of the parts of one filter, one after the other, behind a header of their own.

use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use super::{CHECKSUM_BYTES, Reader, Writer, snapshot_of};
use crate::error::Error;

/// The first bytes of a bundle; like those of a snapshot but for one letter.
pub const BUNDLE_MAGIC: [u8; 8] = *b"\x89LATLZ\r\n";

/// The version this release writes, and the newest it reads.
const VERSION: u16 = 1;

/// Parts that a bundle may have.
const MOST_PARTS: u32 = 1 << 16;

/// Snapshots of the parts of one filter.
#[derive(Debug)]
pub struct Bundle {
    /// The items of the window of the whole; 0 if its window is not by count.
    pub items: u64,
    /// The snapshots.
    pub parts: Vec<Vec<u8>>,
}

impl Bundle {
    /// Header and snapshots.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.bytes(&BUNDLE_MAGIC);
        out.u16(VERSION);
        out.u32(self.parts.len() as u32);
        out.u64(self.items);
        let checksum = xxh3_64(out.as_bytes());
        out.u64(checksum);
        for part in &self.parts {
            out.bytes(part);
        }
        out.into_bytes()
    }

    /// Whether bytes begin as a bundle does.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&BUNDLE_MAGIC)
    }

    /// The number of items in the window of the whole, and the snapshots of its parts, unread.
    pub fn read(bytes: &[u8]) -> Result<(u64, Vec<&[u8]>), Error> {
        let mut reader = Reader::new(bytes);
        if !bytes.starts_with(&BUNDLE_MAGIC[..bytes.len().min(BUNDLE_MAGIC.len())]) {
            return Err(Error::NotASnapshot);
        }
        reader.array::<{ BUNDLE_MAGIC.len() }>("magic")?;
        let found = reader.u16("version")?;
        if found > VERSION {
            return Err(Error::Version { newest: VERSION, found });
        }
        let parts = reader.u32("parts")?;
        let items = reader.u64("items")?;
        let header = BUNDLE_MAGIC.len() + 14;
        let (declared, found) = (reader.u64("checksum of the header")?, xxh3_64(&bytes[..header]));
        if declared != found {
            return Err(Error::Checksum { declared, found });
        }
        if !(1..=MOST_PARTS).contains(&parts) {
            let expected = "from 1 to 65536";
            return Err(Error::Field { field: "parts", found: parts.into(), expected });
        }
        let mut rest = &bytes[header + CHECKSUM_BYTES..];
        let mut snapshots = Vec::new();
        for _ in 0..parts {
            let snapshot = snapshot_of(rest);
            if snapshot.is_empty() {
                return Err(Error::Truncated { field: "parts", needed: 1, found: 0 });
            }
            snapshots.push(snapshot);
            rest = &rest[snapshot.len()..];
        }
        if !rest.is_empty() {
            let (field, found) = ("end of the last part", rest.len() as u64);
            return Err(Error::Length { field, declared: 0, found });
        }
        Ok((items, snapshots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Vec<u8> {
        crate::Lately::last(5).build().unwrap().save()
    }

    #[test]
    fn what_is_bundled_comes_out() {
        let parts = vec![snapshot(), snapshot()];
        let bytes = Bundle { items: 9, parts: parts.clone() }.write();
        assert_eq!(Bundle::read(&bytes).unwrap(), (9, parts.iter().map(Vec::as_slice).collect()));
    }

    #[test]
    fn a_newer_version_is_refused() {
        let mut bytes = Bundle { items: 9, parts: vec![snapshot()] }.write();
        bytes[BUNDLE_MAGIC.len()..][..2].copy_from_slice(&(VERSION + 1).to_le_bytes());
        let error = Error::Version { newest: VERSION, found: VERSION + 1 };
        assert_eq!(Bundle::read(&bytes).unwrap_err(), error);
    }

    #[test]
    fn damage_is_refused() {
        let bytes = Bundle { items: 9, parts: vec![snapshot(), snapshot()] }.write();
        assert_eq!(Bundle::read(&snapshot()).unwrap_err(), Error::NotASnapshot);
        // A part is missing, or there is one too many: the header knows how many there are.
        let short = &bytes[..bytes.len() - snapshot().len()];
        assert!(matches!(Bundle::read(short), Err(Error::Truncated { .. })));
        let long = [&bytes[..], &snapshot()].concat();
        assert!(matches!(Bundle::read(&long), Err(Error::Length { .. })));
        for bit in 0..8 * 30 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Bundle::read(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..30 {
            assert!(Bundle::read(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}
