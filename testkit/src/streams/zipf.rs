//! A few keys often, most keys rarely: the Zipf distribution.
//!
//! Letter `r = 1, 2, ...` has a probability proportional to `1 / r^skew`. Draws invert the exact
//! cumulative distribution, held in a table of 8 bytes per letter. Powers may differ between platforms
//! in the last bit, which changes a draw about once in 10^15.

use super::keys::letter;
use crate::random::{SplitMix64, derive};

/// Keys drawn independently from an alphabet, the first letters most often.
///
/// A skew of 0 is uniform, 1 is typical of words and web pages, 2 is mostly one key.
///
/// ```
/// use testkit::{oracle::Counts, streams};
///
/// let mut counts = Counts::new();
/// streams::zipf(1000, 1.0, 7).take(10_000).for_each(|key| counts.add(key, 1));
/// let most = counts.iter().map(|(_, count)| count).max().unwrap();
/// assert!(most > 1000); // an even share would be 10
/// ```
///
/// # Panics
///
/// If the alphabet is empty or larger than 10^7, or the skew negative or not finite.
pub fn zipf(alphabet: u64, skew: f64, seed: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!((1..=LARGEST_ALPHABET).contains(&alphabet), "no such alphabet: {alphabet} letters");
    assert!(skew >= 0.0 && skew.is_finite(), "not a skew: {skew}");
    let cumulative = cumulative_weights(alphabet, skew);
    let total = cumulative[cumulative.len() - 1];
    let ranks_below = move |cumulative: &[f64], point| cumulative.partition_point(|&w| w <= point);
    // Ranks at equal distances: a search begins and ends at those around it, which need no memory from afar.
    let place = |mark| ranks_below(&cumulative, total * mark as f64 / MARKS as f64);
    let marks: Vec<usize> = (0..=MARKS).map(place).collect();
    let mut random = SplitMix64::new(derive(seed, "zipf"));
    std::iter::repeat_with(move || {
        let unit = random.unit();
        let mark = (unit * MARKS as f64) as usize;
        // One more on either side, for what rounding does.
        let (from, to) = (marks[mark.saturating_sub(1)], marks[(mark + 2).min(MARKS)]);
        let rank = from + ranks_below(&cumulative[from..to], unit * total);
        // Rounding may lift the point to the total, past the last letter.
        letter(seed, (rank as u64).min(alphabet - 1))
    })
}

const LARGEST_ALPHABET: u64 = 10_000_000;
const MARKS: usize = 1 << 14;

fn cumulative_weights(alphabet: u64, skew: f64) -> Vec<f64> {
    let weights = (1..=alphabet).map(|rank| (rank as f64).powf(-skew));
    weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Counts;
    use crate::stats::{assert_rate, assert_uniform};

    #[test]
    fn every_letter_has_its_probability() {
        const TRIALS: u64 = 200_000;
        for skew in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0] {
            let mut counts = Counts::new();
            zipf(20, skew, 1).take(TRIALS as usize).for_each(|key| counts.add(key, 1));
            let total: f64 = (1..=20_u32).map(|rank| f64::from(rank).powf(-skew)).sum();
            for rank in 1..=20_u32 {
                let predicted = f64::from(rank).powf(-skew) / total;
                let hits = counts.count(letter(1, u64::from(rank) - 1));
                assert_rate(hits, TRIALS, predicted, 1e-9);
            }
        }
    }

    #[test]
    fn no_skew_is_uniform() {
        let mut counts = Counts::new();
        zipf(30, 0.0, 2).take(30_000).for_each(|key| counts.add(key, 1));
        let per_letter: Vec<u64> = (0..30).map(|index| counts.count(letter(2, index))).collect();
        assert_uniform(&per_letter, 1e-9);
    }

    #[test]
    fn one_letter_is_constant() {
        assert!(zipf(1, 1.0, 3).take(100).all(|key| key == letter(3, 0)));
    }

    #[test]
    #[should_panic(expected = "no such alphabet")]
    fn a_huge_table_is_refused() {
        let _ = zipf(LARGEST_ALPHABET + 1, 1.0, 1);
    }

    #[test]
    #[should_panic(expected = "not a skew")]
    fn a_negative_skew_is_refused() {
        let _ = zipf(10, -0.1, 1);
    }
}
