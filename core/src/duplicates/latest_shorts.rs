//! What windows that are exact to the item have in common: the last n insertions, as short hashes.

use crate::filter::Membership;
use crate::window::Time;

/// The last insertions, as short hashes from 1 on; 0 stands for nothing.
pub trait LatestShorts {
    /// The short hash of a hash.
    fn short(&self, hash: u64) -> u64;

    /// Whether it is among the last.
    fn holds(&self, short: u64) -> bool;

    /// Replaces the oldest insertion by this one.
    fn push(&mut self, short: u64);

    /// Inserts a hash, in place of which a repeat is recorded as something else.
    fn record(&mut self, hash: u64, repeated: impl FnOnce(u64) -> u64) -> bool {
        let short = self.short(hash);
        let seen = self.holds(short);
        self.push(if seen { repeated(short) } else { short });
        !seen
    }
}

impl<S: LatestShorts + Send + Sync> Membership for S {
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.record(hash, |short| short)
    }

    /// A repeat that does not count is an insertion of nothing all the same.
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.record(hash, |_| 0)
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.holds(self.short(hash))
    }
}
