//! The chores of the workspace, so that nobody has to remember their commands.

mod book;
mod browser;
mod clicks;
mod engines;
mod fresh;
mod fuzz;
mod memory;
mod mutants;
mod named;
mod node;
mod packages;
mod page;
mod portable;
mod public;
mod python;
mod site;
mod spark;
mod steps;
mod tidy;
mod venv;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use engines::{Build, Engines};

/// What there is to do.
pub(crate) const HELP: &str = "\
Usage: cargo xtask CHORE

  test          everything a change must pass: lints, tests, documents, a short fuzz run
  lint          format, clippy, documents and the house rules only
  fuzz [SECS]   each fuzz target under libFuzzer, 60 seconds unless told otherwise
                (needs a nightly toolchain and `cargo install cargo-fuzz`)
  fresh         the two commands of the README in a bare Debian, as root and as somebody who may
                install nothing, or as one of them (`root`, `ordinary`); needs root, takes
                half an hour
  memory        Miri over the code that the compiler cannot check, the address sanitizer over the
                library's tests, forged snapshots on a 32-bit target (needs a nightly toolchain)
  mutants [--minutes N] [--changed [COMMIT]] [PATH]...
                small faults planted in the library, in random order for so many minutes, 30 unless told
                otherwise: in dictionary, growing, codec and plan, in these files or folders, or in files
                that differ from a commit (HEAD); fails if no test notices one that xtask/mutants.txt
                does not list
  portable      the library without an operating system, in WebAssembly under node, on 32 bits, on a
                big-endian machine under Miri, and with the oldest Rust that it says it needs
  golden        write golden snapshots that are missing, and what else is kept of structures
  public        write core/public.txt again, the list of all that is public
  module        the tests of the module on Redis and Valkey only
  python        the tests of the package for Python only, on a wheel of it
  python-race   that package beside other packages and sets, speed and memory; measures likewise
                (`instructions` counts those in place of time, and needs valgrind)
  python-memory what that package does with hostile input, under valgrind; takes a quarter of an hour
  spark         the tests of that package on Spark, which needs Java; `full` with a million events, ten
                kills, and state and time beside Spark's own, which takes a quarter of an hour
  site          the planner's page, the report and the documents as a book, in one folder that needs no
                server; fails if a link leads nowhere (needs the target wasm32-unknown-unknown of
                rustup, which it installs like nodejs and npm)
  browser       the same, driven by Chromium, which it installs
  redis         a server with the module, and redis-cli on it until that is left (`valkey` likewise)
  limit-race    LATELY.LIMIT beside sorted sets and counters in the same server; measures likewise
  race          the module beside SET EX NX in the same server; measures, so keep the machine quiet
                (REDISBLOOM=FILE brings that module in, here and below)
  instructions  the same in instructions of the server, which need no quiet machine but valgrind
  clicks        write examples/data/clicks.ndjson again";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    std::env::set_current_dir(root()).context("the workspace has moved")?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => steps::test(),
        ["lint"] => steps::lint(),
        ["fuzz"] => fuzz::run(60),
        ["fuzz", seconds] => fuzz::run(seconds.parse().context("seconds must be a number")?),
        ["fresh"] => fresh::run(None),
        ["fresh", visitor] => fresh::run(Some(visitor)),
        ["mutants", ref arguments @ ..] => mutants::run(arguments),
        ["memory"] => memory::check(),
        ["portable"] => portable::check(),
        ["golden"] => steps::golden(),
        ["public"] => public::write(),
        [engine @ ("redis" | "valkey")] => Engines::prepare(Build::Release)?.play(engine),
        ["module"] => Engines::prepare(Build::Checked)?.test(),
        ["python"] => python::test(),
        ["python-race"] => python::race(),
        ["python-race", "instructions"] => python::instructions(),
        ["python-memory"] => python::memory(),
        ["spark"] => spark::test(),
        ["spark", "full"] => spark::full(),
        ["site"] => site::build(),
        ["browser"] => browser::test(),
        ["race"] => Engines::prepare(Build::Release)?.race("race.py"),
        ["limit-race"] => Engines::prepare(Build::Release)?.race("limit_race.py"),
        ["instructions"] => Engines::prepare(Build::Release)?.instructions(),
        ["clicks"] => clicks::write(),
        ["help" | "-h" | "--help"] | [] => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("unknown chore {:?}\n\n{HELP}", arguments.join(" ")),
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
