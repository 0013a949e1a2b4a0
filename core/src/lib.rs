#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
// What is there without the standard library is taken from where it is there.
#![cfg_attr(
    not(test),
    warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)
)]

#[macro_use]
extern crate alloc;

mod admission;
mod blueprint;
mod clock;
mod codec;
mod error;
mod filter;
#[cfg(not(feature = "std"))]
mod float;
mod group;
mod hash;
mod horizon;
mod lately;
mod latest;
mod memory;
mod parameters;
mod promise;
mod quantity;
mod rate;
mod shards;
mod untyped;
mod window;

pub mod catalog;
pub mod key;
pub mod plan;
pub mod queries;
pub mod raw;

/// Rooms that only our own tests, fuzz bodies and lab may enter, by the feature `internals`: what is in
/// them changes from one release to the next.
#[path = "."]
#[cfg_attr(
    not(feature = "internals"),
    allow(dead_code, unused_imports, reason = "some of it is there to be tested and measured")
)]
mod rooms {
    pub mod bits;
    pub mod dictionary;
    pub mod duplicates;
    pub mod frontier;
    pub mod growing;
    pub mod probability;
    pub mod sample;
    pub mod sliding;
    pub mod spectral;
    pub mod split_block;
    pub mod timed;
}
#[cfg(feature = "internals")]
pub use rooms::*;
#[cfg(not(feature = "internals"))]
use rooms::*;

pub use clock::{Clock, NoClock, SystemClock};
pub use error::{Error, Reason};
pub use filter::{Admission, Wait};
pub use hash::{Hashing, Seed};
pub use key::Key;
pub use lately::{Builder, Clocked, Counter, Lately, Timed, Untimed};
#[cfg(feature = "std")]
pub use lately::{Shared, SharedCounter};
pub use memory::Memory;
pub use promise::Promise;
pub use rate::ErrorRate;
pub use window::{Reach, Slack, Span, Time, Window};
