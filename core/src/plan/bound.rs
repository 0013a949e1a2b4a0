//! Yardsticks: the leading terms of proven lower bounds, in bits per item. Each theorem also subtracts
//! a constant (its O(n) term) that we leave out, so a clever structure could, in principle, come out
//! slightly below at small sizes; that of growing sets has factors besides.

#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::rate::ErrorRate;

/// Any approximate set that holds `n` keys known in advance: `log2(1/ε)`.
/// Carter, Floyd, Gill, Markowsky, Wegman 1978.
pub fn static_set(rate: ErrorRate) -> f64 {
    rate.bits()
}

/// A window over the last `n` keys, with a slack of `m` keys (or any slack):
/// `log2(1/ε) + max(log2(n/m), log2 log2(1/ε))`. Naor, Yogev, Theorem 1.2.
pub fn sliding_window(rate: ErrorRate, window: u64, slack: Option<u64>) -> f64 {
    let order = match slack {
        Some(slack) => (window as f64 / slack.max(1) as f64).log2(),
        None => f64::NEG_INFINITY,
    };
    rate.bits() + order.max(rate.bits().log2()).max(0.0)
}

/// A growing set whose size `n` is not known in advance: `log2(1/ε) + log2 log2 n`.
/// Pagh, Segev, Wieder, Theorem 3.1 proves `(1 - o(1)) log2(1/ε) + Ω(log log n)`; the factors taken
/// as one here are those of the matching construction, and not known to be necessary.
pub fn growing_set(rate: ErrorRate, items: u64) -> f64 {
    rate.bits() + (items.max(2) as f64).log2().log2().max(0.0)
}

/// The smallest possible sum of false-positive and false-negative probability of any detector with
/// `memory_bits` over a stream of `items` keys drawn uniformly from an alphabet.
/// Géraud-Stewart, Lombard-Platet, Naccache, Theorem 4 (valid for streams longer than the memory;
/// zero otherwise).
pub fn duplicate_error(memory_bits: u64, items: u64, alphabet: u64) -> f64 {
    if items <= memory_bits {
        return 0.0;
    }
    // 1 - (1 - 1/a)^x, without cancellation for large alphabets.
    let seen = |x: u64| -(x as f64 * (-1.0 / alphabet as f64).ln_1p()).exp_m1();
    1.0 - seen(memory_bits) / seen(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rate: f64) -> ErrorRate {
        ErrorRate::new(rate).unwrap()
    }

    #[test]
    fn figures_of_the_papers() {
        for (error, bits) in [(0.01, 9.4), (0.001, 13.3), (0.0001, 17.0)] {
            let bound = sliding_window(rate(error), 1_000_000, Some(1_000_000));
            assert!((bound - bits).abs() < 0.05, "{error}: {bound}");
            assert_eq!(bound, sliding_window(rate(error), 1_000_000, None));
        }
        for (error, bits) in [(0.01, 11.2), (0.001, 14.5), (0.0001, 17.8)] {
            assert!((growing_set(rate(error), 1 << 23) - bits).abs() < 0.05);
        }
    }

    #[test]
    fn keys_of_an_alphabet_of_two() {
        // Two of two are seen with 3/4, four with 15/16.
        assert!((duplicate_error(2, 4, 2) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn a_tight_slack_costs_bits() {
        let loose = sliding_window(rate(0.01), 1 << 20, Some(1 << 20));
        let tight = sliding_window(rate(0.01), 1 << 20, Some(1 << 10));
        assert_eq!(tight, static_set(rate(0.01)) + 10.0);
        assert!(loose < tight);
    }

    #[test]
    fn duplicate_error_starts_at_nothing_and_grows() {
        assert_eq!(duplicate_error(100_000, 100_000, 1 << 18), 0.0);
        let long = duplicate_error(100_000, u64::MAX, 1 << 18);
        let limit = (1.0f64 - 1.0 / f64::from(1 << 18)).powf(1e5);
        assert!((long - limit).abs() < 1e-9, "{long} {limit}");
        assert!(duplicate_error(100_000, 200_000, 1 << 18) < long);
    }
}
