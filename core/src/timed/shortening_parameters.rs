//! The parameters of the window that shortens, and its formulas.

use alloc::boxed::Box;

use super::bounded::Bound;
use super::by_count::best_floor;
use super::pace::{self, Pace};
use super::parameters::{LEAST_BOUND, SPURT_BITS, TimedWindowParameters};
use super::shortening::ShorteningWindow;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::Promise;
use crate::window::{Span, Window};

/// Bounds of filters that are not planned but made: with less, eight segments would not fit.
const LEAST_BYTES: u64 = 1 << 13;

/// How long keys are remembered where there is room for them, and how much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShorteningWindowParameters {
    /// The segments, and the bytes that they may take: at least 8 KiB.
    pub segments: TimedWindowParameters,
    /// Keys to expect within the span, or 0, for which plans are made; what is kept, is kept for any number.
    pub keys: u64,
}

impl ShorteningWindowParameters {
    /// Parameters for a span, a slack, an error, a memory, and how many keys to expect: as many as fit unless that
    /// is said.
    pub fn with_error_and_memory(
        span: Span,
        slack: Option<Span>,
        rate: f64,
        most_bytes: u64,
        keys: Option<u64>,
    ) -> Result<Self, Unfit> {
        if most_bytes < LEAST_BOUND {
            return Err(Unfit("needs a bound of 64 KiB at least"));
        }
        if span.millis() > Window::LONGEST {
            return Err(Unfit("keeps a window of 8900 years at most"));
        }
        let made = TimedWindowParameters::with_error(span, slack, rate, None)?;
        let segments = TimedWindowParameters { most_bytes, ..made };
        let fits = Self { segments, keys: 0 }.fits();
        // No population that fits is growth then, unless fewer are expected.
        let expected = best_floor(&made, keys.map_or(fits, |keys| keys.clamp(1, fits))).0;
        let segments = TimedWindowParameters { expected, ..segments };
        Ok(Self { segments, keys: keys.unwrap_or(0).min(Window::LONGEST) })
    }

    /// Keys that fit if as many are no growth.
    fn fits(&self) -> u64 {
        self.fitting(best_floor(&self.segments, self.fitting(0.0)).1)
    }

    /// Keys that fit, each with so many bits beyond those of a calm time.
    fn fitting(&self, more: f64) -> u64 {
        let room = self.bound().most.saturating_sub(self.segments.fixed_bytes());
        self.segments.fitting(Bound::of(room), more)
    }

    /// The bound of the segments: what is known of both clocks takes the rest.
    pub(super) fn bound(&self) -> Bound {
        Bound::of(self.segments.most_bytes.saturating_sub(pace::MOST_BYTES))
    }

    /// The segments, which know of no bound.
    pub(super) fn unbounded(&self) -> TimedWindowParameters {
        TimedWindowParameters { most_bytes: 0, ..self.segments }
    }

    pub(super) fn pace(&self) -> Pace {
        Pace::new(self.segments.span.millis(), self.segments.ticks().longest())
    }
}

impl Parameters for ShorteningWindowParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        self.segments.list(list)?;
        let (span, bytes) = (self.segments.span.millis(), self.segments.most_bytes);
        list.check(span <= Window::LONGEST, "span", span, "at most 2^48")?;
        list.check(bytes >= LEAST_BYTES, "most bytes", bytes, "at least 8192")?;
        list.add("keys", &mut self.keys, ..=Window::LONGEST, "at most 2^48")
    }
}

impl Structure for ShorteningWindowParameters {
    const SHORTENS: bool = true;

    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let span = goal.within()?;
        goal.does_not_count()?;
        let (slack, rate, bytes) = (goal.slack_in_time()?, goal.rate()?, goal.shortening()?);
        let keys = goal.expected_items;
        Self::with_error_and_memory(span, slack, rate.get(), bytes.bytes(), keys)
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(ShorteningWindow::read(self, payload)?))
    }
}

impl Blueprint for ShorteningWindowParameters {
    fn promise(&self) -> Promise {
        self.segments.promise()
    }

    fn promised_items(&self) -> Option<u64> {
        let fits = self.fits();
        let (calm, _) = best_floor(&self.segments, fits);
        // Where fewer are expected, more are growth.
        let grown = || self.fitting(f64::from(SPURT_BITS));
        Some(if self.segments.expected >= calm { fits } else { grown() })
    }

    fn heap_bytes(&self) -> u64 {
        match self.keys {
            0 => self.segments.most_bytes,
            expected => TimedWindowParameters { expected, ..self.segments }.heap_bytes(),
        }
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        self.segments.lines_touched()
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(ShorteningWindow::new(*self))
    }
}
