//! Experiments on windows by time: what the succinct one claims, at any rate.

pub mod cap;
pub mod day;
pub mod replay;
pub mod rise;
pub mod soak;

use std::collections::HashMap;

use lately::plan::Goal;
use lately::raw::Filter;
use lately::{ErrorRate, Seed, Slack, Span, Time, Window};
use lately_papers::CATALOG;

use anyhow::{Result, bail};

/// The structure that counts.
pub const COUNTING: &str = "window-counts";

/// A structure of the catalog over a window by time, empty.
pub fn fresh(structure: &str, span: Span, error: ErrorRate) -> Result<Box<dyn Filter>> {
    let row = CATALOG.row_named(structure)?;
    let goal = Goal::new(Window::Within(span), error);
    let goal = Goal { counting: structure == COUNTING, ..goal };
    let plan = goal.plan_with(row)?;
    Ok(plan.blueprint.build(Seed(1))?)
}

/// When every key was last recorded, exactly.
pub struct Truth {
    span: u64,
    longest: u64,
    seen: HashMap<u64, u64>,
}

/// What an answer about a key must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It is in the window.
    Seen,
    /// It is in the slack.
    Either,
    /// It left, or never came.
    New,
}

impl Truth {
    /// Nothing recorded, for the window that a filter promises.
    pub fn of(filter: &dyn Filter) -> Result<Self> {
        let promise = filter.blueprint().promise();
        let (Window::Within(span), Slack::Time(slack)) = (promise.window, promise.slack) else {
            bail!("{} keeps no window by time", filter.blueprint().structure());
        };
        let (span, slack) = (span.millis(), slack.millis());
        Ok(Self { span, longest: span + slack, seen: HashMap::new() })
    }

    /// What must be said of a key at a moment.
    pub fn expects(&self, key: u64, now: u64) -> Expected {
        match self.seen.get(&key) {
            Some(at) if now.saturating_sub(*at) <= self.span => Expected::Seen,
            Some(at) if now.saturating_sub(*at) <= self.longest => Expected::Either,
            _ => Expected::New,
        }
    }

    /// A key was recorded as seen at a moment; an earlier one changes nothing.
    pub fn record(&mut self, key: u64, at: u64) {
        let latest = self.seen.entry(key).or_insert(at);
        *latest = (*latest).max(at);
    }

    /// A key was taken back.
    pub fn forget(&mut self, key: u64) {
        self.seen.remove(&key);
    }

    /// Forgets what left window and slack.
    pub fn drop_old(&mut self, now: u64) {
        self.seen.retain(|_, at| now.saturating_sub(*at) <= self.longest);
    }

    /// Keys that are in the window.
    pub fn live(&self, now: u64) -> u64 {
        self.seen.values().filter(|at| now.saturating_sub(**at) <= self.span).count() as u64
    }
}

/// A moment.
pub fn millis(now: u64) -> Time {
    Time::from_millis(now)
}
