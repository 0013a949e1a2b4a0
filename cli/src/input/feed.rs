//! The reading thread: from files to chunks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use anyhow::anyhow;
use lately::{Clock, SystemClock};

use super::source::{Found, Future, Source};
use super::stop::Stop;
use super::{Chunk, Ending, Event, Files, Message};
use crate::records::{Aside, Parser, Recipe};

/// How often followed files are looked at: soon enough for people, rarely enough for the machine.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Chunks that are judged or wait for it, beyond those being filled: enough that neither side
/// waits for the other when one read takes longer.
const AHEAD: usize = 2;

/// Fills chunks and sends them.
pub(crate) struct Feeder {
    recipe: Recipe,
    messages: Sender<Message>,
    stop: Stop,
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
        (messages, stop): (Sender<Message>, Stop),
        used: Receiver<Chunk>,
        progress: Arc<AtomicU64>,
    ) -> Self {
        Self { recipe, messages, stop, used, chunks: 0, most: AHEAD, idle: vec![], progress }
    }

    /// Reads everything, and says how it ended.
    pub(crate) fn run(mut self, files: Files) {
        let mut feeds = Vec::new();
        let read = if files.follow {
            self.follow(&files, &mut feeds)
        } else {
            self.read(&files, &mut feeds)
        };
        let end = match read {
            Ok(Found::Stop) => self.halt(feeds),
            Ok(_) => Ok(Ending::Complete),
            Err(error) => Err(error),
        };
        // Nobody may be there to hear it.
        let _ = self.messages.send(Message::Event(Event::End(end)));
    }

    /// Reads one file after the other. If it stops before the end, what it was reading is in `feeds`.
    fn read(&mut self, files: &Files, feeds: &mut Vec<Option<Feed>>) -> anyhow::Result<Found> {
        for path in &files.paths {
            let Some(mut feed) = self.open(path)? else { return Ok(Found::Stop) };
            if self.exhaust(&mut feed)? == Found::Stop {
                feeds.push(Some(feed));
                return Ok(Found::Stop);
            }
            self.finish(feed)?;
        }
        Ok(Found::End)
    }

    /// Reads every file to its end, then goes round for ever. A file that is not there yet, or was
    /// replaced, is opened as soon as it is there.
    fn follow(&mut self, files: &Files, feeds: &mut Vec<Option<Feed>>) -> anyhow::Result<Found> {
        for path in &files.paths {
            feeds.push(self.open_if_there(path)?);
            if let Some(feed) = feeds.last_mut().expect("just pushed") {
                self.exhaust(feed)?;
            }
        }
        let mut ended = vec![false; feeds.len()];
        while ended.contains(&false) {
            let mut quiet = true;
            for ((slot, path), ended) in feeds.iter_mut().zip(&files.paths).zip(&mut ended) {
                if self.stop.asked().is_some() {
                    return Ok(Found::Stop);
                }
                let Some(feed) = slot else {
                    if !*ended {
                        *slot = self.open_if_there(path)?;
                    }
                    continue;
                };
                let before = feed.source.position();
                let mut found = self.exhaust(feed)?;
                quiet &= feed.source.position() == before;
                let future = feed.source.future();
                if future != Future::More {
                    // What was written between the last read and the replacement.
                    found = self.exhaust(feed)?;
                }
                if future != Future::More && found == Found::End {
                    self.finish(slot.take().expect("was there"))?;
                    *ended = future == Future::Nothing;
                }
            }
            if quiet {
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(Found::End)
    }

    fn open_if_there(&mut self, path: &Path) -> anyhow::Result<Option<Feed>> {
        let there = path.as_os_str() == "-" || path.exists();
        if there { self.open(path) } else { Ok(None) }
    }

    /// Opens a file, unless asked to stop.
    fn open(&mut self, path: &Path) -> anyhow::Result<Option<Feed>> {
        let Some(source) = Source::open(path, &self.stop, &self.progress)? else { return Ok(None) };
        self.most += 1;
        let mut chunk = self.chunk()?;
        chunk.begin(source.name());
        Ok(Some(Feed { source, parser: self.recipe.parser(), chunk }))
    }

    /// Reads and sends what is there, to the end for now, or until asked to stop.
    fn exhaust(&mut self, feed: &mut Feed) -> anyhow::Result<Found> {
        loop {
            let found = self.step(feed)?;
            if !matches!(found, Found::Bytes(_)) {
                return Ok(found);
            }
        }
    }

    /// Reads once and sends the records found.
    fn step(&mut self, feed: &mut Feed) -> anyhow::Result<Found> {
        let found = feed.source.read(feed.chunk.room()?)?;
        if let Found::Bytes(read) = found {
            feed.chunk.filled += read;
            self.send(feed, false)?;
        }
        Ok(found)
    }

    /// Sends what is left, which is a record though nothing ends it.
    fn finish(&mut self, mut feed: Feed) -> anyhow::Result<()> {
        self.send(&mut feed, true)?;
        self.most -= 1;
        self.idle.push(feed.chunk);
        Ok(())
    }

    /// Ends what was asked to stop.
    fn halt(&mut self, feeds: Vec<Option<Feed>>) -> anyhow::Result<Ending> {
        for mut feed in feeds.into_iter().flatten() {
            self.complete(&mut feed)?;
        }
        let signal = self.stop.asked().expect("somebody asked");
        Ok(Ending::Stopped(signal))
    }

    /// A record that was taken in part is lost to all others: takes the rest, if it comes, and hands
    /// on what there is. A file that is still there keeps its record for the next who reads it.
    fn complete(&mut self, feed: &mut Feed) -> anyhow::Result<()> {
        if !feed.source.is_taken() {
            return Ok(());
        }
        feed.source.drip();
        while feed.chunk.filled > 0 && self.step(feed)? != Found::Stop {}
        if feed.chunk.filled > 0 {
            feed.chunk.records.put_aside(feed.chunk.filled, Aside::Cut);
            self.hand_on(feed, feed.chunk.filled)?;
        }
        Ok(())
    }

    fn send(&mut self, feed: &mut Feed, last: bool) -> anyhow::Result<()> {
        let parsed = feed.parser.parse(&mut feed.chunk, last);
        feed.chunk.fresh = feed.chunk.filled;
        // What was found before something that cannot be read is not lost.
        let end = parsed.as_ref().map_or(feed.chunk.length(), |&end| end);
        if end > 0 {
            self.hand_on(feed, end)?;
        }
        parsed.map(drop)
    }

    /// Sends the records of a chunk, which end at `end`, and goes on in another.
    fn hand_on(&mut self, feed: &mut Feed, end: usize) -> anyhow::Result<()> {
        feed.chunk.now = SystemClock.now().unwrap_or_default();
        let mut next = self.chunk()?;
        next.succeed(&feed.chunk, end)?;
        let full = std::mem::replace(&mut feed.chunk, next);
        let message = Message::Event(Event::Chunk(Box::new(full)));
        self.messages.send(message).map_err(|_| anyhow!("nobody reads"))
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
