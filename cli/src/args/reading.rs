//! What to read, and what makes a record the same as another: flags of all commands that read
//! streams.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use lately::Hashing;

use crate::input::Files;
use crate::records::{Column, Folding, Format, Path, Recipe, Unit};

#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Compare records by this value of their JSON: /user/id or user.id; repeat it for keys of
    /// several parts
    #[arg(long = "key", short, value_name = "PATH", help_heading = "Keys")]
    keys: Vec<Path>,

    /// Compare rows of CSV by this column, by name (the first row has the names) or number from 1;
    /// repeat it for keys of several parts
    #[arg(long = "column", short, value_name = "NAME|N", help_heading = "Keys")]
    #[arg(conflicts_with_all = ["keys", "zero", "time_key"])]
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

    /// Take the time of a record from this value of its JSON: RFC 3339, or a number since 1970
    /// [default: when it is read]
    #[arg(long, value_name = "PATH", help_heading = "Time")]
    #[arg(requires = "within", conflicts_with_all = ["last", "ever"])]
    time_key: Option<Path>,

    /// Take the time of a row from this column
    #[arg(long, value_name = "NAME|N", help_heading = "Time")]
    #[arg(requires_all = ["columns", "within"], conflicts_with_all = ["last", "ever"])]
    time_column: Option<Column>,

    /// What a time that is a number counts
    #[arg(long, value_name = "UNIT", help_heading = "Time", default_value = "auto")]
    time_unit: Unit,

    /// Wait for more at the end of each file, also if it is replaced or begun anew
    #[arg(long, short = 'F', help_heading = "Input")]
    follow: bool,

    /// Files, read as one stream, decompressed if need be (gzip, zstd, bzip2, xz); standard input
    /// if there are none, or for `-`
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

impl Reading {
    /// What to read.
    pub(crate) fn files(&self) -> Files {
        let stdin = || vec!["-".into()];
        let paths = if self.files.is_empty() { stdin() } else { self.files.clone() };
        Files { paths, follow: self.follow }
    }

    /// How to read it, and how keys become hashes.
    pub(crate) fn recipe(&self, hashing: Hashing) -> Recipe {
        let format = if self.columns.is_empty() {
            let terminator = if self.zero { 0 } else { b'\n' };
            Format::Lines { terminator, keys: self.keys.clone(), time: self.time_key.clone() }
        } else {
            Format::Csv {
                delimiter: self.delimiter.unwrap_or(b','),
                header: self.header,
                keys: self.columns.clone(),
                time: self.time_column.clone(),
            }
        };
        let folding = Folding { case: self.ignore_case, blanks: self.trim };
        Recipe { format, folding, unit: self.time_unit, hashing }
    }
}

fn delimiter(text: &str) -> anyhow::Result<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => bail!("{text:?} is no single character; write for example ';' or tab"),
    }
}
