//! What leaves the server and comes back: always the library's one snapshot, and beside it the few
//! numbers that the library does not know.
//!
//! | Way | Carries |
//! |---|---|
//! | RDB, `DUMP`, full resync | the fields of [`Record`], each as the engine writes numbers and bytes |
//! | AOF rewrite, slot migration | `LATELY.LOAD key snapshot TALLY inserted new [BLOOM capacity expansion]` |
//! | `BF.SCANDUMP` | the [`Record`] as one run of bytes, cut into pieces by `dump` |
//! | `LATELY.DUMP` | the snapshot alone, which the command `lately` reads |

use std::borrow::Cow;

use crate::engine::{Incoming, Outgoing, Refusal, Remade};
use crate::object::{Bloom, Stored, Tally, Value};

/// The version of what is written around the snapshot; the snapshot has its own.
pub const RECORD_VERSION: i32 = 1;

/// A filter as it leaves the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What has happened to it.
    pub tally: Tally,
    /// What `BF.RESERVE` said.
    pub bloom: Option<Bloom>,
    /// The library's snapshot.
    pub snapshot: Vec<u8>,
}

/// The number of numbers before a snapshot.
pub const NUMBERS: usize = 5;

impl Record {
    /// The record of a filter.
    pub fn of(stored: &Stored) -> Self {
        Self { tally: stored.tally, bloom: stored.bloom, snapshot: stored.save() }
    }

    /// The filter of a record.
    pub fn open(&self) -> Result<Stored, lately::Error> {
        let mut stored = Stored::open(&self.snapshot)?;
        stored.tally = self.tally;
        stored.bloom = self.bloom;
        Ok(stored)
    }

    /// Everything but the snapshot.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let bloom = self.bloom.unwrap_or(Bloom { capacity: 0, expansion: 0 });
        let is_bloom = u64::from(self.bloom.is_some());
        [self.tally.inserted, self.tally.new, is_bloom, bloom.capacity, bloom.expansion]
    }

    /// The record of these numbers and this snapshot.
    pub fn from_numbers(numbers: [u64; NUMBERS], snapshot: Vec<u8>) -> Self {
        let [inserted, new, is_bloom, capacity, expansion] = numbers;
        let bloom = (is_bloom != 0).then_some(Bloom { capacity, expansion });
        Self { tally: Tally { inserted, new }, bloom, snapshot }
    }
}

/// The kinds of values, as the first number of each says.
const FILTER: u64 = 0;
const ARRIVING: u64 = 1;

/// Reads a value.
pub fn load(from: &mut Incoming<'_>) -> Result<Value, String> {
    match from.number()? {
        FILTER => {
            let mut numbers = [0; NUMBERS];
            for place in &mut numbers {
                *place = from.number()?;
            }
            let record = Record::from_numbers(numbers, from.bytes()?);
            Ok(Value::Filter(record.open().map_err(|error| error.to_string())?))
        }
        ARRIVING => Ok(Value::Arriving(from.bytes()?)),
        other => Err(format!("a value of an unknown kind ({other})")),
    }
}

/// Writes a value.
pub fn save(value: &Value, to: &mut Outgoing<'_>) {
    match value {
        Value::Filter(stored) => {
            let record = Record::of(stored);
            to.number(FILTER);
            record.numbers().into_iter().for_each(|number| to.number(number));
            to.bytes(&record.snapshot);
        }
        Value::Arriving(part) => {
            to.number(ARRIVING);
            to.bytes(part);
        }
    }
}

/// The command that makes a value again.
pub fn remake(value: &Value) -> Remade<'_> {
    let number = |number: u64| Cow::Owned(number.to_string().into_bytes());
    match value {
        Value::Filter(stored) => {
            let record = Record::of(stored);
            let [inserted, new, is_bloom, capacity, expansion] = record.numbers();
            let mut words = vec![
                Cow::Owned(record.snapshot),
                Cow::Borrowed(&b"TALLY"[..]),
                number(inserted),
                number(new),
            ];
            if is_bloom != 0 {
                words.extend([Cow::Borrowed(&b"BLOOM"[..]), number(capacity), number(expansion)]);
            }
            Remade { command: c"LATELY.LOAD", words }
        }
        Value::Arriving(part) => {
            let next = part.len() as u64 + 1;
            Remade { command: c"BF.LOADCHUNK", words: vec![number(next), Cow::Borrowed(part)] }
        }
    }
}

/// Bytes before the snapshot in a run of bytes: its length and the numbers.
const HEAD_BYTES: usize = 8 * (1 + NUMBERS);

/// The record as one run of bytes.
pub fn to_bytes(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + record.snapshot.len());
    bytes.extend_from_slice(&(record.snapshot.len() as u64).to_le_bytes());
    for number in record.numbers() {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&record.snapshot);
    bytes
}

/// Whether a run of bytes is complete, and then its record.
pub fn from_bytes(bytes: &[u8]) -> Result<Option<Record>, Refusal> {
    let Some((head, snapshot)) = bytes.split_at_checked(HEAD_BYTES) else { return Ok(None) };
    let mut fields = head
        .chunks_exact(8)
        .map(|field| u64::from_le_bytes(field.try_into().expect("chunks of eight bytes")));
    let mut next = || fields.next().expect("as many fields as the head has");
    let length = next();
    let numbers: [u64; NUMBERS] = std::array::from_fn(|_| next());
    match (snapshot.len() as u64).cmp(&length) {
        std::cmp::Ordering::Less => Ok(None),
        std::cmp::Ordering::Equal => Ok(Some(Record::from_numbers(numbers, snapshot.to_vec()))),
        std::cmp::Ordering::Greater => Err(Refusal::new("more bytes than the first chunk says")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_bytes_is_a_record_exactly_when_complete() {
        let record = Record {
            tally: Tally { inserted: 9, new: 4 },
            bloom: Some(Bloom { capacity: 100, expansion: 2 }),
            snapshot: vec![7; 50],
        };
        let bytes = to_bytes(&record);
        for length in 0..bytes.len() {
            assert_eq!(from_bytes(&bytes[..length]), Ok(None));
        }
        assert_eq!(from_bytes(&bytes), Ok(Some(record)));
        let longer = [bytes, vec![0]].concat();
        assert!(from_bytes(&longer).is_err());
    }
}
