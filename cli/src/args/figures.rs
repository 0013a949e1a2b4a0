//! Flags for what happened, told at the end.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Figures {
    /// Say on standard error at the end what happened
    #[arg(long, help_heading = "Output")]
    stats: bool,

    /// Write to this file at the end what happened, as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    stats_json: Option<PathBuf>,
}

impl Figures {
    /// Whether anybody wants to know.
    pub(crate) fn are_wanted(&self) -> bool {
        self.stats || self.stats_json.is_some()
    }

    /// Tells whoever wants to know.
    pub(crate) fn tell(
        &self,
        report: &impl Display,
        json: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        if self.stats {
            // Nobody may be there to read it.
            let _ = write!(io::stderr(), "{report}");
        }
        match &self.stats_json {
            Some(path) if path.as_os_str() == "-" => output::print(&json()?),
            Some(path) => {
                fs::write(path, json()?).with_context(|| format!("cannot write {}", path.display()))
            }
            None => Ok(()),
        }
    }
}
