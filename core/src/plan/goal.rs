//! What a user wants, without the name of any structure.

use alloc::borrow::ToOwned;
use alloc::string::ToString;

use crate::error::Error;
use crate::memory::Memory;
use crate::rate::ErrorRate;
use crate::window::{Slack, Window};

/// What to remember, how well, and what to do with it.
///
/// ```
/// use lately::plan::Goal;
/// use lately::{ErrorRate, Window};
///
/// let goal = Goal::new(Window::Last(1_000_000), ErrorRate::new(0.001)?);
/// for plan in goal.plans()? {
///     println!("{}: {} bytes, because it is {}", plan.row.name, plan.bytes, plan.reason);
///     assert!(plan.promise.false_positives <= 0.001);
/// }
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// How far back.
    pub window: Window,
    /// What is given: the error, and memory follows; or the memory, and the error follows.
    pub limit: Limit,
    /// What a window by time may take at an error that is given: before it takes more, it becomes
    /// shorter, and says by how much.
    pub shortening: Option<Memory>,
    /// How much older than the window a key may be and still be reported.
    pub slack: Slack,
    /// How many different keys are expected in the window: in one by time or without end, which do not
    /// say it, or among the last *n*, if keys repeat so that it is much less than *n*. A hint: it sizes
    /// plans, and promises hold whatever comes.
    pub expected_items: Option<u64>,
    /// How many different keys there are, if that is known: it sharpens what is expected of
    /// structures in a given memory.
    pub alphabet: Option<u64>,
    /// Whether it must answer how often.
    pub counting: bool,
    /// Whether insertions must be taken back.
    pub removing: bool,
}

/// The side of the bargain that is fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// At most this error; the planner finds the least memory.
    Error(ErrorRate),
    /// At most this memory; the planner finds the least error.
    Memory(Memory),
}

impl From<ErrorRate> for Limit {
    fn from(rate: ErrorRate) -> Self {
        Limit::Error(rate)
    }
}

impl From<Memory> for Limit {
    fn from(memory: Memory) -> Self {
        Limit::Memory(memory)
    }
}

impl Goal {
    /// A goal with any slack, without counting or removing.
    pub fn new(window: Window, limit: impl Into<Limit>) -> Self {
        Goal {
            window,
            limit: limit.into(),
            shortening: None,
            slack: Slack::Unlimited,
            expected_items: None,
            alphabet: None,
            counting: false,
            removing: false,
        }
    }

    /// How many different keys the window holds, if that is known.
    pub fn items(&self) -> Option<u64> {
        match self.window {
            Window::Last(n) => Some(self.expected_items.map_or(n, |expected| expected.clamp(1, n))),
            Window::Within(_) | Window::Ever => self.expected_items,
        }
    }

    /// Whether a structure that may report keys up to `items` older than a count window will do.
    pub fn allows_slack(&self, items: u64) -> bool {
        match self.slack {
            Slack::Items(most) => items <= most,
            Slack::Time(_) => false,
            Slack::Unlimited => true,
        }
    }

    /// Refuses goals that contradict themselves.
    pub fn validate(&self) -> Result<(), Error> {
        self.window.validate()?;
        if self.alphabet == Some(0) {
            let expected = "at least one key";
            return Err(Error::Parameter { name: "alphabet", found: "0".to_owned(), expected });
        }
        let expected = match (self.window, self.limit) {
            (Window::Within(_), Limit::Error(_)) => None,
            (Window::Within(_), Limit::Memory(_)) => Some("beside an error, not beside a memory"),
            _ => Some("left out but for a window by time"),
        };
        if let (Some(memory), Some(expected)) = (self.shortening, expected) {
            let found = memory.to_string();
            return Err(Error::Parameter { name: "memory to shorten at", found, expected });
        }
        let expected = match (self.window, self.slack) {
            (Window::Last(_), Slack::Time(_)) => "a number of items for a window by count",
            (Window::Within(_), Slack::Items(_)) => "a span of time for a window by time",
            (Window::Ever, Slack::Items(_) | Slack::Time(_)) => "left out for a window without end",
            _ => return Ok(()),
        };
        Err(Error::Parameter { name: "slack", found: self.slack.to_string(), expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Span;

    fn goal(window: Window) -> Goal {
        Goal::new(window, ErrorRate::DEFAULT)
    }

    #[test]
    fn slack_is_in_the_unit_of_the_window() {
        let (items, time) = (Slack::Items(5), Slack::Time(Span::from_millis(5)));
        let hour = Window::Within(Span::from_millis(3_600_000));
        let expected = |window, slack| match (Goal { slack, ..goal(window) }).validate() {
            Err(Error::Parameter { name: "slack", expected, .. }) => expected,
            other => panic!("{window:?}, {slack:?}: {other:?}"),
        };
        assert!(expected(Window::Last(10), time).starts_with("a number of items"));
        assert!(expected(hour, items).starts_with("a span of time"));
        assert!(expected(Window::Ever, items).starts_with("left out"));
        assert!(expected(Window::Ever, time).starts_with("left out"));
        for (window, slack) in [(Window::Last(10), items), (hour, time)] {
            assert_eq!((Goal { slack, ..goal(window) }).validate(), Ok(()));
        }
    }

    #[test]
    fn slack_is_allowed_up_to_what_was_said() {
        let last = goal(Window::Last(10));
        let few = Goal { slack: Slack::Items(3), ..last };
        assert!(few.allows_slack(3) && !few.allows_slack(4));
        assert!(last.allows_slack(u64::MAX));
    }

    #[test]
    fn only_what_counts_is_for_whoever_counts() {
        let one = goal(Window::Last(10));
        let counting = Goal { counting: true, ..one };
        assert!(one.counts().is_err() && one.does_not_count().is_ok());
        assert!(counting.counts().is_ok() && counting.does_not_count().is_err());
    }
}
