//! `LATELY.DUMP` and `LATELY.LOAD`: the library's snapshot, so that a file made by the command
//! `lately` becomes a key, and back.

use lately::raw::codec;

use super::info::NO_KEY;
use crate::args;
use crate::config;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Origin, Refusal, Reply};
use crate::horizon;
use crate::object::{Bloom, Stored, Tally, Value};
use crate::ours::{Call, Ours};

/// `LATELY.DUMP key`
pub struct Dump;

/// `LATELY.LOAD key snapshot [REPLACE] [TALLY inserted new] [BLOOM capacity expansion] [TOP items]`
pub struct Load;

impl Command<Ours> for Dump {
    const DOC: Doc = Doc {
        name: c"LATELY.DUMP",
        summary: c"Returns the snapshot of a filter, as files of the command have it",
        complexity: c"O(N) where N is the size of the filter",
        arity: 2,
        effect: Effect::ReadAll,
        keys: Keys::First,
        args: &[Arg::key()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let mut key = call.key(1, Access::Read);
        let value = key.value()?.ok_or(NO_KEY)?;
        Ok(Reply::Bytes(value.filter()?.save()))
    }
}

impl Command<Ours> for Load {
    const DOC: Doc = Doc {
        name: c"LATELY.LOAD",
        summary: c"Makes a filter from a snapshot",
        complexity: c"O(N) where N is the size of the filter",
        arity: -3,
        effect: Effect::WriteAll,
        keys: Keys::First,
        args: &[
            Arg::key(),
            Arg::new(c"snapshot", Kind::Bytes),
            Arg::word(c"replace", c"REPLACE").maybe(),
            Arg::new(c"tally", Kind::Block(TALLY)).after(c"TALLY").maybe(),
            Arg::new(c"bloom", Kind::Block(BLOOM)).after(c"BLOOM").maybe(),
            Arg::new(c"items", Kind::Bytes).after(c"TOP").maybe(),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let options = Options::parse(&call.words()[3..])?;
        if !options.replace && call.key(1, Access::Write).exists() {
            return Err(Refusal::coded("BUSYKEY Target key name already exists."));
        }
        let mut stored = Stored::open(without_note(call.word(2)))?;
        stored.tally = options.tally;
        stored.bloom = options.bloom;
        stored.open_top(options.top)?;
        accept(call.origin(), &stored)?;
        call.key(1, Access::Write).put(Value::Filter(stored));
        call.replicate_verbatim();
        call.notify(c"lately.load");
        Ok(Reply::Done)
    }
}

/// The snapshot in a state file of the command, whose note after it is for the command alone; any
/// other bytes as they are.
fn without_note(file: &[u8]) -> &[u8] {
    const NOTE: &[u8] = b"\x89LATNOTE";
    if file.ends_with(NOTE) { codec::snapshot_of(file) } else { file }
}

/// Refuses what came from outside and is too large; but not what a primary with other settings accepted.
pub fn check(origin: Origin<'_>, bytes: u64) -> Result<(), Refusal> {
    if origin.is_replayed() { Ok(()) } else { config::check_key_bytes(bytes) }
}

/// Refuses a filter that came from outside if it is too large, or its clock too far ahead; but not what
/// a primary accepted.
pub fn accept(origin: Origin<'_>, stored: &Stored) -> Result<(), Refusal> {
    check(origin, stored.filter_bytes() as u64)?;
    if origin.is_replayed() { Ok(()) } else { horizon::believe_filter(stored) }
}

const TALLY: &[Arg] = &[Arg::new(c"inserted", Kind::Integer), Arg::new(c"new", Kind::Integer)];
const BLOOM: &[Arg] =
    &[Arg::new(c"capacity", Kind::Integer), Arg::new(c"expansion", Kind::Integer)];

#[derive(Default)]
struct Options<'w> {
    replace: bool,
    tally: Tally,
    bloom: Option<Bloom>,
    /// The items that came most often, as they were stored.
    top: &'w [u8],
}

impl<'w> Options<'w> {
    fn parse(words: &[&'w [u8]]) -> Result<Self, Refusal> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let number = words.next().and_then(|word| args::whole(word));
                number.ok_or_else(|| Refusal::new("TALLY and BLOOM need two numbers each"))
            };
            match word.to_ascii_uppercase().as_slice() {
                b"REPLACE" => options.replace = true,
                b"TOP" => {
                    let items = words.next().ok_or_else(|| Refusal::new("TOP needs items"))?;
                    options.top = items;
                }
                b"TALLY" => options.tally = Tally { inserted: number()?, new: number()? },
                b"BLOOM" => {
                    options.bloom = Some(Bloom { capacity: number()?, expansion: number()? });
                }
                _ => {
                    return Err(Refusal::new(
                        "unknown option; there are REPLACE, TALLY, BLOOM, TOP",
                    ));
                }
            }
        }
        Ok(options)
    }
}
