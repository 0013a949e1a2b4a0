//! What to read, and what makes a record the same as another: flags of all commands that read
//! streams.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use lately::Hashing;

use crate::input::Files;
use crate::records::{Column, Folding, Format, Keys, Path, Recipe, Unit};

/// What makes a record the same as another.
#[derive(Debug, Args)]
pub(crate) struct Keying {
    /// Compare records by this value of their JSON: /user/id or user.id; repeat it for keys of
    /// several parts
    #[arg(long = "key", short, value_name = "PATH", help_heading = "Keys")]
    keys: Vec<Path>,

    /// Compare rows of CSV by this column, by name (the first row has the names) or number from 1;
    /// repeat it for keys of several parts
    #[arg(long = "column", short, value_name = "NAME|N", help_heading = "Keys")]
    #[arg(conflicts_with_all = ["keys", "zero"])]
    columns: Vec<Column>,

    /// What stands between the fields of a row: a character, or `tab` [default: ,]
    #[arg(long, short, value_name = "CHAR", help_heading = "Keys", value_parser = delimiter)]
    #[arg(requires = "columns")]
    delimiter: Option<u8>,

    /// The first row of each file has the names of the columns, also if --column is a number
    #[arg(long, help_heading = "Keys", requires = "columns")]
    header: bool,

    /// Records end with a zero byte instead of a newline
    #[arg(long = "zero-terminated", short = 'z', id = "zero", help_heading = "Keys")]
    zero: bool,

    /// Upper and lower case are the same
    #[arg(long, short, help_heading = "Keys")]
    ignore_case: bool,

    /// Blanks before and after a key do not count
    #[arg(long, help_heading = "Keys")]
    trim: bool,
}

/// When a record happened.
#[derive(Debug, Args)]
pub(crate) struct Timing {
    /// Take the time of a record from this value of its JSON: RFC 3339, or a number since 1970
    /// [default: when it is read]
    #[arg(long, value_name = "PATH", help_heading = "Time")]
    #[arg(requires = "within", conflicts_with_all = ["last", "ever", "columns"])]
    time_key: Option<Path>,

    /// Take the time of a row from this column
    #[arg(long, value_name = "NAME|N", help_heading = "Time")]
    #[arg(requires_all = ["columns", "within"], conflicts_with_all = ["last", "ever"])]
    time_column: Option<Column>,

    /// What a time that is a number counts
    #[arg(long, value_name = "UNIT", help_heading = "Time", default_value = "auto")]
    time_unit: Unit,
}

/// A stream of records with keys and times.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    keying: Keying,

    #[command(flatten)]
    timing: Timing,

    /// Wait for more at the end of each file, also if it is replaced or begun anew
    #[arg(long, short = 'F', help_heading = "Input")]
    pub(crate) follow: bool,

    /// Files, read as one stream, decompressed if need be (gzip, zstd, bzip2, xz); standard input
    /// if there are none, or for `-`
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

impl Reading {
    /// What to read.
    pub(crate) fn files(&self) -> Files {
        Files { follow: self.follow, ..Files::once(&self.files) }
    }

    /// How to read it, and how keys become hashes.
    pub(crate) fn recipe(&self, hashing: Hashing, keys: Keys) -> Recipe {
        let Timing { time_key, time_column, time_unit } = &self.timing;
        let mut recipe = self.keying.recipe(hashing, keys);
        recipe.unit = *time_unit;
        match &mut recipe.format {
            Format::Lines { time, .. } => time.clone_from(time_key),
            Format::Csv { time, .. } => time.clone_from(time_column),
        }
        recipe
    }
}

impl Keying {
    /// How to read records whose time does not matter, and how their keys become hashes.
    pub(crate) fn recipe(&self, hashing: Hashing, keys: Keys) -> Recipe {
        self.recipe_by(&self.keys, &self.columns, hashing, keys)
    }

    /// The same with the key elsewhere in the records, if that is said.
    pub(crate) fn recipe_elsewhere(
        &self,
        (paths, columns): (&[Path], &[Column]),
        hashing: Hashing,
        keys: Keys,
    ) -> Recipe {
        if paths.is_empty() && columns.is_empty() {
            return self.recipe(hashing, keys);
        }
        self.recipe_by(paths, columns, hashing, keys)
    }

    fn recipe_by(
        &self,
        paths: &[Path],
        columns: &[Column],
        hashing: Hashing,
        keys: Keys,
    ) -> Recipe {
        let format = if columns.is_empty() {
            let terminator = if self.zero { 0 } else { b'\n' };
            Format::Lines { terminator, keys: paths.to_vec(), time: None }
        } else {
            Format::Csv {
                delimiter: self.delimiter.unwrap_or(b','),
                header: self.header,
                keys: columns.to_vec(),
                time: None,
            }
        };
        let folding = Folding { case: self.ignore_case, blanks: self.trim };
        Recipe { format, folding, unit: Unit::default(), hashing, keys }
    }
}

fn delimiter(text: &str) -> anyhow::Result<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => bail!("{text:?} is no single character; write for example ';' or tab"),
    }
}
