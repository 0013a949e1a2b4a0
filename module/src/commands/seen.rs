//! `LATELY.SEEN`: says of each item whether it is in the window. Changes nothing.

use super::moment::now_and_at;
use crate::args::When;
use crate::engine::{Access, Answers, Arg, Effect, Refusal, Reply};
use crate::ours::Call;

now_and_at! {
    Seen: c"LATELY.SEEN", c"Says of each item whether it was seen in the window up to now";
    SeenAt: c"LATELY.SEENAT", c"Says of each item whether it was seen in the window up to a moment";
    Effect::Read, [Arg::items()], 1,
    |call: &mut Call<'_>, when, first| Ok(Reply::Answers(ask(call, when, first)?))
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
