//! `LATELY.SEEN`: says of each item whether it is in the window. Changes nothing.

use lately::Time;

use super::Command;
use super::add::MOMENT;
use crate::args;
use crate::docs::{Arg, Doc, Effect, Keys};
use crate::engine::{Access, Call, Refusal, Reply};

/// `LATELY.SEEN key item [item ...]`
pub struct Seen;

/// `LATELY.SEENAT key milliseconds item [item ...]`
pub struct SeenAt;

impl Command for Seen {
    const DOC: Doc = Doc {
        name: c"LATELY.SEEN",
        summary: c"Says of each item whether it was seen in the window up to now",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        Ok(Reply::ints(ask(call, call.now(), 2)?))
    }
}

impl Command for SeenAt {
    const DOC: Doc = Doc {
        name: c"LATELY.SEENAT",
        summary: c"Says of each item whether it was seen in the window up to a moment",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let moment = args::moment(call.words()[2])?;
        Ok(Reply::ints(ask(call, moment, 3)?))
    }
}

/// Whether each of the words from `first` on is in the window; none is, if there is no key.
pub fn ask(call: &mut Call<'_>, moment: Time, first: usize) -> Result<Vec<bool>, Refusal> {
    let items = call.words()[first..].to_vec();
    match call.key(1, Access::Read).value()? {
        Some(value) => Ok(value.filter()?.seen(&items, moment)),
        None => Ok(vec![false; items.len()]),
    }
}
