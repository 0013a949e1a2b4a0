#![doc = include_str!("../README.md")]

mod blueprint;
mod clock;
mod error;
mod horizon;
mod lately;
mod memory;
mod rate;
mod untyped;
mod window;

pub mod bits;
pub mod catalog;
pub mod codec;
pub mod dictionary;
pub mod duplicates;
pub mod filter;
pub mod growing;
pub mod hash;
pub mod key;
pub mod plan;
pub mod probability;
pub mod quantity;
pub mod shards;
pub mod sliding;
pub mod spectral;
pub mod split_block;

pub use blueprint::{Blueprint, Structure, Unfit};
pub use clock::{Clock, NoClock, SystemClock};
pub use error::{Error, Reason};
pub use filter::{
    Age, Aging, Counting, Deadlines, Filter, Membership, Mistakes, Promise, Removing,
};
pub use hash::{Hashing, Seed};
pub use horizon::{Horizon, Lookout};
pub use key::Key;
pub use lately::{Builder, Clocked, Counter, Door, Lately, Shared, Timed, Untimed};
pub use memory::Memory;
pub use rate::ErrorRate;
pub use untyped::Untyped;
pub use window::{Slack, Span, Time, Window};
