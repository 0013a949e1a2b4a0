//! Expectations that several formulas share; nothing about one structure.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// The mean of `f(j)` over a Poisson variable `j` with the given mean.
///
/// Sums outwards from the mode, where the weights are largest, until they no longer matter.
pub fn poisson_mean(mean: f64, f: impl Fn(u64) -> f64) -> f64 {
    if mean <= 0.0 {
        return f(0);
    }
    // Weights relative to the mode's; dividing by their sum needs neither e^-mean nor factorials.
    let mode = mean.floor() as u64;
    let (mut sum, mut weights) = (f(mode), 1.0);
    let mut weight = 1.0;
    for j in (0..mode).rev() {
        weight *= (j + 1) as f64 / mean;
        if weight < NEGLIGIBLE {
            break;
        }
        sum += weight * f(j);
        weights += weight;
    }
    let mut weight = 1.0;
    for j in mode + 1.. {
        weight *= mean / j as f64;
        if weight < NEGLIGIBLE {
            break;
        }
        sum += weight * f(j);
        weights += weight;
    }
    sum / weights
}

/// `P(Poisson > j)` for j = 0, 1, 2, ... until it no longer matters. Sums to the mean.
pub fn poisson_tails(mean: f64) -> Vec<f64> {
    let most = (mean + 8.0 * mean.sqrt() + 24.0) as usize;
    // From the far end down, relative to the mode's weight, so that nothing underflows.
    let mode = mean.floor() as usize;
    let mut weights = vec![0.0; most + 1];
    weights[mode] = 1.0;
    let per_arrival = 1.0 / mean;
    for j in (0..mode).rev() {
        weights[j] = weights[j + 1] * ((j + 1) as f64 * per_arrival);
    }
    for j in mode + 1..=most {
        weights[j] = weights[j - 1] * (mean / j as f64);
    }
    let share = 1.0 / weights.iter().sum::<f64>();
    let mut tail = 0.0;
    let mut tails = vec![0.0; most + 1];
    for j in (0..=most).rev() {
        tails[j] = tail;
        tail += weights[j] * share;
    }
    tails.truncate(tails.partition_point(|&tail| tail > UNSEEN) + 1);
    tails
}

/// A chance that changes no sum of chances.
const UNSEEN: f64 = 1e-16;

/// At most `count` values, with weights, that stand for a Poisson variable in the mean of a smooth
/// function: neighbours are merged into groups of like weight, each at its own mean.
pub fn poisson_nodes(mean: f64, count: usize) -> Vec<(f64, f64)> {
    let tails = poisson_tails(mean);
    let mut nodes = Vec::with_capacity(count);
    let (mut weight, mut sum, mut above) = (0.0, 0.0, 1.0);
    for (j, &tail) in tails.iter().enumerate() {
        let chance = above - tail;
        above = tail;
        weight += chance;
        sum += chance * j as f64;
        if weight * count as f64 >= 1.0 || j + 1 == tails.len() {
            if weight > 0.0 {
                nodes.push((weight, sum / weight));
            }
            (weight, sum) = (0.0, 0.0);
        }
    }
    nodes
}

/// The mean of `e^-t` over `0..x`: `(1 - e^-x) / x`.
pub fn mean_decay(x: f64) -> f64 {
    if x < 1e-12 { 1.0 } else { -(-x).exp_m1() / x }
}

/// Keys per bit at which one that was never inserted finds its `bits` bits set with this chance, if all
/// places of a filter fill evenly.
pub fn even_load(chance: f64, bits: u32) -> f64 {
    let bits = f64::from(bits);
    -(-chance.powf(1.0 / bits)).ln_1p() / bits
}

/// More keys per bit than this cannot be if the chance is to be kept: places that fill unevenly err more
/// often than even ones, unless they are nearly full. Then they may bear an eighth more.
pub fn most_load(chance: f64, bits: u32) -> f64 {
    let few = f64::from(bits);
    let nearly_full = chance.powf(1.0 / few) > 1.0 - 1.0 / few;
    even_load(chance, bits) * if nearly_full { 9.0 / 8.0 } else { 1.0 }
}

/// The least number, from 1 on, that is `enough`: a claim that stays true once it is. The search
/// asks first about `start`, which should be of the right order, and at least 1.
pub fn least(start: u64, enough: impl Fn(u64) -> bool) -> u64 {
    let (mut too_few, mut many) = (0, start);
    while !enough(many) {
        too_few = many;
        many *= 2;
    }
    while many - too_few > 1 {
        let middle = too_few + (many - too_few) / 2;
        if enough(middle) {
            many = middle;
        } else {
            too_few = middle;
        }
    }
    many
}

/// Relative weight below which a term cannot change a rate of 1e-9 in its ninth digit.
const NEGLIGIBLE: f64 = 1e-20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_is_where_it_begins() {
        for border in (1..70).chain([1 << 40, (1 << 40) + 1]) {
            for start in [1, 2, 50, 1 << 41] {
                assert_eq!(least(start, |n| n >= border), border);
            }
        }
    }

    #[test]
    fn poisson_mean_of_known_functions() {
        for mean in [0.0, 0.3, 1.0, 7.5, 64.0, 1e4] {
            assert!((poisson_mean(mean, |_| 1.0) - 1.0).abs() < 1e-12);
            assert!((poisson_mean(mean, |j| j as f64) - mean).abs() <= 1e-9 * mean);
            let square = poisson_mean(mean, |j| (j * j) as f64);
            assert!((square - mean * (mean + 1.0)).abs() <= 1e-9 * square);
            let empty = poisson_mean(mean, |j| f64::from(j == 0));
            assert!((empty - (-mean).exp()).abs() < 1e-12);
        }
    }

    #[test]
    fn poisson_tails_sum_to_the_mean_and_start_at_not_nothing() {
        for mean in [0.0, 0.01, 1.0, 30.0, 2e4] {
            let tails = poisson_tails(mean);
            assert!((tails.iter().sum::<f64>() - mean).abs() <= 1e-9 * mean.max(1.0), "{mean}");
            assert!((tails[0] - (1.0 - (-mean).exp())).abs() < 1e-9, "{mean}");
        }
    }

    #[test]
    fn poisson_nodes_keep_the_mean() {
        for mean in [0.0, 0.3, 5.0, 40.0] {
            let nodes = poisson_nodes(mean, 8);
            assert!(nodes.len() <= 9);
            let weights: f64 = nodes.iter().map(|(weight, _)| weight).sum();
            let found: f64 = nodes.iter().map(|(weight, value)| weight * value).sum();
            assert!((weights - 1.0).abs() < 1e-9 && (found - mean).abs() < 1e-6 * (1.0 + mean));
        }
    }
}
