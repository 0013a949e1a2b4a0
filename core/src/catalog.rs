//! The registry: which structures there are, their ids in snapshots, their names, and what they are good at.
//!
//! Snapshots, planner, command, module, contracts, golden files and lab all walk [`CATALOG`]. A new
//! structure is one file whose parameters implement [`Structure`], and one row here; `tests/catalog.rs`
//! then names whatever else it lacks.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::TypeId;

use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::Reader;
use crate::duplicates::{
    AloneParameters as Alone, BlockDecayingParameters, CompactShortHashParameters, Cuckoo,
    HashCounts, InterleavedParameters, PlainBloom, QueuingParameters as Queued, QuotientCounts,
    QuotientTable, RingParameters as Ring, StableBloom, StreamingQuotient, TwoBuffersParameters,
    WholeHashes,
};
use crate::error::Error;
use crate::filter::Filter;
use crate::growing::{
    GrowingCountsParameters, GrowingLayersParameters, GrowingParameters, GrowingTailsParameters,
};
use crate::plan::Goal;
use crate::sliding::{
    AgePartitionedParameters, DoubleBufferParameters, SlidingCompactParameters, SlidingParameters,
    TimeLimitedParameters,
};
use crate::spectral::{
    BlockedParameters, RecurringParameters, SpectralParameters, SpectralWindowParameters,
};
use crate::timed::{ElasticWindowParameters, TimedWindowParameters, WindowCountsParameters};

/// Every structure, in the order in which they are listed to people: its id in snapshots, which is given
/// once and never reused; its name, lower case, words joined by hyphens; and what it is good at, in one
/// clause.
#[rustfmt::skip]
pub static CATALOG: &[Row] = &[
    Row::of::<SlidingParameters>(3, "sliding",
        "near the fewest bits possible, constant time, and it says how long ago"),
    Row::of::<SlidingCompactParameters>(4, "sliding-compact",
        "the fewest bits we know how to reach, for any slack, and it says how long ago"),
    Row::of::<ElasticWindowParameters>(14, "elastic",
        "the last n in memory that follows how many different keys there are, however large n is"),
    Row::of::<AgePartitionedParameters>(10, "age-partitioned",
        "dismisses an absent key after about one cache line, with a slack shorter than the window"),
    Row::of::<DoubleBufferParameters>(1, "double-buffer",
        "two cache lines per check, but it reports up to twice the window"),
    Row::of::<InterleavedParameters>(34, "interleaved",
        "two adjacent cache lines per check, and a slack of a third of the window"),
    Row::of::<CompactShortHashParameters>(2, "compact-short-hash",
        "the window is exact to the item, but every check scans it"),
    Row::of::<Ring<WholeHashes>>(20, "exact-window",
        "keys are confused only if their 64-bit hashes are"),
    Row::of::<Ring<HashCounts>>(21, "short-hash",
        "the window is exact to the item, in constant time"),
    Row::of::<Ring<QuotientCounts>>(22, "quotient-short-hash",
        "the window is exact to the item, in constant time, with a compact index"),
    Row::of::<Queued<PlainBloom>>(33, "queued-bloom",
        "the smallest constant-time window by turns, at several cache lines per check"),
    Row::of::<Alone<QuotientTable>>(23, "quotient-table",
        "one cache line per check in any memory, but the window's end is blurred"),
    Row::of::<Queued<QuotientTable>>(29, "queued-quotient-table",
        "tables that take turns: short memories, sharper than one table"),
    Row::of::<Alone<Cuckoo>>(25, "cuckoo",
        "full of fingerprints, it forgets at random; kept for comparison"),
    Row::of::<Queued<Cuckoo>>(31, "queued-cuckoo",
        "cuckoo tables that take turns: small errors from few bits"),
    Row::of::<Alone<StreamingQuotient>>(24, "streaming-quotient",
        "a published rival of quotient tables, kept for comparison"),
    Row::of::<Queued<StreamingQuotient>>(30, "queued-streaming-quotient",
        "streaming quotient filters that take turns, kept for comparison"),
    Row::of::<Alone<StableBloom>>(26, "stable-bloom",
        "a published way to forget evenly; kept for comparison"),
    Row::of::<Queued<StableBloom>>(32, "queued-stable-bloom",
        "stable Bloom filters that take turns, kept for comparison"),
    Row::of::<TwoBuffersParameters>(27, "active-active",
        "two Bloom filters that turn by new keys, not by keys; repeats do not age it"),
    Row::of::<BlockDecayingParameters>(28, "block-decaying",
        "one array of counters, with a small slack"),
    Row::of::<TimedWindowParameters>(12, "timed",
        "keeps a span of time in the fewest bits we know, whatever the rate does"),
    Row::of::<WindowCountsParameters>(13, "window-counts",
        "counts in a window by number or by time in a bit more than it takes to remember it"),
    Row::of::<TimeLimitedParameters>(11, "time-limited",
        "keeps a span of time at any rate, and its memory follows the rate"),
    Row::of::<GrowingParameters>(40, "growing",
        "grows with what it holds, in steps too small to notice, at the error asked for"),
    Row::of::<GrowingTailsParameters>(42, "growing-tails",
        "lookups in one place, but a doubling stops everything"),
    Row::of::<GrowingLayersParameters>(41, "growing-layers",
        "a plain stack of Bloom filters, which asks all of them"),
    Row::of::<GrowingCountsParameters>(43, "growing-counts",
        "counts any number of keys, however often they come, in a few bits each"),
    Row::of::<SpectralParameters>(50, "spectral",
        "counts are never too small, and exact for all but the stated share of keys"),
    Row::of::<BlockedParameters>(51, "spectral-blocked",
        "counts touch one cache line, for about twice the memory of counters spread out"),
    Row::of::<RecurringParameters>(53, "spectral-recurring",
        "wrong counts are off by little, and seldom too small; sightings can be taken back"),
    Row::of::<SpectralWindowParameters>(52, "spectral-window",
        "counts a window that is exact to the item"),
];

/// Reads a filter from its parameters and its payload.
type Open = fn(&mut Reader<'_>, &mut Reader<'_>) -> Result<Box<dyn Filter>, Error>;

/// One structure, without its type.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its id in snapshots.
    pub family: u16,
    /// What it is good at, in one clause.
    pub strength: &'static str,
    /// The parameters that reach a goal, or why none do.
    pub propose: fn(&Goal) -> Result<Box<dyn Blueprint>, Unfit>,
    /// What these take at the very least, if that is known sooner.
    pub floor: fn(&Goal) -> Floor,
    /// Its parameters as FORMAT.md has them.
    pub described: fn() -> String,
    /// Which type its parameters are of.
    parameters: fn() -> TypeId,
    /// Reads a filter from the parameters and the payload of a snapshot.
    pub(crate) open: Open,
}

impl Row {
    /// The row of the structure with these parameters.
    const fn of<S: Structure>(family: u16, name: &'static str, strength: &'static str) -> Self {
        Row {
            name,
            family,
            strength,
            propose: |goal| Ok(Box::new(S::propose(goal)?)),
            floor: S::floor,
            described: S::described,
            parameters: TypeId::of::<S>,
            open: |parameters, payload| S::read(parameters)?.open(payload),
        }
    }
}

/// The row with this name.
pub fn row(name: &str) -> Option<&'static Row> {
    CATALOG.iter().find(|row| row.name == name)
}

/// The row with this name, or an error that lists the names there are.
pub fn row_named(name: &str) -> Result<&'static Row, Error> {
    row(name).ok_or_else(|| Error::UnknownStructure {
        found: name.to_owned(),
        known: CATALOG.iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
    })
}

/// The row with this id in snapshots.
pub fn row_of_family(family: u16) -> Option<&'static Row> {
    CATALOG.iter().find(|row| row.family == family)
}

/// The row of a structure with such parameters, if they are of the catalog.
pub(crate) fn row_of<'a>(blueprint: &(dyn Blueprint + 'a)) -> Option<&'static Row> {
    let which = blueprint.which();
    CATALOG.iter().find(|row| (row.parameters)() == which)
}
