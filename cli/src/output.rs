//! Standard output: records as they were read, in few large writes.

use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Context;

/// What every failure to write is introduced with.
pub(crate) const FAILED: &str = "cannot write to standard output";

/// Takes records, and makes sure that each stays its own.
pub(crate) struct Output {
    writer: BufWriter<StdoutLock<'static>>,
    /// The byte that ends a record.
    terminator: u8,
    /// The last record written had no end: the last one of a file that ends without it.
    unterminated: bool,
}

impl Output {
    /// Writes gathered until a [`flush`](Self::flush), at most; longer ones are passed on at once.
    const BUFFER: usize = 128 << 10;

    pub(crate) fn new(terminator: u8) -> Self {
        let writer = BufWriter::with_capacity(Self::BUFFER, io::stdout().lock());
        Self { writer, terminator, unterminated: false }
    }

    /// Writes whole records with their ends; only the last may lack its own. That one is supplied
    /// once another record follows, so input that is all new comes out byte for byte.
    pub(crate) fn write(&mut self, records: &[u8]) -> anyhow::Result<()> {
        let Some(last) = records.last() else { return Ok(()) };
        if self.unterminated {
            self.writer.write_all(&[self.terminator]).context(FAILED)?;
        }
        self.unterminated = *last != self.terminator;
        self.writer.write_all(records).context(FAILED)
    }

    /// Hands everything on, for a reader that waits for it.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.writer.flush().context(FAILED)
    }
}

/// Prints a text as it is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).context(FAILED)
}

/// Whether the reader of our output went away, which is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind == Some(io::ErrorKind::BrokenPipe)
}

/// Whether standard output was closed when the process began. What runs before `main` opens
/// the null device in its place, for reading and writing, so that no file comes to be there; who
/// sends output to the null device opens it for writing only.
#[cfg(unix)]
pub(crate) fn is_closed() -> bool {
    use rustix::fs::{OFlags, fcntl_getfl, fstat};
    let stdout = io::stdout();
    let (Ok(flags), Ok(found)) = (fcntl_getfl(&stdout), fstat(&stdout)) else { return true };
    let both = flags & OFlags::RWMODE == OFlags::RDWR;
    both && rustix::fs::stat("/dev/null").is_ok_and(|null| null.st_rdev == found.st_rdev)
}

/// Elsewhere writing tells.
#[cfg(not(unix))]
pub(crate) fn is_closed() -> bool {
    false
}
