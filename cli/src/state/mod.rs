//! A filter in a file, so that a restart forgets nothing.
//!
//! The file is always whole: it is written under another name, brought to the disk, and renamed.
//! Whoever is killed leaves the last checkpoint behind, and no other. A lock beside it keeps a
//! second process away; it is a file of its own, as renaming would take the lock away with the old
//! state, and it is never removed, as two processes could then lock two files of that name.

mod difference;
mod note;

pub(crate) use difference::Asked;
pub(crate) use note::Note;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lately::raw::{Untyped, codec};
use lately_papers::CATALOG;

/// A state file that is ours alone.
pub(crate) struct State {
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

/// What a state file holds.
pub(crate) struct Saved {
    pub(crate) seen: Untyped,
    /// Not there if something else than `lately dedup` made the snapshot.
    pub(crate) note: Option<Note>,
    /// Bytes of the file.
    pub(crate) bytes: u64,
}

impl State {
    /// Takes possession of the file, and reads it if it exists.
    pub(crate) fn open(path: &Path) -> anyhow::Result<(Self, Option<Saved>)> {
        // Through links, so that renaming replaces the file and not a link to it.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        refuse_others(&path)?;
        let lock_path = beside(&path, ".lock");
        let lock = OpenOptions::new().create(true).append(true).open(&lock_path);
        let lock = lock.with_context(|| format!("cannot open {}", lock_path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "{} is in use by another process; wait for it, or choose another file",
                path.display()
            ),
            Err(TryLockError::Error(error)) => {
                return Err(error).context(format!("cannot lock {}", lock_path.display()));
            }
        }
        let saved = look(&path)?;
        Ok((Self { path, _lock: lock }, saved))
    }

    /// Replaces the file.
    pub(crate) fn save(&self, seen: &Untyped, note: &Note) -> anyhow::Result<()> {
        replace(&self.path, &[&seen.save(), &note.to_bytes()])
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a file, or replaces it. Whatever happens meanwhile, it is either the old one or the new
/// one.
pub(crate) fn replace(path: &Path, pieces: &[&[u8]]) -> anyhow::Result<()> {
    let failed = || format!("cannot save {}; what it held is kept", path.display());
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A device or a pipe is written to; a directory says that it cannot be.
        let mut file = OpenOptions::new().write(true).open(path).with_context(failed)?;
        return pieces.iter().try_for_each(|piece| file.write_all(piece)).with_context(failed);
    }
    let unfinished = beside(path, ".tmp");
    let saved = write(&unfinished, path, pieces);
    if saved.is_err() {
        // The reason matters more than what cannot be tidied up.
        let _ = fs::remove_file(&unfinished);
    }
    saved.with_context(failed)
}

fn write(unfinished: &Path, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
    let mut file = File::create(unfinished)?;
    if let Ok(metadata) = fs::metadata(path) {
        file.set_permissions(metadata.permissions())?;
    }
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.sync_all()?;
    fs::rename(unfinished, path)?;
    sync_directory(path)
}

/// Reads a state if it exists, and leaves it alone.
pub(crate) fn look(path: &Path) -> anyhow::Result<Option<Saved>> {
    match read(path) {
        Ok(saved) => Ok(Some(saved)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses what is no state, before there is a lock beside it.
fn refuse_others(path: &Path) -> anyhow::Result<()> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if !metadata.is_file() {
        bail!("{} is no regular file, so nothing can be kept in it; name another", path.display());
    }
    let mut head = Vec::new();
    // What cannot be read complains when it is.
    let _ =
        File::open(path).map(|file| file.take(codec::MAGIC.len() as u64).read_to_end(&mut head));
    if head == codec::MAGIC { Ok(()) } else { read(path).map(drop) }
}

/// Reads a state or any other snapshot, without a lock: the file is whole at every moment.
pub(crate) fn read(path: &Path) -> anyhow::Result<Saved> {
    let bytes = fs::read(path).with_context(|| format!("cannot open {}", path.display()))?;
    let opened = || {
        let (snapshot, note) = Note::split(&bytes)?;
        anyhow::Ok((Untyped::open_of(CATALOG, snapshot)?, note))
    };
    let (seen, note) = opened().with_context(|| format!("cannot use {}", path.display()))?;
    Ok(Saved { seen, note, bytes: bytes.len() as u64 })
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref().map(io::Error::kind) == Some(ErrorKind::NotFound)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a renaming survive a power failure.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere a directory cannot be opened.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
