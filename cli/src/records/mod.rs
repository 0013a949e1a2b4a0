//! From bytes to records, and from records to what the filter judges: the hash of the key, and the
//! moment if the record tells it.
//!
//! A [`Recipe`] is what the flags say; a [`Parser`] carries it out for one file.

mod csv;
mod json;
mod key;
mod lines;
mod moment;
mod path;
mod told;

pub(crate) use csv::{Column, FirstHeader};
pub(crate) use key::{Folding, Texts, parts};
pub(crate) use moment::{Spelling, Unit, format as moment_format, parse as parse_moment};
pub(crate) use path::Path;
pub(crate) use told::text as moment_text;

use std::fmt;

use lately::raw::Horizon;
use lately::{Hashing, Time};

use crate::input::Chunk;

/// How records are told apart, and what makes one the same as another.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) format: Format,
    pub(crate) folding: Folding,
    pub(crate) spelling: Spelling,
    /// How far ahead of this machine's clock a moment is believed.
    pub(crate) horizon: Horizon,
    pub(crate) hashing: Hashing,
    pub(crate) keys: Keys,
}

/// What becomes of the keys themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Only their hashes are needed.
    Hashed,
    /// They are handed on beside their hashes.
    Kept,
}

/// What a record is, and where its key and its moment are.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    /// Lines, or whatever `terminator` ends. Without paths the key is the whole of it; with them,
    /// it is a JSON document.
    Lines { terminator: u8, keys: Vec<Path>, time: Option<Path> },
    /// Rows of fields in quotes where needed. Names of columns are looked up in the first row of each
    /// file, which is that of all if there is a `first`.
    Csv {
        delimiter: u8,
        header: bool,
        first: Option<FirstHeader>,
        keys: Vec<Column>,
        time: Option<Column>,
    },
}

impl Recipe {
    /// A parser at the beginning of a file.
    pub(crate) fn parser(&self) -> Box<dyn Parser> {
        match &self.format {
            Format::Lines { terminator, keys, time } => {
                Box::new(lines::Lines::new(self, *terminator, keys, time.as_ref()))
            }
            Format::Csv { delimiter, header, first, keys, time } => {
                let header = (*header, first.as_ref());
                Box::new(csv::Csv::new(self, *delimiter, header, keys, time.as_ref()))
            }
        }
    }

    /// For rows that are printed under one header: files with others are refused.
    pub(crate) fn under_one_header(mut self) -> Self {
        if let Format::Csv { first, .. } = &mut self.format {
            *first = Some(FirstHeader::default());
        }
        self
    }

    /// How many parts a key has.
    pub(crate) fn parts(&self) -> usize {
        match &self.format {
            Format::Lines { keys, .. } => keys.len().max(1),
            Format::Csv { keys, .. } => keys.len(),
        }
    }

    /// Whether records say when they happened.
    pub(crate) fn tells_time(&self) -> bool {
        match &self.format {
            Format::Lines { time, .. } => time.is_some(),
            Format::Csv { time, .. } => time.is_some(),
        }
    }

    /// The byte between records.
    pub(crate) fn terminator(&self) -> u8 {
        match self.format {
            Format::Lines { terminator, .. } => terminator,
            Format::Csv { .. } => b'\n',
        }
    }
}

/// What the keys are, for people; the same text for the same keys.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.format {
            Format::Lines { keys, .. } if keys.is_empty() => f.write_str("whole records")?,
            Format::Lines { keys, .. } => write_list(f, keys)?,
            Format::Csv { keys, .. } => {
                f.write_str(if keys.len() == 1 { "column " } else { "columns " })?;
                write_list(f, keys)?;
            }
        }
        if self.folding.blanks {
            f.write_str(", trimmed")?;
        }
        if self.folding.case {
            f.write_str(", in any case")?;
        }
        Ok(())
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, item)| {
        f.write_str(if index == 0 { "" } else { " + " })?;
        item.fmt(f)
    })
}

/// Finds the records of one file, chunk by chunk.
pub(crate) trait Parser {
    /// Adds the whole records in the chunk to its list, and says where the last one ends. What
    /// remains is at the front of the next chunk. `last` says that nothing follows, so that the
    /// rest is a record, too.
    fn parse(&mut self, chunk: &mut Chunk, last: bool) -> anyhow::Result<usize>;
}

/// Why the filter does not judge a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aside {
    /// It names the columns.
    Header,
    /// It has no key.
    NoKey,
    /// It does not say when it happened.
    NoTime,
    /// It says that it happened so far ahead that this is not believed.
    Ahead(Time),
    /// It is not JSON where its key should be.
    Malformed,
    /// Its rest was not there when somebody asked to stop.
    Cut,
}

impl Aside {
    /// Whether something is wrong with the record.
    pub(crate) fn is_fault(self) -> bool {
        !matches!(self, Aside::Header | Aside::Cut)
    }
}

impl fmt::Display for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aside::Ahead(moment) => {
                let moment = told::text(*moment);
                return write!(f, "tells {moment}, too far ahead of this machine's clock");
            }
            Aside::Header => "names the columns",
            Aside::NoKey => "has no key",
            Aside::NoTime => "does not tell its time",
            Aside::Malformed => "is not JSON",
            Aside::Cut => "is cut off",
        })
    }
}
