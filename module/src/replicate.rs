//! What is sent to replicas and to the append-only file, and why.
//!
//! A replica that read its own clock would forget at other moments than its primary, and one that
//! planned from its own settings would build other filters. So nothing is left open: a new filter is
//! sent with its structure and its seed, and every insertion with the moment it happened. Insertions
//! that change no bit are sent too: they move the window.

use std::ops::Range;

use lately::Time;

use crate::engine::Call;
use crate::object::Repeat;
use crate::wish::Wish;

/// A filter was made: `LATELY.RESERVE` with nothing left open.
pub fn creation(call: &Call<'_>, exact: &Wish) {
    call.replicate_words(c"LATELY.RESERVE", &exact.words());
}

/// Items, these words of the command, were inserted at a moment.
pub fn insertion(call: &Call<'_>, moment: Time, items: Range<usize>, repeat: Repeat) {
    let command = match repeat {
        Repeat::Refreshes => c"LATELY.ADDAT",
        Repeat::KeepsItsAge => c"LATELY.ADDNXAT",
    };
    call.replicate_at(command, moment, items);
}

/// Items with counts, these words of the command, were added at a moment.
pub fn counts(call: &Call<'_>, moment: Time, items: Range<usize>) {
    call.replicate_at(c"LATELY.INCRBYAT", moment, items);
}
