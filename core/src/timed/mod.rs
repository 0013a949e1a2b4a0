//! The last t in the fewest bits we know how to reach, at any rate.
//!
//! Keep a short fingerprint of every key with the generation in which it was last seen, and remove what is
//! too many generations old: Naor and Yogev, *Sliding Bloom Filters*, section 2, with generations by time.
//! Then the number of keys is not known beforehand, rises and falls. So the fingerprints are in segments, one
//! for every prefix of the hash, that split and merge one by one: Pagh, Segev and Wieder, *How to Approximate
//! a Set Without Knowing Its Size in Advance*. What is new is how long a fingerprint is (`level`): as short
//! as ones are that stay for ever cannot be, because here short ones leave within t.
//!
//! Worked example: t = 60 s at 0.1%, a million keys a minute. Seven generations of 8.6 s; about 1.07 million
//! entries in some 1900 segments; each entry 11 bits of remainder, 3 bits of tag and one bit that tells
//! buckets apart, and 2 bits for the bucket.
//!
//! `docs/time.md` draws the layout and has the figures.
//!
//! What is not guaranteed: memory, which follows the stream, unless it is given a bound (`bounded`); and the
//! error, if hashes are not random. A
//! segment may then run out of room: its part of the filter reports everything until what was lost would have
//! been forgotten, and [`TimedWindow::lost`] tells.

mod abilities;
mod back;
mod bounded;
mod by_count;
mod clock;
mod counted;
mod deal;
mod elastic;
mod entry;
mod filter;
mod find;
mod lay;
mod level;
mod membership;
mod pace;
mod parameters;
mod placing;
mod points;
mod redeal;
mod remake;
mod segment;
mod shape;
mod shortening;
mod shortening_parameters;
mod slots;
mod stash;
mod state;
mod sweep;
mod tend;
mod turns;
mod validate;
mod weights;

pub use counted::{Unit, WindowCounts, WindowCountsParameters};
pub use elastic::{ElasticWindow, ElasticWindowParameters};
pub use filter::TimedWindow;
pub use parameters::TimedWindowParameters;
pub use shortening::ShorteningWindow;
pub use shortening_parameters::ShorteningWindowParameters;
