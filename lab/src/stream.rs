//! Where keys come from, by name.
//!
//! A stream is chosen in an experiment and opened for a goal: its repeats then fall on the borders
//! of that goal's window, and its clock delivers that goal's items within the window's span.

use lately::plan::Goal;
use lately::{Slack, Span, Window};
use testkit::streams::{self, Keys, TimedKeys, clocks};

/// A seeded, endless stream of keys with times. Never emits a key of `testkit::streams::absent`.
pub struct Stream {
    /// Its name in tables and records.
    pub name: &'static str,
    /// Opens it for a goal under a seed.
    pub open: fn(&Goal, u64) -> TimedKeys,
}

/// No key comes twice: the hardest stream for memory, since nothing can be shared.
pub static DISTINCT: Stream =
    Stream { name: "distinct", open: |goal, seed| paced(goal, Box::new(streams::distinct(seed))) };

/// Fresh keys, and repeats exactly inside, on and outside the borders of window and slack.
pub static BORDERS: Stream = Stream {
    name: "borders",
    open: |goal, seed| match goal.window {
        Window::Last(n) => {
            let slack = if let Slack::Items(slack) = goal.slack { slack } else { n };
            let borders = borders(n, slack);
            paced(goal, Box::new(streams::repeats_at(&borders, seed).map(|step| step.key)))
        }
        Window::Within(span) => {
            let slack = if let Slack::Time(slack) = goal.slack { slack } else { span };
            let borders = borders(span.millis(), slack.millis());
            Box::new(streams::repeats_at_ages(clock(goal), &borders, seed))
        }
        Window::Ever => {
            let items = goal.items().unwrap_or(2);
            paced(goal, Box::new(streams::repeats_at(&[1, items.div_ceil(2)], seed).map(|s| s.key)))
        }
    },
};

/// For windows by time: periods of one and a half windows, of a thirtieth of the expected rate and of
/// a thousand times that, in turn, with repeats at the borders.
pub static SWINGS: Stream = Stream {
    name: "swings",
    open: |goal, seed| {
        let (Window::Within(span), Some(items)) = (goal.window, goal.items()) else {
            return (BORDERS.open)(goal, seed);
        };
        let slack = if let Slack::Time(slack) = goal.slack { slack } else { span };
        let period = span.millis() * 3 / 2;
        let low = (per_second(span, items) / 32).max(1000_u64.div_ceil(period));
        let clock = clocks::rate_swings(low, 1000 * low, period);
        let borders = borders(span.millis(), slack.millis());
        Box::new(streams::repeats_at_ages(clock, &borders, seed))
    },
};

/// The last distances inside and the first outside, of the window and of its slack.
fn borders(window: u64, slack: u64) -> Vec<u64> {
    let end = window + slack;
    [1, window - 1, window, window + 1, end, end + 1].into_iter().filter(|&d| d > 0).collect()
}

/// Gives keys the times at which they come.
fn paced(goal: &Goal, keys: Keys) -> TimedKeys {
    Box::new(keys.zip(clock(goal)))
}

/// For windows by time, the pace at which they hold the expected items; else time stands still.
fn clock(goal: &Goal) -> Box<dyn Iterator<Item = u64> + Send> {
    match (goal.window, goal.items()) {
        (Window::Within(span), Some(items)) => Box::new(clocks::steady(per_second(span, items))),
        _ => Box::new(clocks::frozen_time(0)),
    }
}

/// The rate at which so many items come within a span, at least one a second.
fn per_second(span: Span, items: u64) -> u64 {
    let rate = u128::from(items) * 1000 / u128::from(span.millis());
    (rate as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::ErrorRate;
    use testkit::oracle::{Last, Within};

    #[test]
    fn borders_of_a_count_window_are_met_exactly() {
        let goal = Goal::new(Window::Last(100), ErrorRate::DEFAULT);
        let mut oracle = Last::new(100);
        let mut met = Vec::new();
        for (key, now) in (BORDERS.open)(&goal, 7).take(20_000) {
            assert_eq!(now, 0);
            met.extend(oracle.distance(key));
            oracle.insert(key);
        }
        met.sort_unstable();
        met.dedup();
        assert_eq!(met, [1, 99, 100, 101, 200, 201]);
    }

    #[test]
    fn a_time_window_holds_the_expected_items() {
        let span = Span::from_millis(2000);
        let goal = Goal {
            expected_items: Some(1000),
            ..Goal::new(Window::Within(span), ErrorRate::DEFAULT)
        };
        for stream in [&DISTINCT, &BORDERS] {
            let mut oracle = Within::new(2000);
            let mut last = 0;
            for (key, now) in (stream.open)(&goal, 7).take(10_000) {
                oracle.insert(key, now);
                last = now;
            }
            assert_eq!(last, 9_999 * 2);
            assert!((500..=1001).contains(&oracle.distinct(last)), "{}", stream.name);
        }
    }
}
