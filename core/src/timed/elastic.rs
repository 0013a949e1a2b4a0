//! The last n in memory that follows the different keys among them, not n.
//!
//! Other windows by count are as large as n from the first key on. Where keys repeat, or n is chosen to be
//! large enough for the worst day, most of that is for nobody. This is the [window by time](super) with the
//! number of the insertion for a clock: it starts with nothing, has one entry for every different key of the
//! window, and gives memory back when there are fewer.
//!
//! Worked example: the last 100 million lines of a log in which a million different addresses come. As
//! `sliding` at 0.1% that is 225 MiB, here 2.4 MiB (`lately plan --last 100M --expected 1M --error 0.1%`).
//! Where no key repeats, `sliding` is smaller and faster, so the planner takes this one only where it is told
//! to expect fewer different keys than the window is long, or where no other will do.
//!
//! After Naor and Yogev, *Sliding Bloom Filters*, section 2, without their assumption that n is known.

use alloc::boxed::Box;

use super::by_count::{self, best_floor};
use super::filter::TimedWindow;
use super::parameters::TimedWindowParameters;
use super::slots::Repeat;
use super::state;
use crate::bits::vectorized;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Age, Aging, Filter, Membership, Removing};
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::Promise;
use crate::window::{Slack, Span, Time, Window};

/// How many insertions are remembered, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ElasticWindowParameters {
    /// The segments; their span is a number of insertions.
    pub segments: TimedWindowParameters,
    /// Different keys to expect in the window, for which plans are made; promises hold for any number.
    pub distinct: u64,
}

impl ElasticWindowParameters {
    /// Parameters for a window, a slack in insertions, an error, and how many different keys to expect: as
    /// many as fit unless that is said.
    pub fn with_error(
        window: u64,
        slack: Option<u64>,
        rate: f64,
        distinct: Option<u64>,
    ) -> Result<Self, Unfit> {
        let distinct = distinct.map_or(window, |distinct| distinct.clamp(1, window));
        let (span, slack) = (Span::from_millis(window), slack.map(Span::from_millis));
        let cost =
            |made: &TimedWindowParameters| made.bits_per_entry() + best_floor(made, distinct).1;
        let made = TimedWindowParameters::with_payload(0, span, slack, rate, None, cost)?;
        // So that it is at its calm size when they are all there.
        let expected = best_floor(&made, distinct).0;
        Ok(Self { segments: TimedWindowParameters { expected, ..made }, distinct })
    }
}

impl Parameters for ElasticWindowParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        self.segments.list(list)?;
        let window = self.segments.span.millis();
        list.check(window <= Window::LONGEST, "span", window, "at most 2^48 insertions")?;
        list.add("distinct", &mut self.distinct, 1..=Window::LONGEST, "from 1 to 2^48")
    }
}

impl Structure for ElasticWindowParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.does_not_count()?;
        Self::with_error(window, goal.slack_in_items(), goal.rate()?.get(), goal.expected_items)
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let (insertions, inner) = by_count::read(self.segments, payload)?;
        Ok(Box::new(ElasticWindow { parameters: self, inner, insertions }))
    }
}

impl Blueprint for ElasticWindowParameters {
    fn promise(&self) -> Promise {
        let window = Window::Last(self.segments.span.millis());
        let slack = Slack::Items(self.segments.slack().millis());
        Promise { window, slack, ..self.segments.promise() }
    }

    fn heap_bytes(&self) -> u64 {
        TimedWindowParameters { expected: self.distinct, ..self.segments }.heap_bytes()
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        self.segments.lines_touched()
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(ElasticWindow::new(*self))
    }
}

/// Remembers the last *n* insertions, in memory that follows how many different keys they have.
#[derive(Debug, Clone)]
pub struct ElasticWindow {
    parameters: ElasticWindowParameters,
    inner: TimedWindow,
    /// Insertions so far: the moment of the next one.
    insertions: u64,
}

impl ElasticWindow {
    /// An empty filter.
    pub fn new(parameters: ElasticWindowParameters) -> Self {
        Self { parameters, inner: TimedWindow::new(parameters.segments), insertions: 0 }
    }

    /// Checks every invariant, and says which one is broken.
    pub fn validate(&self) -> Result<(), alloc::string::String> {
        self.inner.validate()
    }

    /// Entries that found no room, ever: zero unless hashes are not random.
    pub fn lost(&self) -> u64 {
        self.inner.lost()
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64, repeat: Repeat) -> bool {
        let now = self.take_turn();
        vectorized!(self.inner.level, |isa| self.inner.insert(isa, hash, now, repeat))
    }

    /// The moment of this insertion.
    #[inline(always)]
    fn take_turn(&mut self) -> Time {
        let now = Time::from_millis(self.insertions);
        self.insertions = self.insertions.saturating_add(1);
        now
    }
}

impl Membership for ElasticWindow {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert(hash, Repeat::Refresh)
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert(hash, Repeat::Keep)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.inner.level, |isa| self.inner.contains(isa, hash, self.insertions))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.inner.prefetch_head(hash);
    }
}

impl Aging for ElasticWindow {
    fn age_hash(&self, hash: u64, _now: Time) -> Option<Age> {
        match self.inner.age_hash(hash, Time::from_millis(self.insertions))? {
            // The last insertion was one turn ago, and nothing came since.
            Age::Time(since) => {
                let items = |span: &Span| span.millis().saturating_sub(1);
                Some(Age::Items(items(since.start())..=items(since.end())))
            }
            items => Some(items),
        }
    }
}

impl Removing for ElasticWindow {
    /// As [`TimedWindow`]: everything that matches the key goes.
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.inner.remove_hash(hash)
    }
}

impl Filter for ElasticWindow {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.inner.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.inner.false_positive_rate()
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.insertions);
        state::write(&self.inner, out);
    }

    fn expire(&mut self, _now: Time, steps: usize) -> bool {
        self.inner.expire(Time::from_millis(self.insertions), steps)
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        self.inner.distinct(Time::from_millis(self.insertions))
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}
