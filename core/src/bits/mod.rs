//! Bits in words, and the instructions that move them: the only `unsafe` of the library.

mod lines;
mod packed;
mod prefetch;
mod strings;

pub use lines::{LINE_WORDS, Lines};
pub use packed::Packed;
pub use prefetch::prefetch;
pub use strings::{BitReader, BitWriter, move_bits_up, read_bits, write_bits};
