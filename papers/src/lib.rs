#![doc = include_str!("../README.md")]

mod block_decaying;
mod cuckoo;
mod growing_layers;
mod growing_tails;
mod rows;
mod stable_bloom;
mod streaming_quotient;
pub mod time_limited;
mod two_buffers;

pub use block_decaying::{BlockDecaying, BlockDecayingParameters};
pub use cuckoo::Cuckoo;
pub use growing_layers::{GrowingLayers, GrowingLayersParameters};
pub use growing_tails::{GrowingTails, GrowingTailsParameters};
pub use rows::{CATALOG, ROWS};
pub use stable_bloom::StableBloom;
pub use streaming_quotient::{Ones, StreamingQuotient};
pub use time_limited::{TimeLimited, TimeLimitedParameters};
pub use two_buffers::{TwoBuffers, TwoBuffersParameters};
