//! One file per command.

pub(crate) mod dedup;
pub(crate) mod plan;
