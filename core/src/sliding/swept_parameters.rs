//! What the parameters of a filter over a swept table tell beyond a blueprint: its table and its clock.

use core::fmt::Debug;

use super::budget::least_error;
use crate::bits::Footprint;
use crate::blueprint::{Blueprint, Unfit};
use crate::codec::Reader;
use crate::dictionary::{Frame, Sweep, Table};
use crate::duplicates::law::Stream;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::parameters::{List, Parameters};
use crate::promise::Mistakes;

/// How such a filter is built.
pub trait SweptParameters: Blueprint + Parameters + Copy + 'static {
    /// When which home is swept.
    type Clock: Passes<Moment = <Self::Table as Table>::Moment>;
    /// Where entries are.
    type Table: Table;

    /// The smallest filter that keeps a rate, and a slack if one is given, if it takes at most so many bytes.
    fn smallest(window: u64, slack: Option<u64>, rate: f64, bytes: u64) -> Result<Self, Unfit>;

    /// The filter with the smallest error that fits into `bytes`.
    fn with_memory(window: u64, slack: Option<u64>, bytes: u64) -> Result<Self, Unfit> {
        least_error(bytes, |rate| Self::smallest(window, slack, rate, bytes))
    }

    /// Largest distance at which an insertion can still be reported, error apart.
    fn reach(&self) -> u64;

    /// How many different fingerprints there are.
    fn fingerprints(&self) -> f64;

    /// Chance that an unknown hash is reported now.
    fn false_positive_rate_of(&self, clock: &Self::Clock, frame: &Frame) -> f64;

    /// The clock at the beginning.
    fn clock(&self) -> Self::Clock;

    /// An empty table.
    fn table(&self) -> Self::Table;

    /// Tags are below this.
    fn tags(&self) -> u64;

    /// Reads the table that [`Table::write`] wrote; it is not yet [`counted`](Table::counted).
    fn read_table(&self, payload: &mut Reader<'_>) -> Result<Self::Table, Error>;

    /// Where an insertion will write, if it can be told.
    fn footprint(clock: &Self::Clock, table: &Self::Table) -> Option<Footprint> {
        let _ = (clock, table);
        None
    }
}

/// The clock of such a filter: which home to sweep when, and what its tags mean.
pub trait Passes: Clone + Debug + Send + Sync {
    /// What tags mean to a home at some moment.
    type Moment: Copy;

    /// The clock after so many elements.
    fn after_elements(self, elements: u64) -> Self;

    /// Counts one element. True if homes are to be [swept](Self::sweep) before it enters.
    fn advance(&mut self) -> bool;

    /// Calls `sweep` for the homes whose turn it is.
    fn sweep(&mut self, sweep: impl FnMut(Sweep));

    /// The home that is swept next.
    fn next_home(&self) -> usize;

    /// The tag that a home gives now.
    fn tag_of(&self, home: usize) -> u64;

    /// What tags mean to a home now.
    fn moment(&self, home: usize) -> Self::Moment;

    /// The generation that the next sweep of a home removes.
    fn due(&self, home: usize) -> u64;

    /// Whether what is stored in a home with this tag is in the window.
    fn is_alive(&self, home: usize, tag: u64) -> bool;

    /// Elements since an entry with this tag, the last one being at distance zero: least and most.
    fn age(&self, home: usize, tag: u64) -> (u64, u64);

    /// Homes that one element sweeps at most.
    fn most_sweeps(&self) -> u64;

    /// Elements since the beginning.
    fn elements(&self) -> u64;

    /// Part of the entries that are due which is older than the window, if a generation's elements
    /// lie evenly in it.
    fn past_the_window(&self) -> f64;
}

/// Bits of the widest number of a generation.
pub(super) const MOST_TAG_BITS: u32 = 8;

/// Longest window, so that no product of its parts overflows.
const LONGEST: u64 = 1 << 40;

/// Refuses windows that are too long.
pub(super) fn check_window(window: u64) -> Result<(), Unfit> {
    match (1..=LONGEST).contains(&window) {
        true => Ok(()),
        false => Err(Unfit("keeps windows of up to 2^40 items")),
    }
}

/// Lists how a window is cut, with which the parameters of every such filter begin.
pub(super) fn list_window(
    list: &mut List<'_, '_>,
    window: &mut u64,
    generations: &mut u64,
) -> Result<(), Error> {
    const MOST: u64 = (1 << MOST_TAG_BITS) - 1;
    list.add("window", window, 1..=LONGEST, "from 1 to 2^40")?;
    let expected = "from 1 to 255 and at most the window";
    list.add("generations", generations, 1..=MOST.min(*window), expected)
}

/// The errors to expect where lookups take so many entries for members.
pub(super) fn mistakes(stream: &Stream, slack: u64, entries: f64, fingerprints: f64) -> Mistakes {
    // From none to all of the slack is still reported, evenly.
    let older = stream.among(slack as f64 / 2.0);
    let unseen = -(-stream.distinct(entries) / fingerprints).exp_m1();
    Mistakes { false_positives: older + (1.0 - older) * unseen, false_negatives: 0.0 }
}
