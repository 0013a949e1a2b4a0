//! Exact answers, to compare filters with.
//!
//! An oracle keeps every key it was told, in a standard collection, and computes each answer from the
//! definition. It is slow and large, and too simple to be wrong. Its tests compare it with something
//! simpler still: a rescan of the whole history.
//!
//! | question | oracle |
//! |---|---|
//! | seen among the last *n* insertions? | [`Last`] |
//! | seen within the last *t* milliseconds? | [`Within`] |
//! | seen ever? | [`Ever`] |
//! | how many times? | [`Counts`] |
//!
//! Keys are `u64`, and `insert` answers like `HashSet::insert`: `true` means new.

mod counts;
mod ever;
mod last;
mod within;

pub use counts::Counts;
pub use ever::Ever;
pub use last::Last;
pub use within::Within;
