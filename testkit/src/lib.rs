//! What every test of lately needs: an answer that is right, a stream that bites, and a verdict
//! that says how often it errs.
//!
//! - [`oracle`]: exact, memory-hungry twins of the filters, too simple to be wrong.
//! - [`streams`]: seeded, endless streams of keys and times, from the ordinary to the hostile.
//! - [`stats`]: assertions about rates that state their own chance of a false alarm.
//! - [`cpu`]: assertions that work grows in proportion.
//! - [`random`]: the generator behind the seeds. Its output never changes.
//!
//! The crate knows nothing of lately itself, so an error there cannot hide here.
//!
//! ```
//! use testkit::{oracle::Last, stats, streams};
//!
//! // How often does a uniform stream repeat a key within the last 100 steps?
//! let mut oracle = Last::new(100);
//! let trials = 100_000;
//! let repeats = streams::uniform(1000, 7).take(trials).filter(|&key| !oracle.insert(key)).count();
//!
//! let predicted = 1.0 - (1.0 - 1.0 / 1000.0_f64).powi(100);
//! stats::assert_rate_within(repeats as u64, trials as u64, predicted, 0.01, 1e-9);
//! ```

#![forbid(unsafe_code)]

pub mod collections;
pub mod cpu;
pub mod oracle;
pub mod random;
pub mod stats;
pub mod streams;

/// So many rounds of a test; a hundredth of them under Miri, which takes a thousand times as long
/// and looks for what one round shows as well as many.
pub const fn rounds(many: u64) -> u64 {
    if cfg!(miri) { many.div_ceil(100) } else { many }
}
