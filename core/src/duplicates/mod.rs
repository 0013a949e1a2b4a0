//! Fixed memory: the budget is given, and the error follows.
//!
//! # What a detector promises
//!
//! Some structures here never forget inside their window; they promise what all windows do. The
//! others, *detectors*, may forget, and their [`Promise`](crate::Promise) has `false_negatives`
//! above zero. Both of its rates are then shares to expect in the long run, on a stream in which
//! keys are fresh, or repeats at a distance evenly spread over the window: the limit of keys drawn
//! evenly from a large alphabet. Streams that repeat nearer, as most do, are forgotten less. Over
//! a small alphabet a detector also reports keys that left the window and are still stored; with
//! the alphabet given ([`Goal::alphabet`](crate::plan::Goal::alphabet)) the planner counts them
//! too. The laws are in [`law`] and beside each detector.
//!
//! A repeat that must not start its window anew (`insert_new_hash`) and is reported as seen leaves
//! no new trace in a detector; those that measure distance in insertions count it as one.
//!
//! # Which is which
//!
//! | | forgets inside the window | reports after it |
//! |---|---|---|
//! | [`ExactWindow`], [`ShortHash`], [`QuotientShortHash`], [`CompactShortHash`] | never | never |
//! | [`Interleaved`], [`Queuing`] of [`PlainBloom`] | never | a little longer |
//! | [`QuotientTable`] | yes | yes, fading |
//! | [`Queuing`] of that | yes | a little longer |
//!
//! Other papers' detectors, there to be compared with, stand on the same parts in the crate `lately-papers`.
//!
//! # Who writes the stream
//!
//! Whoever knows how keys become hashes can compute a key that collides with those stored, or keys
//! that push a given one out; [`Hashing::Keyed`](crate::Hashing::Keyed) with a secret key takes
//! that away. What no hash takes away is replay: who saw a key reported falsely can repeat the same
//! window later, and the key will be reported again.

mod bloom;
mod buckets;
mod chain;
mod compact_short_hash;
mod counts;
mod detector;
mod interleaved;
mod latest_shorts;
pub mod law;
mod moves;
mod queuing;
mod quotient_table;
mod random;
mod renewal;
mod short_hash;

pub use bloom::PlainBloom;
pub use buckets::{Buckets, Fingerprints, Update};
pub use chain::{CellLaw, Chain};
pub use compact_short_hash::{CompactShortHash, CompactShortHashParameters};
pub use counts::{HashCounts, QuotientCounts, WholeHashes};
pub use detector::{
    Alone, AloneParameters, Detector, Subfilter, payload_bits, promise_of_long_run, read_cells,
    window_and_memory,
};
pub use interleaved::{Interleaved, InterleavedParameters};
pub use queuing::{Queuing, QueuingParameters, Rotation};
pub use quotient_table::{Even, QuotientTable};
pub use random::Random;
pub use short_hash::{
    Counts, ExactWindow, QuotientShortHash, Ring, RingParameters, ShortHash, published_hash_bits,
};
