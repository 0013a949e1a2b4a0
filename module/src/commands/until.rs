//! `LATELY.ADDUNTIL`: inserts items that may leave before their window ends, each batch with a deadline of
//! its own.

use lately::Time;

use super::moment::now_and_at;
use super::reserve::{change_or_create_at, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Arg, Effect, Kind, Refusal, Reply};
use crate::ours::Call;
use crate::replicate;

const DEADLINE: Arg = Arg::new(c"deadline", Kind::Moment);

now_and_at! {
    AddUntil: c"LATELY.ADDUNTIL", c"Inserts items that count until a deadline, if the window does not end before";
    AddUntilAt: c"LATELY.ADDUNTILAT", c"Inserts items at a moment given by the client that count until a deadline";
    Effect::Write, [DEADLINE, Arg::items()], 2, insert
}

/// Inserts the words after the deadline, which is the word at `first`.
fn insert(call: &mut Call<'_>, when: When, first: usize) -> Result<Reply, Refusal> {
    let deadline = args::millis(call.word(first))
        .map(Time::from_millis)
        .ok_or_else(|| Refusal::new("the deadline must be milliseconds, from 0 to 2^63 - 1"))?;
    let items = call.items(first + 1);
    let (answers, sent) = change_or_create_at(call, when, unreserved_wish, |stored, time| {
        stored.insert_until(items.iter(), time, deadline)
    })?;
    replicate::deadline(call, sent, first);
    call.notify(c"lately.add");
    Ok(Reply::Answers(answers))
}
