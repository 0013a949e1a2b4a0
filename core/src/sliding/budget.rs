//! From a memory to an error: the inverse of formulas that go the other way.

use crate::blueprint::{Blueprint, Unfit};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::rate::ErrorRate;

/// Halvings of the range of exponents: the rate is then known to one part in 500,000, which is less than a
/// remainder's bit or a few bins make. A server waits for each.
const STEPS: u32 = 24;

/// The parameters with the smallest error that fit into `bytes`, of those that `with_error` finds for a
/// rate.
pub(super) fn least_error<P: Blueprint>(
    bytes: u64,
    with_error: impl Fn(f64) -> Result<P, Unfit>,
) -> Result<P, Unfit> {
    let fits = |exponent: f64| {
        with_error(exponent.exp2()).ok().filter(|parameters| parameters.heap_bytes() <= bytes)
    };
    // The rate is a power of two with a real exponent; the heap grows as it falls.
    let (mut low, mut high) = (ErrorRate::SMALLEST.log2(), ErrorRate::LOOSEST_LOG2);
    let mut best = fits(high).ok_or(Unfit("needs more memory for this window and slack"))?;
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        match fits(middle) {
            Some(parameters) => (best, high) = (parameters, middle),
            None => low = middle,
        }
    }
    Ok(best)
}
