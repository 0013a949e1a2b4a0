//! What is sent to replicas and to the append-only file, and why.
//!
//! A replica that read its own clock would forget at other moments than its primary, and one that
//! planned from its own settings would build other filters. So nothing is left open: a new filter is
//! sent with its structure and its seed, and an insertion into a window by time with the moment it
//! happened. Insertions that change no bit are sent too: they move the window.

use std::ffi::CStr;
use std::ops::Range;

use lately::Time;

use crate::args::When;
use crate::engine::Call;
use crate::object::{Repeat, Stored};
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

/// Hashes were inserted: the command has room for the moment at its end.
pub fn hashes(call: &Call<'_>, sent: Sent) {
    match sent {
        Sent::AsItCame => call.replicate_verbatim(),
        Sent::At(moment) => call.replicate_with_moment(c"LATELY.ADDHASHES", c"AT", moment),
    }
}

/// These words of a command with another grammar were inserted.
pub fn insertion_of(call: &Call<'_>, moment: Time, items: Range<usize>) {
    call.replicate_at(c"LATELY.ADDAT", moment, items);
}

/// How a command has to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// As it came: it carries its moment, or its filter counts items and ignores moments. Costs
    /// nothing while nobody listens.
    AsItCame,
    /// With the moment that was read from the clock.
    At(Time),
}

impl Sent {
    /// How a command that happened at such a time to such a filter has to be sent.
    pub fn of(when: When, time: Time, stored: &Stored) -> Self {
        match when {
            When::Now if stored.is_timed() => Sent::At(time),
            When::Now | When::At(_) => Sent::AsItCame,
        }
    }
}

fn send(call: &Call<'_>, sent: Sent, command: &CStr, first: usize) {
    match sent {
        Sent::AsItCame => call.replicate_verbatim(),
        Sent::At(moment) => call.replicate_at(command, moment, first..call.len()),
    }
}
