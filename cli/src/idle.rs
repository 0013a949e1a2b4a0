//! A window by time gives memory back while its input is idle: a burst must not keep its memory until the
//! next line comes.

use std::time::{Duration, Instant};

use lately::raw::Filter;
use lately::{Slack, Time, Window};

/// Small steps between two looks at the input.
const STEPS: usize = 256;

/// What was all right is looked at again after this part of the window, but within these bounds.
const PART: u32 = 32;
const OFTEN: Duration = Duration::from_millis(50);
const SELDOM: Duration = Duration::from_secs(60);

/// When to look after a filter next.
pub(crate) struct Idle {
    /// The window and the longest that anything stays in it; `None` for windows that are not by time.
    stay: Option<(Duration, Duration)>,
    /// When something was inserted last.
    used: Instant,
    /// When to look next; `None` if nothing is left to do until something is inserted.
    due: Option<Instant>,
}

impl Idle {
    pub(crate) fn of(filter: &dyn Filter) -> Self {
        let promise = filter.blueprint().promise();
        let stay = match (promise.window, promise.slack) {
            (Window::Within(span), Slack::Time(slack)) => {
                let (span, slack) = (Duration::from(span), Duration::from(slack));
                Some((span, span + slack))
            }
            (Window::Within(span), _) => Some((span.into(), 2 * Duration::from(span))),
            _ => None,
        };
        Self { stay, used: Instant::now(), due: None }
    }

    /// Something was inserted.
    pub(crate) fn used(&mut self) {
        if self.stay.is_some() {
            self.used = Instant::now();
            self.due = Some(self.used);
        }
    }

    /// Gives back memory of what has left the window by a moment, if it is time, and says when to come
    /// again.
    pub(crate) fn look_after(&mut self, filter: &mut dyn Filter, moment: Time) -> Option<Instant> {
        let (span, stay) = self.stay?;
        let now = Instant::now();
        if self.due.is_some_and(|due| due <= now) {
            self.due = if !filter.expire(moment, STEPS) {
                Some(now)
            } else if now > self.used + stay {
                None
            } else {
                Some(now + (span / PART).clamp(OFTEN, SELDOM))
            };
        }
        self.due
    }
}
