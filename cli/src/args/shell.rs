//! Flags of the commands that help to install `lately`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands, options and values in a shell.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// The shell it is for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  For bash, in the places where it looks:
    lately completions bash > lately.bash
  For zsh, in a folder of its $fpath:
    lately completions zsh > _lately";

/// Print the manual page, or write one page per command.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// Write all pages into this folder: lately.1, lately-dedup.1, ...
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  To keep:
    lately man > lately.1
  All pages, for a package:
    lately man --folder .";
