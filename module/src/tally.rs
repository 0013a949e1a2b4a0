//! What is known of a stored filter besides its structure: what came, and what it was made for.

/// How many items came since a filter was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All that were inserted.
    pub inserted: u64,
    /// Of those, how many were new at that moment.
    pub new: u64,
}

/// What `BF.RESERVE` says about a filter, beyond its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bloom {
    /// How many items it was made for.
    pub capacity: u64,
    /// What `BF.INFO` calls the expansion rate; 0 if the filter must not grow.
    pub expansion: u64,
}
