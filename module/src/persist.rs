//! What leaves the server and comes back: always the library's one snapshot, and beside it the few
//! numbers that the library does not know.
//!
//! | Way | Carries |
//! |---|---|
//! | RDB, `DUMP`, full resync | the fields of [`Record`], each as the engine writes numbers and bytes |
//! | AOF rewrite, slot migration | `LATELY.LOAD key snapshot TALLY inserted new [BLOOM capacity expansion] [TOP items]` |
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
    /// The items that came most often, as the library writes them; nothing if none are kept.
    pub top: Vec<u8>,
}

/// The number of numbers before a snapshot.
pub const NUMBERS: usize = 5;

impl Record {
    /// The record of a filter.
    pub fn of(stored: &Stored) -> Self {
        let (snapshot, top) = (stored.save(), stored.save_top());
        Self { tally: stored.tally, bloom: stored.bloom, snapshot, top }
    }

    /// The filter of a record.
    pub fn open(&self) -> Result<Stored, lately::Error> {
        let mut stored = Stored::open(&self.snapshot)?;
        stored.tally = self.tally;
        stored.bloom = self.bloom;
        stored.open_top(&self.top)?;
        Ok(stored)
    }

    /// Everything but the snapshot and the items.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let bloom = self.bloom.unwrap_or(Bloom { capacity: 0, expansion: 0 });
        let is_bloom = u64::from(self.bloom.is_some());
        [self.tally.inserted, self.tally.new, is_bloom, bloom.capacity, bloom.expansion]
    }

    /// The record of these numbers, this snapshot and these items.
    pub fn from_numbers(numbers: [u64; NUMBERS], snapshot: Vec<u8>, top: Vec<u8>) -> Self {
        let [inserted, new, is_bloom, capacity, expansion] = numbers;
        let bloom = (is_bloom != 0).then_some(Bloom { capacity, expansion });
        Self { tally: Tally { inserted, new }, bloom, snapshot, top }
    }
}

/// The kinds of values, as the first number of each says.
const FILTER: u64 = 0;
const ARRIVING: u64 = 1;
/// A filter, and after its snapshot the items that came most often: a kind of its own, so that what was
/// written before there were such filters is read as ever.
const FILTER_WITH_TOP: u64 = 2;

/// Reads a value.
pub fn load(from: &mut Incoming<'_>) -> Result<Value, String> {
    match from.number()? {
        kind @ (FILTER | FILTER_WITH_TOP) => {
            let mut numbers = [0; NUMBERS];
            for place in &mut numbers {
                *place = from.number()?;
            }
            let snapshot = from.bytes()?;
            let top = if kind == FILTER_WITH_TOP { from.bytes()? } else { Vec::new() };
            let record = Record::from_numbers(numbers, snapshot, top);
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
            to.number(if record.top.is_empty() { FILTER } else { FILTER_WITH_TOP });
            record.numbers().into_iter().for_each(|number| to.number(number));
            to.bytes(&record.snapshot);
            if !record.top.is_empty() {
                to.bytes(&record.top);
            }
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
            if !record.top.is_empty() {
                words.extend([Cow::Borrowed(&b"TOP"[..]), Cow::Owned(record.top)]);
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

/// Where the numbers say whether a filter was made by `BF.RESERVE`, they also say by this bit whether items
/// follow the snapshot, and after them their length.
const FLAGS: usize = 2;
const HAS_TOP: u64 = 2;

/// The record as one run of bytes.
pub fn to_bytes(record: &Record) -> Vec<u8> {
    let mut numbers = record.numbers();
    let mut rest = Vec::new();
    if !record.top.is_empty() {
        numbers[FLAGS] |= HAS_TOP;
        rest.extend_from_slice(&record.top);
        rest.extend_from_slice(&(record.top.len() as u64).to_le_bytes());
    }
    let length = record.snapshot.len() + rest.len();
    let mut bytes = Vec::with_capacity(HEAD_BYTES + length);
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&record.snapshot);
    bytes.extend_from_slice(&rest);
    bytes
}

/// Whether a run of bytes is complete, and then its record.
pub fn from_bytes(bytes: &[u8]) -> Result<Option<Record>, Refusal> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD_BYTES) else { return Ok(None) };
    let mut fields = head.chunks_exact(8).map(number);
    let mut next = || fields.next().expect("as many fields as the head has");
    let length = next();
    let mut numbers: [u64; NUMBERS] = std::array::from_fn(|_| next());
    match (rest.len() as u64).cmp(&length) {
        std::cmp::Ordering::Less => return Ok(None),
        std::cmp::Ordering::Equal => {}
        std::cmp::Ordering::Greater => {
            return Err(Refusal::new("more bytes than the first chunk says"));
        }
    }
    let (mut snapshot, mut top) = (rest, &[][..]);
    if numbers[FLAGS] & HAS_TOP != 0 {
        numbers[FLAGS] &= !HAS_TOP;
        (snapshot, top) =
            split_top(rest).ok_or_else(|| Refusal::new("the chunks do not fit together"))?;
    }
    Ok(Some(Record::from_numbers(numbers, snapshot.to_vec(), top.to_vec())))
}

/// The snapshot, and the items after it.
fn split_top(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (bytes, length) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    let length = usize::try_from(number(length)).ok()?;
    bytes.split_at_checked(bytes.len().checked_sub(length)?)
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_bytes_is_a_record_exactly_when_complete() {
        for (bloom, top) in [(true, 0), (true, 9), (false, 9), (false, 0)] {
            let record = Record {
                tally: Tally { inserted: 9, new: 4 },
                bloom: bloom.then_some(Bloom { capacity: 100, expansion: 2 }),
                snapshot: vec![7; 50],
                top: vec![5; top],
            };
            let bytes = to_bytes(&record);
            for length in 0..bytes.len() {
                assert_eq!(from_bytes(&bytes[..length]), Ok(None));
            }
            assert_eq!(from_bytes(&bytes), Ok(Some(record)));
            let longer = [bytes, vec![0]].concat();
            assert!(from_bytes(&longer).is_err());
        }
        // Items that are longer than all that is there.
        let mut forged = to_bytes(&Record {
            tally: Tally::default(),
            bloom: None,
            snapshot: vec![7; 50],
            top: vec![5; 9],
        });
        forged.splice(forged.len() - 8.., 60_u64.to_le_bytes());
        assert!(from_bytes(&forged).is_err());
    }
}
