//! What the right answer is: inside the window, outside it, or in the slack where either will do.

use lately::{Promise, Slack, Time, Window};
use testkit::oracle::{Ever, Last, Within};

/// Where a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the window: must be reported as seen.
    Inside,
    /// Older than the window, within the slack: may be reported as seen.
    Slack,
    /// Never seen, or older than window and slack: should be reported as new.
    Outside,
}

/// The exact history, and the promise it is judged by.
pub struct Truth {
    oracle: Oracle,
    /// Beyond the window and up to this distance or age, either answer will do.
    end: u64,
}

enum Oracle {
    Last(Last),
    Within(Within),
    Ever(Ever),
}

impl Truth {
    /// An empty history.
    pub fn new(promise: &Promise) -> Self {
        let (oracle, window) = match promise.window {
            Window::Last(n) => (Oracle::Last(Last::new(n)), n),
            Window::Within(span) => (Oracle::Within(Within::new(span.millis())), span.millis()),
            Window::Ever => (Oracle::Ever(Ever::new()), 0),
        };
        let slack = match promise.slack {
            Slack::Items(items) => items,
            Slack::Time(span) => span.millis(),
            Slack::Unlimited => u64::MAX,
        };
        Self { oracle, end: window.saturating_add(slack) }
    }

    /// Where the key stands at this moment.
    pub fn place(&self, key: u64, now: Time) -> Place {
        let (inside, distance) = match &self.oracle {
            Oracle::Last(oracle) => (oracle.contains(key), oracle.distance(key)),
            Oracle::Within(oracle) => {
                (oracle.contains(key, now.millis()), oracle.age(key, now.millis()))
            }
            Oracle::Ever(oracle) => (oracle.contains(key), None),
        };
        match distance {
            _ if inside => Place::Inside,
            Some(distance) if distance <= self.end => Place::Slack,
            _ => Place::Outside,
        }
    }

    /// Records a sighting.
    pub fn insert(&mut self, key: u64, now: Time) {
        match &mut self.oracle {
            Oracle::Last(oracle) => oracle.insert(key),
            Oracle::Within(oracle) => oracle.insert(key, now.millis()),
            Oracle::Ever(oracle) => oracle.insert(key),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::Span;

    fn promise(window: Window, slack: Slack) -> Promise {
        Promise { window, slack, false_positives: 0.0, false_negatives: 0.0 }
    }

    #[test]
    fn borders_of_a_count_window() {
        let mut truth = Truth::new(&promise(Window::Last(2), Slack::Items(1)));
        for key in [1, 2, 3, 4] {
            truth.insert(key, Time::ZERO);
        }
        let places = [4, 3, 2, 1, 9].map(|key| truth.place(key, Time::ZERO));
        use Place::{Inside, Outside};
        assert_eq!(places, [Inside, Inside, Place::Slack, Outside, Outside]);
    }

    #[test]
    fn borders_of_a_time_window() {
        let (window, slack) = (Span::from_millis(10), Span::from_millis(5));
        let mut truth = Truth::new(&promise(Window::Within(window), Slack::Time(slack)));
        truth.insert(1, Time::from_millis(100));
        let places = [110, 111, 115, 116].map(|now| truth.place(1, Time::from_millis(now)));
        assert_eq!(places, [Place::Inside, Place::Slack, Place::Slack, Place::Outside]);
    }

    #[test]
    fn what_is_never_forgotten_and_what_may_always_be_reported() {
        let mut ever = Truth::new(&promise(Window::Ever, Slack::Unlimited));
        let mut loose = Truth::new(&promise(Window::Last(1), Slack::Unlimited));
        for key in [1, 2] {
            ever.insert(key, Time::ZERO);
            loose.insert(key, Time::ZERO);
        }
        assert_eq!(ever.place(1, Time::ZERO), Place::Inside);
        assert_eq!(ever.place(3, Time::ZERO), Place::Outside);
        assert_eq!(loose.place(1, Time::ZERO), Place::Slack);
        assert_eq!(loose.place(3, Time::ZERO), Place::Outside);
    }
}
