//! A request to end before the input does, which loses nothing that was taken from it.
//!
//! A pipe gives its bytes once: what was read and not handed on is gone. So whoever asks to stop does
//! not end the reading thread but closes the tap from which it reads. Everything taken up to then
//! goes its way, and then comes the end. A reading thread that waits for a pipe waits for this, too;
//! so it never is inside of a read that may take something at that very moment.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What those who ask and those who read share. All of it is in one order for all threads: who asks
/// says so before looking whether a file is being opened, and who opens the other way round.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The signal that asked; zero if none did.
    signal: AtomicI32,
    /// A file is being opened, which waits for somebody to write if it is a named pipe.
    opening: AtomicBool,
    /// Hung up once somebody asks, and so ready to be read for ever after.
    bell: PipeReader,
    rope: Mutex<Option<PipeWriter>>,
}

/// Between a file and its reader: open, closed by a request to stop, or dripping.
#[derive(Debug)]
pub(crate) struct Tap {
    stop: Stop,
    closed: AtomicBool,
    /// Until when to wait for single bytes after a request to stop.
    drips: OnceLock<Instant>,
}

impl Tap {
    /// How long a writer may take to finish the record that it has begun to write.
    const PATIENCE: Duration = Duration::from_millis(500);

    pub(crate) fn new(stop: Stop) -> Self {
        Self { stop, closed: AtomicBool::new(false), drips: OnceLock::new() }
    }

    /// Whether a request to stop kept a read from taking anything.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Gives single bytes in spite of a request to stop, and not for long.
    pub(crate) fn drip(&self) {
        self.drips.get_or_init(|| Instant::now() + Self::PATIENCE);
    }

    /// Waits for something to read, if the file `waits` for somebody to write, and says how much may
    /// be taken at most; nothing once somebody asked to stop.
    pub(crate) fn turn(&self, file: &File, waits: bool) -> io::Result<Option<usize>> {
        let most = match self.drips.get() {
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                (!left.is_zero() && wait_a_while(file, left)?).then_some(1)
            }
            None if waits => self.stop.wait(file)?.then_some(usize::MAX),
            None => self.stop.asked().is_none().then_some(usize::MAX),
        };
        if most.is_none() {
            self.closed.store(true, Ordering::SeqCst);
        }
        Ok(most)
    }
}

impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        let (bell, rope) = io::pipe()?;
        Ok(Self(Arc::new(Shared {
            signal: AtomicI32::new(0),
            opening: AtomicBool::new(false),
            bell,
            rope: Mutex::new(Some(rope)),
        })))
    }

    /// Asks to stop, in the name of a signal.
    pub(crate) fn ask(&self, signal: i32) {
        self.0.signal.store(signal, Ordering::SeqCst);
        self.0.rope.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The signal that asked, if one did.
    pub(crate) fn asked(&self) -> Option<i32> {
        Some(self.0.signal.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Opens a file unless asked to stop.
    pub(crate) fn open<T>(&self, open: impl FnOnce() -> T) -> Option<T> {
        self.0.opening.store(true, Ordering::SeqCst);
        let opened = self.asked().is_none().then(open);
        self.0.opening.store(false, Ordering::SeqCst);
        opened
    }

    /// The signal that asked to stop while the reading thread opens a file: that may take for ever,
    /// and nothing more will be read.
    pub(crate) fn stuck(&self) -> Option<i32> {
        self.asked().filter(|_| self.0.opening.load(Ordering::SeqCst))
    }

    /// Waits until there is something to read, or somebody asks to stop: then it is `false`.
    #[cfg(unix)]
    fn wait(&self, file: &File) -> io::Result<bool> {
        Ok(poll(&[self.0.bell.as_fd(), file.as_fd()], None)? != Some(0))
    }

    /// Elsewhere a file is not waited for but read.
    #[cfg(not(unix))]
    fn wait(&self, _: &File) -> io::Result<bool> {
        Ok(self.asked().is_none())
    }
}

/// Waits a while until there is something to read.
#[cfg(unix)]
fn wait_a_while(file: &File, patience: Duration) -> io::Result<bool> {
    Ok(poll(&[file.as_fd()], Some(patience))?.is_some())
}

/// Elsewhere nobody knows how long a read takes.
#[cfg(not(unix))]
fn wait_a_while(_: &File, _: Duration) -> io::Result<bool> {
    Ok(false)
}

/// The first of these that can be read without waiting, or has failed.
#[cfg(unix)]
fn poll(files: &[BorrowedFd<'_>], patience: Option<Duration>) -> io::Result<Option<usize>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let patience = patience.map(|patience| Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: patience.subsec_nanos().into(),
    });
    loop {
        let waited = files.iter().map(|&file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        let mut waited: Vec<_> = waited.collect();
        match poll(&mut waited, patience.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(waited.iter().position(|file| !file.revents().is_empty())),
        }
    }
}
