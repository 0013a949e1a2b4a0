//! The command `lately`: parse, run, set the exit code.
//!
//! Exit code 0 is success, 2 an error, told in one line; 1 says that nothing was new, for those who
//! ask (`--exit-status`). A reader that has seen enough and closes
//! the pipe (`lately dedup ... | head`) is success. Whoever is stopped by a signal dies of it, when
//! everything is in order.

mod args;
mod cmd;
mod idle;
mod input;
mod judge;
mod listing;
mod output;
mod printer;
mod progress;
mod records;
#[cfg(feature = "redis")]
mod remote;
mod repeated;
mod signals;
mod state;
mod stats;
mod tally;
mod tolerable;
mod unjudged;
mod wanted;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Command;
use cmd::Ended;

fn main() -> ExitCode {
    match run() {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::NothingNew) => ExitCode::FAILURE,
        Ok(Ended::Stopped(signal)) => signals::die_of(signal),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // `eprintln!` would panic where standard error cannot be written to.
            let _ = writeln!(io::stderr(), "lately: {}", in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

fn run() -> anyhow::Result<Ended> {
    match args::parse()? {
        Some(Command::Dedup(request)) => return cmd::dedup::run(&request),
        Some(Command::Count(request)) => return cmd::count::run(&request),
        Some(Command::Join(request)) => return cmd::join::run(&request),
        Some(Command::Sketch(request)) => cmd::sketch::run(&request.deed)?,
        Some(Command::Plan(request)) => cmd::plan::run(&request)?,
        Some(Command::Inspect(request)) => cmd::inspect::run(&request)?,
        Some(Command::Completions(request)) => cmd::shell::completions(&request)?,
        Some(Command::Man(request)) => cmd::shell::man(&request)?,
        None => {}
    }
    Ok(Ended::Well)
}

/// The error and its causes, joined; line breaks inside them (a file name may hold any) go.
fn in_one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().collect::<Vec<_>>().join(" ")
}
