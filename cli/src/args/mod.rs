//! Flags, and the typed requests that they become. One file per command; what commands share is in
//! [`Wanted`](crate::wanted::Wanted) (the filter) and [`Reading`] (the stream).

mod count;
mod counted;
mod customary;
mod dedup;
mod environment;
mod figures;
mod inspect;
mod join;
mod plan;
mod printing;
mod reading;
#[cfg_attr(not(feature = "redis"), path = "unshared.rs")]
mod shared;
mod shell;
mod sketch;

pub(crate) use count::Count;
pub(crate) use counted::{Keyless, Watching};
pub(crate) use dedup::{Dedup, Missing};
pub(crate) use inspect::Inspect;
pub(crate) use join::Join;
pub(crate) use plan::Plan;
pub(crate) use reading::Reading;
pub(crate) use shared::Shared;
pub(crate) use shell::{Completions, Man};
pub(crate) use sketch::{Build, Deed, Merge, Multiply, Query, Sketch};

use anyhow::{Context, anyhow};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::output;

/// The request on the command line and in the environment. `None` if it asked for help or the
/// version, now printed.
pub(crate) fn parse() -> anyhow::Result<Option<Command>> {
    let definition = definition();
    let mut arguments = std::env::args_os().collect();
    customary::name_the_command(&definition, &mut arguments)?;
    let matches = environment::matches(definition, arguments);
    match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => {
            customary::refuse_files_for_columns(&line.command)?;
            Ok(Some(line.command))
        }
        Err(shown) if !shown.use_stderr() => {
            shown.print().context(output::FAILED)?;
            Ok(None)
        }
        Err(error) => Err(anyhow!(complaint(&error.render().to_string()))),
    }
}

/// All commands and options, for whatever is generated from them.
pub(crate) fn definition() -> clap::Command {
    CommandLine::command()
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
  lately events.log > new.log
  lately dedup --last 1M events.log > new.log
  lately count --top 10 events.log
  lately plan --last 1M --error 0.1%";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(Box<Dedup>),
    Count(Box<Count>),
    Sketch(Sketch),
    Join(Box<Join>),
    Plan(Plan),
    Inspect(Inspect),
    Completions(Completions),
    Man(Man),
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
