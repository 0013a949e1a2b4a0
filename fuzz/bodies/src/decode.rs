//! Any bytes as a snapshot, as they are and dressed up as a valid one.

use arbitrary::{Result, Unstructured};
use lately::raw::codec::{self, MAGIC, VERSION, Writer};
use lately::{Hashing, Seed, Time};
use lately_papers::CATALOG;
use xxhash_rust::xxh3::xxh3_64;

use crate::subject::arbitrary_row;

/// Opens the bytes, and opens them as parameters and payload behind a valid header and checksum.
/// Whatever opens must answer and save again without a panic.
pub fn decode(data: &[u8]) {
    open_and_use(data);
    if let Ok(forged) = forge(&mut Unstructured::new(data)) {
        open_and_use(&forged);
    }
}

fn open_and_use(bytes: &[u8]) {
    let Ok((mut filter, hashing)) = codec::open_of(CATALOG, bytes) else { return };
    for i in 0..100_u64 {
        let (hash, now) = (hashing.hash(&i.to_le_bytes()), Time::from_millis(i << (i % 60)));
        filter.contains_hash(hash, now);
        filter.insert_hash(hash, now);
        filter.insert_new_hash(hash.rotate_left(7), now);
    }
    filter.false_positive_rate();
    let again = codec::save(&*filter, Hashing::Fast(Seed(0)));
    codec::open_of(CATALOG, &again).expect("what we save, we open");
}

/// A snapshot with a right frame around arbitrary content.
fn forge(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let row = arbitrary_row(u)?;
    let parameters_length = u.int_in_range(0..=64)?;
    let parameters = u.bytes(parameters_length.min(u.len()))?;
    let payload = u.bytes(u.len())?;
    let mut out = Writer::new();
    out.bytes(&MAGIC);
    out.u16(VERSION);
    out.u16(row.family);
    out.u8(1);
    out.bytes(&[0; 3 + 16]);
    out.u32(parameters.len() as u32);
    out.u64(payload.len() as u64);
    out.bytes(parameters);
    out.bytes(payload);
    let mut bytes = out.into_bytes();
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}
