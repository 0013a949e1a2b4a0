//! `LATELY.ADD` and its kin: inserts items and says of each whether it was new.
//!
//! Items may be any bytes, so options come in a command of their own, before a word that ends them.

use super::reserve::{NOT_RESERVED, change_or_create, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::object::Repeat;
use crate::ours::{Call, Ours};
use crate::replicate;
use crate::wish::Wish;

/// `LATELY.ADD key item [item ...]`
pub struct Add;

/// `LATELY.ADDAT key milliseconds item [item ...]`
pub struct AddAt;

/// `LATELY.ADDNX key item [item ...]`
pub struct AddNx;

/// `LATELY.ADDNXAT key milliseconds item [item ...]`
pub struct AddNxAt;

/// `LATELY.INSERT key [AT milliseconds] [NX] [NOCREATE] ITEMS item [item ...]`
pub struct Insert;

/// An argument for the moment at which something happens.
pub const MOMENT: Arg = Arg::new(c"milliseconds", Kind::Moment);

const COMPLEXITY: &std::ffi::CStr = c"O(N) where N is the number of items";

impl Command<Ours> for Add {
    const DOC: Doc = Doc {
        name: c"LATELY.ADD",
        summary: c"Inserts items now; 1 for each that was new, 0 for each seen in the window",
        complexity: COMPLEXITY,
        arity: -3,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::Now, 2, Repeat::Refreshes, unreserved_wish)
    }
}

impl Command<Ours> for AddAt {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDAT",
        summary: c"Inserts items at a moment given by the client, for event time",
        complexity: COMPLEXITY,
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::at(call.word(2))?, 3, Repeat::Refreshes, unreserved_wish)
    }
}

impl Command<Ours> for AddNx {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDNX",
        summary: c"Inserts items that are new; a repeat does not extend the stay of a key",
        complexity: COMPLEXITY,
        arity: -3,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::Now, 2, Repeat::KeepsItsAge, unreserved_wish)
    }
}

impl Command<Ours> for AddNxAt {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDNXAT",
        summary: c"Inserts items that are new at a moment given by the client",
        complexity: COMPLEXITY,
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::at(call.word(2))?, 3, Repeat::KeepsItsAge, unreserved_wish)
    }
}

impl Command<Ours> for Insert {
    const DOC: Doc = Doc {
        name: c"LATELY.INSERT",
        summary: c"Inserts items as told: at a moment, only if new, only if the key is there",
        complexity: COMPLEXITY,
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[
            Arg::key(),
            MOMENT.after(c"AT").maybe(),
            Arg::word(c"nx", c"NX").maybe(),
            Arg::word(c"nocreate", c"NOCREATE").maybe(),
            Arg::items().after(c"ITEMS"),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let too_few = || args::wrong_number("lately.insert");
        let (mut when, mut repeat) = (When::Now, Repeat::Refreshes);
        let mut wish: fn() -> Result<Wish, Refusal> = unreserved_wish;
        let mut words = (2..call.len()).map(|place| (place, call.word(place)));
        let items = loop {
            let (place, word) = words.next().ok_or_else(too_few)?;
            match word.to_ascii_uppercase().as_slice() {
                b"ITEMS" => break place + 1,
                b"AT" => when = When::at(words.next().ok_or_else(too_few)?.1)?,
                b"NX" => repeat = Repeat::KeepsItsAge,
                b"NOCREATE" => wish = || Err(NOT_RESERVED),
                _ => return Err(Refusal::new("unknown option; there are AT, NX, NOCREATE, ITEMS")),
            }
        };
        if items == call.len() {
            return Err(too_few());
        }
        insert(call, when, items, repeat, wish)
    }
}

/// Inserts the words from `first` on into the key's filter, which is made as wished if it is missing.
///
/// All of it becomes part of the command: handed from function to function, what it knows about one
/// item would travel through memory for longer than the filter takes.
#[inline(always)]
fn insert(
    call: &mut Call<'_>,
    when: When,
    first: usize,
    repeat: Repeat,
    wish: fn() -> Result<Wish, Refusal>,
) -> Result<Reply, Refusal> {
    let items = call.items(first);
    let ahead = call.ahead(first);
    let origin = call.origin();
    let (answers, sent) = change_or_create(
        call,
        wish,
        #[inline(always)]
        |stored| {
            let (time, sent) = replicate::moment(when, stored, origin)?;
            Ok((stored.insert(items.iter(), ahead, time, repeat), sent))
        },
    )?;
    replicate::insertion(call, sent, first, repeat);
    call.notify(c"lately.add");
    Ok(Reply::Answers(answers))
}
