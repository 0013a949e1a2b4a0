//! `LATELY.FORGET`: takes back what was inserted.

use crate::args::When;
use crate::engine::{Access, Answers, Arg, Command, Doc, Effect, Keys, Refusal, Reply};
use crate::ours::{Call, Ours};

/// `LATELY.FORGET key item [item ...]`
pub struct Forget;

impl Command<Ours> for Forget {
    const DOC: Doc = Doc {
        name: c"LATELY.FORGET",
        summary: c"Takes back insertions of items; 1 for each that was in the window",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Free,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let items = call.items(2);
        let answers = match call.key(1, Access::Write).value()? {
            Some(value) => {
                let stored = value.filter()?;
                let now = When::Now.time(stored);
                stored.forget(items.iter(), now)?
            }
            None => return Ok(Reply::Answers(Answers::all(false, items.len()))),
        };
        // As it came: what goes does not depend on the moment, only what is answered.
        call.replicate_verbatim();
        call.notify(c"lately.forget");
        Ok(Reply::Answers(answers))
    }
}
