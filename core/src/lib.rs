#![doc = include_str!("../README.md")]

mod blueprint;
mod clock;
mod error;
mod horizon;
mod lately;
mod memory;
mod rate;
mod sample;
mod untyped;
mod window;

pub mod catalog;
pub mod codec;
pub mod filter;
pub mod hash;
pub mod key;
pub mod plan;
pub mod quantity;
pub mod queries;
pub mod shards;

/// Rooms that only our own tests, fuzz bodies and lab may enter, by the feature `internals`: what is in
/// them changes from one release to the next.
macro_rules! inside {
    ($($room:ident)+) => {$(
        #[cfg(feature = "internals")]
        pub mod $room;
        #[cfg(not(feature = "internals"))]
        #[allow(dead_code, unused_imports, reason = "some of it is there to be tested and measured")]
        mod $room;
    )+};
}

inside!(bits dictionary duplicates growing probability sliding spectral split_block timed);

pub use bits::LargePages;
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
