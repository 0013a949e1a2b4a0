//! Seeded, endless streams of keys, from the ordinary to the hostile.
//!
//! Every function returns an iterator that never ends and is the same forever for the same
//! arguments; [`named`] lists them all for a given window, so that a contract can walk every stream.
//!
//! - Ordinary: [`uniform`], [`zipf`](fn@zipf), [`distinct`], [`constant`], [`cyclic`], [`bursts`].
//! - At the border of the window: [`repeats_at`] counts steps, [`repeats_at_ages`] milliseconds.
//! - Composed: [`mixture`] and [`phases`] of streams, [`with_repeats`] added to one.
//! - Structured keys that break weak hashes: [`sequential`], [`shared_low_bits`], ...
//! - In time: zip any keys with one of the [`clocks`].
//!
//! # Mixed and structured keys
//!
//! The keys of all but the structured streams are well-mixed 64-bit words that may stand in for
//! hashes. Structured keys must be hashed first; a filter that takes them as hashes owes nothing.
//!
//! # Keys that were never emitted
//!
//! A seed owns a permutation of all 64-bit words. Streams over an alphabet take their keys from its
//! first quarter, fresh keys come from the second, and [`absent`] from the other half. So
//! `absent(seed)` never meets a mixed stream of the same seed, and an alphabet never meets fresh keys.
//!
//! ```
//! use testkit::streams;
//!
//! let keys: Vec<u64> = streams::uniform(10, 7).take(1000).collect();
//! assert!(streams::absent(7).take(1000).all(|key| !keys.contains(&key)));
//!
//! let timed: Vec<(u64, u64)> =
//!     streams::distinct(7).zip(streams::clocks::steady(100)).take(3).collect();
//! assert_eq!(timed[2].1, 20); // the third item comes after 20 milliseconds
//! ```

mod ages;
mod blend;
pub mod clocks;
mod keys;
pub mod named;
mod repeats;
mod sightings;
mod structured;
mod zipf;

pub use ages::{RepeatsAtAges, repeats_at_ages};
pub use blend::{mixture, phases};
pub use keys::{absent, bursts, constant, cyclic, distinct, uniform};
pub use repeats::{Step, WithRepeats, repeats_at, with_repeats};
pub use sightings::sightings;
pub use structured::{
    bit_reversed, extremes, one_bit_apart, sequential, shared_high_bits, shared_low_bits,
};
pub use zipf::zipf;

/// An endless stream of keys, of whichever kind.
pub type Keys = Box<dyn Iterator<Item = u64> + Send>;

/// An endless stream of keys and the milliseconds at which they come.
pub type TimedKeys = Box<dyn Iterator<Item = (u64, u64)> + Send>;
