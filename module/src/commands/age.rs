//! `LATELY.AGE`: says how long ago each item came. Changes nothing.

use lately::raw::Age as Told;

use super::add::MOMENT;
use crate::args::When;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Refusal, Reply};
use crate::ours::{Call, Ours};

/// `LATELY.AGE key item [item ...]`
pub struct Age;

/// `LATELY.AGEAT key milliseconds item [item ...]`
pub struct AgeAt;

impl Command<Ours> for Age {
    const DOC: Doc = Doc {
        name: c"LATELY.AGE",
        summary: c"Says of each item how long ago it came, the least and the most; nil if not seen",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        ages(call, When::Now, 2)
    }
}

impl Command<Ours> for AgeAt {
    const DOC: Doc = Doc {
        name: c"LATELY.AGEAT",
        summary: c"Says of each item how long before a moment it came",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        ages(call, When::at(call.word(2))?, 3)
    }
}

fn ages(call: &mut Call<'_>, when: When, first: usize) -> Result<Reply, Refusal> {
    let items = call.items(first);
    let ages = match call.key(1, Access::Read).value()? {
        Some(value) => {
            let stored = value.filter()?;
            stored.ages(items.iter(), when.time(stored))?
        }
        None => vec![None; items.len()],
    };
    Ok(Reply::Array(ages.into_iter().map(|age| age.map_or(Reply::Null, tell)).collect()))
}

/// The least and the most, in milliseconds or in insertions.
fn tell(age: Told) -> Reply {
    let (least, most) = match age {
        Told::Items(items) => items.into_inner(),
        Told::Time(spans) => (spans.start().millis(), spans.end().millis()),
    };
    Reply::Array(vec![Reply::count(least), Reply::count(most)])
}
