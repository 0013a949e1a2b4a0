//! One file per command.

pub(crate) mod count;
pub(crate) mod dedup;
pub(crate) mod inspect;
pub(crate) mod join;
pub(crate) mod plan;
pub(crate) mod shell;
pub(crate) mod sketch;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// As asked for, the exit code tells that no record was new.
    NothingNew,
    /// By this signal, and in order.
    Stopped(i32),
}
