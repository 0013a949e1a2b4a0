//! What to read, and what makes a record the same as another: flags of all commands that read
//! streams.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use lately::raw::Horizon;
use lately::{Clock, Hashing, Span, SystemClock, Time, Window};

use crate::input::Files;
use crate::records::{
    Column, Folding, Format, Keys, Path, Recipe, Spelling, Unit, moment_format, parse_moment,
};

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
    #[arg(hide_short_help = true)]
    header: bool,

    /// Records end with a zero byte instead of a newline
    #[arg(long = "zero-terminated", short = 'z', id = "zero", help_heading = "Keys")]
    #[arg(hide_short_help = true)]
    zero: bool,

    /// Upper and lower case are the same
    #[arg(long, short, help_heading = "Keys")]
    ignore_case: bool,

    /// Blanks before and after a key do not count
    #[arg(long, help_heading = "Keys")]
    #[arg(hide_short_help = true)]
    trim: bool,
}

/// When a record happened.
#[derive(Debug, Args)]
pub(crate) struct Timing {
    /// Take the time of a record from this value of its JSON: RFC 3339 (UTC if it has no zone), RFC
    /// 2822, as in logs of web servers, or a number since 1970 [default: when it is read]
    #[arg(long, value_name = "PATH", help_heading = "Time")]
    #[arg(requires = "within", conflicts_with_all = ["last", "ever", "columns"])]
    time_key: Option<Path>,

    /// Take the time of a row from this column
    #[arg(long, value_name = "NAME|N", help_heading = "Time")]
    #[arg(requires_all = ["columns", "within"], conflicts_with_all = ["last", "ever"])]
    time_column: Option<Column>,

    /// What a time that is a number counts
    #[arg(long, value_name = "UNIT", help_heading = "Time", default_value = "auto")]
    #[arg(hide_short_help = true)]
    time_unit: Unit,

    /// How times are written, as in strftime: '%d.%m.%Y %H:%M'; UTC unless it has a zone (%z)
    #[arg(long, value_name = "FORMAT", help_heading = "Time", value_parser = moment_format)]
    #[arg(conflicts_with = "time_unit")]
    #[arg(hide_short_help = true)]
    time_format: Option<String>,

    /// Believe no time that is further ahead of this machine's clock: such a record counts as one
    /// without a time. `any` believes all [default: as long as the window, or 1h if that is more;
    /// half of that with --redis]
    #[arg(long, value_name = "SPAN", help_heading = "Time", value_parser = max_ahead)]
    #[arg(requires = "within", conflicts_with_all = ["last", "ever"])]
    #[arg(hide_short_help = true)]
    max_ahead: Option<Span>,
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
    /// A column whose name is that of a file, where no file is named to read.
    pub(super) fn column_that_is_a_file(&self) -> Option<&Column> {
        let is_file = |column: &&Column| match column {
            Column::Name(name) => std::path::Path::new(name).is_file(),
            Column::Number(_) => false,
        };
        self.keying.columns.iter().find(is_file).filter(|_| self.files.is_empty())
    }

    /// What to read.
    pub(crate) fn files(&self) -> Files {
        Files { follow: self.follow, ..Files::once(&self.files) }
    }

    /// How to read it for a window, and how keys become hashes.
    pub(crate) fn recipe(&self, window: Window, hashing: Hashing, keys: Keys) -> Recipe {
        let Timing { time_key, time_column, time_unit, time_format, max_ahead } = &self.timing;
        let mut recipe = self.keying.recipe(hashing, keys);
        recipe.spelling = match time_format {
            Some(format) => Spelling::Format(format.clone()),
            None => Spelling::Usual(*time_unit),
        };
        recipe.horizon = Horizon::of(window, *max_ahead);
        match &mut recipe.format {
            Format::Lines { time, .. } => time.clone_from(time_key),
            Format::Csv { time, .. } => time.clone_from(time_column),
        }
        recipe
    }
}

impl Reading {
    /// How far ahead a time is believed that a server must believe, too: half as far as usual, since
    /// its clock may differ and it ends the run if it does not.
    pub(crate) fn shared_horizon(&self, window: Window) -> Horizon {
        let usual = Horizon::of(window, None).limit();
        let half = Span::from_millis(usual.millis() / 2);
        Horizon::of(window, Some(self.timing.max_ahead.unwrap_or(half)))
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
                first: None,
                keys: columns.to_vec(),
                time: None,
            }
        };
        let folding = Folding { case: self.ignore_case, blanks: self.trim };
        let (spelling, horizon) = (Spelling::Usual(Unit::Auto), Horizon::ENDLESS);
        Recipe { format, folding, spelling, horizon, hashing, keys }
    }
}

fn max_ahead(text: &str) -> Result<Span, lately::Error> {
    if text == "any" { Ok(Span::LONGEST) } else { text.parse() }
}

/// A moment on the command line: as records tell it, or `now`.
pub(super) fn moment(text: &str) -> anyhow::Result<Time> {
    if text == "now" {
        return SystemClock.now().context("this machine has no clock");
    }
    let moment = parse_moment(text.as_bytes(), Unit::Auto);
    moment.context("it is no moment; write `now`, or for example 2015-09-12T00:46:58Z")
}

fn delimiter(text: &str) -> anyhow::Result<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => bail!("{text:?} is no single character; write for example ';' or tab"),
    }
}
