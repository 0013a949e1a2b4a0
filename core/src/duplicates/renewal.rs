//! The life of a fingerprint in a row that is a queue: pushed on by every new one, and brought back to
//! the front by its like.
//!
//! With k = 2 places and like ones that come with chance `q`: a fingerprint at the front is there after
//! one arrival in any case, and after two unless both were others. Between two of its like nothing
//! matters but how often it was pushed. So all follows from one row of numbers, the chances to survive
//! 0, 1, 2, ... arrivals of others: with `A_i` those, after `j` arrivals it is there with chance
//! `(1 - q)^j A_j + R_j`, where `R_j = Σ_(i < j) q (1 - q)^i A_i` is the chance that a like one came and
//! survived; and `R_j` alone if it was never put in.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Chances below this are left out.
const NEGLIGIBLE: f64 = 1e-15;

/// More arrivals than this are not followed; by then what is left does not change.
const MOST: usize = 20_000;

/// What arrivals do to a fingerprint in a queue.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// The chance that an arrival is its like.
    same: f64,
    /// The chance to survive so many arrivals of others, until it no longer matters.
    survival: Vec<f64>,
}

impl Renewal {
    /// In a queue where an arrival is its like with chance `same`, and pushes it on from each place with
    /// these chances; the last push is out.
    pub fn new(same: f64, pushed: &[f64]) -> Self {
        // Of those arrivals that are others.
        let other = 1.0 - same;
        let moves = |&pushed: &f64| if other > 0.0 { (pushed / other).min(1.0) } else { 0.0 };
        let pushed: Vec<f64> = pushed.iter().map(moves).collect();
        let mut places = vec![0.0; pushed.len()];
        places[0] = 1.0;
        let (mut survival, mut there, mut alone) = (vec![1.0], 1.0, 1.0);
        // Places before the first are hardly ever reached any more.
        let (mut first, mut last) = (0, 0);
        while there * alone > NEGLIGIBLE && survival.len() < MOST {
            if last + 1 == places.len() {
                there -= places[last] * pushed[last];
            }
            last = (last + 1).min(places.len() - 1);
            for place in (first + 1..=last).rev() {
                let come = places[place - 1] * pushed[place - 1];
                places[place] = places[place] * (1.0 - pushed[place]) + come;
            }
            places[first] *= 1.0 - pushed[first];
            while first < last && places[first] < NEGLIGIBLE {
                there -= places[first];
                places[first] = 0.0;
                first += 1;
            }
            alone *= other;
            survival.push(there.max(0.0));
        }
        Self { same, survival }
    }

    /// The chance that it is there though it was never put in, after a Poisson number of arrivals into
    /// an empty row; `tails` are the chances of more than 0, 1, 2, ... arrivals.
    pub fn after_poisson(&self, tails: &[f64]) -> f64 {
        let mut like_came = self.same;
        let each = self.survival.iter().zip(tails).map(|(survival, tail)| {
            let came = like_came * survival * tail;
            like_came *= 1.0 - self.same;
            came
        });
        each.sum()
    }

    /// The chance that it is there in the long run, whatever was before.
    pub fn end(&self) -> f64 {
        let followed = self.after_poisson(&vec![1.0; self.survival.len()]);
        // What survives that long survives.
        let alone = (1.0 - self.same).powi(self.survival.len() as i32);
        followed + alone * self.survival.last().copied().unwrap_or_default()
    }

    /// The chance that it is there 0, 1, 2, ... arrivals after it was put in.
    pub fn presence(&self) -> impl Iterator<Item = f64> + '_ {
        let last = self.survival.last().copied().unwrap_or_default();
        let survival = self.survival.iter().copied().chain(core::iter::repeat(last));
        let (mut alone, mut like_came) = (1.0, 0.0);
        survival.map(move |survival| {
            let there = alone * survival + like_came;
            like_came += alone * self.same * survival;
            alone *= 1.0 - self.same;
            there
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probability::poisson_tails;

    /// All states followed one by one: place by place, and the last one is out.
    fn step(states: &[f64], same: f64, pushed: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; states.len()];
        for (place, &chance) in states.iter().enumerate() {
            let on = pushed.get(place).copied().unwrap_or(0.0);
            next[0] += chance * same;
            next[(place + 1).min(pushed.len())] += chance * on;
            next[place] += chance * (1.0 - same - on);
        }
        next
    }

    #[test]
    fn the_row_of_numbers_says_what_following_all_states_does() {
        for k in [1, 2, 5, 16] {
            for (same, like) in [(0.0, 0.01), (0.01, 0.01), (0.2, 0.05), (0.5, 0.4), (1.0, 0.0)] {
                let newer = |place: usize| (1.0 - same - place as f64 * like).max(0.0);
                let pushed: Vec<f64> = (0..k).map(newer).collect();
                let renewal = Renewal::new(same, &pushed);
                let mut put_in = vec![0.0; k + 1];
                let mut never = put_in.clone();
                (put_in[0], never[k]) = (1.0, 1.0);
                let tails = poisson_tails(3.7);
                let (mut mixed, mut reached) = (0.0, 1.0);
                let mut presence = renewal.presence();
                for arrivals in 0..3_000 {
                    let (found, there) = (presence.next().unwrap(), 1.0 - put_in[k]);
                    assert!((found - there).abs() < 1e-9, "{k} {same} {arrivals}: {found} {there}");
                    let tail = tails.get(arrivals).copied().unwrap_or(0.0);
                    mixed += (reached - tail) * (1.0 - never[k]);
                    reached = tail;
                    put_in = step(&put_in, same, &pushed);
                    never = step(&never, same, &pushed);
                }
                assert!((renewal.after_poisson(&tails) - mixed).abs() < 1e-9, "{k} {same}");
                assert!((renewal.end() - (1.0 - never[k])).abs() < 1e-6, "{k} {same}");
            }
        }
    }
}
