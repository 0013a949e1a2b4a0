//! `LATELY.MERGE`: counters of several places as one.

use super::info::NO_KEY;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::object::{Stored, Value};
use crate::ours::{Call, Key, Ours};

/// `LATELY.MERGE destination source [source ...]`
pub struct Merge;

impl Command<Ours> for Merge {
    const DOC: Doc = Doc {
        name: c"LATELY.MERGE",
        summary: c"Adds the counts of filters that were reserved alike, with one SEED",
        complexity: c"O(N) where N is the size of the filters",
        arity: -3,
        effect: Effect::WriteAll,
        keys: Keys::FirstThenSources,
        args: &[Arg::new(c"destination", Kind::Key(0)), Arg::new(c"source", Kind::Key(1)).many()],
    };

    /// In place: the filters may be most of what the server holds.
    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let bytes = check(call)?;
        let mut sources = 2..call.len();
        let names_itself = sources.clone().any(|source| call.word(source) == call.word(1));
        if !call.is_replayed() {
            // For counters that widen, and for copies.
            call.make_room(if names_itself { 2 * bytes } else { bytes })?;
        }
        // What the destination counted before, not what it counts on the way.
        let before = if names_itself { Some(copy(call, 1)?) } else { None };
        if !call.key(1, Access::Read).exists() {
            let first = copy(call, 2)?;
            call.key(1, Access::Write).put(Value::Filter(first));
            sources.start += 1;
        }
        for source in sources {
            if let Some([mut merged, mut source]) = call.pair((1, Access::Write), source) {
                stored(&mut merged)?.merge(stored(&mut source)?)?;
            } else {
                let before = before.as_ref().ok_or(Refusal::FAULT)?;
                stored(&mut call.key(1, Access::Write))?.merge(before)?;
            }
        }
        call.replicate_verbatim();
        call.notify(c"lately.merge");
        Ok(Reply::Done)
    }
}

/// Refuses what cannot be merged before anything is changed, and tells how large one of the filters
/// is.
fn check(call: &mut Call<'_>) -> Result<u64, Refusal> {
    let first = if call.key(1, Access::Read).exists() { 1 } else { 2 };
    for source in 2..call.len() {
        if let Some([mut one, mut other]) = call.pair((first, Access::Read), source) {
            stored(&mut one)?.check_mergeable(stored(&mut other)?)?;
        } else {
            let mut key = call.key(first, Access::Read);
            let itself = stored(&mut key)?;
            itself.check_mergeable(itself)?;
        }
    }
    Ok(stored(&mut call.key(first, Access::Read))?.memory_bytes() as u64)
}

fn copy(call: &mut Call<'_>, word: usize) -> Result<Stored, Refusal> {
    Ok(stored(&mut call.key(word, Access::Read))?.copy()?)
}

fn stored<'k>(key: &'k mut Key<'_>) -> Result<&'k mut Stored, Refusal> {
    key.value()?.ok_or(NO_KEY)?.filter()
}
