//! Everything, without knowing how much that will be.
//!
//! A filter that must hold n keys takes `log2(1/ε)` bits for each. If n is not known beforehand, it
//! takes `log2 log2 n` more: Pagh, Segev and Wieder, *How to Approximate a Set Without Knowing Its
//! Size in Advance*. Every one of the log n doublings needs its share of the error.

mod address;
mod ahead;
mod blueprint;
mod counted;
mod depth;
mod directory;
mod ends;
mod field;
mod filter;
mod freeze;
mod lanes;
mod merging;
mod origin;
mod outcome;
mod parameters;
mod phases;
mod removal;
mod reshape;
mod segment;
mod sizes;
mod state;
mod stated;
mod stock;
mod union;
mod work;

pub use counted::{GrowingCounts, GrowingCountsParameters};
pub use filter::Growing;
pub use parameters::{GrowingParameters, UNKNOWN_ITEMS};
