//! Flags of `lately inspect`.

use std::path::PathBuf;

use clap::Args;

/// Show what a snapshot or a state holds: structure, parameters, promise, error at this moment.
///
/// The file may be in use: it is whole at every moment.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Inspect {
    /// A file made by `lately dedup --state`, or any other snapshot
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  What a state remembers, and how well:
    lately inspect seen.lately
  The same, for a program to read:
    lately inspect --json seen.lately";
