//! What to remember and how well: the flags that every filter starts from, and the goal they state.
//!
//! An error that is not stated is the smallest there is, one in a billion: who drops repeats from files
//! and pipes of one machine has the memory, and does not want to lose a line. The library and the
//! module, of which many are in one process, choose otherwise.

use anyhow::{Context, anyhow};
use clap::Args;
use lately::plan::{Goal, Limit};
use lately::raw::quantity;
use lately::{Error, ErrorRate, Memory, Slack, Span, Window};

/// Flags shared by all commands that plan or build a filter. Negative numbers are let through to
/// their parsers, whose complaints say what is expected.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Remember the last N lines: 250, 100k, 1.5M, 1e6
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(group = "window", value_parser = quantity::items)]
    last: Option<u64>,

    /// Remember the lines of the last SPAN of time: 90s, 10m, 24h, 7d
    #[arg(long, value_name = "SPAN", group = "window")]
    within: Option<Span>,

    /// Remember every line (default)
    #[arg(long, group = "window")]
    ever: bool,

    /// Take at most this share of new lines for repeats: 0.001, 0.1% for half the memory
    /// [default: 1e-9, so that nobody loses a line]
    #[arg(long, value_name = "E", allow_negative_numbers = true, group = "limit")]
    error: Option<ErrorRate>,

    /// Use at most this much memory, with the smallest error that fits: 500kB, 8MiB
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, group = "limit")]
    memory: Option<Memory>,

    /// With --within: use at most this much memory at the error that is asked for, and remember less than SPAN while
    /// more lines come than fit; how much less is said at the end
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    #[arg(requires = "within", conflicts_with = "memory")]
    #[arg(hide_short_help = true)]
    shorten_at: Option<Memory>,

    /// Take lines for repeats up to this much longer than the window, at most: a number of lines
    /// with --last, a span of time with --within [default: any]
    #[arg(long, value_name = "N|SPAN", allow_negative_numbers = true, conflicts_with = "ever")]
    #[arg(hide_short_help = true)]
    slack: Option<String>,

    /// About how many different lines to expect: in all, within the span, or among the last N if most of
    /// them repeat; only a hint
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = quantity::items)]
    #[arg(hide_short_help = true)]
    expected: Option<u64>,
}

impl Wanted {
    /// The goal as stated, with defaults for what is not.
    pub(crate) fn goal(&self) -> anyhow::Result<Goal> {
        let window = window_of(self.last, self.within);
        let careful = || ErrorRate::new(ErrorRate::SMALLEST).map(Limit::Error);
        let limit = self.limit().map_or_else(careful, Ok)?;
        let slack = match &self.slack {
            Some(text) => read_slack(text, window)?,
            None => Slack::Unlimited,
        };
        let (shortening, expected_items) = (self.shorten_at, self.expected);
        Ok(Goal { shortening, slack, expected_items, ..Goal::new(window, limit) })
    }

    /// The side of the bargain that is stated, if one is.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.memory.map(Limit::Memory).or(self.error.map(Limit::Error))
    }

    /// Reaches the goal. An error that is not stated is the smallest that can be kept: the hashes are
    /// too short for the smallest of all over the longest windows.
    pub(crate) fn reach<T>(
        &self,
        attempt: impl Fn(Goal) -> Result<T, Error>,
    ) -> anyhow::Result<(Goal, T)> {
        let mut goal = self.goal()?;
        loop {
            match (attempt(goal), self.larger_error(&goal)) {
                (Err(Error::NoPlan { .. } | Error::Unfit { .. }), Some(rate)) => {
                    goal.limit = Limit::Error(rate)
                }
                (reached, _) => return Ok((goal, self.explain(reached)?)),
            }
        }
    }

    /// Ten times the error, as long as nobody stated one and it is less than what others settle for.
    fn larger_error(&self, goal: &Goal) -> Option<ErrorRate> {
        match goal.limit {
            Limit::Error(rate) if self.limit().is_none() && rate < ErrorRate::DEFAULT => {
                ErrorRate::new((10.0 * rate.get()).min(ErrorRate::DEFAULT.get())).ok()
            }
            _ => None,
        }
    }

    /// Adds what to do if the goal that failed was not even stated.
    pub(crate) fn explain<T>(&self, result: Result<T, lately::Error>) -> anyhow::Result<T> {
        let stated = self.ever || self.last.is_some() || self.within.is_some();
        if stated {
            return Ok(result?);
        }
        result.context("no window is given, so every line would be remembered; try --last N")
    }
}

/// The window that flags state, which exclude each other.
pub(crate) fn window_of(last: Option<u64>, within: Option<Span>) -> Window {
    let within = within.map_or(Window::Ever, Window::Within);
    last.map_or(within, Window::Last)
}

/// The same text can be both: `10m` is ten million lines or ten minutes.
fn read_slack(text: &str, window: Window) -> anyhow::Result<Slack> {
    match window {
        Window::Last(_) if text.trim() == "0" => Ok(Slack::Items(0)),
        Window::Last(_) => quantity::items(text).map(Slack::Items).context("--slack"),
        Window::Within(_) => text.parse().map(Slack::Time).context("--slack"),
        Window::Ever => Err(anyhow!("--slack needs --last or --within")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        wanted: Wanted,
    }

    /// Reaches only errors from this one on, and says which it was.
    fn reached(flags: &[&str], least: f64) -> anyhow::Result<f64> {
        let line = Line::try_parse_from([&["lately"], flags].concat())?;
        let attempt = |goal: Goal| match goal.limit {
            Limit::Error(rate) if rate.get() < least => {
                Err(Error::Unfit { structure: "sliding", why: "cannot err so rarely" })
            }
            Limit::Error(rate) => Ok(rate.get()),
            Limit::Memory(_) => unreachable!("no memory is given"),
        };
        line.wanted.reach(attempt).map(|(_, rate)| rate)
    }

    #[test]
    fn an_error_that_nobody_stated_is_the_smallest_that_can_be_kept() {
        assert_eq!(reached(&["--last", "9"], 0.0).unwrap(), ErrorRate::SMALLEST);
        let kept = reached(&["--last", "9"], 3e-6).unwrap();
        assert!((3e-6..1.1e-5).contains(&kept), "{kept}");
        assert_eq!(reached(&["--last", "9"], 5e-4).unwrap(), ErrorRate::DEFAULT.get());
    }

    #[test]
    fn an_error_is_never_larger_than_stated_nor_than_what_others_settle_for() {
        let refused = reached(&["--last", "9", "--error", "1e-9"], 1e-8).unwrap_err();
        assert!(refused.to_string().contains("cannot err so rarely"), "{refused}");
        reached(&["--last", "9"], 0.01).unwrap_err();
    }
}
