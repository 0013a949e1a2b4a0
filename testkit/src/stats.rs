//! Verdicts on measured rates that say how often they err.
//!
//! A test that allows "twice the predicted rate" neither catches a filter that is 1.9 times too bad
//! nor says how often it fails by chance. These assertions take the claim and an *alarm*: the largest
//! probability with which a true claim may be refuted. With `1e-9` and fixed seeds, a failure is a bug.
//!
//! Rates use the Chernoff bound in its Kullback-Leibler form (Hoeffding 1963, theorem 1), which holds
//! for every number of trials and errs on the side of silence. With rate `p` and `n` trials, a measured
//! rate of `a` or farther from `p`, on one side, has probability at most `exp(-n D(a, p))`, where
//!
//! ```text
//! D(a, p) = a ln(a / p) + (1 - a) ln((1 - a) / (1 - p))
//! ```
//!
//! # What must hold
//!
//! The trials are independent, or each has, *given everything before it*, a hit probability of at most
//! the bound (at least, for lower bounds): the sum is then dominated step by step and the bound
//! stands. Queries to one filter are independent only given the filter, and share its luck. So predict
//! from its measured fill, or reseed the filter for every trial, or claim a bound that holds for every
//! fill. The number of trials is fixed beforehand: do not stop when the result pleases.
//!
//! ```
//! use testkit::stats;
//!
//! stats::assert_rate_at_most(105, 10_000, 0.01, 1e-9); // slightly above: chance
//! assert!(!stats::rate_is_at_most(200, 10_000, 0.01, 1e-9)); // twice the bound: not chance
//! ```

mod rate;
mod uniform;

pub use rate::{
    assert_rate, assert_rate_at_least, assert_rate_at_most, assert_rate_within, lower_confidence,
    rate_is, rate_is_at_least, rate_is_at_most, rate_is_within, upper_confidence,
};
pub use uniform::{assert_uniform, chi_square, chi_square_limit, is_uniform};
