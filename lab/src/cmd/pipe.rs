//! `pipe`: the command against other commands that drop repeated lines, on files in the cache.
//!
//! Everybody reads the same file as standard input and writes to nowhere, in turns, so that whatever
//! else the machine does meets all of them alike. The best of all rounds counts.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use lately::raw::quantity;

use crate::children::{Took, document, line, make};
use crate::table::Table;

/// What to race.
#[derive(Debug, Args)]
pub struct Options {
    /// The binary; build it with `cargo build --release -p lately-cli`
    #[arg(long, value_name = "FILE", default_value = "target/release/lately")]
    lately: PathBuf,
    /// Another command that reads lines and prints each once; may be repeated
    #[arg(long = "rival", value_name = "COMMAND", default_value = "huniq")]
    rivals: Vec<String>,
    /// Lines of 20 bytes
    #[arg(long, default_value = "20M", value_parser = quantity::items)]
    lines: u64,
    /// JSON documents of about 150 bytes
    #[arg(long, default_value = "5M", value_parser = quantity::items)]
    documents: u64,
    /// How often everybody runs
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where to put the files
    #[arg(long, value_name = "FOLDER", default_value = "target/pipe")]
    folder: PathBuf,
}

/// Runs everybody in turns, and prints the best of each.
pub fn pipe(options: &Options, out: &mut impl Write) -> Result<bool> {
    ensure!(options.rounds > 0, "at least one round is needed");
    fs::create_dir_all(&options.folder)?;
    let lines = options.folder.join(format!("{}-lines", options.lines));
    let documents = options.folder.join(format!("{}-documents", options.documents));
    make(&lines, options.lines, line)?;
    make(&documents, options.documents, document)?;
    let lately = |flags: &str| format!("{} dedup {flags}", options.lately.display());
    for (file, ours) in [
        (&lines, &["--ever --error 0.1%", "--last 1000000"][..]),
        (&documents, &["--ever --error 0.1% --key /id"]),
    ] {
        let ours = ours.iter().map(|flags| lately(flags));
        let mut contenders: Vec<_> =
            options.rivals.iter().cloned().chain(ours).map(Contender::new).collect();
        for _ in 0..options.rounds {
            for contender in &mut contenders {
                contender.run(file)?;
            }
        }
        writeln!(out, "{}, {} bytes\n", file.display(), fs::metadata(file)?.len())?;
        writeln!(out, "{}", table(&contenders))?;
    }
    Ok(true)
}

/// A command and its best run.
struct Contender {
    command: String,
    seconds: f64,
    bytes: u64,
}

impl Contender {
    fn new(command: String) -> Self {
        Self { command, seconds: f64::INFINITY, bytes: 0 }
    }

    fn run(&mut self, file: &Path) -> Result<()> {
        let mut words = self.command.split_whitespace();
        let program = words.next().context("an empty command")?;
        let took = Took::by(Command::new(program).args(words), file, Stdio::null())?;
        self.seconds = self.seconds.min(took.seconds);
        self.bytes = self.bytes.max(took.bytes);
        Ok(())
    }
}

fn table(contenders: &[Contender]) -> Table {
    let mut table =
        Table::new(&["command", "seconds", "times as fast", "peak memory", "share of it"]);
    let first = &contenders[0];
    for contender in contenders {
        table.row([
            contender.command.clone(),
            format!("{:.2}", contender.seconds),
            format!("{:.2}", first.seconds / contender.seconds),
            format!("{:.1} MB", contender.bytes as f64 / 1e6),
            format!("{:.2}", contender.bytes as f64 / first.bytes as f64),
        ]);
    }
    table
}
