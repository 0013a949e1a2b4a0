//! `BF.SCANDUMP` and `BF.LOADCHUNK`: a filter in pieces that fit into a message.
//!
//! `SCANDUMP` answers pairs of an iterator and bytes, beginning with iterator 0 and ending when it
//! answers 0 and nothing. `LOADCHUNK` takes the same pairs in the same order. Our iterator is one
//! more than the number of bytes up to the end of the piece.

use crate::args;
use crate::commands::{Command, load};
use crate::config;
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Access, Call, Refusal, Reply};
use crate::object::{Stored, Value};
use crate::persist::{self, CHUNK_BYTES, Record};

/// `BF.SCANDUMP key iterator`
pub struct ScanDump;

/// `BF.LOADCHUNK key iterator data`
pub struct LoadChunk;

const ITERATOR: Arg = Arg::new(c"iterator", Kind::Integer);

impl Command for ScanDump {
    const DOC: Doc = Doc {
        name: c"BF.SCANDUMP",
        summary: c"Returns a filter piece by piece",
        complexity: c"O(N) where N is the size of the filter",
        arity: 3,
        effect: Effect::ReadAll,
        keys: Keys::First,
        args: &[Arg::key(), ITERATOR],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let iterator = iterator(call.word(2))?;
        let mut key = call.key(1, Access::Read);
        let stored = key.value()?.ok_or(super::NOT_FOUND)?.filter()?;
        let bytes = persist::to_bytes(&Record::of(stored));
        let start = bytes.len().min(iterator.saturating_sub(1));
        let end = bytes.len().min(start + CHUNK_BYTES);
        let next = if start == end { 0 } else { end as i64 + 1 };
        Ok(Reply::Array(vec![Reply::Int(next), Reply::Bytes(bytes[start..end].to_vec())]))
    }
}

impl Command for LoadChunk {
    const DOC: Doc = Doc {
        name: c"BF.LOADCHUNK",
        summary: c"Makes a filter piece by piece",
        complexity: c"O(N) where N is the size of the piece, and of the filter for the last",
        arity: 4,
        effect: Effect::WriteAll,
        keys: Keys::First,
        args: &[Arg::key(), ITERATOR, Arg::new(c"data", Kind::Bytes)],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let iterator = iterator(call.word(2))?;
        let piece = call.word(3);
        let start = iterator
            .checked_sub(piece.len() + 1)
            .ok_or(Refusal::new("this iterator does not belong to this piece"))?;
        let mut bytes = match call.key(1, Access::Write).value()? {
            Some(Value::Filter(_)) => return Err(Refusal::coded("ERR item exists")),
            Some(Value::Arriving(bytes)) if bytes.len() == start => std::mem::take(bytes),
            _ if start == 0 => Vec::new(),
            Some(_) => return Err(Refusal::new("a piece is missing; begin with the first")),
            None => return Err(super::NOT_FOUND),
        };
        bytes.extend_from_slice(piece);
        match assemble(&bytes) {
            Ok(Some(stored)) => load::store(call, stored)?,
            Ok(None) => {
                call.key(1, Access::Write).put(Value::Arriving(bytes));
                call.replicate_verbatim();
            }
            Err(refusal) => {
                if start > 0 {
                    bytes.truncate(start);
                    call.key(1, Access::Write).put(Value::Arriving(bytes));
                }
                return Err(refusal);
            }
        }
        Ok(Reply::Done)
    }
}

/// The filter, once all of it is there.
fn assemble(bytes: &[u8]) -> Result<Option<Stored>, Refusal> {
    config::check_key_bytes(bytes.len() as u64)?;
    let record = persist::from_bytes(bytes)?;
    Ok(record.map(|record| record.open()).transpose()?)
}

fn iterator(word: &[u8]) -> Result<usize, Refusal> {
    args::whole(word)
        .and_then(|iterator| usize::try_from(iterator).ok())
        .ok_or(Refusal::coded("ERR Second argument must be numeric"))
}
