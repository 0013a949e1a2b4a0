//! `LATELY.COUNT` and `LATELY.INCRBY`: how often each item was seen, of filters that count.

use lately::Window;

use super::moment::now_and_at;
use super::reserve::{change_or_create, unreserved_wish};
use crate::args::{self, When};
use crate::engine::{Access, Arg, Effect, Kind, Refusal, Reply};
use crate::ours::Call;
use crate::replicate;
use crate::wish::Wish;

const PAIR: Arg = Arg::new(c"pair", Kind::Block(PARTS)).many();
const PARTS: &[Arg] = &[Arg::new(c"item", Kind::Bytes), Arg::new(c"times", Kind::Integer)];

now_and_at! {
    Count: c"LATELY.COUNT", c"Says how often each item was seen; of filters reserved with COUNTING";
    CountAt: c"LATELY.COUNTAT", c"Says how often each item was seen up to a moment";
    Effect::Read, [Arg::items()], 1, count
}

now_and_at! {
    IncrBy: c"LATELY.INCRBY", c"Adds so many sightings of each item now, and says how often it was seen";
    IncrByAt: c"LATELY.INCRBYAT", c"Adds so many sightings of each item at a moment given by the client";
    Effect::Write, [PAIR], 2, increase
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

fn increase(call: &mut Call<'_>, when: When, first: usize) -> Result<Reply, Refusal> {
    let words = call.words();
    let (pairs, rest) = words[first..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(args::wrong_number(&String::from_utf8_lossy(words[0]).to_ascii_lowercase()));
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
