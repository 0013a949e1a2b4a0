//! What an insertion is asked to do, and what became of it.

/// What became of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is stored now.
    Stored {
        /// Whether another entry matched before.
        seen: bool,
    },
    /// An entry matches; nothing changed.
    Seen,
    /// There is no free slot where one is needed; nothing changed.
    Full,
}

/// What to do when an entry already matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnMatch {
    /// Nothing.
    Keep,
    /// Store another, unless there are already this many that are equal.
    Store(usize),
}
