//! Records from files and standard input, read as one stream.
//!
//! A record is a line with its newline, if it has one. Reading and splitting are separate calls, so
//! that whoever writes can flush exactly when the next read may wait:
//!
//! ```text
//! while input.fill()? {                    one read, which may wait
//!     while let Some(batch) = input.batch() { ... }
//!     output.flush()?;
//! }
//! ```
//!
//! Bytes are copied only from the kernel into the buffer, and once more for the piece of a line
//! that a read cuts off. The buffer doubles for lines longer than itself, and every byte is searched
//! for newlines twice at most, so the cost stays linear whatever the length of a line.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use memchr::{memchr_iter, memrchr};

/// Files one after the other, as one stream of records.
pub(crate) struct Input {
    /// Files not opened yet; `-` is standard input.
    paths: std::vec::IntoIter<PathBuf>,
    /// The file being read.
    source: Option<Source>,
    /// What was read is in `..filled`; the rest is room for more.
    buffer: Vec<u8>,
    /// Where the records not handed out yet begin.
    begin: usize,
    /// Where the last whole record ends.
    complete: usize,
    /// Where the bytes read end.
    filled: usize,
    /// Where the records of the current batch end, relative to its beginning.
    ends: Vec<usize>,
}

impl Input {
    /// The size of a read, and of the buffer while lines are short: few system calls, and still
    /// within a core's own cache when the records are hashed and written.
    const READ: usize = 256 << 10;

    /// Records per batch, at most: what is kept per record then stays in the nearest cache.
    const BATCH: usize = 512;

    /// The records of these files; of standard input if there are none.
    pub(crate) fn new(mut paths: Vec<PathBuf>) -> Self {
        if paths.is_empty() {
            paths.push("-".into());
        }
        Self {
            paths: paths.into_iter(),
            source: None,
            buffer: Vec::new(),
            begin: 0,
            complete: 0,
            filled: 0,
            ends: Vec::with_capacity(Self::BATCH),
        }
    }

    /// Reads once, and says `false` at the end of the last file. Call it when [`batch`](Self::batch)
    /// has no more; what was read may not complete any record.
    pub(crate) fn fill(&mut self) -> anyhow::Result<bool> {
        self.make_room()?;
        let source = match &mut self.source {
            Some(source) => source,
            None => match self.paths.next() {
                Some(path) => self.source.insert(Source::open(&path)?),
                None => return Ok(false),
            },
        };
        let room = self.buffer.len().min(self.filled + Self::READ);
        let read = source.read(&mut self.buffer[self.filled..room])?;
        if read == 0 {
            // What is left is a record, though it lacks its newline.
            self.source = None;
            self.complete = self.filled;
        } else if let Some(newline) = memrchr(b'\n', &self.buffer[self.filled..][..read]) {
            self.complete = self.filled + newline + 1;
        }
        self.filled += read;
        Ok(true)
    }

    /// The next whole records, if there are any without reading more.
    pub(crate) fn batch(&mut self) -> Option<Batch<'_>> {
        let bytes = &self.buffer[self.begin..self.complete];
        self.ends.clear();
        self.ends.extend(memchr_iter(b'\n', bytes).take(Self::BATCH).map(|newline| newline + 1));
        if self.ends.len() < Self::BATCH && bytes.len() > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(bytes.len());
        }
        let &end = self.ends.last()?;
        self.begin += end;
        Some(Batch { bytes: &bytes[..end], ends: &self.ends })
    }

    /// Moves the beginning of an unfinished record to the front and leaves at least half of the
    /// buffer free, so that reads stay large.
    fn make_room(&mut self) -> anyhow::Result<()> {
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled -= self.begin;
        self.begin = 0;
        self.complete = 0;
        let length = self.buffer.len();
        if self.filled > length / 2 || length == 0 {
            let longer = (2 * length).max(Self::READ);
            if self.buffer.try_reserve_exact(longer - length).is_err() {
                bail!("a line longer than {} bytes does not fit into memory", self.filled);
            }
            self.buffer.resize(longer, 0);
        } else if length > Self::READ && self.filled <= Self::READ / 2 {
            // A long line has gone; its memory goes, too.
            self.buffer.truncate(Self::READ);
            self.buffer.shrink_to_fit();
        }
        Ok(())
    }
}

/// Some whole records, one after the other.
pub(crate) struct Batch<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Batch<'a> {
    /// The records with their newlines, without gaps.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where each record is in [`bytes`](Self::bytes).
    pub(crate) fn records(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let mut start = 0;
        self.ends.iter().map(move |&end| std::mem::replace(&mut start, end)..end)
    }

    /// What makes each record the same as another: the line without its newline.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.records().map(move |record| {
            let record = &bytes[record];
            record.strip_suffix(b"\n").unwrap_or(record)
        })
    }
}

/// One open file, with its name for messages.
struct Source {
    name: String,
    reader: Box<dyn Read>,
}

impl Source {
    fn open(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                name: "standard input".into(),
                reader: Box::new(io::stdin().lock()),
            });
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            bail!("{name} is a directory; name the files in it instead");
        }
        Ok(Self { name, reader: Box::new(file) })
    }

    fn read(&mut self, room: &mut [u8]) -> anyhow::Result<usize> {
        loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.with_context(|| format!("cannot read {}", self.name)),
            }
        }
    }
}
