//! The parameters of the time-limited filter, and its formulas.

use super::TimeLimited;
use super::size::SliceSize;
use super::sizing::{CHANCES, MOST_TURNS};
use super::slice::Slice;
use super::turn::{BEYOND, LEAST_GENERATION};
use lately::Error;
use lately::Promise;
use lately::Seed;
use lately::catalog::Row;
use lately::raw::Blueprint;
use lately::raw::Filter;
use lately::raw::{List, Parameters};
use lately::sliding::slices::{BlockShape, window_chance};
use lately::{Slack, Span, Window};

/// How long keys are remembered, in how many slices, and how full these get.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeLimitedParameters {
    /// How long every key is remembered.
    pub span: Span,
    /// Slices that a key is written to: k, from 1 to 32.
    pub slices_per_key: u32,
    /// Turns into which the span is divided: l, from 1 to 65536.
    pub turns: u32,
    /// Bits that a key sets in each slice: b, from 1 to 10.
    pub bits_per_slice: u32,
    /// Chance that a full slice holds an unseen key, from 0.0001 to 0.75.
    pub slice_chance: f64,
    /// Keys to expect within the span at first; a hint.
    pub expected: u64,
}

impl TimeLimitedParameters {
    /// The longest that a generation lasts, in milliseconds: span / l, rounded up.
    pub fn turn_millis(&self) -> u64 {
        self.span.millis().div_ceil(self.turns.into())
    }

    /// How long beyond the span a key leaves traces: k turns, but for the last millisecond.
    pub fn slack(&self) -> Span {
        Span::from_millis(self.turn_millis().saturating_mul(self.slices_per_key.into()) - 1)
    }

    /// The bound on the chance that an unseen key is reported, at any moment of any stream: the
    /// chances of l full windows and of `BEYOND` more (see `turn`).
    pub fn false_positive_rate(&self) -> f64 {
        (f64::from(self.turns) + BEYOND) * self.slice_chance.powi(self.slices_per_key as i32)
    }

    /// Chance that an unseen key is reported at a steady rate that fills every slice, just before
    /// a turn; the recurrence with what the slices of each age hold.
    pub fn steady_false_positive_rate(&self) -> f64 {
        let k = self.slices_per_key as usize;
        let generation = self.expected_generation();
        let size = self.size_for(k as u64 * generation);
        let chance = |age: usize| size.chance((age + 1) as u64 * generation);
        let mut chances: Vec<f64> = (0..k).map(chance).collect();
        chances.resize(k + self.turns as usize, chances[k - 1]);
        window_chance(k, &chances, |_| true)
    }

    pub(super) fn expected_generation(&self) -> u64 {
        self.expected.div_ceil(self.turns.into()).max(LEAST_GENERATION)
    }

    fn size_for(&self, keys: u64) -> SliceSize {
        SliceSize::for_keys(keys, self.bits_per_slice, self.slice_chance)
    }
}

impl Parameters for TimeLimitedParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Self { span, slices_per_key, turns, bits_per_slice, slice_chance, expected } = self;
        list.add("span", span, Span::from_millis(1).., "at least 1")?;
        list.add("slices per key", slices_per_key, 1..=32, "from 1 to 32")?;
        list.add("turns", turns, 1..=MOST_TURNS, "from 1 to 65536")?;
        let most = BlockShape::MOST_BITS;
        list.add("bits per slice", bits_per_slice, 1..=most, "from 1 to 10")?;
        list.add("slice chance", slice_chance, CHANCES, "from 0.0001 to 0.75")?;
        list.add("expected", expected, 1..=Window::LONGEST, "from 1 to 2^48")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Blueprint for TimeLimitedParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(
            Window::Within(self.span),
            Slack::Time(self.slack()),
            self.false_positive_rate(),
        )
    }

    fn heap_bytes(&self) -> u64 {
        let keys = u64::from(self.slices_per_key) * self.expected_generation();
        let slices = u64::from(self.slices_per_key + self.turns);
        slices * (self.size_for(keys).heap_bytes() + size_of::<Slice>() as u64)
    }

    fn adapts(&self) -> bool {
        true
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn needs_even_stream(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        let k = f64::from(self.slices_per_key);
        // One look per k slices, and one more for every hit; the newest are written in any case.
        let looks = (k + f64::from(self.turns)) / k * (1.0 + self.slice_chance);
        k + looks - 1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(TimeLimited::new(*self))
    }
}
