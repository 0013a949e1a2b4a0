//! The reading thread: from files to chunks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use anyhow::anyhow;
use lately::{Clock, SystemClock};

use super::source::{Future, Source};
use super::{Chunk, Event, Files};
use crate::records::{Parser, Recipe};

/// How often followed files are looked at: soon enough for people, rarely enough for the machine.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Chunks that are judged or wait for it, beyond those being filled: enough that neither side
/// waits for the other when one read takes longer.
const AHEAD: usize = 2;

/// Fills chunks and sends them.
pub(crate) struct Feeder {
    recipe: Recipe,
    events: Sender<Event>,
    used: Receiver<Chunk>,
    /// How many chunks there are, and how many there may be.
    chunks: usize,
    most: usize,
    /// Chunks of files that have ended.
    idle: Vec<Chunk>,
    progress: Arc<AtomicU64>,
}

/// One file on its way through.
struct Feed {
    source: Source,
    parser: Box<dyn Parser>,
    /// Being filled.
    chunk: Chunk,
}

impl Feeder {
    pub(crate) fn new(
        recipe: Recipe,
        events: Sender<Event>,
        used: Receiver<Chunk>,
        progress: Arc<AtomicU64>,
    ) -> Self {
        Self { recipe, events, used, chunks: 0, most: AHEAD, idle: vec![], progress }
    }

    /// Reads everything, and says how it ended.
    pub(crate) fn run(mut self, files: Files) {
        let end = if files.follow { self.follow(&files) } else { self.read(&files) };
        // Nobody may be there to hear it.
        let _ = self.events.send(Event::End(end));
    }

    fn read(&mut self, files: &Files) -> anyhow::Result<()> {
        for path in &files.paths {
            let mut feed = self.open(path)?;
            while self.step(&mut feed)? {}
            self.finish(feed)?;
        }
        Ok(())
    }

    /// Reads every file to its end, then goes round for ever. A file that is not there yet, or was
    /// replaced, is opened as soon as it is there.
    fn follow(&mut self, files: &Files) -> anyhow::Result<()> {
        let mut feeds = Vec::new();
        for path in &files.paths {
            feeds.push(self.open_if_there(path)?);
            if let Some(feed) = feeds.last_mut().expect("just pushed") {
                while self.step(feed)? {}
            }
        }
        let mut ended = vec![false; feeds.len()];
        while ended.contains(&false) {
            let mut quiet = true;
            for ((slot, path), ended) in feeds.iter_mut().zip(&files.paths).zip(&mut ended) {
                let Some(feed) = slot else {
                    if !*ended {
                        *slot = self.open_if_there(path)?;
                    }
                    continue;
                };
                while self.step(feed)? {
                    quiet = false;
                }
                let future = feed.source.future();
                if future != Future::More {
                    // What was written between the last read and the replacement.
                    while self.step(feed)? {}
                    self.finish(slot.take().expect("was there"))?;
                    *ended = future == Future::Nothing;
                }
            }
            if quiet {
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }

    fn open_if_there(&mut self, path: &Path) -> anyhow::Result<Option<Feed>> {
        let there = path.as_os_str() == "-" || path.exists();
        there.then(|| self.open(path)).transpose()
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<Feed> {
        let source = Source::open(path, &self.progress)?;
        self.most += 1;
        let mut chunk = self.chunk()?;
        chunk.begin(source.name());
        Ok(Feed { source, parser: self.recipe.parser(), chunk })
    }

    /// Reads once and sends the records found; `false` at the end, for now.
    fn step(&mut self, feed: &mut Feed) -> anyhow::Result<bool> {
        let read = feed.source.read(feed.chunk.room()?)?;
        feed.chunk.filled += read;
        if read > 0 {
            self.send(feed, false)?;
        }
        Ok(read > 0)
    }

    /// Sends what is left, which is a record though nothing ends it.
    fn finish(&mut self, mut feed: Feed) -> anyhow::Result<()> {
        self.send(&mut feed, true)?;
        self.most -= 1;
        self.idle.push(feed.chunk);
        Ok(())
    }

    fn send(&mut self, feed: &mut Feed, last: bool) -> anyhow::Result<()> {
        let end = feed.parser.parse(&mut feed.chunk, last)?;
        feed.chunk.fresh = feed.chunk.filled;
        if end == 0 {
            return Ok(());
        }
        feed.chunk.now = SystemClock.now().unwrap_or_default();
        let mut next = self.chunk()?;
        next.succeed(&feed.chunk, end)?;
        let full = std::mem::replace(&mut feed.chunk, next);
        self.events.send(Event::Chunk(Box::new(full))).map_err(|_| anyhow!("nobody reads"))
    }

    /// A chunk to fill: waits until one was judged if there are enough.
    fn chunk(&mut self) -> anyhow::Result<Chunk> {
        if let Some(idle) = self.idle.pop() {
            return Ok(idle);
        }
        if self.chunks < self.most {
            self.chunks += 1;
            return Ok(Chunk::new());
        }
        self.used.recv().map_err(|_| anyhow!("nobody reads"))
    }
}
