//! `LATELY.ADDHASHES` and `LATELY.SEENHASHES`: many items at once from clients that hash them themselves.
//!
//! The hash of an item is XXH3 (64 bits) under the seed that `LATELY.INFO key seed` tells, eight bytes
//! each in little-endian order, one after the other. Eight bytes instead of an item and one byte
//! instead of a number per answer: the command `lately` sends streams this way. A filter under a
//! secret key cannot be used so, because its secret stays with the server.

use lately::Hashing;

use super::info::NO_KEY;
use crate::args::{self, When};
use crate::engine::{Access, Answers, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::horizon;
use crate::object::{Repeat, Stored};
use crate::ours::{Call, Ours};
use crate::replicate;
use crate::top::TOP_WANTS_ITEMS;

/// `LATELY.ADDHASHES key hashes [AT milliseconds] [NX]`
pub struct AddHashes;

/// `LATELY.SEENHASHES key hashes [AT milliseconds]`
pub struct SeenHashes;

impl Command<Ours> for AddHashes {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDHASHES",
        summary: c"Inserts items by their hashes, 8 bytes each; a string with 1 or 0 for each",
        complexity: c"O(N) where N is the number of hashes",
        arity: -3,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[
            Arg::key(),
            Arg::new(c"hashes", Kind::Bytes),
            Arg::new(c"milliseconds", Kind::Moment).after(c"AT").maybe(),
            Arg::word(c"nx", c"NX").maybe(),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let options = Options::parse(call)?;
        let hashes = hashes(call.word(2))?;
        let origin = call.origin();
        let (answers, sent) = {
            let mut key = call.key(1, Access::Write);
            let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
            refuse_secrets(stored)?;
            stored.refuse_if_top(TOP_WANTS_ITEMS)?;
            stored.check_growth(origin)?;
            let (time, sent) = replicate::moment(options.when, stored, origin)?;
            (stored.insert_hashes(hashes, None, time, options.repeat), sent)
        };
        replicate::hashes(call, sent);
        call.notify(c"lately.add");
        Ok(digits(&answers))
    }
}

impl Command<Ours> for SeenHashes {
    const DOC: Doc = Doc {
        name: c"LATELY.SEENHASHES",
        summary: c"Says of items by their hashes, 8 bytes each, whether they are in the window",
        complexity: c"O(N) where N is the number of hashes",
        arity: -3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[
            Arg::key(),
            Arg::new(c"hashes", Kind::Bytes),
            Arg::new(c"milliseconds", Kind::Moment).after(c"AT").maybe(),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let mut words = call.items(3).iter();
        let when = match (words.next(), words.next(), words.next()) {
            (None, ..) => When::Now,
            (Some(at), Some(moment), None) if at.eq_ignore_ascii_case(b"AT") => When::at(moment)?,
            _ => return Err(args::wrong_number("lately.seenhashes")),
        };
        let hashes = hashes(call.word(2))?;
        let origin = call.origin();
        let mut key = call.key(1, Access::Read);
        let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
        refuse_secrets(stored)?;
        let now = when.time(stored);
        if let When::At(_) = when {
            // Whoever asks will insert what is new, and must learn before it is used that it cannot.
            horizon::believe(now, stored, origin)?;
        }
        Ok(digits(&stored.seen_hashes(hashes, None, now)))
    }
}

/// The hashes in a word.
fn hashes(word: &[u8]) -> Result<impl ExactSizeIterator<Item = u64>, Refusal> {
    let (hashes, rest) = word.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Refusal::new("hashes are 8 bytes each"));
    }
    Ok(hashes.iter().map(|&hash| u64::from_le_bytes(hash)))
}

fn refuse_secrets(stored: &Stored) -> Result<(), Refusal> {
    match stored.hashing {
        Hashing::Keyed(_) => Err(Refusal::new("this filter is keyed: send the items themselves")),
        Hashing::Fast(_) => Ok(()),
    }
}

/// A digit for each answer.
fn digits(answers: &Answers) -> Reply {
    let digit = |&answer: &bool| if answer { b'1' } else { b'0' };
    Reply::Bytes(answers.as_slice().iter().map(digit).collect())
}

struct Options {
    when: When,
    repeat: Repeat,
}

impl Options {
    fn parse(call: &Call<'_>) -> Result<Self, Refusal> {
        let mut options = Options { when: When::Now, repeat: Repeat::Refreshes };
        let mut words = call.items(3).iter();
        while let Some(word) = words.next() {
            match word.to_ascii_uppercase().as_slice() {
                b"AT" => options.when = When::at(words.next().unwrap_or_default())?,
                b"NX" => options.repeat = Repeat::KeepsItsAge,
                _ => return Err(args::wrong_number("lately.addhashes")),
            }
        }
        Ok(options)
    }
}
