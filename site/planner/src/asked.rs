//! What the page asks, as pairs of a name and a text, one a line.

use lately::plan::{Goal, Limit};
use lately::raw::quantity;
use lately::{Error, ErrorRate, Memory, Slack, Span, Window};

/// A goal, and what the page knows besides.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// What the planner is asked.
    pub goal: Goal,
    /// What one server has for it, if that was said.
    pub server: Option<Memory>,
}

impl Asked {
    /// Reads pairs; what is not said has a default, and what nobody knows is refused.
    ///
    /// A window by time is told a rate, because the number of keys follows from it; the promise holds
    /// whatever the rate.
    pub fn read(text: &str) -> Result<Self, Error> {
        let mut goal = Goal::new(Window::Ever, ErrorRate::DEFAULT);
        let (mut rate, mut server, mut slack) = (None, None, None);
        for line in text.lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            match name {
                "last" => goal.window = Window::Last(quantity::items(value)?),
                "within" => goal.window = Window::Within(value.parse()?),
                "ever" => goal.window = Window::Ever,
                "expected" => goal.expected_items = Some(quantity::items(value)?),
                "rate" => rate = Some(read_rate(value)?),
                "error" => goal.limit = Limit::Error(value.parse()?),
                "memory" => goal.limit = Limit::Memory(value.parse()?),
                "counting" => goal.counting = true,
                "removing" => goal.removing = true,
                "slack" => slack = Some(value),
                "server" => server = Some(value.parse()?),
                _ => {
                    return Err(Error::Parameter {
                        name: "question",
                        found: name.to_owned(),
                        expected: "last, within, ever, expected, rate, error, memory, slack, counting, removing or server",
                    });
                }
            }
        }
        if let (Window::Within(span), Some(rate)) = (goal.window, rate) {
            goal.expected_items = Some(keys_within(span, rate));
        }
        if let Some(slack) = slack {
            goal.slack = read_slack(slack, goal.window)?;
        }
        Ok(Self { goal, server })
    }
}

/// How many keys such a rate brings in a span; at least one.
fn keys_within(span: Span, rate: f64) -> u64 {
    ((rate * span.millis() as f64 / 1e3) as u64).max(1)
}

fn read_rate(text: &str) -> Result<f64, Error> {
    // Less than one a second is a rate too.
    let small = text.trim().parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate < 1e15);
    small.map_or_else(|| quantity::items(text).map(|rate| rate as f64), Ok)
}

fn read_slack(text: &str, window: Window) -> Result<Slack, Error> {
    match window {
        Window::Last(_) if text.trim() == "0" => Ok(Slack::Items(0)),
        Window::Last(_) => quantity::items(text).map(Slack::Items),
        Window::Within(_) | Window::Ever => text.parse().map(Slack::Time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_goal() {
        let asked = Asked::read("within 1h\nrate 0.5\nerror 1%\ncounting\nserver 4GiB").unwrap();
        assert_eq!(asked.goal.expected_items, Some(1_800));
        assert!(asked.goal.counting);
        assert_eq!(asked.goal.limit, Limit::Error(ErrorRate::new(0.01).unwrap()));
        assert_eq!(asked.server, Some(Memory::from_bytes(4 << 30)));
        let asked = Asked::read("last 1.5M\nmemory 8MiB\nslack 0").unwrap();
        assert_eq!(asked.goal.window, Window::Last(1_500_000));
        assert_eq!(asked.goal.slack, Slack::Items(0));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, word) in [
            ("last -3", "number of items"),
            ("within 3", "span of time"),
            ("error 2", "error"),
            ("rate -1", "number of items"),
            ("colour red", "question"),
        ] {
            let error = Asked::read(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
