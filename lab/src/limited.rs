//! The experiment of *Time-limited Bloom Filter*, section 7, with the real structure, insertion by insertion.
//!
//! A span of 300 s and one insertion every 0.1 s, 10000 in all, into filters that expect 1000 and
//! 10000 keys where 3000 come: under- and over-dimensioned.

use lately::raw::{Filter, Membership};
use lately::{Hashing, Seed, Span, Time};
use lately_papers::{TimeLimited, TimeLimitedParameters};

/// Errors with the pairs (k, l) of slices per key and turns that the authors list for them.
pub const MENU: &[(f64, &[(u32, u32)])] = &[
    (0.1, &[(4, 3), (5, 7), (6, 14), (7, 28), (8, 56)]),
    (0.01, &[(7, 5), (8, 8), (9, 14), (10, 25), (11, 46), (12, 88)]),
    (0.001, &[(10, 7), (11, 9), (12, 14), (13, 23), (14, 40), (15, 74)]),
    (1e-4, &[(14, 11), (15, 15), (16, 22), (17, 36), (18, 63), (19, 117)]),
    (1e-5, &[(17, 13), (18, 16), (19, 22), (20, 33), (21, 54), (22, 95)]),
];

/// Bits per element of table 2, least and most, rounded down.
pub const TABLE_2: [(u32, u32); 5] = [(10, 13), (19, 24), (26, 35), (32, 45), (41, 56)];

/// The span.
pub const SPAN: Span = Span::from_millis(300_000);
/// Between insertions.
pub const BETWEEN_MILLIS: u64 = 100;
/// Insertions in all.
pub const INSERTIONS: u64 = 10_000;
/// Keys within the span once it is full.
pub const WITHIN: u64 = SPAN.millis() / BETWEEN_MILLIS;

/// What a filter looks like after an insertion.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Insertions before this one.
    pub before: u64,
    /// Slices that it has.
    pub slices: usize,
    /// Bits of the newest slice.
    pub slice_0: u64,
    /// Bits of all slices over the elements within the span.
    pub bits: f64,
    /// The whole heap over the same elements.
    pub heap: f64,
}

/// Slices of single bits with a pair (k, l) of the authors.
pub fn pair((slices_per_key, turns): (u32, u32)) -> TimeLimitedParameters {
    TimeLimitedParameters {
        span: SPAN,
        slices_per_key,
        turns,
        bits_per_slice: 1,
        slice_chance: 0.5,
        expected: WITHIN,
    }
}

/// Runs the experiment, and shows the filter after every insertion.
pub fn through(parameters: TimeLimitedParameters, mut each: impl FnMut(&TimeLimited, Moment)) {
    let mut filter = TimeLimited::new(parameters);
    let hashing = Hashing::Fast(Seed(1));
    for before in 0..INSERTIONS {
        filter.insert_hash(hashing.hash(&before.to_le_bytes()), moment(before));
        let within = (before + 1).min(WITHIN) as f64;
        let slices = filter.slices();
        let slice_0 = filter.newest_slice_bits();
        let bits = filter.slice_bits() as f64 / within;
        let heap = filter.heap_bytes() as f64 * 8.0 / within;
        each(&filter, Moment { before, slices, slice_0, bits, heap });
    }
}

/// When an insertion comes.
pub fn moment(before: u64) -> Time {
    Time::from_millis(1_700_000_000_000 + BETWEEN_MILLIS * before)
}
