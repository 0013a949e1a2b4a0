//! `BF.EXISTS` and `BF.MEXISTS`: whether items were inserted.

use crate::args::When;
use crate::commands::seen;
use crate::engine::{Answers, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::ours::{Call, Ours};

/// `BF.EXISTS key item`
pub struct Exists;

/// `BF.MEXISTS key item [item ...]`
pub struct MExists;

impl Command<Ours> for Exists {
    const DOC: Doc = Doc {
        name: c"BF.EXISTS",
        summary: c"Says whether an item was inserted",
        complexity: c"O(1)",
        arity: 3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::new(c"item", Kind::Bytes)],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        Ok(Reply::Bool(seen::ask(call, When::Now, 2)? == Answers::Yes))
    }
}

impl Command<Ours> for MExists {
    const DOC: Doc = Doc {
        name: c"BF.MEXISTS",
        summary: c"Says of each item whether it was inserted",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let seen = seen::ask(call, When::Now, 2)?;
        Ok(Reply::Array(seen.as_slice().iter().map(|&seen| Reply::Bool(seen)).collect()))
    }
}
