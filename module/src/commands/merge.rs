//! `LATELY.MERGE`: counters of several places as one.

use super::Command;
use super::info::NO_KEY;
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Access, Call, Refusal, Reply};
use crate::object::{Stored, Value};

/// `LATELY.MERGE destination source [source ...]`
pub struct Merge;

impl Command for Merge {
    const DOC: Doc = Doc {
        name: c"LATELY.MERGE",
        summary: c"Adds the counts of filters that were reserved alike, with one SEED",
        complexity: c"O(N) where N is the size of the filters",
        arity: -3,
        effect: Effect::WriteAll,
        keys: Keys::FirstThenSources,
        args: &[Arg::new(c"destination", Kind::Key(0)), Arg::new(c"source", Kind::Key(1)).many()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let mut merged = read(call, 1, Stored::copy)?.transpose()?;
        for source in 2..call.len() {
            let more = read(call, source, |source| match &mut merged {
                Some(merged) => merged.merge(source),
                None => {
                    merged = Some(source.copy()?);
                    Ok(())
                }
            });
            more?.ok_or(NO_KEY)??;
        }
        let merged = merged.ok_or(Refusal::FAULT)?;
        call.key(1, Access::Write).put(Value::Filter(merged));
        call.replicate_verbatim();
        call.notify(c"lately.merge");
        Ok(Reply::Done)
    }
}

/// What `look` finds in the filter that a word names, if there is one.
fn read<T>(
    call: &mut Call<'_>,
    word: usize,
    look: impl FnOnce(&Stored) -> T,
) -> Result<Option<T>, Refusal> {
    match call.key(word, Access::Read).value()? {
        Some(value) => Ok(Some(look(value.filter()?))),
        None => Ok(None),
    }
}
