//! `BF.SCANDUMP` and `BF.LOADCHUNK`: a filter in pieces that fit into a message.
//!
//! `SCANDUMP` answers pairs of an iterator and bytes, beginning with iterator 0 and ending when it
//! answers 0 and nothing. `LOADCHUNK` takes the same pairs in the same order.

use crate::args;
use crate::commands::load;
use crate::dump::{Dump, Iterator, PIECE_BYTES};
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Origin, Refusal, Reply};
use crate::object::{Stored, Value};
use crate::ours::{Call, Ours};
use crate::persist::{self, Record};

/// `BF.SCANDUMP key iterator`
pub struct ScanDump;

/// `BF.LOADCHUNK key iterator data`
pub struct LoadChunk;

const ITERATOR: Arg = Arg::new(c"iterator", Kind::Integer);

impl Command<Ours> for ScanDump {
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
        if iterator.position == 0 {
            return begin(call);
        }
        let mut key = call.key(1, Access::Read);
        let dump = key.value()?.ok_or(super::NOT_FOUND)?.filter()?.dump();
        if iterator.dump == 0 {
            return Ok(end());
        }
        let Some(current) = dump.as_mut().filter(|dump| dump.number() == iterator.dump) else {
            return Err(Refusal::new(
                "this dump is over: another began, or nobody asked for a minute; begin with 0",
            ));
        };
        let start = iterator.position as usize - 1;
        let piece = current.piece(start).to_vec();
        if piece.is_empty() {
            *dump = None;
            return Ok(end());
        }
        Ok(answer(Iterator::after(iterator.dump, start + piece.len()), piece))
    }
}

/// The answer after the last piece.
fn end() -> Reply {
    Reply::Array(vec![Reply::Int(0), Reply::Bytes(Vec::new())])
}

/// Answers the first piece, and keeps the others if there are any.
fn begin(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let random = call.random();
    let bytes = {
        let mut key = call.key(1, Access::Read);
        key.value()?.ok_or(super::NOT_FOUND)?.filter()?.filter_bytes()
    };
    if bytes > PIECE_BYTES {
        call.make_room(bytes as u64)?;
    }
    let mut key = call.key(1, Access::Read);
    let stored = key.value()?.ok_or(super::NOT_FOUND)?.filter()?;
    *stored.dump() = None;
    let bytes = persist::to_bytes(&Record::of(stored));
    if bytes.len() <= PIECE_BYTES {
        return Ok(answer(Iterator::after(0, bytes.len()), bytes));
    }
    let dump = stored.dump().insert(Box::new(Dump::new(bytes, random)));
    let piece = dump.piece(0).to_vec();
    Ok(answer(Iterator::after(dump.number(), piece.len()), piece))
}

fn answer(next: Iterator, piece: Vec<u8>) -> Reply {
    Reply::Array(vec![Reply::Int(next.number()), Reply::Bytes(piece)])
}

impl Command<Ours> for LoadChunk {
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
        let piece = call.word(3);
        let start = usize::try_from(iterator(call.word(2))?.position)
            .ok()
            .and_then(|position| position.checked_sub(piece.len() + 1))
            .ok_or(Refusal::new("this iterator does not belong to this piece"))?;
        let mut bytes = match call.key(1, Access::Write).value()? {
            Some(Value::Filter(_)) => return Err(Refusal::coded("ERR item exists")),
            Some(Value::Arriving(bytes)) if bytes.len() == start => std::mem::take(bytes),
            _ if start == 0 => Vec::new(),
            Some(_) => return Err(Refusal::new("a piece is missing; begin with the first")),
            None => return Err(super::NOT_FOUND),
        };
        bytes.extend_from_slice(piece);
        let value = match assemble(call.origin(), &bytes) {
            Ok(Some(stored)) => Value::Filter(stored),
            Ok(None) => Value::Arriving(bytes),
            Err(refusal) => {
                // As it was before, here as on replicas, which do not hear of this.
                if start > 0 {
                    bytes.truncate(start);
                    call.key(1, Access::Write).put(Value::Arriving(bytes));
                }
                return Err(refusal);
            }
        };
        call.key(1, Access::Write).put(value);
        call.replicate_verbatim();
        Ok(Reply::Done)
    }
}

/// The filter, once all of it is there.
fn assemble(origin: Origin<'_>, bytes: &[u8]) -> Result<Option<Stored>, Refusal> {
    load::check(origin, bytes.len() as u64)?;
    let Some(record) = persist::from_bytes(bytes)? else { return Ok(None) };
    let stored = record.open()?;
    load::accept(origin, &stored)?;
    Ok(Some(stored))
}

fn iterator(word: &[u8]) -> Result<Iterator, Refusal> {
    args::whole(word)
        .and_then(Iterator::of)
        .ok_or(Refusal::coded("ERR Second argument must be numeric"))
}
