//! How often in the last n, or in the last t, at any rate.
//!
//! The segments of [`TimedWindow`](super::TimedWindow) with one bit more in every slot. There a key has one
//! entry, with the generation of its last sighting; here it has one for every generation in which it came, with a
//! count (`digits`). So nothing that leaves has to be remembered: a generation leaves as a whole, with all
//! that was counted in it, by the sweep that is there. The count of a key is the sum over its entries, at most
//! eight of them with the usual slack.
//!
//! Worked example: t = 70 s, so generations last 10 s. A key comes at 3 s, 4 s, 4 s and 25 s: three times in
//! generation 0 (two slots, digits 1 and 1) and once in generation 2. From 25 s on it counts 4. At 75 s two of the
//! sightings are older than t, and it still counts 4: that is the slack. At 80 s generation 0 leaves, and it
//! counts 1. What is left of the oldest generation is known, so an unbiased estimate is at hand too: at 75 s
//! it says 1 + 3/2.
//!
//! A window by count is the same with the number of the sighting for a clock.
//!
//! The structure is that of Naor and Yogev's *Sliding Bloom Filters*, with counts where they have tags alone;
//! digits beside the fingerprint are those of the counting quotient filter (Pandey, Bender, Johnson and Patro),
//! though there they stand in for fingerprints. What is not guaranteed: as for the window by time.

mod abilities;
mod digits;
mod filter;
mod merge;
mod parameters;
mod slots;

pub use filter::WindowCounts;
pub use parameters::{Unit, WindowCountsParameters};

pub(super) use digits::{are_counts, cut_counts, gather};
pub(super) use filter::set_tags;
