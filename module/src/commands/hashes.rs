//! `LATELY.ADDHASHES`: many items at once from clients that hash them themselves.
//!
//! The hash of an item is XXH3 (64 bits) under the seed that `LATELY.INFO key seed` tells, eight bytes
//! each in little-endian order, one after the other. Eight bytes instead of an item and one byte
//! instead of a number per answer: the command `lately` sends streams this way. A filter under a
//! secret key cannot be used so, because its secret stays with the server.

use lately::Hashing;

use super::Command;
use super::info::NO_KEY;
use crate::args::{self, When};
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Access, Call, Refusal, Reply};
use crate::object::Repeat;
use crate::replicate;

/// `LATELY.ADDHASHES key hashes [AT milliseconds] [NX]`
pub struct AddHashes;

impl Command for AddHashes {
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
        let (hashes, rest) = call.word(2).as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Refusal::new("hashes are 8 bytes each"));
        }
        let origin = call.origin();
        let (answers, sent) = {
            let mut key = call.key(1, Access::Write);
            let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
            if matches!(stored.hashing, Hashing::Keyed(_)) {
                return Err(Refusal::new("this filter is keyed: send the items themselves"));
            }
            stored.check_growth(origin)?;
            let (time, sent) = replicate::moment(options.when, stored, origin)?;
            let hashes = hashes.iter().map(|&hash| u64::from_le_bytes(hash));
            (stored.insert_hashes(hashes, None, time, options.repeat), sent)
        };
        replicate::hashes(call, sent);
        call.notify(c"lately.add");
        let digit = |&new: &bool| if new { b'1' } else { b'0' };
        Ok(Reply::Bytes(answers.as_slice().iter().map(digit).collect()))
    }
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
