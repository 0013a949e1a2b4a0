//! `LATELY.TURNBACK`: sets the clock of a window by time back, after a moment that was wrong.

use super::info::NO_KEY;
use super::moment::MOMENT;
use crate::args::When;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Refusal, Reply};
use crate::object::Stored;
use crate::ours::{Call, Ours};
use crate::replicate;

/// `LATELY.TURNBACK key [milliseconds]`
pub struct TurnBack;

impl Command<Ours> for TurnBack {
    const DOC: Doc = Doc {
        name: c"LATELY.TURNBACK",
        summary: c"Sets a filter's clock back to now or a moment, if it is later; says where it is",
        complexity: c"O(1): items follow with later commands",
        arity: -2,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT.maybe()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let when = When::after_key(call, "lately.turnback")?;
        let (moment, clock) = {
            let mut key = call.key(1, Access::Write);
            let stored = key.value()?.ok_or(NO_KEY)?.filter()?;
            require_clock(stored)?;
            let moment = when.time(stored);
            stored.turn_back(moment);
            (moment, stored.filter().clock())
        };
        replicate::turning_back(call, moment);
        call.notify(c"lately.turnback");
        Ok(clock.map_or(Reply::Null, |clock| Reply::count(clock.millis())))
    }
}

/// Refuses a filter whose window is not by time.
pub fn require_clock(stored: &Stored) -> Result<(), Refusal> {
    if stored.is_timed() {
        return Ok(());
    }
    Err(Refusal::new("this filter has no clock: its window is not by time"))
}
