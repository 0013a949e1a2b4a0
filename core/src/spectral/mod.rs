//! tmp
pub mod counters;
