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

use alloc::vec::Vec;
use core::mem;

use super::law::{Crowd, Stream};
use super::moves::Moves;
use super::renewal::Renewal;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::probability::{poisson_mean, poisson_nodes, poisson_tails};
use crate::promise::Mistakes;

/// What arrivals do to a fingerprint.
#[derive(Debug, Clone)]
pub struct Chain {
    /// Whether the fingerprint is stored, by state.
    pub stored: Vec<bool>,
    /// The state of an empty cell.
    pub empty: usize,
    /// Moves when another key arrives. Chances from each state sum to 1.
    pub rival: Moves,
    /// Moves when the key itself arrives.
    pub itself: Moves,
}

/// What happens to a fingerprint in its cell.
#[derive(Debug, Clone)]
pub enum Life {
    /// States and moves, whatever they are.
    Chain(Chain),
    /// A queue, in which there is more to know without following all its states.
    Queue(Renewal),
}

/// A life for every crowd, and how many cells share the arrivals.
#[derive(Debug, Clone)]
pub struct CellLaw<F> {
    /// The life in a cell, given the chance that a rival brings the key's own fingerprint, and
    /// that it brings a given other one that is stored.
    pub life: F,
    /// The chance that two keys have the same fingerprint.
    pub collision: f64,
    /// Cells of the table.
    pub cells: f64,
}

/// Beyond this many arrivals per cell within a window the key is as good as new; counting on would
/// only cost time.
const MOST_ARRIVALS: f64 = 20_000.0;

/// Chances below this do not change an error in its fourth digit.
const NEGLIGIBLE: f64 = 1e-7;

/// Up to so many rivals per cell, cells differ enough to matter.
const FEW_RIVALS: f64 = 100.0;

impl<F: Fn(f64, f64) -> Life> CellLaw<F> {
    /// The errors of the table in the long run.
    pub fn in_the_long_run(&self, stream: Stream) -> Mistakes {
        if stream.rate == 0.0 {
            let life = self.life_among(f64::INFINITY, 1.0);
            return long_run(&life, stream, stream.window / self.cells);
        }
        let rivals = self.rivals(stream);
        let nodes = poisson_nodes(rivals, if rivals > FEW_RIVALS { 3 } else { 12 });
        Mistakes::mean_of(nodes.into_iter().map(|(weight, rivals)| {
            let life = self.life_among(rivals, 1.0);
            (weight, long_run(&life, stream, rivals * stream.rate * stream.window))
        }))
    }

    /// The errors after `n` insertions into an empty table: of keys not among them, and of keys
    /// whose latest copy is among the `last` of them.
    pub fn after(&self, n: f64, last: f64, stream: Stream, crowd: Crowd) -> Mistakes {
        /// Moments at which the key may have come.
        const MOMENTS: u32 = 8;
        let arrivals = (crowd.density * n / self.cells).min(MOST_ARRIVALS);
        let share = last / n.max(1e-9);
        let (within, returns) = (share * arrivals, stream.rate * last);
        // Keys that came within: all arrivals since, and which share of them are the key's own.
        let own = returns / (returns + within).max(1e-300);
        let chain = match self.life_among(crowd.density * self.rivals(stream), crowd.likeness) {
            Life::Chain(chain) => chain,
            Life::Queue(queue) => {
                let absent = queue.after_poisson(&poisson_tails(arrivals));
                let tails = poisson_tails(returns + within);
                let stored = mean_within(&tails, queue.presence(), own);
                return Mistakes { false_positives: absent, false_negatives: 1.0 - stored };
            }
        };
        let mut empty = vec![0.0; chain.stored.len()];
        empty[chain.empty] = 1.0;
        let absent = chain.presence_of(&chain.after_poisson(&empty, arrivals));
        let stored = if let Some(start) = chain.always() {
            let tails = poisson_tails(returns + within);
            let presence = chain.presence(&start, tails.len(), 0.0, 0.0);
            mean_within(&tails, presence, own)
        } else {
            let (mut stored, mut weights) = (0.0, 0.0);
            let mut held = chain.after_poisson(&empty, (1.0 - share) * arrivals);
            for moment in 0..MOMENTS {
                let part = share / f64::from(MOMENTS);
                let half = if moment == 0 { 0.5 } else { 1.0 };
                held = chain.after_poisson(&held, half * part * arrivals);
                let since = share - part * (f64::from(moment) + 0.5);
                let start = chain.itself.step(&held);
                let now = chain.after_poisson(&start, since * arrivals);
                // Of several copies the latest counts, so late ones are likelier.
                let weight = (-stream.rate * n * since).exp();
                stored += weight * chain.presence_of(&now);
                weights += weight;
            }
            stored / weights
        };
        Mistakes { false_positives: absent, false_negatives: 1.0 - stored }
    }

    /// The crowds that keys meet: how many rivals, and how many of them alike.
    pub fn crowds(&self, stream: Stream) -> Vec<(f64, Crowd)> {
        let rivals = self.rivals(stream);
        if rivals > FEW_RIVALS {
            return vec![(1.0, Crowd::AVERAGE)];
        }
        let others = poisson_nodes(rivals * (1.0 - self.collision), 6);
        let mut crowds = Vec::new();
        for (weight, alike) in poisson_nodes(rivals * self.collision, 6) {
            for &(share, others) in &others {
                let all = alike + others;
                let likeness = if all == 0.0 { 1.0 } else { alike / all / self.collision };
                crowds.push((weight * share, Crowd { density: all / rivals, likeness }));
            }
        }
        crowds
    }

    /// Keys of the alphabet that share a cell with a given one.
    fn rivals(&self, stream: Stream) -> f64 {
        if stream.rate == 0.0 { f64::INFINITY } else { (1.0 / stream.rate - 1.0) / self.cells }
    }

    /// The life in a cell with so many rivals. One that is stored may come again, or be met by
    /// its like.
    fn life_among(&self, rivals: f64, likeness: f64) -> Life {
        let again = (1.0 / rivals.max(1.0)).min(1.0);
        let same = (likeness * self.collision).min(1.0);
        (self.life)(same, again + (1.0 - again) * self.collision)
    }
}

/// The errors in the long run in a cell where `arrivals` rivals come within a window on average.
fn long_run(life: &Life, stream: Stream, arrivals: f64) -> Mistakes {
    let arrivals = arrivals.min(MOST_ARRIVALS);
    let returns = stream.rate * stream.window;
    // Chance that the key itself comes before the next rival.
    let own = if returns == 0.0 { 0.0 } else { returns / (returns + arrivals) };
    let tails = poisson_tails(returns + arrivals);
    let (presence, end) = match life {
        Life::Chain(chain) => {
            let settled = chain.settled();
            let start = chain.start(&settled, own);
            let end = chain.presence_of(&settled);
            (chain.presence(&start, tails.len(), own, end), end)
        }
        Life::Queue(queue) => {
            let end = queue.end();
            (until_settled(queue.presence(), tails.len(), own, end), end)
        }
    };

    let repeats = mean_within(&tails, presence.iter().copied(), own);
    // Keys not in the window: Poisson many rivals came within it, and before it the key or rivals
    // in geometric number; where the chain settles, counting ends.
    let mut later = end;
    let mut ahead = vec![0.0; presence.len()];
    for (ahead, &present) in ahead.iter_mut().zip(&presence).rev() {
        later = own * present + (1.0 - own) * later;
        *ahead = later;
    }
    let absent = poisson_mean(arrivals, |j| ahead.get(j as usize).copied().unwrap_or(end));
    Mistakes { false_positives: absent, false_negatives: 1.0 - repeats }
}

/// The mean of `presence` after j rivals, of keys that came at most so long ago that `tails` are the
/// chances of more than j arrivals, of which the key's own are a share `own`.
fn mean_within(tails: &[f64], presence: impl IntoIterator<Item = f64>, own: f64) -> f64 {
    let (mut weights, mut stored, mut geometric) = (0.0, 0.0, 1.0);
    let mut presence = presence.into_iter().peekable();
    let at_once = presence.peek().copied().unwrap_or_default();
    for (&tail, present) in tails.iter().zip(presence) {
        weights += geometric * tail;
        stored += geometric * tail * present;
        geometric *= 1.0 - own;
    }
    // Without any arrival it is as it came.
    if weights > 0.0 { stored / weights } else { at_once }
}

/// The chances that it is stored after 0, 1, 2, ... arrivals: `least` of them and more, until it is
/// settled at `end` or the key itself has come, with chance `own` each time.
fn until_settled(
    presence: impl Iterator<Item = f64>,
    least: usize,
    own: f64,
    end: f64,
) -> Vec<f64> {
    let mut known = Vec::with_capacity(least);
    let mut waiting = if own == 0.0 { 0.0 } else { 1.0 };
    for present in presence {
        known.push(present);
        waiting *= 1.0 - own;
        let matters = waiting * (present - end).abs() >= NEGLIGIBLE;
        if known.len() >= least && !matters {
            break;
        }
    }
    known
}

impl Chain {
    /// The states just after the key came, if they do not depend on what was before.
    fn always(&self) -> Option<Vec<f64>> {
        self.itself.only_end().map(|to| {
            let mut states = vec![0.0; self.stored.len()];
            states[to] = 1.0;
            states
        })
    }

    /// The chance that the fingerprint is stored.
    fn presence_of(&self, states: &[f64]) -> f64 {
        states.iter().zip(&self.stored).map(|(p, &stored)| if stored { *p } else { 0.0 }).sum()
    }

    /// The chance that it is stored after 0, 1, 2, ... arrivals: see [`until_settled`].
    fn presence(&self, start: &[f64], least: usize, own: f64, end: f64) -> Vec<f64> {
        let (mut states, mut next) = (start.to_vec(), start.to_vec());
        let each = core::iter::from_fn(|| {
            let present = self.presence_of(&states);
            self.rival.follow(&states, &mut next);
            mem::swap(&mut states, &mut next);
            Some(present)
        });
        until_settled(each, least, own, end)
    }

    /// The states after a Poisson number of arrivals.
    fn after_poisson(&self, start: &[f64], mean: f64) -> Vec<f64> {
        let tails = poisson_tails(mean);
        let (mut states, mut next) = (start.to_vec(), start.to_vec());
        let mut mixed = vec![0.0; states.len()];
        let mut reached = 1.0;
        for tail in tails {
            // P(exactly j) is the tail beyond j - 1 less the tail beyond j.
            for (mixed, state) in mixed.iter_mut().zip(&states) {
                *mixed += (reached - tail) * state;
            }
            reached = tail;
            self.rival.follow(&states, &mut next);
            mem::swap(&mut states, &mut next);
        }
        mixed
    }

    /// Where arrivals of rivals bring a cell in the long run: the states that they do not change.
    fn settled(&self) -> Vec<f64> {
        let count = self.stored.len();
        // What flows into a state equals what flows out; one equation is replaced by the sum.
        let mut equations = vec![vec![0.0; count + 1]; count];
        for (equation, into) in equations.iter_mut().zip(self.rival.by_end()) {
            for &(from, chance) in into {
                equation[from as usize] += chance;
            }
        }
        for (state, equation) in equations.iter_mut().enumerate() {
            equation[state] -= 1.0;
        }
        equations[self.empty] = vec![1.0; count + 1];
        let settled = solve(equations);
        if settled.iter().all(|chance| chance.is_finite()) {
            return settled;
        }
        // Where rivals are so few that they change nothing any more, it depends on where one starts.
        let mut empty = vec![0.0; count];
        empty[self.empty] = 1.0;
        self.follow(empty, |states| self.rival.step(states))
    }

    /// The states just after the key came, when it comes before the next rival with chance `own`,
    /// again and again.
    fn start(&self, settled: &[f64], own: f64) -> Vec<f64> {
        if let Some(states) = self.always() {
            return states;
        }
        let first = self.itself.step(settled);
        if own == 0.0 {
            return first;
        }
        self.follow(first, |start| {
            // Where a geometric number of rivals leads, then the key once more.
            let (mut states, mut next) = (start.to_vec(), start.to_vec());
            let mut met = vec![0.0; states.len()];
            let mut still = 1.0;
            while still > NEGLIGIBLE {
                for (met, state) in met.iter_mut().zip(&states) {
                    *met += still * own * state;
                }
                still *= 1.0 - own;
                self.rival.follow(&states, &mut next);
                mem::swap(&mut states, &mut next);
            }
            for (met, state) in met.iter_mut().zip(&states) {
                *met += still * state;
            }
            self.itself.step(&met)
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

/// The solution of linear equations, each with its right side last, by elimination.
fn solve(mut equations: Vec<Vec<f64>>) -> Vec<f64> {
    let count = equations.len();
    for column in 0..count {
        let size = |row: &usize| equations[*row][column].abs();
        let pivot = (column..count).max_by(|a, b| size(a).total_cmp(&size(b)));
        equations.swap(column, pivot.unwrap_or(column));
        let (done, rest) = equations.split_at_mut(column + 1);
        let leading = &done[column];
        for equation in rest {
            let factor = equation[column] / leading[column];
            if factor != 0.0 {
                for (value, lead) in equation[column..].iter_mut().zip(&leading[column..]) {
                    *value -= factor * lead;
                }
            }
        }
    }
    let mut solution = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|i| equations[row][i] * solution[i]).sum();
        solution[row] = (equations[row][count] - known) / equations[row][row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bucket, fingerprints that agree with chance `q`.
    fn one_bucket(q: f64, cells: f64) -> CellLaw<impl Fn(f64, f64) -> Life> {
        let life = |q: f64, _| {
            Life::Chain(Chain {
                stored: vec![false, true],
                empty: 0,
                rival: Moves::new(2, vec![(0, 0, 1.0 - q), (0, 1, q), (1, 0, 1.0 - q), (1, 1, q)]),
                itself: Moves::new(2, vec![(0, 1, 1.0), (1, 1, 1.0)]),
            })
        };
        CellLaw { life, collision: q, cells }
    }

    /// The closed forms for one bucket: without end, `FP = q` and a repeat survives
    /// `(1 - e^-x) / x` of the time, with x arrivals per cell and window.
    #[test]
    fn one_bucket_without_an_alphabet() {
        let (q, cells) = (1.0 / 7.0, 1000.0);
        let law = one_bucket(q, cells);
        for window in [1, 100, 1000, 5000] {
            let errors = law.in_the_long_run(Stream::new(window, None));
            let x = window as f64 / cells;
            let kept = -(-x).exp_m1() / x;
            assert!((errors.false_positives - q).abs() < 1e-9);
            let expected = (1.0 - q) * (1.0 - kept);
            assert!((errors.false_negatives - expected).abs() < 1e-4, "{errors:?} {expected}");
        }
    }

    /// Where the only rival of a key is the one that is stored, arrivals change nothing, and no equation
    /// says where that ends.
    #[test]
    fn a_chain_that_stands_still_has_an_end() {
        let chain = Chain {
            stored: vec![false, true, false],
            empty: 0,
            rival: Moves::new(3, vec![(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]),
            itself: Moves::new(3, vec![(0, 1, 1.0), (1, 1, 1.0), (2, 1, 1.0)]),
        };
        assert_eq!(chain.settled(), [1.0, 0.0, 0.0]);
        let errors = long_run(&Life::Chain(chain), Stream::new(1000, Some(1200)), 0.3);
        assert!(errors.false_negatives.abs() < 1e-9, "{errors:?}");
    }

    /// With few rivals per cell, what is older than the window is often still there: 0.2518 for the
    /// setting of the paper's Figure 3 as the window shrinks, where 1/7 is the chance of a collision.
    #[test]
    fn one_bucket_over_a_small_alphabet() {
        let law = one_bucket(1.0 / 7.0, 33_333.0);
        let errors = law.in_the_long_run(Stream::new(1, Some(1 << 18)));
        assert!((errors.false_positives - 0.2518).abs() < 2e-3, "{errors:?}");
    }

    /// `FP_n = q (1 - e^(-n/N))`, and a key among the n survives as in a window of n.
    #[test]
    fn one_bucket_from_empty() {
        let (q, cells) = (0.25, 500.0);
        let law = one_bucket(q, cells);
        for n in [1.0, 50.0, 500.0, 2500.0] {
            let errors = law.after(n, n, Stream::new(1, None), Crowd::AVERAGE);
            let x = n / cells;
            assert!((errors.false_positives - q * (1.0 - (-x).exp())).abs() < 1e-9);
            let expected = (1.0 - q) * (1.0 + (-x).exp_m1() / x);
            assert!((errors.false_negatives - expected).abs() < 4e-3, "{errors:?} {expected}");
        }
    }
}
