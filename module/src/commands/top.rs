//! `LATELY.TOP`: the items that came most often in the window, of filters reserved to tell them.

use super::info::NO_KEY;
use super::moment::now_and_at;
use crate::args::{self, When};
use crate::engine::{Access, Arg, Effect, Kind, Refusal, Reply};
use crate::ours::Call;

const MOST: Arg = Arg::new(c"n", Kind::Integer).maybe();

now_and_at! {
    Top: c"LATELY.TOP",
        c"Tells the items that came most often in the window, each with its count; of filters reserved with TOP";
    TopAt: c"LATELY.TOPAT", c"Tells the items that came most often in the window at a moment";
    Effect::Read, [MOST], 0, top
}

/// The word at `most` says how many, if it is there.
fn top(call: &mut Call<'_>, when: When, most: usize) -> Result<Reply, Refusal> {
    let words = call.words();
    let most =
        match words[most..] {
            [] => None,
            [most] => {
                let most = args::whole(most).and_then(|most| usize::try_from(most).ok());
                Some(most.ok_or_else(|| {
                    Refusal::new("how many items must be a whole number from 0 on")
                })?)
            }
            _ => {
                let command = String::from_utf8_lossy(words[0]).to_ascii_lowercase();
                return Err(args::wrong_number(&command));
            }
        };
    let mut key = call.key(1, Access::Read);
    let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
    let listed = stored.list_top(most, when.time(stored))?;
    let pair = |(item, count): (&[u8], u64)| [Reply::Bytes(item.to_vec()), Reply::count(count)];
    Ok(Reply::Array(listed.into_iter().flat_map(pair).collect()))
}
