//! The registry: which structures there are, their ids in snapshots, their names, and what they are good at.
//!
//! Planner, snapshots and module walk [`CATALOG`]. A new structure is one file whose parameters implement
//! [`Structure`], and one row here; `tests/catalog.rs` then names whatever else it lacks.
//!
//! A catalog is open: other crates have rows of their own, and [`Catalog::of`] joins tables. The crate
//! `lately-papers` has those of published structures that nobody should choose. The command, the lab,
//! contracts, golden files and fuzz bodies walk both together.
//!
//! ```
//! use lately::catalog::{CATALOG, Catalog, ROWS};
//!
//! /// Rows of another crate: `Row::of::<MyParameters>(60_000, "mine", "good at this")`.
//! const MINE: &[lately::catalog::Row] = &[];
//! const ALL: Catalog = Catalog::of(&[ROWS, MINE]);
//! assert_eq!(ALL.row("sliding").unwrap().family, CATALOG.row("sliding").unwrap().family);
//! ```

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::TypeId;

use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::Reader;
use crate::duplicates::{
    AloneParameters as Alone, CompactShortHashParameters, HashCounts, InterleavedParameters,
    PlainBloom, QueuingParameters as Queued, QuotientCounts, QuotientTable, RingParameters as Ring,
    WholeHashes,
};
use crate::error::Error;
use crate::filter::Filter;
use crate::growing::{GrowingCountsParameters, GrowingParameters};
use crate::plan::{Goal, Limit};
use crate::sliding::{
    AgePartitionedParameters, DoubleBufferParameters, SlidingCompactParameters, SlidingParameters,
};
use crate::spectral::{
    BlockedParameters, RecurringParameters, SpectralParameters, SpectralWindowParameters,
};
use crate::timed::{
    ElasticWindowParameters, ShorteningWindowParameters, TimedWindowParameters,
    WindowCountsParameters,
};

/// The structures of the library.
pub const CATALOG: Catalog = Catalog::of(&[ROWS]);

/// Every structure of the library, in the order in which they are listed to people: its id in snapshots,
/// which is given once and never reused; its name, lower case, words joined by hyphens; and what it is good
/// at, in one clause.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
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
    Row::of::<TimedWindowParameters>(12, "timed",
        "keeps a span of time in the fewest bits we know, whatever the rate does"),
    Row::of::<ShorteningWindowParameters>(15, "shortening",
        "keeps a span of time in bounded memory at its error, and less of it when more comes than fits"),
    Row::of::<WindowCountsParameters>(13, "window-counts",
        "counts in a window by number or by time in a bit more than it takes to remember it"),
    Row::of::<GrowingParameters>(40, "growing",
        "grows with what it holds, in steps too small to notice, at the error asked for"),
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

/// Ids and names of structures that the crate `lately-papers` has, so that whoever meets one is told.
#[rustfmt::skip]
pub const IN_PAPERS: &[(u16, &str)] = &[
    (11, "time-limited"),
    (24, "streaming-quotient"),
    (25, "cuckoo"),
    (26, "stable-bloom"),
    (27, "active-active"),
    (28, "block-decaying"),
    (30, "queued-streaming-quotient"),
    (31, "queued-cuckoo"),
    (32, "queued-stable-bloom"),
    (41, "growing-layers"),
    (42, "growing-tails"),
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
    pub const fn of<S: Structure>(family: u16, name: &'static str, strength: &'static str) -> Self {
        Row {
            name,
            family,
            strength,
            propose: |goal| {
                if goal.shortening.is_some() && !S::SHORTENS {
                    return Err(Unfit("does not shorten its window"));
                }
                let parameters = S::propose(goal)?;
                match goal.limit {
                    Limit::Memory(memory) if memory.bytes() < parameters.heap_bytes() => {
                        Err(Unfit("needs more memory"))
                    }
                    _ => Ok(Box::new(parameters)),
                }
            },
            floor: S::floor,
            described: S::described,
            parameters: TypeId::of::<S>,
            open: |parameters, payload| S::read(parameters)?.open(payload),
        }
    }

    /// Whether this is the row of the structure with parameters of this type.
    pub(crate) fn is_of<P: 'static>(&self) -> bool {
        (self.parameters)() == TypeId::of::<P>()
    }
}

/// Tables of rows, joined: where structures are looked up and plans are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Catalog(&'static [&'static [Row]]);

impl Catalog {
    /// The rows of these tables, one after another. Ids and names must differ.
    pub const fn of(tables: &'static [&'static [Row]]) -> Self {
        Self(tables)
    }

    /// All rows.
    pub fn iter(self) -> impl Iterator<Item = &'static Row> + Clone {
        self.0.iter().copied().flatten()
    }

    /// The row with this name.
    pub fn row(self, name: &str) -> Option<&'static Row> {
        self.iter().find(|row| row.name == name)
    }

    /// The row with this name, or an error that lists the names there are.
    pub fn row_named(self, name: &str) -> Result<&'static Row, Error> {
        self.row(name).ok_or_else(|| match IN_PAPERS.iter().find(|(_, paper)| *paper == name) {
            Some(&(_, structure)) => Error::InPapers { structure },
            None => Error::UnknownStructure {
                found: name.to_owned(),
                known: self.iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
            },
        })
    }

    /// The row with this id in snapshots, or an error that says where there is one.
    pub fn row_of_family(self, family: u16) -> Result<&'static Row, Error> {
        self.iter().find(|row| row.family == family).ok_or_else(|| {
            match IN_PAPERS.iter().find(|(paper, _)| *paper == family) {
                Some(&(_, structure)) => Error::InPapers { structure },
                None => Error::Family { found: family },
            }
        })
    }
}
