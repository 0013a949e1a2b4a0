//! How often a detector errs, predicted: what the laws of all detectors share.
//!
//! # The stream that the laws are about
//!
//! Keys are drawn evenly and independently from an alphabet of `G` keys; a detector is asked whether
//! the key occurred among the `w` before it. Two shares matter: of keys that did not, those reported
//! as seen (false positives; among them keys older than the window that are still stored), and of
//! keys that did, those reported as new (false negatives).
//!
//! Without an alphabet the limit of a large one is meant: a key is either fresh, or repeats one
//! whose distance is evenly spread over the window. That is what a [`Promise`](crate::Promise) with
//! false negatives speaks of, because nobody knows their alphabet; skewed streams err less.
//!
//! # Queues of filters
//!
//! [`queued`] is the law of the queuing construction (Géraud-Stewart, Lombard-Platet and Naccache,
//! section 5) over any subfilter. Its false positives are the paper's Theorems 5 and 7. For false
//! negatives we do not use Theorems 6 and 8, kept here as [`theorem_8`]: they let a key be in each
//! subfilter independently, and so predict that even perfect subfilters forget a third of the
//! window. A repeat has one latest copy, in one subfilter:
//!
//! `FN = Σ_i P(latest copy in i) FN_i Π_(j newer) (1 - FP_j) Π_(j older) u_j + P(not covered) Π_j (1 - FP_j)`
//!
//! where `u_j` is the chance that an older subfilter, which may hold an earlier copy, says "new".

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::promise::Mistakes;

/// The stream for which an error is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// How many keys back a repeat counts as one.
    pub window: f64,
    /// The chance that the next key is a given one: one over the size of the alphabet; 0 without end.
    pub rate: f64,
}

impl Stream {
    /// Keys from an alphabet of this size, or from one without end.
    pub fn new(window: u64, alphabet: Option<u64>) -> Self {
        Self { window: window as f64, rate: alphabet.map_or(0.0, |keys| 1.0 / keys as f64) }
    }

    /// Chance that a key is among the last `n`.
    pub fn among(&self, n: f64) -> f64 {
        -(n.max(0.0) * (-self.rate).ln_1p()).exp_m1()
    }

    /// How many different keys are among `n`.
    pub fn distinct(&self, n: f64) -> f64 {
        if self.rate == 0.0 { n } else { self.among(n) / self.rate }
    }

    /// Errors of a window exact to the item that only takes keys for one another whose hashes, of so many values,
    /// are equal.
    pub fn collisions(&self, values: u64) -> Mistakes {
        let false_positives = collision(self.distinct(self.window), values);
        Mistakes { false_positives, false_negatives: 0.0 }
    }

    /// The share of repeats, among those at distance `1..=n`, whose distance is in `from..=to`.
    pub fn share(&self, from: f64, to: f64, n: f64) -> f64 {
        let (from, to) = (from.clamp(0.0, n), to.clamp(0.0, n));
        if self.rate * n < 1e-9 {
            (to - from) / n
        } else {
            (self.among(to) - self.among(from)) / self.among(n)
        }
    }
}

/// Chance that the hash of an unseen key, one of so many values, is that of one of `n` different keys:
/// `1 - (1 - 1/V)^n` (Theorem 3).
pub fn collision(n: f64, values: u64) -> f64 {
    -(n * (-1.0 / values as f64).ln_1p()).exp_m1()
}

/// How many of the alphabet's keys share the cells of the key in question: over a small alphabet
/// cells differ, and the same rivals meet it in every subfilter of a queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crowd {
    /// Arrivals in its cells, relative to the mean.
    pub density: f64,
    /// The share of them that look the same, relative to the mean.
    pub likeness: f64,
}

impl Crowd {
    /// As many and as alike as the mean.
    pub const AVERAGE: Crowd = Crowd { density: 1.0, likeness: 1.0 };
}

/// Errors of a queue of `filters` subfilters that rotates every `turn` insertions, averaged over a
/// turn. `after(n, last)` gives the errors of one subfilter after `n` insertions into an empty one:
/// of keys not among them, and of keys whose latest copy is among the last so many of them.
pub fn queued(
    stream: Stream,
    filters: u64,
    turn: f64,
    after: impl Fn(f64, f64) -> Mistakes,
) -> Mistakes {
    let full = after(turn, turn);
    let phases = phases(turn);
    let share = 1.0 / phases.len() as f64;
    Mistakes::mean_of(phases.iter().map(|&held| {
        let queue = Queue { stream, old: (filters - 1) as f64, turn, held };
        let newest = after(held, held);
        // The subfilter in which the window ends: only its younger part belongs to it.
        let inside = (stream.window - queue.before_border()).max(0.0);
        let border = if inside >= turn { full } else { after(turn, inside) };
        (share, queue.errors(&newest, &full, &border))
    }))
}

/// A queue at a moment.
struct Queue {
    stream: Stream,
    /// Full subfilters.
    old: f64,
    /// Insertions in each of them.
    turn: f64,
    /// Insertions in the newest.
    held: f64,
}

impl Queue {
    /// Insertions in the subfilters that lie in the window as a whole.
    fn before_border(&self) -> f64 {
        let whole = ((self.stream.window - self.held) / self.turn).floor();
        self.held + whole.clamp(0.0, self.old - 1.0) * self.turn
    }

    fn errors(&self, newest: &Mistakes, full: &Mistakes, border: &Mistakes) -> Mistakes {
        let Queue { stream, old, turn, held } = *self;
        let window = stream.window;
        // Answers "new" of a subfilter that does not hold the key.
        let (silent_new, silent_old) = (1.0 - newest.false_positives, 1.0 - full.false_positives);
        // The same of one of whose insertions so many may be the key, which are missed at a rate.
        let unsure = |span: f64, missed: f64| {
            let holds = stream.among(span);
            holds * missed + (1.0 - holds) * silent_old
        };
        let older_copy = unsure(turn, full.false_negatives);
        let beyond = (held + old * turn - window).max(0.0);
        let outside = (beyond / turn).floor().min(old);
        let inside = (old - outside - 1.0).max(0.0);
        // Of the subfilter in which the window ends, the older part is missed more often: what the
        // younger part leaves to the whole.
        let span = beyond - outside * turn;
        let older_part = full.false_negatives * turn - border.false_negatives * (turn - span);
        let missed = if span > 0.0 { (older_part / span).clamp(0.0, 1.0) } else { 0.0 };
        let partly = if old > outside { unsure(span, missed) } else { 1.0 };
        let silent = silent_new * silent_old.powf(inside) * partly * older_copy.powf(outside);

        let mut missed =
            stream.share(0.0, held, window) * newest.false_negatives * older_copy.powf(old);
        let (mut newer, mut older) = (silent_new, old);
        let mut start = held;
        while older > 0.0 && start < window {
            older -= 1.0;
            let latest_here = stream.share(start, start + turn, window);
            let here = if start + turn > window { border } else { full };
            missed += latest_here * here.false_negatives * newer * older_copy.powf(older);
            newer *= silent_old;
            start += turn;
        }
        missed += stream.share(start, window, window) * newer;
        Mistakes { false_positives: 1.0 - silent, false_negatives: missed }
    }
}

/// False positives as Theorem 7 has them, with `turn = window / filters`.
pub fn theorem_7(filters: u64, turn: f64, after: impl Fn(f64, f64) -> Mistakes) -> f64 {
    let full = 1.0 - after(turn, turn).false_positives;
    let newest = mean_over_turn(turn, |held| 1.0 - after(held, held).false_positives);
    1.0 - full.powf((filters - 1) as f64) * newest
}

/// False negatives as Theorem 8 has them. Far from the truth; see the module.
pub fn theorem_8(
    stream: Stream,
    filters: u64,
    turn: f64,
    after: impl Fn(f64, f64) -> Mistakes,
) -> f64 {
    let silent = |held: f64| {
        let errors = after(held, held);
        let holds = stream.share(0.0, held, stream.window);
        holds * errors.false_negatives + (1.0 - holds) * (1.0 - errors.false_positives)
    };
    silent(turn).powf((filters - 1) as f64) * mean_over_turn(turn, silent)
}

fn mean_over_turn(turn: f64, f: impl Fn(f64) -> f64) -> f64 {
    let phases = phases(turn);
    phases.iter().map(|&held| f(held)).sum::<f64>() / phases.len() as f64
}

/// Fillings of the newest subfilter that stand for all of `0..turn`.
fn phases(turn: f64) -> Vec<f64> {
    /// Enough for three digits: errors are smooth in the filling.
    const PHASES: f64 = 8.0;
    let count = PHASES.min(turn.ceil()).max(1.0);
    // Each phase stands for `turn / count` whole fillings; the middle one of them.
    (0..count as u64).map(|i| ((i as f64 + 0.5) * turn / count - 0.5).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perfect(_: f64, _: f64) -> Mistakes {
        Mistakes::default()
    }

    /// Perfect subfilters forget nothing when the rotation covers the window, and `1/(2L)` of it
    /// with the paper's rotation; its Theorem 8 says a third.
    #[test]
    fn perfect_subfilters() {
        let stream = Stream::new(1000, None);
        for filters in [2, 5, 10] {
            let covering = (1000.0 / (filters - 1) as f64).ceil();
            assert_eq!(queued(stream, filters, covering, perfect).total(), 0.0);
            let turn = 1000.0 / filters as f64;
            let forgotten = queued(stream, filters, turn, perfect).false_negatives;
            let expected = 1.0 / (2 * filters) as f64;
            assert!((forgotten - expected).abs() < 0.1 * expected, "{filters}: {forgotten}");
        }
        assert!(theorem_8(stream, 10, 100.0, perfect) > 0.3);
    }

    /// With an alphabet, what is stored beyond the window is reported, and is wrong.
    #[test]
    fn what_is_older_than_the_window_counts() {
        let stream = Stream::new(1000, Some(10_000));
        let wrong = queued(stream, 2, 1000.0, perfect).false_positives;
        // From none to a whole window of older keys, evenly.
        let expected = 1.0 - crate::probability::mean_decay(1000.0 / 10_000.0);
        assert!((wrong - expected).abs() < 1e-3, "{wrong} {expected}");
    }

    #[test]
    fn shares_add_up_with_and_without_an_alphabet() {
        for alphabet in [None, Some(1 << 12), Some(1 << 40)] {
            let stream = Stream::new(5000, alphabet);
            let sum = stream.share(0.0, 700.0, 5000.0) + stream.share(700.0, 9000.0, 5000.0);
            assert!((sum - 1.0).abs() < 1e-9);
        }
        let short = Stream::new(10, None);
        assert_eq!(short.distinct(100.0), 100.0);
        assert!(Stream::new(10, Some(50)).distinct(1e9) <= 50.0);
    }
}
