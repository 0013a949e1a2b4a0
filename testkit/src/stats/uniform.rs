//! Whether counts are spread evenly: Pearson's chi-square with a closed-form limit.
//!
//! The statistic sums `(count - mean)^2 / mean` over the cells. With `d = cells - 1` degrees of freedom
//! its limit is that of Laurent and Massart (2000, lemma 1): a chi-square variable exceeds
//! `d + 2 sqrt(d x) + 2 x` with probability at most `exp(-x)`.
//!
//! That lemma is about Gaussian squares; counts are Gaussian only in the limit. We therefore insist on
//! a mean of at least 10 per cell, where the slack of the lemma outweighs the difference: a test
//! below measures it. This is a sound rule, not a theorem, unlike the bounds on rates.
//!
//! Only unevenness is refuted. Counts that are suspiciously even, as those of a counter, pass.

/// Asserts that the items behind `counts` fall into every cell with the same probability,
/// independently.
///
/// ```
/// use testkit::{random::SplitMix64, stats};
///
/// let mut random = SplitMix64::new(1);
/// let mut counts = [0; 64];
/// for _ in 0..10_000 {
///     counts[(random.next_u64() >> 58) as usize] += 1;
/// }
/// stats::assert_uniform(&counts, 1e-9);
/// ```
///
/// # Panics
///
/// If [`is_uniform`] says no, with probability at most `alarm` when the claim is true; and like it.
#[track_caller]
pub fn assert_uniform(counts: &[u64], alarm: f64) {
    if !is_uniform(counts, alarm) {
        let statistic = chi_square(counts);
        let limit = chi_square_limit(counts.len(), alarm);
        let total: u64 = counts.iter().sum();
        let cells = counts.len();
        let (fewest, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        panic!(
            "not uniform: chi-square {statistic:.1} exceeds {limit:.1} \
             ({total} items in {cells} cells, from {fewest} to {most} in one); \
             a true claim fails like this with probability at most {alarm:e}"
        );
    }
}

/// Whether the counts are compatible with equal probabilities.
///
/// # Panics
///
/// With fewer than 2 cells, fewer than 10 items per cell, or an alarm outside `(0, 1)`.
#[track_caller]
pub fn is_uniform(counts: &[u64], alarm: f64) -> bool {
    assert!(counts.len() >= 2, "one cell is always uniform");
    let total: u64 = counts.iter().sum();
    assert!(total >= 10 * counts.len() as u64, "too few items for chi-square: {total}");
    assert!(alarm > 0.0 && alarm < 1.0, "not an alarm probability: {alarm}");
    chi_square(counts) <= chi_square_limit(counts.len(), alarm)
}

/// Pearson's statistic against equal probabilities; about `cells - 1` if they are equal.
pub fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum()
}

/// What the statistic of `cells` equally probable cells exceeds with probability at most `alarm`.
pub fn chi_square_limit(cells: usize, alarm: f64) -> f64 {
    let freedom = (cells - 1) as f64;
    let exponent = -alarm.ln();
    freedom + 2.0 * (freedom * exponent).sqrt() + 2.0 * exponent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::stats::assert_rate_at_most;

    fn throw(items: u64, cells: u64, random: &mut SplitMix64) -> Vec<u64> {
        let mut counts = vec![0; cells as usize];
        for _ in 0..items {
            counts[random.below(cells) as usize] += 1;
        }
        counts
    }

    #[test]
    fn uniform_counts_pass() {
        let mut random = SplitMix64::new(1);
        for cells in [2, 3, 10, 100, 10_000] {
            assert_uniform(&throw(20 * cells, cells, &mut random), 1e-9);
        }
    }

    #[test]
    fn alarms_are_no_more_frequent_than_stated_even_with_few_items() {
        let mut random = SplitMix64::new(2);
        for cells in [2, 4, 20, 100] {
            for alarm in [0.1, 0.01, 0.001] {
                let experiments = 5000;
                let alarms = (0..experiments)
                    .filter(|_| !is_uniform(&throw(10 * cells, cells, &mut random), alarm))
                    .count() as u64;
                assert_rate_at_most(alarms, experiments, alarm, 1e-9);
            }
        }
    }

    #[test]
    #[should_panic(expected = "not uniform: chi-square")]
    fn one_heavy_cell_is_caught() {
        let mut counts = throw(100_000, 100, &mut SplitMix64::new(3));
        counts[17] += 400;
        assert_uniform(&counts, 1e-9);
    }

    #[test]
    #[should_panic(expected = "not uniform: chi-square")]
    fn a_slight_slope_is_caught() {
        let mut random = SplitMix64::new(4);
        let mut counts = [0; 100];
        for _ in 0..100_000 {
            // One item in ten never reaches the upper half.
            let cell = if random.below(10) == 0 { random.below(50) } else { random.below(100) };
            counts[cell as usize] += 1;
        }
        assert_uniform(&counts, 1e-9);
    }

    #[test]
    fn statistic_and_limit_match_hand_calculation() {
        assert_eq!(chi_square(&[10, 20, 30]), 10.0);
        let limit = chi_square_limit(5, (-4.0_f64).exp());
        assert!((limit - (4.0 + 8.0 + 8.0)).abs() < 1e-12);
    }

    #[test]
    #[should_panic(expected = "too few items")]
    fn too_few_items_are_refused() {
        is_uniform(&[9, 10], 1e-9);
    }
}
