//! Slices by age: what the age-partitioned and the time-limited filter share.
//!
//! A slice is a Bloom filter of its own. Every key is written to the `k` newest slices; when the
//! newest has served a *generation* of insertions, a fresh slice is put before it and all others
//! are one older. So the keys of one generation lie in `k` neighbouring slices, the *window* of
//! that generation, and a key is reported if all slices of some window hold it. With k = 2 and the
//! slices `s3 s2 s1` (newest first), the keys of the last generation lie in `s3` and `s2`, those of
//! the one before in `s2` and `s1`.
//!
//! Two slices `k` apart never hold the same insertion, so `k` hash functions are enough: a slice
//! uses the one of its *class*, its number modulo `k`.
//!
//! Rodrigues, Shtul, Baquero, Almeida: *Time-limited Bloom Filter*, section 5, after their
//! *Age-Partitioned Bloom Filters*. There a key sets one bit in a slice. Here it sets `b` bits of
//! one block: fewer slices then reach the same error, and a block lies in one cache line, so an
//! insertion touches `k` lines instead of `k * b`.

mod block;
mod window;

pub use block::{BlockShape, Mask, Probe};
pub use window::{find_window, window_chance};
