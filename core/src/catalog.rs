//! The one list of structures.
//!
//! Snapshots, planner, command, module, contracts, golden files and lab all walk [`CATALOG`]. A new
//! structure is one file that implements [`Structure`], and one row here; `tests/catalog.rs` then
//! names whatever else it lacks.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::Reader;
use crate::duplicates::{
    Alone, BlockDecaying, CompactShortHash, Cuckoo, ExactWindow, Interleaved, PlainBloom, Queuing,
    QuotientShortHash, QuotientTable, ShortHash, StableBloom, StreamingQuotient, TwoBuffers,
};
use crate::error::Error;
use crate::filter::Filter;
use crate::growing::{Growing, GrowingCounts, GrowingLayers, GrowingTails};
use crate::plan::Goal;
use crate::sliding::{AgePartitioned, DoubleBuffer, Sliding, TimeLimited};
use crate::spectral::counters::Bytes;
use crate::spectral::{self, BlockedParameters, Spectral, SpectralWindow};
use crate::timed::TimedWindow;

/// Every structure, in the order in which they are listed to people.
pub static CATALOG: &[Row] = &[
    Row::of::<Sliding>(),
    Row::of::<AgePartitioned>(),
    Row::of::<DoubleBuffer>(),
    Row::of::<Interleaved>(),
    Row::of::<CompactShortHash>(),
    Row::of::<ExactWindow>(),
    Row::of::<ShortHash>(),
    Row::of::<QuotientShortHash>(),
    Row::of::<Queuing<PlainBloom>>(),
    Row::of::<Alone<QuotientTable>>(),
    Row::of::<Queuing<QuotientTable>>(),
    Row::of::<Alone<Cuckoo>>(),
    Row::of::<Queuing<Cuckoo>>(),
    Row::of::<Alone<StreamingQuotient>>(),
    Row::of::<Queuing<StreamingQuotient>>(),
    Row::of::<Alone<StableBloom>>(),
    Row::of::<Queuing<StableBloom>>(),
    Row::of::<TwoBuffers>(),
    Row::of::<BlockDecaying>(),
    Row::of::<TimedWindow>(),
    Row::of::<TimeLimited>(),
    Row::of::<Growing>(),
    Row::of::<GrowingTails>(),
    Row::of::<GrowingLayers>(),
    Row::of::<GrowingCounts>(),
    spectral::ROW,
    Row::of::<Spectral<Bytes, BlockedParameters>>(),
    Row::of::<SpectralWindow>(),
];

/// Reads a filter from its parameters and its payload.
type Open = fn(&mut Reader<'_>, &mut Reader<'_>) -> Result<Box<dyn Filter>, Error>;

/// One structure, without its type.
#[derive(Debug)]
pub struct Row {
    /// Its name: lower case, words joined by hyphens.
    pub name: &'static str,
    /// Its id in snapshots.
    pub family: u16,
    /// What it is good at, in one clause.
    pub strength: &'static str,
    /// The parameters that reach a goal, or why none do.
    pub propose: fn(&Goal) -> Result<Box<dyn Blueprint>, Unfit>,
    /// What these take at the very least, if that is known sooner.
    pub floor: fn(&Goal) -> Floor,
    /// Reads a filter from the parameters and the payload of a snapshot.
    pub(crate) open: Open,
}

impl Row {
    /// The row of a structure.
    pub(crate) const fn of<S: Structure>() -> Self {
        Row {
            name: S::NAME,
            family: S::FAMILY,
            strength: S::STRENGTH,
            propose: |goal| Ok(Box::new(S::propose(goal)?)),
            floor: S::floor,
            open: |parameters, payload| Ok(Box::new(S::read(parameters, payload)?)),
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
