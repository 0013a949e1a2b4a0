//! Flags, and the typed requests that they become.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use lately::catalog::CATALOG;
use lately::plan::Goal;
use lately::{Builder, Lately, Seed};

use crate::cmd::dedup::Refresh;
use crate::output;
use crate::wanted::Wanted;

/// The request on the command line. `None` if it asked for help or the version, now printed.
pub(crate) fn parse() -> anyhow::Result<Option<Command>> {
    match CommandLine::try_parse() {
        Ok(line) => Ok(Some(line.command)),
        Err(shown) if !shown.use_stderr() => {
            shown.print().context(output::FAILED)?;
            Ok(None)
        }
        Err(error) => Err(anyhow!(complaint(&error.render().to_string()))),
    }
}

/// Have I seen this lately? Windows over endless streams, in a few bits per item.
#[derive(Debug, Parser)]
#[command(name = "lately", version, after_help = EXAMPLES)]
#[command(arg_required_else_help = false, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  lately dedup --last 1M events.log > new.log
  lately plan --last 1M --error 0.1%";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(Dedup),
    Plan(Plan),
}

/// Print each line the first time it is seen in the window, and drop its repeats.
///
/// Order and bytes stay as they are. A line that was seen in the window is never printed, unless
/// `--memory` is so small that some must be forgotten (`lately plan` says how many); of the others,
/// at most the stated share is dropped by mistake.
#[derive(Debug, Args)]
#[command(after_help = DEDUP_EXAMPLES)]
pub(crate) struct Dedup {
    #[command(flatten)]
    wanted: Wanted,

    /// Use this structure instead of the best one for the goal; see `lately plan`
    #[arg(long, value_name = "NAME", value_parser = structure_names())]
    structure: Option<String>,

    /// Keep a line's window from starting anew at each repeat: the line passes once per window,
    /// however often it is repeated
    #[arg(long)]
    no_refresh: bool,

    /// Seed of the hashes: filters with different seeds make different mistakes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    seed: u64,

    /// Files, read as one stream; standard input if there are none, or for `-`
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

const DEDUP_EXAMPLES: &str = "\
Examples:
  Lines not seen among the last million:
    lately dedup --last 1M events.log > new.log
  From a pipe, dropping at most one new line in ten thousand by mistake:
    cat events.log | lately dedup --last 100k --error 0.01%
  Two files as one stream, with the smallest error that fits into 4 MiB:
    lately dedup --last 1M --memory 4MiB events.log more.log
  At most once per 1000 lines, however often a line is repeated:
    lately dedup --last 1000 --no-refresh events.log";

impl Dedup {
    /// An empty filter as asked for.
    pub(crate) fn filter(&self) -> anyhow::Result<Lately> {
        let mut builder = Builder::from(self.wanted.goal()?).seed(Seed(self.seed));
        if let Some(name) = &self.structure {
            builder = builder.structure(name);
        }
        self.wanted.explain(builder.build())
    }

    pub(crate) fn refresh(&self) -> Refresh {
        if self.no_refresh { Refresh::FirstOnly } else { Refresh::EverySighting }
    }
}

/// Show which structures reach a goal, best first, and what each costs and promises.
///
/// Memory is compared with the least that any structure could use, even one not invented yet.
#[derive(Debug, Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct Plan {
    #[command(flatten)]
    wanted: Wanted,

    /// Print JSON: an array with one object per plan
    #[arg(long)]
    pub(crate) json: bool,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  What remembering a million lines costs, with one mistake in a thousand:
    lately plan --last 1M --error 0.1%
  How few mistakes fit into 4 MiB, for a program to read:
    lately plan --last 1M --memory 4MiB --json";

impl Plan {
    /// The plans that reach the goal, and the goal itself.
    pub(crate) fn plans(&self) -> anyhow::Result<(Goal, Vec<lately::plan::Plan>)> {
        let goal = self.wanted.goal()?;
        Ok((goal, self.wanted.explain(goal.plans())?))
    }
}

fn structure_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CATALOG.iter().map(|row| row.name))
}

/// Clap's message in one line, without the usage that follows it.
fn complaint(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("error: ").unwrap_or(&text).replace(" tip: ", "; ");
    format!("{text}; see --help")
}
