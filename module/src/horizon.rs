//! Moments that clients tell, as far as they are believed: one that is wrong must not spoil a window for
//! everybody who shares it.
//!
//! What a primary believed its replicas believe, whatever their clocks say, and so does who reads the
//! append-only file.

use std::sync::atomic::{AtomicU64, Ordering};

use lately::raw::Horizon;
use lately::{Error, Span, Time};

use crate::engine::{self, Origin, Refusal};
use crate::object::Stored;
use crate::{config, metrics};

/// The server's clock, when somebody last looked. It was right then, so no moment before it is ahead.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// Refuses an insertion at a moment that is too far ahead of the server's clock.
#[inline]
pub fn believe(moment: Time, stored: &Stored, origin: Origin<'_>) -> Result<(), Refusal> {
    if moment.millis() <= LOOKED.load(Ordering::Relaxed) || !stored.moves_the_clock(moment) {
        return Ok(());
    }
    look(moment, stored, origin)
}

/// Refuses a filter that came from outside if its clock is too far ahead of the server's.
pub fn believe_filter(stored: &Stored) -> Result<(), Refusal> {
    let Some(clock) = stored.filter().clock() else { return Ok(()) };
    check(clock, stored).inspect_err(|_| metrics::REFUSED_MOMENTS.add(1))
}

#[cold]
fn look(moment: Time, stored: &Stored, origin: Origin<'_>) -> Result<(), Refusal> {
    // Asked last, because asking takes longer than inserting.
    match check(moment, stored) {
        Err(_) if origin.is_replayed() => Ok(()),
        checked => checked.inspect_err(|_| metrics::REFUSED_MOMENTS.add(1)),
    }
}

fn check(moment: Time, stored: &Stored) -> Result<(), Refusal> {
    let now = engine::now();
    LOOKED.store(now.millis(), Ordering::Relaxed);
    let max_ahead = match config::MAX_AHEAD.get() {
        0 => None,
        millis => Some(Span::from_millis(millis.unsigned_abs())),
    };
    let horizon = Horizon::of(stored.filter().blueprint().promise().window, max_ahead);
    match horizon.check(moment, None, Some(now)) {
        Err(Error::TooFarAhead { ahead, limit, .. }) => Err(Refusal::new(format_args!(
            "the moment {} is {} ahead of the server's clock, and at most {limit} are believed; \
             correct it (moments are milliseconds since 1970), or raise lately.max-ahead",
            moment.millis(),
            ahead.rounded()
        ))),
        checked => Ok(checked?),
    }
}
