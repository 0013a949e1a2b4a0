//! Bits in words, and the instructions that move them: the only `unsafe` of the library.

mod aligned;
mod bytes;
mod extendible;
mod footprint;
mod given_back;
mod isa;
mod large_pages;
mod lines;
mod packed;
pub(crate) mod planes;
mod prefetch;
mod records;
pub(crate) mod row;
mod scalar;
mod sizes;
mod strings;
#[cfg(feature = "std")]
mod turn;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
mod x86_64_row;

pub use aligned::{Aligned, LINE_BYTES};
pub(crate) use bytes::{bytes, bytes_mut};
pub use extendible::{Extendible, MOST_WORDS, children, first_hash, prefix, sibling};
pub use footprint::Footprint;
pub(crate) use isa::vectorized;
pub use isa::{FEW, Isa, Level};
pub use large_pages::LargePages;
pub use lines::{LINE_WORDS, Lines};
pub use packed::Packed;
pub use planes::Plane;
pub use prefetch::prefetch;
pub use records::Records;
pub use row::{NEAR, STRETCH, SlotBytes};
pub use scalar::Scalar;
pub use sizes::{size, size_of_parts};
pub use strings::{
    BitReader, BitWriter, copy_bits, insert_bits_down, insert_bits_up, move_bits_up, read_bits,
    read_bits_down, write_bits,
};
#[cfg(all(test, target_arch = "x86_64", not(miri)))]
pub(crate) use turn::flags;
#[cfg(feature = "std")]
pub use turn::{Flag, Guard, Turn};
#[cfg(target_arch = "x86_64")]
pub use x86_64::Avx2;
