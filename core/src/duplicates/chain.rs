//! The life of one fingerprint in its cell, as a Markov chain: the error law of all tables whose
//! cells forget on their own.
//!
//! A key's fingerprint is watched in the cell that its hash chose. Every arrival of another key in
//! that cell moves it: pushes it on, overwrites it, or brings the same fingerprint anew by
//! collision. With one bucket there are two states, out and in; an arrival leads to "in" with the
//! chance `q` that its fingerprint is the same, and to "out" otherwise. A key never seen meets the
//! chain where arrivals alone have brought it (`q`); a repeat meets it `j` arrivals after it was
//! put in.
//!
//! How many arrivals there are follows from the stream. Over an alphabet of `G` keys a cell of `N`
//! has `K` rivals, a Poisson number around `G / N`, and small `G / N` makes cells differ so much
//! that the mean over `K` is not the law at the mean; so we take the mean of laws.

use super::law::Stream;
use crate::filter::Mistakes;
use crate::probability::{poisson_mean, poisson_tails};

/// What arrivals do to a fingerprint.
#[derive(Debug, Clone)]
pub struct Chain {
    /// Whether the fingerprint is stored, by state.
    pub stored: Vec<bool>,
    /// The state of an empty cell.
    pub empty: usize,
    /// Moves when another key arrives: from, to, chance. Chances from each state sum to 1.
    pub rival: Vec<(usize, usize, f64)>,
    /// Moves when the key itself arrives.
    pub itself: Vec<(usize, usize, f64)>,
}

/// A chain, and how many cells share the arrivals.
#[derive(Debug, Clone)]
pub struct CellLaw {
    /// The chain in each cell.
    pub chain: Chain,
    /// Cells of the table.
    pub cells: f64,
}

/// Beyond this many arrivals per cell within a window the key is as good as new; counting on would
/// only cost time.
const MOST_ARRIVALS: f64 = 20_000.0;

/// Chances below this do not change an error in its fourth digit.
const NEGLIGIBLE: f64 = 1e-7;

impl CellLaw {
    /// The errors of the table in the long run.
    pub fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        let settled = self.chain.settled();
        if stream.rate == 0.0 {
            return self.for_rivals(stream, stream.window / self.cells, &settled);
        }
        let rivals = (1.0 / stream.rate - 1.0) / self.cells;
        let law =
            |rivals: f64| self.for_rivals(stream, rivals * stream.rate * stream.window, &settled);
        mean_law(rivals, law)
    }

    /// The law in a cell where `arrivals` rivals come within a window on average.
    fn for_rivals(&self, stream: Stream, arrivals: f64, settled: &[f64]) -> Mistakes {
        let arrivals = arrivals.min(MOST_ARRIVALS);
        let returns = stream.rate * stream.window;
        // Chance that the key itself comes before the next rival.
        let own = if returns == 0.0 { 0.0 } else { returns / (returns + arrivals) };
        let start = self.chain.start(settled, own);
        let end = self.chain.presence_of(settled);
        let tails = poisson_tails(returns + arrivals);
        let presence = self.chain.presence(&start, tails.len(), own, end);

        // Repeats: j rivals came since, at a distance within the window.
        let (mut weights, mut stored, mut geometric) = (0.0, 0.0, 1.0);
        for (&tail, &present) in tails.iter().zip(&presence) {
            weights += geometric * tail;
            stored += geometric * tail * present;
            geometric *= 1.0 - own;
        }
        let repeats = stored / weights;

        // Keys not in the window: Poisson many rivals came within it, and before it the key or
        // rivals in geometric number; where the chain settles, counting ends.
        let mut later = end;
        let mut ahead = vec![0.0; presence.len()];
        for (ahead, &present) in ahead.iter_mut().zip(&presence).rev() {
            later = own * present + (1.0 - own) * later;
            *ahead = later;
        }
        let absent = poisson_mean(arrivals, |j| ahead.get(j as usize).copied().unwrap_or(end));
        Mistakes { false_positives: absent, false_negatives: 1.0 - repeats }
    }

    /// The errors after `n` insertions into an empty table: of keys not among them, and of keys
    /// among them.
    pub fn after(&self, n: f64, stream: Stream) -> Mistakes {
        /// Moments at which the key may have come.
        const MOMENTS: u32 = 12;
        let arrivals = (n / self.cells).min(MOST_ARRIVALS);
        let mut empty = vec![0.0; self.chain.stored.len()];
        empty[self.chain.empty] = 1.0;
        let absent = self.chain.presence_of(&self.chain.after_poisson(&empty, arrivals));
        let (mut stored, mut weights) = (0.0, 0.0);
        for moment in 0..MOMENTS {
            let before = (f64::from(moment) + 0.5) / f64::from(MOMENTS);
            let held = self.chain.after_poisson(&empty, before * arrivals);
            let start = step(&self.chain.itself, &held);
            let now = self.chain.after_poisson(&start, (1.0 - before) * arrivals);
            // Of several copies the latest counts, so late ones are likelier.
            let weight = (-stream.rate * n * (1.0 - before)).exp();
            stored += weight * self.chain.presence_of(&now);
            weights += weight;
        }
        Mistakes { false_positives: absent, false_negatives: 1.0 - stored / weights }
    }
}

impl Chain {
    /// The chance that the fingerprint is stored.
    fn presence_of(&self, states: &[f64]) -> f64 {
        states.iter().zip(&self.stored).map(|(p, &stored)| if stored { *p } else { 0.0 }).sum()
    }

    /// The chance that it is stored after 0, 1, 2, ... arrivals: `least` of them and more, until it
    /// is settled at `end` or the key itself has come, with chance `own` each time.
    fn presence(&self, start: &[f64], least: usize, own: f64, end: f64) -> Vec<f64> {
        let mut states = start.to_vec();
        let mut presence = Vec::with_capacity(least);
        let mut waiting = if own == 0.0 { 0.0 } else { 1.0 };
        loop {
            let present = self.presence_of(&states);
            presence.push(present);
            waiting *= 1.0 - own;
            if presence.len() >= least && waiting * (present - end).abs() < NEGLIGIBLE {
                return presence;
            }
            states = step(&self.rival, &states);
        }
    }

    /// The states after a Poisson number of arrivals.
    fn after_poisson(&self, start: &[f64], mean: f64) -> Vec<f64> {
        let tails = poisson_tails(mean);
        let mut states = start.to_vec();
        let mut mixed = vec![0.0; states.len()];
        let mut reached = 1.0;
        for tail in tails {
            // P(exactly j) is the tail beyond j - 1 less the tail beyond j.
            for (mixed, state) in mixed.iter_mut().zip(&states) {
                *mixed += (reached - tail) * state;
            }
            reached = tail;
            states = step(&self.rival, &states);
        }
        mixed
    }

    /// Where arrivals of rivals bring a cell in the long run.
    fn settled(&self) -> Vec<f64> {
        let mut states = vec![0.0; self.stored.len()];
        states[self.empty] = 1.0;
        self.follow(states, |states| step(&self.rival, states))
    }

    /// The states just after the key came, when it comes before the next rival with chance `own`,
    /// again and again.
    fn start(&self, settled: &[f64], own: f64) -> Vec<f64> {
        let first = step(&self.itself, settled);
        if own == 0.0 {
            return first;
        }
        self.follow(first, |start| {
            // Where a geometric number of rivals leads, then the key once more.
            let mut states = start.to_vec();
            let mut met = vec![0.0; states.len()];
            let mut still = 1.0;
            while still > NEGLIGIBLE {
                for (met, state) in met.iter_mut().zip(&states) {
                    *met += still * own * state;
                }
                still *= 1.0 - own;
                states = step(&self.rival, &states);
            }
            for (met, state) in met.iter_mut().zip(&states) {
                *met += still * state;
            }
            step(&self.itself, &met)
        })
    }

    /// Repeats a move until it changes nothing that matters.
    fn follow(&self, mut states: Vec<f64>, advance: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        for _ in 0..10_000 {
            let next = advance(&states);
            let change: f64 = next.iter().zip(&states).map(|(a, b)| (a - b).abs()).sum();
            states = next;
            if change < NEGLIGIBLE {
                break;
            }
        }
        states
    }
}

fn step(moves: &[(usize, usize, f64)], states: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; states.len()];
    for &(from, to, chance) in moves {
        next[to] += states[from] * chance;
    }
    next
}

/// The mean of a law over a Poisson number of rivals.
fn mean_law(rivals: f64, law: impl Fn(f64) -> Mistakes) -> Mistakes {
    /// Where the Poisson distribution is narrow, the law at its mean and one deviation to either
    /// side give its mean to four digits.
    const NARROW: f64 = 60.0;
    if rivals > NARROW {
        let (low, high) = (law(rivals - rivals.sqrt()), law(rivals + rivals.sqrt()));
        return low.mean(high);
    }
    let most = (rivals + 10.0 * rivals.sqrt() + 20.0) as usize;
    let laws: Vec<Mistakes> = (0..=most).map(|k| law(k as f64)).collect();
    let at = |k: u64| laws[(k as usize).min(most)];
    Mistakes {
        false_positives: poisson_mean(rivals, |k| at(k).false_positives),
        false_negatives: poisson_mean(rivals, |k| at(k).false_negatives),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bucket, fingerprints that agree with chance `q`.
    fn one_bucket(q: f64) -> Chain {
        Chain {
            stored: vec![false, true],
            empty: 0,
            rival: vec![(0, 0, 1.0 - q), (0, 1, q), (1, 0, 1.0 - q), (1, 1, q)],
            itself: vec![(0, 1, 1.0), (1, 1, 1.0)],
        }
    }

    /// The closed forms for one bucket: without end, `FP = q` and a repeat survives
    /// `(1 - e^-x) / x` of the time, with x arrivals per cell and window.
    #[test]
    fn one_bucket_without_an_alphabet() {
        let (q, cells) = (1.0 / 7.0, 1000.0);
        let law = CellLaw { chain: one_bucket(q), cells };
        for window in [1, 100, 1000, 5000] {
            let errors = law.in_the_long_run(Stream::new(window, None));
            let x = window as f64 / cells;
            let kept = -(-x).exp_m1() / x;
            assert!((errors.false_positives - q).abs() < 1e-9);
            let expected = (1.0 - q) * (1.0 - kept);
            assert!((errors.false_negatives - expected).abs() < 1e-4, "{errors:?} {expected}");
        }
    }

    /// With few rivals per cell, what is older than the window is often still there: 0.2518 for the
    /// setting of the paper's Figure 3 as the window shrinks, where 1/7 is the chance of a collision.
    #[test]
    fn one_bucket_over_a_small_alphabet() {
        let law = CellLaw { chain: one_bucket(1.0 / 7.0), cells: 33_333.0 };
        let errors = law.in_the_long_run(Stream::new(1, Some(1 << 18)));
        assert!((errors.false_positives - 0.2518).abs() < 2e-4, "{errors:?}");
    }

    /// `FP_n = q (1 - e^(-n/N))`, and a key among the n survives as in a window of n.
    #[test]
    fn one_bucket_from_empty() {
        let (q, cells) = (0.25, 500.0);
        let law = CellLaw { chain: one_bucket(q), cells };
        for n in [1.0, 50.0, 500.0, 2500.0] {
            let errors = law.after(n, Stream::new(1, None));
            let x = n / cells;
            assert!((errors.false_positives - q * (1.0 - (-x).exp())).abs() < 1e-9);
            let expected = (1.0 - q) * (1.0 + (-x).exp_m1() / x);
            assert!((errors.false_negatives - expected).abs() < 4e-3, "{errors:?} {expected}");
        }
    }
}
