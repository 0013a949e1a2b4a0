//! `LATELY.EXPIRE`: gives back the memory of what has left a window by time. The server does so by itself
//! (see `keeper`), and sends this command to its replicas.

use super::info::NO_KEY;
use super::moment::MOMENT;
use super::turn_back::require_clock;
use crate::args::{self, When};
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::keeper;
use crate::ours::{Call, Ours};
use crate::replicate;

/// `LATELY.EXPIRE key [milliseconds [steps]]`
pub struct Expire;

/// Steps that one command may take: as many as the keeper, whose are counted by the clock.
const MOST_STEPS: u64 = keeper::MOST_STEPS as u64;

/// Steps that it takes unless told: each may move a few thousand bytes, and a millisecond is not to be
/// exceeded.
const USUAL_STEPS: u64 = 8;

const REST: &[Arg] = &[MOMENT, Arg::new(c"steps", Kind::Integer).maybe()];

impl Command<Ours> for Expire {
    const DOC: Doc = Doc {
        name: c"LATELY.EXPIRE",
        summary: c"Gives back memory of what has left the window, a little; 1 if all is done",
        complexity: c"O(N) where N is the number of steps",
        arity: -2,
        effect: Effect::Free,
        keys: Keys::First,
        args: &[Arg::key(), Arg::new(c"until", Kind::Block(REST)).maybe()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let (when, steps) = match call.words()[..] {
            [_, _] => (When::Now, USUAL_STEPS),
            [_, _, moment] => (When::at(moment)?, USUAL_STEPS),
            [_, _, moment, steps] => (When::at(moment)?, read_steps(steps)?),
            _ => return Err(args::wrong_number("lately.expire")),
        };
        let origin = call.origin();
        let (done, sent) = {
            let mut key = call.key(1, Access::Write);
            let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
            require_clock(stored)?;
            let (time, sent) = replicate::moment(when, stored, origin)?;
            (stored.expire(time, steps as usize), sent)
        };
        replicate::expiry(call, sent);
        Ok(Reply::Int(done.into()))
    }
}

fn read_steps(word: &[u8]) -> Result<u64, Refusal> {
    args::whole(word).filter(|steps| (1..=MOST_STEPS).contains(steps)).ok_or_else(|| {
        Refusal::new(format_args!("steps are a whole number from 1 to {MOST_STEPS}"))
    })
}
