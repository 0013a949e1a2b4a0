//! Expectations that several formulas share; nothing about one structure.

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
}
