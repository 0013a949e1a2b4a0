//! Fixed memory: the budget is given, and the error follows.

mod compact_short_hash;

pub use compact_short_hash::{CompactShortHash, CompactShortHashParameters};
