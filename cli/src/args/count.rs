//! Flags of `lately count`.

use clap::Args;
use lately::queries::TopKeys;
use lately::raw::quantity;
use lately::{Seed, Window};

use super::counted::{Counted, Watching};
use super::printing::Printing;
use super::reading::Reading;

/// Print how often each key came, most frequent first.
///
/// One line per key: its count, a tab, the key. No count is ever too low, so no key that came often
/// enough is missed; at most the stated share of the counts is too high. Memory is some bytes for
/// each different key, however long it is, and the keys that are printed. In a window by time what
/// left it is counted for a sixtieth of the window longer, if the key came since.
#[derive(Debug, Args)]
#[command(after_help = USUAL, after_long_help = EXAMPLES)]
pub(crate) struct Count {
    /// Print only keys that came at least T times
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = quantity::items)]
    pub(crate) above: Option<u64>,

    /// Print only the K keys that came most often
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = quantity::items)]
    pub(crate) top: Option<u64>,

    /// Keep at most this many keys to print where --top does not say how many; with more, those that came
    /// least often are let go [default: 1M]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = quantity::items)]
    #[arg(hide_short_help = true)]
    room: Option<u64>,

    #[command(flatten)]
    pub(crate) counted: Counted,

    /// Seed of the hashes: counters with different seeds make different mistakes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    #[arg(hide_short_help = true)]
    seed: u64,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) watching: Watching,

    #[command(flatten)]
    pub(crate) printing: Printing,
}

/// Room for keys if nobody says how many.
const ROOM: u64 = 1_000_000;

impl Count {
    /// How many keys to keep where nobody says how many are printed.
    pub(crate) fn room(&self) -> u64 {
        self.room.unwrap_or(ROOM)
    }

    /// How many keys are printed at most, if that is known and few enough to hold no others than those. The
    /// last n are counted to the record, by what does not know when each leaves: there it takes more keys.
    pub(crate) fn first(&self, window: Window) -> Option<usize> {
        let top = usize::try_from(self.top?).ok()?;
        let is_last = matches!(window, Window::Last(_));
        (!is_last && (1..=TopKeys::MOST).contains(&top)).then_some(top)
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed)
    }
}

const USUAL: &str = "\
Examples:
  lately count --top 10 events.log
  lately count --above 2 --key /user/id events.ndjson

More options, and what they are for: lately count --help";

const EXAMPLES: &str = "\
Examples:
  The ten most frequent lines:
    lately count --top 10 events.log
  Users with at least two events, from a pipe:
    cat events.ndjson | lately count --above 2 --key /user/id
  Among the last million rows, by a column:
    lately count --last 1M --column email --top 5 people.csv
  In the last hour of the log, by its own clock, for a program to read:
    lately count --within 1h --key /user/id --time-key /at --json events.ndjson

Every option can also be set in the environment: LATELY_TOP=10, LATELY_KEY=/user/id.";
