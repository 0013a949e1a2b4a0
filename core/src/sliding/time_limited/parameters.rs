//! The parameters of the time-limited filter, and its formulas.

use alloc::vec::Vec;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use super::TimeLimited;
use super::size::SliceSize;
use super::sizing::{CHANCES, MOST_TURNS};
use super::slice::Slice;
use super::turn::{BEYOND, LEAST_GENERATION};
use crate::blueprint::{Blueprint, Structure};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Filter;
use crate::promise::Promise;
use crate::hash::Seed;
use crate::sliding::slices::{BlockShape, window_chance};
use crate::window::{Slack, Span, Window};

/// How long keys are remembered, in how many slices, and how full these get.
#[derive(Debug, Clone, Copy, PartialEq)]
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

impl Blueprint for TimeLimitedParameters {
    fn structure(&self) -> &'static str {
        TimeLimited::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Within(self.span),
            slack: Slack::Time(self.slack()),
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        let keys = u64::from(self.slices_per_key) * self.expected_generation();
        let slices = u64::from(self.slices_per_key + self.turns);
        slices * (self.size_for(keys).heap_bytes() + size_of::<Slice>() as u64)
    }

    fn adapts(&self) -> bool {
        true
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

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("span", self.span.to_string()),
            ("slices per key", self.slices_per_key.to_string()),
            ("turns", self.turns.to_string()),
            ("bits per slice", self.bits_per_slice.to_string()),
            ("slice chance", format!("{:.4}", self.slice_chance)),
            ("expected", self.expected.to_string()),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.span.millis());
        out.u32(self.slices_per_key);
        out.u32(self.turns);
        out.u32(self.bits_per_slice);
        out.f64(self.slice_chance);
        out.u64(self.expected);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(TimeLimited::new(*self))
    }
}

/// Reads what [`Blueprint::write_parameters`] wrote.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<TimeLimitedParameters, Error> {
    let span = reader.u64("span")?;
    let slices_per_key = reader.u32("slices per key")?;
    let turns = reader.u32("turns")?;
    let bits_per_slice = reader.u32("bits per slice")?;
    let slice_chance = reader.f64("slice chance")?;
    let expected = reader.u64("expected")?;
    let refuse = |field, found, expected| Err(Error::Field { field, found, expected });
    if span == 0 {
        return refuse("span", span, "at least 1");
    }
    if !(1..=32).contains(&slices_per_key) {
        return refuse("slices per key", slices_per_key.into(), "from 1 to 32");
    }
    if !(1..=MOST_TURNS).contains(&turns) {
        return refuse("turns", turns.into(), "from 1 to 65536");
    }
    if !(1..=BlockShape::MOST_BITS).contains(&bits_per_slice) {
        return refuse("bits per slice", bits_per_slice.into(), "from 1 to 10");
    }
    if !CHANCES.contains(&slice_chance) {
        return refuse("slice chance", slice_chance.to_bits(), "from 0.0001 to 0.75");
    }
    if !(1..=Window::LONGEST).contains(&expected) {
        return refuse("expected", expected, "from 1 to 2^48");
    }
    let span = Span::from_millis(span);
    Ok(TimeLimitedParameters {
        span,
        slices_per_key,
        turns,
        bits_per_slice,
        slice_chance,
        expected,
    })
}
