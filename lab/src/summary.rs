//! Median, spread and ratio of repeated measurements.
//!
//! The median, because interruptions only ever slow a round down; minimum and maximum beside it,
//! because a median alone hides how shaky it is.

/// The middle of some measurements and how far they reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Half are at most this.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Summary {
    /// Summarizes; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        };
        Some(Self { median, least, most })
    }

    /// Summarizes `samples[i] / reference[i]`. Both belong to the same round, so what slowed the
    /// machine for a while slowed both.
    pub fn of_ratios(samples: &[f64], reference: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = samples.iter().zip(reference).map(|(a, b)| a / b).collect();
        Self::of(&ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_spread() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!(one, Summary { median: 3.0, least: 3.0, most: 3.0 });
        let odd = Summary::of(&[9.0, 1.0, 2.0]).unwrap();
        assert_eq!(odd, Summary { median: 2.0, least: 1.0, most: 9.0 });
        let even = Summary::of(&[4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!(even, Summary { median: 3.0, least: 1.0, most: 9.0 });
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // Twice as fast in every round, however slow the machine was in the second.
        let ratio = Summary::of_ratios(&[10.0, 50.0, 11.0], &[20.0, 100.0, 22.0]).unwrap();
        assert_eq!(ratio, Summary { median: 0.5, least: 0.5, most: 0.5 });
    }
}
