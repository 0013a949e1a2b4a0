//! Remember the last n insertions, or the last t, and never forget one of them.
//!
//! All structures here promise no false negatives inside the window. They differ in slack (how much
//! longer a key may be reported), in bits per item and in cache lines per operation.

mod double_buffer;
mod succinct;

pub use double_buffer::{DoubleBuffer, DoubleBufferParameters};
pub use succinct::{Generations, Sliding, SlidingParameters};
