//! What is behind the door, for those who want a certain structure, speak to it in hashes and moments,
//! or read snapshots themselves. **Free to change with every release**: nothing in this room is part of
//! what the version number promises. Snapshots are: every release reads those of all before.
//!
//! | What | Where |
//! |---|---|
//! | what structures can do, as traits over hashes | [`Filter`], [`Membership`], [`Counting`], [`Removing`], [`Aging`], [`Deadlines`] |
//! | parameters before anything is allocated | [`Blueprint`], [`Structure`] |
//! | any filter with its hashing, whatever its window | [`Untyped`] |
//! | which moments are believed | [`Horizon`], [`Lookout`] |
//! | one filter in several parts | [`Shards`] |
//! | the bytes of snapshots | [`codec`] |
//! | the structures | [`structures`] |
//!
//! ```
//! use lately::raw::structures::{Sliding, SlidingParameters};
//! use lately::raw::{Filter, Membership, remix};
//! use lately::Time;
//!
//! let parameters = SlidingParameters::with_error(1000, None, 0.01).unwrap();
//! let mut sliding = Sliding::new(parameters);
//! assert!(sliding.insert_hash(remix(17, 0), Time::ZERO));
//! assert_eq!(sliding.heap_bytes(), sliding.blueprint().heap_bytes());
//! ```

pub use crate::bits::{Footprint, LargePages};
pub use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
pub use crate::filter::{
    Admission, Age, Aging, Copied, Counting, Deadlines, Filter, Membership, Removing, Wait,
};
pub use crate::group::Group;
pub use crate::hash::{reduce, remix};
pub use crate::horizon::{Horizon, Lookout};
pub use crate::lately::Door;
pub use crate::parameters::{List, Parameters, Told, Value};
pub use crate::promise::Mistakes;
pub use crate::shards::Shards;
pub use crate::untyped::Untyped;

/// The bytes of snapshots: FORMAT.md has their layout.
pub mod codec {
    pub use crate::codec::{
        Bundle, CHECKSUM_BYTES, HEADER_BYTES, MAGIC, Reader, VERSION, Writer, open, open_of, save,
        snapshot_of,
    };
}

/// Numbers as people write them, besides those of [`ErrorRate`](crate::ErrorRate),
/// [`Memory`](crate::Memory) and [`Span`](crate::Span), which parse.
pub mod quantity {
    pub use crate::quantity::items;
}

/// Structures of the [catalog](crate::catalog) of the library, with their parameters.
pub mod structures {
    pub use crate::duplicates::{
        Alone, AloneParameters, CompactShortHash, CompactShortHashParameters, ExactWindow,
        Interleaved, InterleavedParameters, PlainBloom, Queuing, QueuingParameters,
        QuotientShortHash, QuotientTable, RingParameters, ShortHash,
    };
    pub use crate::growing::{Growing, GrowingParameters};
    pub use crate::sliding::{
        AgePartitioned, AgePartitionedParameters, DoubleBuffer, DoubleBufferParameters, Sliding,
        SlidingParameters,
    };
    pub use crate::spectral::{
        BlockedParameters, RecurringParameters, Spectral, SpectralParameters, SpectralWindow,
        SpectralWindowParameters,
    };
    pub use crate::timed::{
        ElasticWindow, ElasticWindowParameters, ShorteningWindow, ShorteningWindowParameters,
        TimedWindow, TimedWindowParameters, Unit, WindowCounts, WindowCountsParameters,
    };
}
