//! Files and standard input as one stream of records, read ahead on a thread of its own.
//!
//! The reading thread reads, decompresses, splits and hashes; whoever owns the [`Stream`] judges
//! and writes meanwhile. Chunks go round: those that were judged are filled again, so nothing is
//! allocated per chunk, let alone per record.
//!
//! ```text
//! reading thread:  read, find records, hash keys ──chunk──▶ judge, write
//!                          ▲                                    │
//!                          └──────────── spare chunk ───────────┘
//! ```

mod chunk;
mod decode;
mod feed;
mod source;

pub(crate) use chunk::{Chunk, Records};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use crate::records::Recipe;
use feed::Feeder;

/// What to read.
#[derive(Debug)]
pub(crate) struct Files {
    /// One after the other; `-` is standard input. Never empty.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to wait for more at the end of each.
    pub(crate) follow: bool,
}

impl Files {
    /// These files to their ends; standard input if there are none.
    pub(crate) fn once(paths: &[PathBuf]) -> Self {
        let paths = if paths.is_empty() { vec!["-".into()] } else { paths.to_vec() };
        Self { paths, follow: false }
    }

    /// Bytes in all files, as they are stored; `None` if that is not known in advance.
    pub(crate) fn bytes(&self) -> Option<u64> {
        if self.follow {
            return None;
        }
        let size = |path: &PathBuf| {
            let metadata = path.metadata().ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        self.paths.iter().map(size).sum()
    }
}

/// Records to come.
pub(crate) struct Stream {
    events: Receiver<Event>,
    /// Kept so that others can interrupt, and so that waiting never fails.
    sender: Sender<Event>,
    spare: Sender<Chunk>,
    progress: Arc<AtomicU64>,
}

/// What happens while one waits for records.
pub(crate) enum Event {
    /// Records arrived.
    Chunk(Box<Chunk>),
    /// There are no more; or why they cannot be read.
    End(anyhow::Result<()>),
    /// Someone asked to stop here.
    Stop,
}

impl Stream {
    /// Starts reading.
    pub(crate) fn start(files: Files, recipe: Recipe) -> Self {
        let (sender, events) = mpsc::channel();
        let (spare, used) = mpsc::channel();
        let progress = Arc::new(AtomicU64::new(0));
        let feeder = Feeder::new(recipe, sender.clone(), used, Arc::clone(&progress));
        // It ends with the process: a read that waits for a keyboard cannot be called off.
        std::thread::spawn(move || feeder.run(files));
        Self { events, sender, spare, progress }
    }

    /// What has happened already, without waiting.
    pub(crate) fn ready(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// What happens next, if it happens before the deadline.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Option<Event> {
        match deadline {
            None => self.events.recv().ok(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.events.recv_timeout(left).ok()
            }
        }
    }

    /// Gives a chunk back to be filled again.
    pub(crate) fn recycle(&self, chunk: Chunk) {
        // A reading thread that has ended needs no more.
        let _ = self.spare.send(chunk);
    }

    /// Through this, [`Event::Stop`] can be sent.
    pub(crate) fn interrupter(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Bytes read so far, as the files store them.
    pub(crate) fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }
}
