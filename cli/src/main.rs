//! The command `lately`: parse, run, set the exit code.
//!
//! Exit code 0 is success, 2 an error, told in one line. A reader that has seen enough and closes
//! the pipe (`lately dedup ... | head`) is success.

mod args;
mod cmd;
mod input;
mod output;
mod wanted;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // `eprintln!` would panic where standard error cannot be written to.
            let _ = writeln!(io::stderr(), "lately: {}", in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

fn run() -> anyhow::Result<()> {
    match args::parse()? {
        Some(Command::Dedup(request)) => cmd::dedup::run(request),
        Some(Command::Plan(request)) => cmd::plan::run(&request),
        None => Ok(()),
    }
}

/// The error and its causes, joined; line breaks inside them (a file name may hold any) go.
fn in_one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().collect::<Vec<_>>().join(" ")
}
