//! One open file, with its name for messages, and whether it is still the one of that name.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};

use super::decode::{Encoding, decode};
use super::stop::{Stop, Tap};

/// A file being read.
pub(crate) struct Source {
    name: Arc<str>,
    path: PathBuf,
    reader: Box<dyn Read>,
    tap: Arc<Tap>,
    encoding: Encoding,
    /// What the file was when it was opened, if it is there to be read again and more may be
    /// written to it.
    growing: Option<Metadata>,
    /// Whether it is a pipe, or shared with whoever reads it next.
    taken: bool,
    /// How far it was read.
    position: u64,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// So many bytes.
    Bytes(usize),
    /// The end, for now.
    End,
    /// A request to stop; there may be more.
    Stop,
}

impl Source {
    /// Opens a file unless asked to stop; `-` is standard input. What is read of it is added to
    /// `progress`.
    pub(crate) fn open(
        path: &Path,
        stop: &Stop,
        progress: &Arc<AtomicU64>,
    ) -> anyhow::Result<Option<Self>> {
        let stdin = path.as_os_str() == "-";
        let name = if stdin { "standard input".into() } else { path.display().to_string() };
        let opened = stop.open(|| if stdin { standard_input() } else { File::open(path) });
        let Some(file) = opened else { return Ok(None) };
        let file = file.with_context(|| format!("cannot open {name}"))?;
        let metadata = file.metadata().ok();
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            bail!("{name} is a directory; name the files in it instead");
        }
        let metadata = metadata.filter(|metadata| !stdin && metadata.is_file());
        let taken = metadata.is_none();
        let tap = Arc::new(Tap::new(stop.clone()));
        let raw = Raw { file, waits: taken, tap: Arc::clone(&tap), progress: Arc::clone(progress) };
        let (reader, encoding) = decode(raw).with_context(|| format!("cannot read {name}"))?;
        let growing = metadata.filter(|_| encoding == Encoding::Plain);
        let (name, path) = (name.into(), path.to_owned());
        Ok(Some(Self { name, path, reader, tap, encoding, growing, taken, position: 0 }))
    }

    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Reads once.
    pub(crate) fn read(&mut self, room: &mut [u8]) -> anyhow::Result<Found> {
        loop {
            let found = match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(read) if read > 0 => Found::Bytes(read),
                // A decoder that was cut off may complain about it.
                _ if self.tap.is_closed() => Found::Stop,
                Ok(_) => Found::End,
                Err(error) => return Err(error).context(format!("cannot read {}", self.name)),
            };
            if let Found::Bytes(read) = found {
                self.position += read as u64;
            }
            return Ok(found);
        }
    }

    /// How far it was read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether what was read is gone from where it was.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken
    }

    /// From now on, byte by byte and not for long: for the end of a record that was taken in part.
    /// Only what was not compressed can be taken so.
    pub(crate) fn drip(&self) {
        if self.encoding == Encoding::Plain {
            self.tap.drip();
        }
    }

    /// What may still come, after a read that found nothing.
    pub(crate) fn future(&self) -> Future {
        let Some(opened) = &self.growing else { return Future::Nothing };
        match self.path.metadata() {
            Ok(now) if !same_file(opened, &now) || now.len() < self.position => Future::Another,
            // Whoever moved a file away will make another of its name.
            _ => Future::More,
        }
    }
}

/// What to expect of a file at its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Future {
    /// It is no file that grows.
    Nothing,
    /// It may grow.
    More,
    /// It was replaced or begun anew: open it again.
    Another,
}

#[cfg(unix)]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok()
}

#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    // Not through the library's buffer, which could hold what nobody knows to be there.
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

/// A file as it is stored. Closed by a request to stop, before it takes anything more.
struct Raw {
    file: File,
    /// Whether a read may have to wait for somebody to write.
    waits: bool,
    tap: Arc<Tap>,
    progress: Arc<AtomicU64>,
}

impl Read for Raw {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let Some(most) = self.tap.turn(&self.file, self.waits)? else { return Ok(0) };
        let most = most.min(room.len());
        let read = self.file.read(&mut room[..most])?;
        self.progress.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
