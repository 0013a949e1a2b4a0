//! Everything that can go wrong with what comes from outside, in one list.
//!
//! Parameters, snapshots and goals come from users and files, so they give a [`Result`]; broken
//! promises between our own parts panic. Every message says what was found and what to do about it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::window::{Span, Time};

/// Why a parameter, a goal or a snapshot was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range; choose a value as `expected` says.
    #[error("{name} is {found}; it must be {expected}")]
    Parameter {
        /// The parameter, as the user knows it.
        name: &'static str,
        /// What was given.
        found: String,
        /// What is accepted.
        expected: &'static str,
    },

    /// No structure reaches the goal; `instead` names the one thing to change.
    #[error("nothing reaches this goal: {instead}")]
    NoPlan {
        /// The least change that helps, in a clause, with the structure that does it then.
        instead: String,
        /// Why each structure does not.
        reasons: Vec<Reason>,
    },

    /// The structure that was named does not reach the goal; name another, or none.
    #[error("`{structure}` does not reach this goal: it {why}; leave the choice to the planner")]
    Unfit {
        /// The structure.
        structure: &'static str,
        /// Completes the sentence "it ...".
        why: &'static str,
    },

    /// The machine does not give so much memory; choose a shorter window or a larger error.
    #[error("{bytes} bytes of memory are not to be had; choose a shorter window or a larger error")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },

    /// No structure has this name; `known` lists those that exist.
    #[error("there is no structure called {found:?}; choose one of: {known}")]
    UnknownStructure {
        /// The name that was asked for.
        found: String,
        /// All names, separated by commas.
        known: String,
    },

    /// The structure cannot do this; `instead` says what to do.
    #[error("this filter cannot {operation}; {instead}")]
    Unsupported {
        /// What was asked of it.
        operation: &'static str,
        /// What to do.
        instead: &'static str,
    },

    /// More sightings were to be taken back than were counted. Nothing was changed.
    #[error(
        "{asked} sightings cannot be taken back from a key counted {found} times; nothing was changed; \
         take back what was counted"
    )]
    TooFew {
        /// How many were to be taken back.
        asked: u64,
        /// How often the key was counted.
        found: u64,
    },

    /// The moment of an insertion is further ahead than is believed. Nothing was changed. Correct
    /// it, or allow more with [`max_ahead`](crate::Builder::max_ahead); if it is right and an
    /// earlier one was wrong, set the clock back.
    #[error(
        "the moment {} is {} ahead of {of}, and at most {limit} are believed; nothing was changed; \
         correct it (moments are milliseconds), or allow more (max_ahead)",
        moment.millis(), ahead.rounded()
    )]
    TooFarAhead {
        /// The moment.
        moment: Time,
        /// How far ahead it is.
        ahead: Span,
        /// Of what: the clock, or the latest moment seen.
        of: &'static str,
        /// How far ahead a moment is believed.
        limit: Span,
    },

    /// Two filters were to be combined that were not built alike; build both with the same
    /// parameters and the same seed.
    #[error("the filters differ in {differences}; only filters built alike can be combined")]
    Different {
        /// Each parameter that differs, with both values.
        differences: String,
    },

    /// The bytes do not start like a snapshot; check that this is the right file.
    #[error(
        "not a lately snapshot: it does not start with the magic bytes; check that this is the right file"
    )]
    NotASnapshot,

    /// Written by a newer release; upgrade to read it.
    #[error(
        "snapshot format {found} is newer than {newest}, the newest this release reads; upgrade lately"
    )]
    Version {
        /// The newest version this release reads.
        newest: u16,
        /// The version in the snapshot.
        found: u16,
    },

    /// The snapshot holds a structure this release does not know; upgrade to read it.
    #[error("snapshot holds structure family {found}, unknown to this release; upgrade lately")]
    Family {
        /// The family id in the snapshot.
        found: u16,
    },

    /// A structure of a paper, kept to be compared with: the library does not have it, the crate
    /// `lately-papers` and the command do.
    #[error(
        "`{structure}` is a structure of a paper, kept to be compared with; \
         the command `lately` and the crate `lately-papers` have it and open its snapshots"
    )]
    InPapers {
        /// Its name.
        structure: &'static str,
    },

    /// The snapshot ends too early; copy it again or fall back to an older one.
    #[error(
        "snapshot is cut short at {field}: {needed} bytes needed, {found} left; \
         copy it again, or go back to an older one"
    )]
    Truncated {
        /// The field that could not be read.
        field: &'static str,
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes that are left.
        found: u64,
    },

    /// Two lengths in the snapshot disagree; it is damaged or forged.
    #[error(
        "snapshot is damaged: {field} declares {declared} but {found} is there; \
         copy it again, or go back to an older one"
    )]
    Length {
        /// The field whose length is wrong.
        field: &'static str,
        /// The length that the header or the parameters declare.
        declared: u64,
        /// The length that is there.
        found: u64,
    },

    /// The bytes changed since they were written; copy the snapshot again.
    #[error(
        "snapshot is damaged: checksum is {found:016x}, {declared:016x} was written; \
         copy it again, or go back to an older one"
    )]
    Checksum {
        /// The checksum at the end of the snapshot.
        declared: u64,
        /// The checksum of the bytes before it.
        found: u64,
    },

    /// A field of the snapshot has a value that its structure can never have.
    #[error(
        "snapshot is damaged: {field} is {found}, and must be {expected}; \
         copy it again, or go back to an older one"
    )]
    Field {
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What is accepted.
        expected: &'static str,
    },
}

/// Why a structure does not reach a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The structure's name.
    pub structure: &'static str,
    /// Completes the sentence "it ...".
    pub why: &'static str,
}
