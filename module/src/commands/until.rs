//! `LATELY.ADDUNTIL`: inserts items that may leave before their window ends, each batch with a deadline of
//! its own.

use lately::Time;

use super::add::MOMENT;
use super::reserve::{change_or_create, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::ours::{Call, Ours};
use crate::replicate;

/// `LATELY.ADDUNTIL key deadline item [item ...]`
pub struct AddUntil;

/// `LATELY.ADDUNTILAT key milliseconds deadline item [item ...]`
pub struct AddUntilAt;

const DEADLINE: Arg = Arg::new(c"deadline", Kind::Moment);

impl Command<Ours> for AddUntil {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDUNTIL",
        summary: c"Inserts items that count until a deadline, if the window does not end before",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), DEADLINE, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::Now, 2)
    }
}

impl Command<Ours> for AddUntilAt {
    const DOC: Doc = Doc {
        name: c"LATELY.ADDUNTILAT",
        summary: c"Inserts items at a moment given by the client that count until a deadline",
        complexity: c"O(N) where N is the number of items",
        arity: -5,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, DEADLINE, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        insert(call, When::at(call.word(2))?, 3)
    }
}

/// Inserts the words after the deadline, which is the word at `first`.
fn insert(call: &mut Call<'_>, when: When, first: usize) -> Result<Reply, Refusal> {
    let deadline = args::millis(call.word(first))
        .map(Time::from_millis)
        .ok_or_else(|| Refusal::new("the deadline must be milliseconds, from 0 to 2^63 - 1"))?;
    let items = call.items(first + 1);
    let origin = call.origin();
    let (answers, sent) = change_or_create(call, unreserved_wish, |stored| {
        let (time, sent) = replicate::moment(when, stored, origin)?;
        Ok((stored.insert_until(items.iter(), time, deadline)?, sent))
    })?;
    replicate::deadline(call, sent, first);
    call.notify(c"lately.add");
    Ok(Reply::Answers(answers))
}
