//! `LATELY.ADD` and its kin: inserts items and says of each whether it was new.
//!
//! Items may be any bytes, so options come in a command of their own, before a word that ends them.

use super::moment::{MOMENT, now_and_at};
use super::reserve::{NOT_RESERVED, change_or_create_at, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Arg, Command, Doc, Effect, Keys, Refusal, Reply};
use crate::object::Repeat;
use crate::ours::{Call, Ours};
use crate::replicate;
use crate::wish::Wish;

now_and_at! {
    Add: c"LATELY.ADD", c"Inserts items now; 1 for each that was new, 0 for each seen in the window";
    AddAt: c"LATELY.ADDAT", c"Inserts items at a moment given by the client, for event time";
    Effect::Write, [Arg::items()], 1,
    |call: &mut Call<'_>, when, first| insert(call, when, first, Repeat::Refreshes, unreserved_wish)
}

now_and_at! {
    AddNx: c"LATELY.ADDNX", c"Inserts items that are new; a repeat does not extend the stay of a key";
    AddNxAt: c"LATELY.ADDNXAT", c"Inserts items that are new at a moment given by the client";
    Effect::Write, [Arg::items()], 1,
    |call: &mut Call<'_>, when, first| insert(call, when, first, Repeat::KeepsItsAge, unreserved_wish)
}

/// `LATELY.INSERT key [AT milliseconds] [NX] [NOCREATE] ITEMS item [item ...]`
pub struct Insert;

impl Command<Ours> for Insert {
    const DOC: Doc = Doc {
        name: c"LATELY.INSERT",
        summary: c"Inserts items as told: at a moment, only if new, only if the key is there",
        complexity: c"O(N) where N is the number of items",
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
    let (answers, sent) = change_or_create_at(
        call,
        when,
        wish,
        #[inline(always)]
        |stored, time| Ok(stored.insert(items.iter(), ahead, time, repeat)),
    )?;
    replicate::insertion(call, sent, first, repeat);
    call.notify(c"lately.add");
    Ok(Reply::Answers(answers))
}
