//! What is sent to replicas and to the append-only file, and why.
//!
//! A replica that read its own clock would forget at other moments than its primary, and one that
//! planned from its own settings would build other filters. So nothing is left open: a new filter is
//! sent with its structure and its seed, and an insertion into a window by time with the moment it
//! happened, unless the filter was told that moment already: what comes without one from a primary,
//! or from our own file, happens at the latest moment that the filter knows. Of the many insertions
//! of a millisecond only the first has to carry it. Insertions that change no bit are sent too: they
//! move the window.

use std::ffi::CStr;
use std::ops::Range;

use lately::Time;

use crate::args::When;
use crate::engine::{Origin, Refusal};
use crate::horizon;
use crate::object::{ClockOf, Repeat, Stored};
use crate::ours::Call;
use crate::wish::Wish;

/// A filter was made: `LATELY.RESERVE` with nothing left open.
pub fn creation(call: &Call<'_>, exact: &Wish) {
    call.replicate_words(c"LATELY.RESERVE", &exact.words());
}

/// The words of the command from `first` on were inserted.
pub fn insertion(call: &Call<'_>, sent: Sent, first: usize, repeat: Repeat) {
    let command = match repeat {
        Repeat::Refreshes => c"LATELY.ADDAT",
        Repeat::KeepsItsAge => c"LATELY.ADDNXAT",
    };
    send(call, sent, command, first);
}

/// The words of the command from `first` on, items with counts, were added.
pub fn counts(call: &Call<'_>, sent: Sent, first: usize) {
    send(call, sent, c"LATELY.INCRBYAT", first);
}

/// The item in a word of the command was counted so often; what is denied changes nothing and is not sent.
pub fn admission(call: &Call<'_>, when: When, sent: Sent, item: usize, times: i64) {
    let moment = match (sent, when) {
        (Sent::At(moment), _) | (Sent::AsItCame, When::At(moment)) => Some(moment),
        (Sent::AsItCame, When::Now) => None,
    };
    call.replicate_count(moment, item, times);
}

/// The words of the command from `first` on, a deadline and items, were inserted.
pub fn deadline(call: &Call<'_>, sent: Sent, first: usize) {
    send(call, sent, c"LATELY.ADDUNTILAT", first);
}

/// Memory was given back, in as many steps as the command says, or the usual number.
pub fn expiry(call: &Call<'_>, sent: Sent) {
    send(call, sent, c"LATELY.EXPIRE", call.len());
}

/// Hashes were inserted: the command has room for the moment at its end.
pub fn hashes(call: &Call<'_>, sent: Sent) {
    match sent {
        Sent::AsItCame => call.replicate_verbatim(),
        Sent::At(moment) => call.replicate_with_moment(c"LATELY.ADDHASHES", c"AT", moment),
    }
}

/// These words of a command with another grammar were inserted. It goes as it came only if it would do the
/// same again: with all of its items.
pub fn insertion_of(call: &Call<'_>, sent: Sent, items: Range<usize>) {
    match sent {
        Sent::AsItCame if items.end == call.len() => call.replicate_verbatim(),
        Sent::AsItCame => call.replicate_items(c"LATELY.ADD", items),
        Sent::At(moment) => call.replicate_at(c"LATELY.ADDAT", moment, items),
    }
}

/// The clock of a filter was set back to a moment.
pub fn turning_back(call: &Call<'_>, moment: Time) {
    call.replicate_at(c"LATELY.TURNBACK", moment, 0..0);
}

/// How a command has to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// As it came: it carries its moment, or its filter knows it or ignores it. Costs nothing while
    /// nobody listens, unless it has to be said in other words.
    AsItCame,
    /// With the moment that was read from the clock.
    At(Time),
}

/// When an insertion into a filter happens, if that is believed, and how it has to be sent.
#[inline]
pub fn moment(
    when: When,
    stored: &mut Stored,
    origin: Origin<'_>,
) -> Result<(Time, Sent), Refusal> {
    let now = when.time(stored);
    if !stored.moves_the_clock(now) {
        return Ok((now, Sent::AsItCame));
    }
    Ok(match when {
        When::At(_) => {
            horizon::believe(now, stored, origin)?;
            stored.clock_of = ClockOf::Clients;
            (now, Sent::AsItCame)
        }
        // Asked last, because asking takes longer than inserting.
        When::Now if origin.is_replayed() => (Time::ZERO, Sent::AsItCame),
        When::Now => {
            stored.clock_of = ClockOf::Server;
            (now, Sent::At(now))
        }
    })
}

fn send(call: &Call<'_>, sent: Sent, command: &CStr, first: usize) {
    match sent {
        Sent::AsItCame => call.replicate_verbatim(),
        Sent::At(moment) => call.replicate_at(command, moment, first..call.len()),
    }
}
