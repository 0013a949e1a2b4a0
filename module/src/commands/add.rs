//! `LATELY.ADD` and its kin: inserts items and says of each whether it was new.

use super::Command;
use super::reserve::{change_or_create, default_wish};
use crate::args::When;
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Call, Refusal, Reply};
use crate::object::Repeat;
use crate::replicate;

/// `LATELY.ADD key item [item ...]`
pub struct Add;

/// `LATELY.ADDAT key milliseconds item [item ...]`
pub struct AddAt;

/// `LATELY.ADDNX key item [item ...]`
pub struct AddNx;

/// `LATELY.ADDNXAT key milliseconds item [item ...]`
pub struct AddNxAt;

/// An argument for the moment at which something happens.
pub const MOMENT: Arg = Arg::new(c"milliseconds", Kind::Moment);

const COMPLEXITY: &std::ffi::CStr = c"O(N) where N is the number of items";

impl Command for Add {
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
        insert(call, When::Now, 2, Repeat::Refreshes)
    }
}

impl Command for AddAt {
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
        insert(call, When::at(call.word(2))?, 3, Repeat::Refreshes)
    }
}

impl Command for AddNx {
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
        insert(call, When::Now, 2, Repeat::KeepsItsAge)
    }
}

impl Command for AddNxAt {
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
        insert(call, When::at(call.word(2))?, 3, Repeat::KeepsItsAge)
    }
}

/// Inserts the words from `first` on into the key's filter, which is made if it is missing.
///
/// All of it becomes part of the command: handed from function to function, what it knows about one
/// item would travel through memory for longer than the filter takes.
#[inline(always)]
fn insert(call: &mut Call<'_>, when: When, first: usize, repeat: Repeat) -> Result<Reply, Refusal> {
    let items = call.items(first);
    let ahead = call.ahead(first);
    let origin = call.origin();
    let (answers, sent) = change_or_create(
        call,
        default_wish,
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
