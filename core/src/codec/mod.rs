//! One snapshot format for files, Redis dumps and the wire.
//!
//! `FORMAT.md` draws the layout; this file is where it is written and read. A snapshot is a header,
//! the parameters of the structure, its payload and a checksum over all of it. Reading trusts
//! nothing: the checksum is checked first, every length before anything is allocated for it, and
//! every value against what its structure can have.

mod bundle;
mod read;
mod write;

pub use bundle::Bundle;
pub use read::Reader;
pub use write::Writer;

use alloc::boxed::Box;
use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use crate::catalog::{CATALOG, Catalog};
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::{Hashing, Seed};

/// The first bytes of every snapshot. A byte above 127 and both line ends, so that a transfer that
/// mangles text is caught at once.
pub const MAGIC: [u8; 8] = *b"\x89LATLY\r\n";

/// The version this release writes, and the newest it reads.
pub const VERSION: u16 = 1;

/// Bytes before the parameters.
pub const HEADER_BYTES: usize = 44;

/// Bytes after the payload.
pub const CHECKSUM_BYTES: usize = 8;

/// The snapshot of a filter whose keys were hashed by `hashing`.
pub fn save(filter: &dyn Filter, hashing: Hashing) -> Vec<u8> {
    let blueprint = filter.blueprint();
    let row = blueprint.row().expect("every structure is in a catalog");

    let (mode, secret) = hashing_fields(hashing);
    let mut out = Writer::new();
    out.bytes(&MAGIC);
    out.u16(VERSION);
    out.u16(row.family);
    out.u8(mode);
    out.bytes(&[0; 3]);
    out.bytes(&secret);
    let lengths = out.len();
    out.u32(0);
    out.u64(0);
    let header = out.len();
    blueprint.write_parameters(&mut out);
    let parameters = out.len();
    filter.write_payload(&mut out);
    let payload = out.len();
    // The lengths are known only now; a copy of a large payload would cost more than this patch.
    let mut bytes = out.into_bytes();
    bytes[lengths..lengths + 4].copy_from_slice(&((parameters - header) as u32).to_le_bytes());
    bytes[lengths + 4..header].copy_from_slice(&((payload - parameters) as u64).to_le_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The filter in a snapshot, and how its keys are hashed.
pub fn open(bytes: &[u8]) -> Result<(Box<dyn Filter>, Hashing), Error> {
    open_of(CATALOG, bytes)
}

/// The same, of any structure of a catalog.
pub fn open_of(catalog: Catalog, bytes: &[u8]) -> Result<(Box<dyn Filter>, Hashing), Error> {
    let mut reader = Reader::new(bytes);
    if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
        return Err(Error::NotASnapshot);
    }
    reader.array::<{ MAGIC.len() }>("magic")?;
    let version = reader.u16("version")?;
    if version > VERSION {
        return Err(Error::Version { newest: VERSION, found: version });
    }
    if version == 0 {
        let expected = "a version from 1 on";
        return Err(Error::Field { field: "version", found: 0, expected });
    }
    let family = reader.u16("family")?;
    let mode = reader.u8("hashing")?;
    let reserved = reader.array::<3>("reserved")?;
    let secret = reader.array::<16>("seed")?;
    let parameters_length = reader.u32("parameters length")?;
    let payload_length = reader.u64("payload length")?;
    let parameters = reader.bytes("parameters", parameters_length.into())?;
    let payload = reader.bytes("payload", payload_length)?;
    let declared = reader.u64("checksum")?;
    reader.finish("end of snapshot")?;

    let found = xxh3_64(&bytes[..bytes.len() - CHECKSUM_BYTES]);
    if declared != found {
        return Err(Error::Checksum { declared, found });
    }
    if reserved != [0; 3] {
        let expected = "zero";
        return Err(Error::Field { field: "reserved", found: reserved[0].into(), expected });
    }
    let hashing = hashing_from_fields(mode, secret)?;
    let row = catalog.row_of_family(family)?;
    let mut parameters = Reader::new(parameters);
    let mut payload = Reader::new(payload);
    let filter = (row.open)(&mut parameters, &mut payload)?;
    parameters.finish("parameters")?;
    payload.finish("payload")?;
    Ok((filter, hashing))
}

/// The snapshot at the beginning of a file that has more after it, by the lengths that its header
/// declares; all of the file if they do not fit. Nothing else is checked.
pub fn snapshot_of(file: &[u8]) -> &[u8] {
    let length = || {
        let mut reader = Reader::new(file.get(HEADER_BYTES - 12..HEADER_BYTES)?);
        let parameters = u64::from(reader.u32("parameters length").ok()?);
        let payload = reader.u64("payload length").ok()?;
        let around = (HEADER_BYTES + CHECKSUM_BYTES) as u64;
        usize::try_from(parameters.checked_add(payload)?.checked_add(around)?).ok()
    };
    length().and_then(|length| file.get(..length)).unwrap_or(file)
}

fn hashing_fields(hashing: Hashing) -> (u8, [u8; 16]) {
    match hashing {
        Hashing::Fast(seed) => {
            let mut secret = [0; 16];
            secret[..8].copy_from_slice(&seed.0.to_le_bytes());
            (1, secret)
        }
        Hashing::Keyed(secret) => (2, secret),
    }
}

fn hashing_from_fields(mode: u8, secret: [u8; 16]) -> Result<Hashing, Error> {
    let (seed, unused) = secret.split_at(8);
    match mode {
        1 if unused == [0; 8] => {
            let seed = seed.try_into().expect("half of sixteen bytes");
            Ok(Hashing::Fast(Seed(u64::from_le_bytes(seed))))
        }
        1 => {
            let expected = "followed by zeros under fast hashing";
            Err(Error::Field { field: "seed", found: unused[0].into(), expected })
        }
        2 => Ok(Hashing::Keyed(secret)),
        _ => {
            let expected = "1 (fast) or 2 (keyed)";
            Err(Error::Field { field: "hashing", found: mode.into(), expected })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_keys_are_hashed_is_told_without_a_doubt() {
        for hashing in [Hashing::Fast(Seed(7)), Hashing::Keyed([9; 16])] {
            let (mode, secret) = hashing_fields(hashing);
            assert_eq!(hashing_from_fields(mode, secret), Ok(hashing));
        }
        let field = |mode, secret| match hashing_from_fields(mode, secret) {
            Err(Error::Field { field, found, .. }) => (field, found),
            other => panic!("{other:?}"),
        };
        // A seed has eight bytes; what stands behind it would be lost.
        assert_eq!(field(1, [3; 16]), ("seed", 3));
        assert_eq!(field(0, [0; 16]), ("hashing", 0));
        assert_eq!(field(3, [0; 16]), ("hashing", 3));
    }
}
