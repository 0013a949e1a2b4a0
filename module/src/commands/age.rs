//! `LATELY.AGE`: says how long ago each item came. Changes nothing.

use lately::raw::Age as Told;

use super::moment::now_and_at;
use crate::args::When;
use crate::engine::{Access, Arg, Effect, Refusal, Reply};
use crate::ours::Call;

now_and_at! {
    Age: c"LATELY.AGE", c"Says of each item how long ago it came, the least and the most; nil if not seen";
    AgeAt: c"LATELY.AGEAT", c"Says of each item how long before a moment it came";
    Effect::Read, [Arg::items()], 1, ages
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
