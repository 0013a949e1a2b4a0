//! How to count, and how well: flags of all commands that count.

use anyhow::bail;
use clap::{Args, ValueEnum};
use lately::plan::{Goal, Limit};
use lately::raw::quantity;
use lately::{ErrorRate, Memory, Slack, Span, Window};
use lately_papers::CATALOG;

use crate::tolerable;
use crate::unjudged::Unjudged;
use crate::wanted::window_of;

/// What is counted.
#[derive(Debug, Args)]
pub(crate) struct Counted {
    /// Count among the last N records: 250, 100k, 1.5M
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(group = "window", value_parser = quantity::items)]
    last: Option<u64>,

    /// Count among the records of the last SPAN of time: 90s, 10m, 24h
    #[arg(long, value_name = "SPAN", group = "window")]
    within: Option<Span>,

    /// Count all records (default)
    #[arg(long, group = "window")]
    ever: bool,

    #[command(flatten)]
    accuracy: Accuracy,

    /// About how many different keys to expect; only a hint, but needed with --memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(conflicts_with = "last", value_parser = quantity::items)]
    #[arg(hide_short_help = true)]
    expected: Option<u64>,
}

/// How well it is counted.
#[derive(Debug, Args)]
pub(crate) struct Accuracy {
    /// Count at most this share of the keys too high, and none too low: 0.001, 0.1% [default: 0.1%]
    #[arg(long, value_name = "E", allow_negative_numbers = true, group = "limit")]
    error: Option<ErrorRate>,

    /// Count in this much memory, with the smallest error that fits: 500kB, 8MiB; counts above 254
    /// may take a little more
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, group = "limit")]
    memory: Option<Memory>,

    /// Go on where more than a tenth of the counts would be too high, because the memory is so small
    #[arg(long)]
    #[arg(hide_short_help = true)]
    allow_error: bool,
}

impl Accuracy {
    pub(crate) fn limit(&self) -> Limit {
        match self.memory {
            Some(memory) => Limit::Memory(memory),
            // A count that is too high is not a line that is lost, and exact ones take three times the
            // memory: other than `dedup`, this keeps to the default of the library.
            None => Limit::Error(self.error.unwrap_or(ErrorRate::DEFAULT)),
        }
    }

    /// Refuses a goal that can be reached only with more mistakes than anyone can want.
    pub(crate) fn check(&self, goal: &Goal, structure: Option<&str>) -> anyhow::Result<()> {
        if self.allow_error || self.memory.is_none() {
            return Ok(());
        }
        let plan = match structure {
            Some(name) => goal.plan_with(CATALOG.row_named(name)?)?,
            None => goal.best_plan()?,
        };
        tolerable::check(goal, structure, &plan.promise)
    }
}

/// The part of a window by time for which what left it may still be counted.
const SLACK: u64 = 60;

impl Counted {
    /// The goal as stated, with defaults for what is not.
    pub(crate) fn goal(&self) -> anyhow::Result<Goal> {
        let window = window_of(self.last, self.within);
        let limit = self.accuracy.limit();
        if matches!(limit, Limit::Memory(_)) && self.last.is_none() && self.expected.is_none() {
            bail!(
                "--memory alone does not tell how often counts would be wrong; add --expected N, \
                 the number of different keys, or give --error instead"
            );
        }
        // The last n exactly; of a span, what left a short while ago may still be counted.
        let slack = match window {
            Window::Last(_) => Slack::Items(0),
            Window::Within(span) => Slack::Time(Span::from_millis(span.millis().div_ceil(SLACK))),
            Window::Ever => Slack::Unlimited,
        };
        let expected_items = self.expected;
        let goal = Goal { counting: true, slack, expected_items, ..Goal::new(window, limit) };
        self.accuracy.check(&goal, None)?;
        Ok(goal)
    }
}

/// What happens to records that cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keyless {
    /// Leave it out
    Skip,
    /// End with an error
    Fail,
}

/// Flags about records without a key, and about what is told while and after reading.
#[derive(Debug, Args)]
pub(crate) struct Watching {
    /// What to do with a record that has no key, or no time where one is needed [default: skip, with
    /// a word at the end if there are many]
    #[arg(long, value_name = "DO", help_heading = "Keys")]
    pub(crate) missing: Option<Keyless>,

    /// Show no progress bar, also on a terminal
    #[arg(long, help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub(crate) no_progress: bool,
}

impl Watching {
    /// Says something of records without a key, unless it was said that they are left out.
    pub(crate) fn tell(&self, unjudged: &Unjudged) -> anyhow::Result<()> {
        match self.missing {
            Some(Keyless::Skip) => unjudged.tell_of_times(),
            _ => unjudged.tell()?,
        }
        Ok(())
    }
}
