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
mod stop;

pub(crate) use chunk::{Chunk, Records};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use anyhow::Context;

use crate::records::Recipe;
use crate::signals::{self, OnSignals};
use feed::Feeder;
use stop::Stop;

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
    messages: Receiver<Message>,
    /// Kept so that waiting never fails.
    _sender: Sender<Message>,
    spare: Sender<Chunk>,
    stop: Stop,
    progress: Arc<AtomicU64>,
}

/// What happens while one waits for records.
pub(crate) enum Event {
    /// Records arrived.
    Chunk(Box<Chunk>),
    /// There are no more; or why they cannot be read.
    End(anyhow::Result<Ending>),
}

/// Why there are no more records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The files are at their ends.
    Complete,
    /// This signal asked to stop before.
    Stopped(i32),
}

/// What is told to whoever waits.
enum Message {
    Event(Event),
    /// Somebody asked to stop.
    Woken,
}

impl Stream {
    /// Starts reading, when signals are heeded as is said.
    pub(crate) fn start(
        files: Files,
        recipe: Recipe,
        on_signals: OnSignals,
    ) -> anyhow::Result<Self> {
        let stop = Stop::new().context("cannot open a pipe")?;
        let (sender, messages) = mpsc::channel();
        let (spare, used) = mpsc::channel();
        let progress = Arc::new(AtomicU64::new(0));
        let told = (sender.clone(), stop.clone());
        let feeder = Feeder::new(recipe, told, used, Arc::clone(&progress));
        if on_signals == OnSignals::EndInOrder {
            signals::hand_on(stopper(stop.clone(), sender.clone()))?;
        }
        // It ends with the process: a read that waits for a disk cannot be called off.
        std::thread::spawn(move || feeder.run(files));
        Ok(Self { messages, _sender: sender, spare, stop, progress })
    }

    /// What has happened already, without waiting.
    pub(crate) fn ready(&self) -> Option<Event> {
        // Asked first: what was sent before a file that cannot be opened is there by then.
        let stuck = self.stop.stuck();
        loop {
            match self.messages.try_recv() {
                Ok(Message::Event(event)) => return Some(event),
                Ok(Message::Woken) => {}
                Err(_) => return stuck.map(|signal| Event::End(Ok(Ending::Stopped(signal)))),
            }
        }
    }

    /// What happens next, if it happens before the deadline.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Option<Event> {
        loop {
            let message = match deadline {
                None => self.messages.recv().ok()?,
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    self.messages.recv_timeout(left).ok()?
                }
            };
            match message {
                Message::Event(event) => return Some(event),
                Message::Woken => {
                    if let Some(event) = self.ready() {
                        return Some(event);
                    }
                }
            }
        }
    }

    /// Gives a chunk back to be filled again.
    pub(crate) fn recycle(&self, chunk: Chunk) {
        // A reading thread that has ended needs no more.
        let _ = self.spare.send(chunk);
    }

    /// Bytes read so far, as the files store them.
    pub(crate) fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }
}

/// Asks in the name of a signal that no more is read. Everything read before comes, and then
/// [`Ending::Stopped`], if there would have been more.
fn stopper(stop: Stop, messages: Sender<Message>) -> impl Fn(i32) + Send + 'static {
    move |signal| {
        stop.ask(signal);
        let _ = messages.send(Message::Woken);
    }
}
