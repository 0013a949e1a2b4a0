//! `LATELY.SEEN`: says of each item whether it is in the window. Changes nothing.

use super::add::MOMENT;
use crate::args::When;
use crate::engine::{Access, Answers, Arg, Command, Doc, Effect, Keys, Refusal, Reply};
use crate::ours::{Call, Ours};

/// `LATELY.SEEN key item [item ...]`
pub struct Seen;

/// `LATELY.SEENAT key milliseconds item [item ...]`
pub struct SeenAt;

impl Command<Ours> for Seen {
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
        Ok(Reply::Answers(ask(call, When::Now, 2)?))
    }
}

impl Command<Ours> for SeenAt {
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
        let when = When::at(call.word(2))?;
        Ok(Reply::Answers(ask(call, when, 3)?))
    }
}

/// Whether each of the words from `first` on is in the window; none is, if there is no key.
pub fn ask(call: &mut Call<'_>, when: When, first: usize) -> Result<Answers, Refusal> {
    let items = call.items(first);
    let ahead = call.ahead(first);
    match call.key(1, Access::Read).value()? {
        Some(value) => {
            let stored = value.filter()?;
            Ok(stored.seen(items.iter(), ahead, when.time(stored)))
        }
        None => Ok(Answers::all(false, items.len())),
    }
}
