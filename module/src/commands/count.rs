//! `LATELY.COUNT` and `LATELY.INCRBY`: how often each item was seen, of filters that count.

use lately::Window;

use super::add::MOMENT;
use super::reserve::{change_or_create, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::ours::{Call, Ours};
use crate::replicate;
use crate::wish::Wish;

/// `LATELY.COUNT key item [item ...]`
pub struct Count;

/// `LATELY.COUNTAT key milliseconds item [item ...]`
pub struct CountAt;

/// `LATELY.INCRBY key item times [item times ...]`
pub struct IncrBy;

/// `LATELY.INCRBYAT key milliseconds item times [item times ...]`
pub struct IncrByAt;

const PAIR: Arg = Arg::new(c"pair", Kind::Block(PARTS)).many();
const PARTS: &[Arg] = &[Arg::new(c"item", Kind::Bytes), Arg::new(c"times", Kind::Integer)];

impl Command<Ours> for Count {
    const DOC: Doc = Doc {
        name: c"LATELY.COUNT",
        summary: c"Says how often each item was seen; of filters reserved with COUNTING",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        count(call, When::Now, 2)
    }
}

impl Command<Ours> for CountAt {
    const DOC: Doc = Doc {
        name: c"LATELY.COUNTAT",
        summary: c"Says how often each item was seen up to a moment",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        count(call, When::at(call.word(2))?, 3)
    }
}

impl Command<Ours> for IncrBy {
    const DOC: Doc = Doc {
        name: c"LATELY.INCRBY",
        summary: c"Adds so many sightings of each item now, and says how often it was seen",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), PAIR],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        increase(call, When::Now, 2, "lately.incrby")
    }
}

impl Command<Ours> for IncrByAt {
    const DOC: Doc = Doc {
        name: c"LATELY.INCRBYAT",
        summary: c"Adds so many sightings of each item at a moment given by the client",
        complexity: c"O(N) where N is the number of items",
        arity: -5,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT, PAIR],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        increase(call, When::at(call.word(2))?, 3, "lately.incrbyat")
    }
}

fn count(call: &mut Call<'_>, when: When, first: usize) -> Result<Reply, Refusal> {
    let items = call.items(first);
    match call.key(1, Access::Read).value()? {
        Some(value) => {
            let stored = value.filter()?;
            let time = when.time(stored);
            Ok(numbers(stored.counts(items.iter(), time)?))
        }
        None => Ok(numbers(vec![0; items.len()])),
    }
}

fn increase(
    call: &mut Call<'_>,
    when: When,
    first: usize,
    command: &str,
) -> Result<Reply, Refusal> {
    let words = call.words();
    let (pairs, rest) = words[first..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(args::wrong_number(command));
    }
    let pairs = pairs
        .iter()
        .map(|&[item, times]| Ok((item, args::times(times)?)))
        .collect::<Result<Vec<_>, Refusal>>()?;
    let origin = call.origin();
    let (counts, sent) = change_or_create(call, counter_for_ever, |stored| {
        // Asked last, because asking takes longer than looking.
        stored
            .check_crowd(&pairs)
            .or_else(|refusal| if origin.is_replayed() { Ok(()) } else { Err(refusal) })?;
        let (time, sent) = replicate::moment(when, stored, origin)?;
        Ok((numbers(stored.add_counts(&pairs, time)?), sent))
    })?;
    replicate::counts(call, sent, first);
    call.notify(c"lately.incrby");
    Ok(counts)
}

/// A counter for ever, at the default error, for as many items as the default window has: a counter
/// has to know about how many to expect.
fn counter_for_ever() -> Result<Wish, Refusal> {
    let default = unreserved_wish()?;
    let capacity = default.capacity.or(match default.window {
        Some(Window::Last(n)) => Some(n),
        _ => Some(100_000),
    });
    let window = Some(Window::Ever);
    Ok(Wish { window, capacity, slack: None, structure: None, counting: true, ..default })
}

fn numbers(counts: Vec<u64>) -> Reply {
    Reply::Array(counts.into_iter().map(Reply::count).collect())
}
