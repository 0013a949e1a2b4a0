//! `list`: every experiment and what it asks.

use std::io::Write;

use anyhow::Result;

use crate::experiments;

/// Prints one line per experiment.
pub fn list(out: &mut impl Write) -> Result<()> {
    for experiment in experiments::all() {
        let (name, kind, question) = (experiment.name, experiment.kind.name(), experiment.question);
        let cells = experiment.sizes.len() * experiment.limits.len();
        writeln!(out, "{name:<20} {kind:<8} {cells:>3} cells  {question}")?;
    }
    Ok(())
}
