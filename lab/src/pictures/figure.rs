//! What a figure of the report is: data, as an experiment is.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::picture::Panel;

/// One figure of the report.
pub struct Figure {
    /// Its name: that of its record and picture.
    pub name: &'static str,
    /// What it shows, in a line.
    pub title: &'static str,
    /// What to see in it; where a paper is wrong, that.
    pub says: &'static str,
    /// Whether it has times in it, which no other machine has.
    pub timed: bool,
    /// Seconds of a quick run, roughly: the progress bar reckons with them.
    pub seconds: u64,
    /// Measures it.
    pub measure: fn(Effort) -> Result<Drawn>,
}

/// Figures that belong together.
pub struct Chapter {
    /// Its heading.
    pub title: &'static str,
    /// What is compared with what.
    pub says: &'static str,
    /// In the order of the report.
    pub figures: &'static [Figure],
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Minutes for the whole report.
    Quick,
    /// As long as it takes to see small errors.
    Full,
}

impl Effort {
    /// One of two, by the effort.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// The picture; none if there is only a table.
    pub panels: Vec<Panel>,
    /// Below the picture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sheets: Vec<Sheet>,
    /// Sentences with figures of this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Of its columns.
    pub headings: Vec<String>,
    /// As text.
    pub rows: Vec<Vec<String>>,
}

impl From<Vec<Panel>> for Drawn {
    fn from(panels: Vec<Panel>) -> Self {
        Self { panels, ..Self::default() }
    }
}

impl Sheet {
    /// A table with only its headings.
    pub fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|&heading| heading.to_owned()).collect();
        Self { headings, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}
