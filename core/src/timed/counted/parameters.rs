//! The parameters of the counter, and its formulas.

use alloc::boxed::Box;
use alloc::string::ToString;

use super::super::by_count::best_floor;
use super::super::parameters::TimedWindowParameters;
use super::digits::DIGIT_BITS;
use super::filter::WindowCounts;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::promise::Promise;
use crate::window::{Slack, Span, Window};

/// What a window is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Time: the last *t*.
    #[default]
    Millis,
    /// Sightings: the last *n*.
    Sightings,
}

/// How far back is counted, and how counts are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowCountsParameters {
    /// What the span of the segments is measured in.
    pub unit: Unit,
    /// The segments, with a digit beside every tag.
    pub segments: TimedWindowParameters,
}

impl WindowCountsParameters {
    /// Parameters that reach a goal.
    pub(super) fn for_goal(goal: &Goal) -> Result<Self, Unfit> {
        if !goal.counting {
            return Err(Unfit("counts, which costs more than is asked"));
        }
        let (unit, span) = match goal.window {
            Window::Within(span) => (Unit::Millis, span),
            Window::Last(n) => (Unit::Sightings, Span::from_millis(n)),
            Window::Ever => return Err(Unfit("keeps windows only")),
        };
        let slack = match goal.slack {
            Slack::Time(slack) => Some(slack),
            Slack::Items(items) => Some(Span::from_millis(items)),
            Slack::Unlimited => None,
        };
        let (rate, bits, expected) = match goal.limit {
            Limit::Error(rate) => (rate.get(), DIGIT_BITS, goal.items()),
            Limit::Memory(memory) => {
                let (bytes, expected) = (memory.bytes(), goal.items());
                let segments = TimedWindowParameters::with_payload_and_memory(
                    DIGIT_BITS, span, slack, bytes, expected,
                )?;
                return Ok(Self { unit, segments });
            }
        };
        let cost = |made: &TimedWindowParameters| match unit {
            Unit::Millis => made.bits_per_entry(),
            Unit::Sightings => made.bits_per_entry() + best_floor(made, made.span.millis()).1,
        };
        let made = TimedWindowParameters::with_payload(bits, span, slack, rate, expected, cost)?;
        let expected = match unit {
            Unit::Millis => made.expected,
            Unit::Sightings => best_floor(&made, made.span.millis()).0,
        };
        Ok(Self { unit, segments: TimedWindowParameters { expected, ..made } })
    }

    fn window_and_slack(&self) -> (Window, Slack) {
        let (span, slack) = (self.segments.span, self.segments.slack());
        match self.unit {
            Unit::Millis => (Window::Within(span), Slack::Time(slack)),
            Unit::Sightings => (Window::Last(span.millis()), Slack::Items(slack.millis())),
        }
    }
}

impl Parameters for WindowCountsParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let text = |unit| match unit {
            Unit::Millis => "milliseconds".to_string(),
            Unit::Sightings => "sightings".to_string(),
        };
        let expected = "0 for milliseconds or 1 for sightings";
        list.one_of("unit", &mut self.unit, &[Unit::Millis, Unit::Sightings], (text, expected))?;
        self.segments.list(list)?;
        self.segments.payload_bits = DIGIT_BITS;
        let span = self.segments.span.millis();
        let fits = self.unit == Unit::Millis || span <= Window::LONGEST;
        list.check(fits, "span", span, "at most 2^48 sightings")
    }
}

impl Structure for WindowCountsParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        Self::for_goal(goal)
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(WindowCounts::read(self, payload)?))
    }
}

impl Blueprint for WindowCountsParameters {
    fn promise(&self) -> Promise {
        let (window, slack) = self.window_and_slack();
        Promise { window, slack, ..self.segments.promise() }
    }

    fn promised_items(&self) -> Option<u64> {
        self.segments.promised_items()
    }

    fn heap_bytes(&self) -> u64 {
        match self.unit {
            Unit::Millis => self.segments.heap_bytes(),
            Unit::Sightings => {
                let expected = self.segments.span.millis();
                TimedWindowParameters { expected, ..self.segments }.heap_bytes()
            }
        }
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        self.segments.lines_touched()
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(WindowCounts::new(*self))
    }
}
