//! One open file, with its name for messages, and whether it is still the one of that name.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};

use super::decode::{Encoding, decode};

/// A file being read.
pub(crate) struct Source {
    name: Arc<str>,
    path: PathBuf,
    reader: Box<dyn Read>,
    /// What the file was when it was opened, if more may be written to it.
    growing: Option<Metadata>,
    /// How far it was read.
    position: u64,
}

impl Source {
    /// Opens a file; `-` is standard input. What is read of it is added to `progress`.
    pub(crate) fn open(path: &Path, progress: &Arc<AtomicU64>) -> anyhow::Result<Self> {
        let stdin = path.as_os_str() == "-";
        let name = if stdin { "standard input".into() } else { path.display().to_string() };
        let (raw, metadata): (Box<dyn Read>, _) = if stdin {
            (Box::new(io::stdin().lock()), None)
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
            let metadata = file.metadata().ok();
            if metadata.as_ref().is_some_and(Metadata::is_dir) {
                bail!("{name} is a directory; name the files in it instead");
            }
            (Box::new(file), metadata.filter(Metadata::is_file))
        };
        let counted = Counted { reader: raw, progress: Arc::clone(progress) };
        let (reader, encoding) = decode(counted).with_context(|| format!("cannot read {name}"))?;
        let growing = metadata.filter(|_| encoding == Encoding::Plain);
        Ok(Self { name: name.into(), path: path.to_owned(), reader, growing, position: 0 })
    }

    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Reads once; nothing means the end, for now.
    pub(crate) fn read(&mut self, room: &mut [u8]) -> anyhow::Result<usize> {
        loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => {
                    let read = read.with_context(|| format!("cannot read {}", self.name))?;
                    self.position += read as u64;
                    return Ok(read);
                }
            }
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

/// Counts what is read, before it is decompressed.
struct Counted {
    reader: Box<dyn Read>,
    progress: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(room)?;
        self.progress.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
