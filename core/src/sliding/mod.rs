//! Remember the last n insertions, and never forget one of them.
//!
//! All structures here promise no false negatives inside the window. They differ in slack (how much
//! longer a key may be reported), in bits per item and in cache lines per operation.

pub mod age_partitioned;
mod budget;
pub mod compact;
mod double_buffer;
pub mod slices;
mod succinct;
mod swept;
mod swept_parameters;

pub use age_partitioned::{AgePartitioned, AgePartitionedParameters};
pub use compact::{SlidingCompact, SlidingCompactParameters};
pub use double_buffer::{DoubleBuffer, DoubleBufferParameters};
pub use succinct::{Generations, Sliding, SlidingParameters};
pub use swept::Swept;
pub use swept_parameters::{Passes, SweptParameters};
