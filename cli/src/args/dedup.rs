//! Flags of `lately dedup`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use lately::plan::{Goal, Limit};
use lately::raw::Untyped;
use lately::raw::quantity;
use lately::{Builder, ErrorRate, Hashing, Seed, Slack, Span, Time, Window};
use lately_papers::CATALOG;

use super::figures::Figures;
use super::reading::moment;
use super::{Reading, Shared};
use crate::judge::{Repeats, Seen};
use crate::printer::Show;
use crate::signals::OnSignals;
use crate::tolerable;
use crate::wanted::Wanted;

/// Print each line the first time it is seen in the window, and drop its repeats.
///
/// `lately FILE` and `... | lately` are the same. Order and bytes stay as they are. A line that was
/// seen in the window is never printed, unless `--memory` is so small that some must be forgotten
/// (`lately plan` says how many); of the others, at most the stated share is dropped by mistake, one
/// in a billion by default.
#[derive(Debug, Args)]
#[command(after_help = USUAL, after_long_help = EXAMPLES)]
pub(crate) struct Dedup {
    #[command(flatten)]
    pub(crate) wanted: Wanted,

    /// Go on where more than a tenth of the lines would be judged wrongly, because the memory is so
    /// small
    #[arg(long)]
    #[arg(hide_short_help = true)]
    allow_error: bool,

    /// Use this structure instead of the best one for the goal; `lately plan` names those that
    /// reach it
    #[arg(long, value_name = "NAME", value_parser = structure_names(), hide_possible_values = true)]
    #[arg(hide_short_help = true)]
    pub(crate) structure: Option<String>,

    /// Let each repeat start the window of its line anew: the line passes again only after a pause
    /// as long as the window (default)
    #[arg(long, overrides_with = "no_refresh")]
    #[arg(hide_short_help = true)]
    refresh: bool,

    /// Keep a line's window from starting anew at each repeat
    ///
    /// The line passes once per window, however often it is repeated.
    #[arg(long, overrides_with = "refresh")]
    no_refresh: bool,

    /// Let each line pass so many times per window, however often it comes
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::items)]
    #[arg(conflicts_with_all = ["refresh", "address", "structure"])]
    pass: Option<u64>,

    /// Say how often each line was held back, when its window is over
    ///
    /// In a line of its own: `repeated 37 times: disk full`, or {"repeated":37,"key":"disk full"} with
    /// --key.
    #[arg(long)]
    #[arg(conflicts_with_all = ["refresh", "address", "structure", "columns", "show", "count"])]
    pub(crate) summary: bool,

    /// Seed of the hashes: filters with different seeds make different mistakes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    #[arg(hide_short_help = true)]
    seed: u64,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// What to do with a record that has no key, or no time where one is needed [default: pass, with
    /// a word at the end if there are many]
    #[arg(long, value_name = "DO", help_heading = "Keys")]
    pub(crate) missing: Option<Missing>,

    /// Remember across runs: load the filter from this file if it exists, and save it there at the
    /// end, at checkpoints, and when asked to end (SIGINT, SIGTERM)
    #[arg(long, value_name = "FILE", help_heading = "State")]
    pub(crate) state: Option<PathBuf>,

    /// How often to save the state meanwhile; what a crash can make forget
    #[arg(long, value_name = "SPAN", help_heading = "State", default_value = "30s")]
    #[arg(hide_short_help = true)]
    pub(crate) checkpoint: Span,

    /// Set the clock of the state back first, if a wrong time had moved it ahead: to `now`, or to a
    /// time as records tell it. What it remembers is remembered for one more window at most
    #[arg(long, value_name = "MOMENT", help_heading = "State", requires = "state")]
    #[arg(value_parser = moment, hide_short_help = true)]
    pub(crate) turn_back: Option<Time>,

    #[command(flatten)]
    shared: Shared,

    /// Print the repeats instead
    #[arg(long, short = 'D', help_heading = "Output", group = "show")]
    duplicates: bool,

    /// Print every record, which must be a JSON object, with this member added: "new",
    /// "duplicate", or "missing" without a key
    #[arg(long, value_name = "FIELD", help_heading = "Output", group = "show")]
    #[arg(conflicts_with = "columns")]
    #[arg(hide_short_help = true)]
    mark: Option<String>,

    /// Print only how many records would be printed, and remember none of them
    #[arg(long, help_heading = "Output")]
    #[arg(conflicts_with_all = ["mark", "line_buffered", "address"])]
    pub(crate) count: bool,

    /// Write each record at once and by itself, for whoever watches the output
    #[arg(long, help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub(crate) line_buffered: bool,

    #[command(flatten)]
    pub(crate) figures: Figures,

    /// Show no progress bar, also on a terminal
    #[arg(long, help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub(crate) no_progress: bool,

    /// End with 1 if no record was new
    #[arg(long, help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub(crate) exit_status: bool,
}

const USUAL: &str = "\
Examples:
  lately dedup events.log > new.log
  lately dedup --last 1M --key /user/id --state seen.lately events.ndjson

More options, and what they are for: lately dedup --help";

const EXAMPLES: &str = "\
Examples:
  Lines not seen among the last million:
    lately dedup --last 1M events.log > new.log
  From a pipe, dropping at most one new line in ten thousand by mistake:
    cat events.log | lately dedup --last 100k --error 0.01%
  Two files as one stream, with the smallest error that fits into 4 MiB:
    lately dedup --last 1M --memory 4MiB events.log more.log
  At most once per 1000 lines, however often a line is repeated:
    lately dedup --last 1000 --no-refresh events.log
  Events by their id, remembered across runs:
    lately dedup --last 1M --key /user/id --state seen.lately events.ndjson
  Rows by a column, compressed or not:
    lately dedup --last 1M --column email --ignore-case people.csv
  Messages of a log, ten of each in a minute, and how often the others came:
    lately dedup --within 1m --pass 10 --summary events.log
  One filter for many workers, in a cluster:
    lately dedup --within 24h --redis redis://10.0.0.1:7000/seen --shards 16 events.log

Every option can also be set in the environment: LATELY_LAST=1M, LATELY_NO_REFRESH=1.";

/// What happens to records that cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// Print it, as if it were new
    Pass,
    /// Drop it
    Drop,
    /// End with an error
    Fail,
}

impl Dedup {
    /// The filter asked for, empty, and the goal that it reaches; unless it errs more than anyone can
    /// want.
    pub(crate) fn filter(&self) -> anyhow::Result<(Untyped, Goal)> {
        let (goal, seen) = self.wanted.reach(|goal| {
            let goal = if self.counts() { counting(goal) } else { goal };
            let builder = Builder::from(goal).seed(self.seed);
            match &self.structure {
                Some(name) => builder.row(CATALOG.row_named(name)?).build(),
                None => builder.build(),
            }
        })?;
        if !self.allow_error {
            tolerable::check(&goal, self.structure.as_deref(), &seen.promise())?;
        }
        Ok((seen, goal))
    }

    /// The filter in a server, if that is asked for.
    pub(crate) fn shared(&self) -> anyhow::Result<Option<Seen>> {
        if !self.shared.is_asked_for() {
            return Ok(None);
        }
        // Filters of many workers are many in one server: they keep to what the module does.
        let limit = self.wanted.limit().unwrap_or(Limit::Error(ErrorRate::DEFAULT));
        if matches!(limit, Limit::Memory(_)) {
            self.filter()?;
        }
        let goal = Goal { limit, ..self.wanted.goal()? };
        self.shared.open(goal, self.structure.as_deref(), Seed(self.seed), self.repeats())
    }

    pub(crate) fn hashing(&self) -> Hashing {
        Hashing::Fast(Seed(self.seed))
    }

    pub(crate) fn repeats(&self) -> Repeats {
        match self.pass {
            _ if self.counts() => Repeats::Pass(self.pass.unwrap_or(1)),
            _ if self.no_refresh => Repeats::Leave,
            _ => Repeats::Refresh,
        }
    }

    /// Whether it must be known how often a line came.
    pub(crate) fn counts(&self) -> bool {
        self.pass.is_some() || self.summary
    }

    pub(crate) fn show(&self) -> Show {
        match &self.mark {
            Some(field) => Show::Marked(field.clone()),
            None if self.duplicates => Show::Duplicates,
            None => Show::Unique,
        }
    }

    /// Whether the filter is in a server.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_asked_for()
    }

    /// Whether what is printed will not be printed by those who come later.
    pub(crate) fn remembers(&self) -> bool {
        (self.state.is_some() && !self.count) || self.shared.is_asked_for()
    }

    /// What a signal does: it must not prevent what is to be done at the end.
    pub(crate) fn on_signals(&self) -> OnSignals {
        if self.remembers() || self.summary || self.figures.are_wanted() || self.count {
            OnSignals::EndInOrder
        } else {
            OnSignals::Die
        }
    }
}

/// The part of a window by time for which a line is held back longer, at most.
const SLACK: u64 = 60;

/// The same goal for a filter that counts: the last n exactly, a span with little slack.
fn counting(goal: Goal) -> Goal {
    let slack = match (goal.slack, goal.window) {
        (Slack::Unlimited, Window::Last(_)) => Slack::Items(0),
        (Slack::Unlimited, Window::Within(span)) => {
            Slack::Time(Span::from_millis(span.millis().div_ceil(SLACK)))
        }
        (stated, _) => stated,
    };
    Goal { counting: true, slack, ..goal }
}

fn structure_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CATALOG.iter().map(|row| row.name))
}
