//! Rows of fields, as in CSV and TSV: quotes keep delimiters and line ends inside a field.
//!
//! Rows are read by `csv-core`, a state machine that takes its input in pieces, so that a row cut
//! off by a read goes on where it was.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, bail};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr_iter;

use super::key::{Hasher, Texts};
use super::told::Moments;
use super::{Aside, Parser, Recipe};
use crate::input::{Chunk, Records};

/// A column by its number, from 1, or by its name in the first row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    Number(usize),
    Name(String),
}

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse() {
            Ok(number) if number > 0 => Column::Number(number),
            _ => Column::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => number.fmt(f),
            Column::Name(name) => name.fmt(f),
        }
    }
}

/// The rows of one file.
pub(crate) struct Csv {
    reader: Box<Reader>,
    row: Row,
    /// Bytes at the front of the chunk that the reader has taken already.
    taken: usize,
    /// Lines before the chunk.
    lines: u64,
    /// The next row names the columns.
    header: bool,
    first: Option<FirstHeader>,
    keys: Vec<Column>,
    time: Option<Column>,
    wanted: Wanted,
    moments: Moments,
    hasher: Hasher,
}

/// The header of the first of all files, once it is read. Where rows of several files go under one, it
/// must be the header of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct FirstHeader(Arc<OnceLock<Header>>);

#[derive(Debug)]
struct Header {
    file: Arc<str>,
    names: Vec<Vec<u8>>,
}

/// Fields of the current row without quotes, one after the other.
struct Row {
    text: Vec<u8>,
    written: usize,
    ends: Vec<usize>,
    ended: usize,
}

/// Where to look in a row, from zero.
#[derive(Default)]
struct Wanted {
    keys: Vec<usize>,
    time: Option<usize>,
}

impl Csv {
    pub(crate) fn new(
        recipe: &Recipe,
        delimiter: u8,
        (header, first): (bool, Option<&FirstHeader>),
        keys: &[Column],
        time: Option<&Column>,
    ) -> Self {
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            // Not the usual one, which takes a line feed for the beginning of the next row.
            .terminator(Terminator::Any(b'\n'))
            .build();
        let by_name = keys.iter().chain(time).any(|column| matches!(column, Column::Name(_)));
        let mut csv = Self {
            reader: Box::new(reader),
            row: Row { text: vec![0; 1024], written: 0, ends: vec![0; 32], ended: 0 },
            taken: 0,
            lines: 0,
            header: header || by_name,
            first: first.cloned(),
            keys: keys.to_vec(),
            time: time.cloned(),
            wanted: Wanted::default(),
            moments: Moments::new(recipe),
            hasher: Hasher::new(recipe),
        };
        if !by_name {
            csv.look_up().expect("numbers need no names");
        }
        csv
    }

    /// Finds the wanted columns among the names in the current row.
    fn look_up(&mut self) -> anyhow::Result<()> {
        let place = |column: &Column| match column {
            Column::Number(number) => Ok(number - 1),
            Column::Name(name) => {
                let mut names = self.row.fields();
                match names.position(|field| field == name.as_bytes()) {
                    Some(place) => Ok(place),
                    None => bail!("there is no column {name:?} in the first row, {}", self.row),
                }
            }
        };
        let keys = self.keys.iter().map(place).collect::<Result<_, _>>()?;
        let time = self.time.as_ref().map(place).transpose()?;
        self.wanted = Wanted { keys, time };
        Ok(())
    }

    /// Compares the names in the current row with those of the first file.
    fn check_header(&self, origin: &Arc<str>) -> anyhow::Result<()> {
        let Some(first) = &self.first else { return Ok(()) };
        let names = || self.row.fields().map(<[u8]>::to_vec).collect();
        let Header { file, names } =
            first.0.get_or_init(|| Header { file: Arc::clone(origin), names: names() });
        if !self.row.fields().eq(names.iter().map(Vec::as_slice)) {
            let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
            bail!(
                "the columns are {}, but those of {file} are {}, and rows of both cannot be \
                 under one header; read such files one by one",
                self.row,
                names.join(", ")
            );
        }
        Ok(())
    }

    /// Adds the current row, which ends at `end` in its chunk.
    fn add(&mut self, end: usize, origin: &Arc<str>, records: &mut Records) -> anyhow::Result<()> {
        if self.header {
            self.header = false;
            self.check_header(origin)?;
            self.look_up()?;
            records.put_aside(end, Aside::Header);
            return Ok(());
        }
        let moment = self.wanted.time.map(|place| self.moments.read(self.row.field(place)));
        let moment = match moment.transpose() {
            Ok(moment) => moment,
            Err(aside) => {
                records.put_aside(end, aside);
                return Ok(());
            }
        };
        match self.key(records.texts()) {
            Some(hash) => records.judge(end, hash, moment),
            None => records.put_aside(end, Aside::NoKey),
        }
        Ok(())
    }

    fn key(&mut self, texts: &mut Texts) -> Option<u64> {
        if let [only] = self.wanted.keys[..] {
            return Some(self.hasher.hash(self.row.field(only)?, texts));
        }
        for &place in &self.wanted.keys {
            match self.row.field(place) {
                Some(field) => self.hasher.join(field),
                None => {
                    self.hasher.abandon();
                    return None;
                }
            }
        }
        Some(self.hasher.joined(texts))
    }
}

impl Parser for Csv {
    fn parse(&mut self, chunk: &mut Chunk, last: bool) -> anyhow::Result<usize> {
        let Chunk { bytes, filled, records, origin, .. } = chunk;
        let bytes = &bytes[..*filled];
        let line_of = |lines: u64, start: usize| {
            let line = lines + memchr_iter(b'\n', &bytes[..start]).count() as u64 + 1;
            format!("{origin}: line {line}")
        };
        // The end of the last row, where the file has none: within quotes it ends nothing.
        let mut end = &b"\n"[..];
        let mut start = 0;
        let mut at = self.taken;
        loop {
            if at == start {
                // The reader would step over rows without anything.
                match &bytes[at..] {
                    [b'\r'] if !last => break,
                    [b'\n', ..] => at += 1,
                    [b'\r', b'\n', ..] => at += 2,
                    _ => {}
                }
                if at > start {
                    records.put_aside(at, Aside::NoKey);
                    start = at;
                    continue;
                }
            }
            let rest = &bytes[at..];
            let is_over = rest.is_empty();
            if is_over && (!last || at == start) {
                break;
            }
            let (text, ends) = self.row.room();
            let input = if is_over { end } else { rest };
            let (result, read, written, ended) = self.reader.read_record(input, text, ends);
            if is_over {
                end = &end[read..];
            } else {
                at += read;
            }
            self.row.written += written;
            self.row.ended += ended;
            match result {
                ReadRecordResult::InputEmpty if is_over => bail!(
                    "{}: a quote is opened in this row and never closed; close it, or double it if \
                     it belongs to the text",
                    line_of(self.lines, start)
                ),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.row.text.resize(2 * self.row.text.len(), 0),
                ReadRecordResult::OutputEndsFull => {
                    self.row.ends.resize(2 * self.row.ends.len(), 0);
                }
                ReadRecordResult::Record => {
                    let added = self.add(at, origin, records);
                    added.with_context(|| line_of(self.lines, start))?;
                    self.row.written = 0;
                    self.row.ended = 0;
                    start = at;
                }
                ReadRecordResult::End => break,
            }
        }
        self.taken = at - start;
        self.lines += memchr_iter(b'\n', &bytes[..start]).count() as u64;
        Ok(start)
    }
}

impl Row {
    /// Where the reader goes on writing.
    fn room(&mut self) -> (&mut [u8], &mut [usize]) {
        (&mut self.text[self.written..], &mut self.ends[self.ended..])
    }

    /// A field that is there and not empty.
    fn field(&self, index: usize) -> Option<&[u8]> {
        let ends = &self.ends[..self.ended];
        let start = if index == 0 { 0 } else { *ends.get(index - 1)? };
        let field = &self.text[start..*ends.get(index)?];
        let field = match field {
            // The carriage return of a row that ends with both.
            [field @ .., b'\r'] if index + 1 == self.ended => field,
            field => field,
        };
        Some(field).filter(|field| !field.is_empty())
    }

    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ended).map(|index| self.field(index).unwrap_or_default())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields().map(String::from_utf8_lossy).collect();
        f.write_str(&names.join(", "))
    }
}
