//! The queuing construction: any filter becomes one for a window, by taking turns.
//!
//! L subfilters share the cells. Keys go into the newest; a key is reported if any of them reports
//! it. After c insertions the oldest is emptied and becomes the newest. With L = 3, c = 2 and the
//! stream `a b c d e f g`: the subfilters hold `ab`, `cd`, `ef`, and when `g` comes, `ab` is
//! emptied for it. So four keys back, `c`, is still known: (L - 1) c always are.
//!
//! Section 5 of Géraud-Stewart, Lombard-Platet and Naccache. What we changed: they rotate every
//! w / L insertions, which leaves the end of the window uncovered and forgets 1/(2L) of it even
//! with perfect subfilters; our default is ceil(w / (L - 1)), which covers it. Both are here
//! ([`Rotation`]), and L is computed from the error law, not asked of the user. Not guaranteed:
//! a bounded worst case. Every c-th insertion empties a subfilter, in time linear in its size.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::detector::{
    Subfilter, payload_bits, promise_of_long_run, read_cells, window_and_memory,
};
use super::law::{Crowd, Stream, queued};
use super::random::Random;
use crate::bits::{Packed, size_of_parts};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::catalog::Row;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Filter, Membership};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::{Mistakes, Promise};
use crate::sample::{FEWEST_PLACES, PLACES};
use crate::window::{Slack, Time, Window};

/// When the subfilters take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// Every ceil(w / (L - 1)) insertions: the window is always covered.
    Covering,
    /// Every ceil(w / L) insertions, as the paper has it: more room for each key, but the end of
    /// the window is sometimes gone.
    AsPublished,
}

impl Rotation {
    /// Insertions between rotations.
    pub fn turn(self, window: u64, filters: u64) -> u64 {
        match self {
            Rotation::Covering => window.div_ceil(filters - 1),
            Rotation::AsPublished => window.div_ceil(filters),
        }
    }
}

/// How many subfilters of which kind, and when they take turns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueuingParameters<S> {
    /// The window over which errors are predicted.
    pub window: u64,
    /// Subfilters, at least two.
    pub filters: u64,
    /// Insertions between rotations.
    pub turn: u64,
    /// The parameters of each subfilter.
    pub subfilter: S,
}

/// More subfilters than this are never best, and each is asked at every check.
const MOST_FILTERS: u64 = 64;

impl<S: Subfilter> QueuingParameters<S> {
    /// This many subfilters, each as good as can be within its share of `bytes`.
    pub fn with_filters(
        stream: Stream,
        filters: u64,
        rotation: Rotation,
        bytes: u64,
    ) -> Option<Self> {
        Self::with_filters_near(stream, filters, rotation, bytes, None)
    }

    /// The same, found from the subfilters of a queue that is much like it.
    fn with_filters_near(
        stream: Stream,
        filters: u64,
        rotation: Rotation,
        bytes: u64,
        near: Option<&S>,
    ) -> Option<Self> {
        let window = stream.window as u64;
        let turn = rotation.turn(window, filters);
        let bits = payload_bits(bytes) / filters;
        let subfilter = S::best_in_queue(bits, turn as f64, stream, near)?;
        Some(Self { window, filters, turn, subfilter })
    }

    /// The number of subfilters that errs least within `bytes`; at least as many as keep the slack
    /// to `most_slack`. `None` if nothing fits.
    pub fn with_memory(stream: Stream, bytes: u64, most_slack: Option<u64>) -> Option<Self> {
        let fits = |&&filters: &&u64| {
            let held = filters * Rotation::Covering.turn(stream.window as u64, filters);
            most_slack.is_none_or(|most| held.saturating_sub(stream.window as u64) <= most)
        };
        // The error is flat around its one minimum in the number of subfilters: steps of a fifth
        // find it to within a percent.
        let mut counts: Vec<u64> = (2..7).collect();
        while let Some(&last) = counts.last().filter(|&&last| last < MOST_FILTERS) {
            counts.push((last + last.div_ceil(5)).min(MOST_FILTERS));
        }
        let mut best: Option<(f64, Self)> = None;
        let mut near = None;
        for &filters in counts.iter().filter(fits) {
            let covering = Rotation::Covering;
            let found = Self::with_filters_near(stream, filters, covering, bytes, near.as_ref());
            let Some(parameters) = found else { continue };
            near = Some(parameters.subfilter);
            let errors = parameters.in_crowd(stream, Crowd::AVERAGE).total();
            match best {
                Some((least, _)) if errors > 1.5 * least => break,
                Some((least, _)) if errors >= least => {}
                _ => best = Some((errors, parameters)),
            }
        }
        best.map(|(_, parameters)| parameters)
    }

    /// The errors over a stream, with this window or another.
    pub fn predict(&self, stream: Stream) -> Mistakes {
        let crowds = self.subfilter.crowds(stream);
        Mistakes::mean_of(
            crowds.into_iter().map(|(weight, crowd)| (weight, self.in_crowd(stream, crowd))),
        )
    }

    fn in_crowd(&self, stream: Stream, crowd: Crowd) -> Mistakes {
        queued(stream, self.filters, self.turn as f64, |n, last| {
            self.subfilter.after(n, last, stream, crowd)
        })
    }

    /// How much older than the window a reported key can be.
    pub fn slack(&self) -> u64 {
        (self.filters * self.turn).saturating_sub(self.window)
    }

    fn len(&self) -> usize {
        size_of_parts(self.filters, self.subfilter.cells())
    }
}

impl<S: Subfilter> Parameters for QueuingParameters<S> {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("filters", &mut self.filters, 2..=MOST_FILTERS, "from 2 to 64")?;
        let most = self.window;
        list.add("turn", &mut self.turn, 1..=most, "from 1 to the window")?;
        self.subfilter.list(list)
    }

    fn rows() -> &'static [Row] {
        S::rows()
    }
}

impl<S: Subfilter> Blueprint for QueuingParameters<S> {
    fn promise(&self) -> Promise {
        let slack = Slack::Items(self.slack());
        // All of them full, so that unseen keys get what is promised at the worst moment.
        let (turn, stream) = (self.turn as f64, Stream::new(self.window, None));
        let each = self.subfilter.after(turn, turn, stream, Crowd::AVERAGE).false_positives;
        let false_positives = -(self.filters as f64 * (-each).ln_1p()).exp_m1();
        if S::FORGETS || (self.filters - 1) * self.turn < self.window {
            let expected = Mistakes { false_positives, ..self.expected_mistakes(None) };
            return promise_of_long_run(self.window, slack, expected);
        }
        Promise { window: Window::Last(self.window), slack, false_positives, false_negatives: 0.0 }
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        self.predict(Stream::new(self.window, alphabet))
    }

    fn heap_bytes(&self) -> u64 {
        Packed::heap_bytes_for(self.subfilter.cell_bits(), self.len())
    }

    fn lines_touched(&self) -> f64 {
        self.filters as f64 * self.subfilter.lines_touched()
    }

    fn allocate(&self, seed: Seed) -> Box<dyn Filter> {
        Box::new(Queuing::new(*self, seed))
    }
}

/// Subfilters that take turns.
#[derive(Debug, Clone)]
pub struct Queuing<S> {
    parameters: QueuingParameters<S>,
    /// The cells of all subfilters, one after another.
    cells: Packed,
    random: Random,
    /// Which subfilter receives insertions.
    newest: u64,
    /// Insertions into it; at most `turn`.
    held: u64,
}

impl<S: Subfilter> Queuing<S> {
    /// An empty queue; `seed` drives the random choices of the subfilters.
    pub fn new(parameters: QueuingParameters<S>, seed: Seed) -> Self {
        let cells = Packed::new(parameters.subfilter.cell_bits(), parameters.len());
        Self { parameters, cells, random: Random::new(seed), newest: 0, held: 0 }
    }

    /// Makes room for one more insertion.
    fn advance(&mut self) {
        if self.held == self.parameters.turn {
            self.newest = (self.newest + 1) % self.parameters.filters;
            let cells = self.parameters.subfilter.cells() as usize;
            self.cells.clear(self.base(self.newest), cells);
            self.held = 0;
        }
        self.held += 1;
    }

    fn base(&self, filter: u64) -> usize {
        (filter * self.parameters.subfilter.cells()) as usize
    }

    fn bases(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parameters.filters).map(|filter| self.base(filter))
    }
}

impl<S: Subfilter> Membership for Queuing<S> {
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        self.advance();
        let seen = self.contains_hash(hash, now);
        let base = self.base(self.newest);
        self.parameters.subfilter.insert(&mut self.cells, base, hash, &mut self.random);
        !seen
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.advance();
        let seen = self.contains_hash(hash, now);
        if !seen {
            let base = self.base(self.newest);
            self.parameters.subfilter.insert(&mut self.cells, base, hash, &mut self.random);
        }
        !seen
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.bases().any(|base| self.parameters.subfilter.contains(&self.cells, base, hash))
    }

    fn prefetch_hash(&self, hash: u64) {
        let first = self.parameters.subfilter.first_cell(hash);
        for base in self.bases() {
            self.cells.prefetch(base + first);
        }
    }
}

impl<S: Subfilter> Filter for Queuing<S> {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let places = (PLACES / self.parameters.filters as usize).max(FEWEST_PLACES);
        let estimate = |base| self.parameters.subfilter.estimate(&self.cells, base, places);
        1.0 - self.bases().map(|base| 1.0 - estimate(base)).product::<f64>()
    }

    fn write_payload(&self, out: &mut Writer) {
        self.random.write(out);
        out.u64(self.newest);
        out.u64(self.held);
        out.words(self.cells.as_words());
    }
}

impl<S: Subfilter> Structure for QueuingParameters<S> {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let (window, bytes) = window_and_memory(goal)?;
        let stream = Stream::new(window, goal.alphabet);
        Self::with_memory(stream, bytes, goal.slack_in_items())
            .ok_or(Unfit("needs more memory, or a larger slack"))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let random = Random::read(payload)?;
        let newest = payload.u64_at_most("newest", self.filters - 1, "one of the filters")?;
        let held = payload.u64_at_most("held", self.turn, "at most a turn")?;
        let len = self.subfilter.cells().checked_mul(self.filters);
        let cells = read_cells(payload, self.subfilter.cell_bits(), len)?;
        Ok(Box::new(Queuing { parameters: self, cells, random, newest, held }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplicates::{PlainBloom, QuotientTable};

    #[test]
    fn the_example_of_the_documentation() {
        let subfilter = PlainBloom { bits: 1000, hashes: 5 };
        let parameters = QueuingParameters { window: 4, filters: 3, turn: 2, subfilter };
        let mut queue = Queuing::new(parameters, Seed(0));
        let key = |name: u8| crate::hash::remix(name.into(), 0);
        for name in *b"abcdefg" {
            assert!(queue.insert_hash(key(name), Time::ZERO));
        }
        let known = |name| queue.contains_hash(key(name), Time::ZERO);
        assert_eq!([b'a', b'b', b'c', b'd'].map(known), [false, false, true, true]);
        assert_eq!(parameters.slack(), 2);
    }

    #[test]
    fn rotations_cover_the_window_or_not() {
        for (window, filters) in [(1, 2), (100, 10), (1000, 7), (5, 10)] {
            assert!(Rotation::Covering.turn(window, filters) * (filters - 1) >= window);
            assert!(Rotation::AsPublished.turn(window, filters) * filters >= window);
        }
        assert_eq!(Rotation::AsPublished.turn(100, 10), 10);
        assert_eq!(Rotation::Covering.turn(100, 10), 12);
    }

    /// From the subfilters of one queue to those of the next is a short way, and leads to what all that
    /// are tried lead to.
    #[test]
    fn the_short_search_finds_what_the_long_one_does() {
        let mut compared = 0;
        for (window, bits_per_item) in [(40_000, 6), (1_000_000, 4), (1_000_000, 16), (1 << 30, 24)]
        {
            for alphabet in [None, Some(10 * window)] {
                let (stream, mut near) = (Stream::new(window, alphabet), None);
                for filters in [2, 3, 4, 6, 9, 14, 24] {
                    let turn = Rotation::Covering.turn(window, filters) as f64;
                    let bits = window * bits_per_item / filters;
                    let best = |near| QuotientTable::best_in_queue(bits, turn, stream, near);
                    let long = best(None);
                    assert_eq!(best(near.as_ref()), long, "{window} {bits_per_item} {filters}");
                    near = long;
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 56);
    }
}
