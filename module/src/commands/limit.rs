//! `LATELY.LIMIT`: at most so many of an item in the window, in one step.

use lately::{Admission, Wait};

use super::moment::now_and_at;
use super::reserve::{NOT_RESERVED, change_or_create};
use crate::args::{self, When};
use crate::engine::{Arg, Effect, Kind, Refusal, Reply};
use crate::ours::Call;
use crate::replicate;

const ITEM: Arg = Arg::new(c"item", Kind::Bytes);
const MAX: Arg = Arg::new(c"max", Kind::Integer);
const BY: Arg = Arg::new(c"n", Kind::Integer).after(c"BY").maybe();

now_and_at! {
    Limit: c"LATELY.LIMIT",
        c"Counts an item if it came less than max times in the window; what is denied is not counted";
    LimitAt: c"LATELY.LIMITAT",
        c"Counts an item at a moment given by the client if it came less than max times";
    Effect::Write, [ITEM, MAX, BY], 2, limit
}

/// The item is the word at `item`; what follows it are its limit, and how many are asked for.
fn limit(call: &mut Call<'_>, when: When, item: usize) -> Result<Reply, Refusal> {
    let words = call.words();
    let times = match words[item + 2..] {
        [] => 1,
        [by, times] if by.eq_ignore_ascii_case(b"BY") => {
            i64::try_from(args::times(times)?).map_err(|_| TOO_MANY)?
        }
        [_, _] => return Err(Refusal::new("unknown option; there is BY")),
        _ => {
            let command = String::from_utf8_lossy(words[0]).to_ascii_lowercase();
            return Err(args::wrong_number(&command));
        }
    };
    let most = args::whole(words[item + 1])
        .ok_or_else(|| Refusal::new("the limit must be a whole number from 0 on"))?;
    let (key, asked) = (words[item], times.unsigned_abs());
    let origin = call.origin();
    // How far back to count is not for us to guess.
    let (admission, sent) = change_or_create(
        call,
        || Err(NOT_RESERVED),
        |stored| {
            stored.check_crowd(&[(key, asked)])?;
            let (time, sent) = replicate::moment(when, stored, origin)?;
            Ok((stored.admit(key, asked, most, time)?, sent))
        },
    )?;
    if admission.allowed {
        replicate::admission(call, when, sent, item, times);
        call.notify(c"lately.limit");
    }
    Ok(told(admission))
}

const TOO_MANY: Refusal = Refusal::coded("ERR BY is at most 2^63 - 1");

/// Whether it passed, how often it counts, how many are left, how long to wait, and how many are in the
/// window for sure.
fn told(admission: Admission) -> Reply {
    let Admission { allowed, count, surely, left, wait } = admission;
    let wait = match wait {
        _ if allowed => Reply::Int(0),
        Some(Wait::Time(span)) => Reply::count(span.millis()),
        Some(Wait::Items(items)) => Reply::count(items),
        None => Reply::Int(-1),
    };
    let [count, left, surely] = [count, left, surely].map(Reply::count);
    Reply::Array(vec![Reply::Int(allowed.into()), count, left, wait, surely])
}
