//! A piece of a file: whole records, what was found in them, and the beginning of the next.

use std::ops::Range;
use std::sync::Arc;

use anyhow::bail;
use lately::Time;

use crate::records::{Aside, Texts};

/// Bytes and the records in them.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// What was read is in `..filled`; the rest is room for more.
    pub(crate) bytes: Vec<u8>,
    pub(crate) filled: usize,
    /// What was not there when records were last looked for begins here.
    pub(crate) fresh: usize,
    pub(crate) records: Records,
    /// The file it came from, for messages.
    pub(crate) origin: Arc<str>,
    /// How many records of the file came before.
    pub(crate) before: u64,
    /// When it was read.
    pub(crate) now: Time,
}

/// Where records are, and what is known of them.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Where each record ends; the first begins at zero.
    ends: Vec<usize>,
    /// The keys of the records to judge, hashed.
    hashes: Vec<u64>,
    /// The keys themselves, if they are kept.
    texts: Texts,
    /// When the records to judge happened; empty if they do not say.
    times: Vec<Time>,
    /// Which records are not to be judged, in order.
    asides: Vec<(usize, Aside)>,
}

impl Chunk {
    /// The size of a read, and of a chunk while records are short: few system calls, and still
    /// within a core's own cache when the records are judged and written.
    const BYTES: usize = 256 << 10;

    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            filled: 0,
            fresh: 0,
            records: Records::default(),
            origin: "".into(),
            before: 0,
            now: Time::ZERO,
        }
    }

    /// Becomes the successor of a chunk whose records end at `end`: takes over what follows them.
    pub(crate) fn succeed(&mut self, previous: &Chunk, end: usize) -> anyhow::Result<()> {
        let rest = &previous.bytes[end..previous.filled];
        self.records.clear();
        self.filled = 0;
        self.make_room(rest.len())?;
        self.bytes[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
        self.fresh = rest.len();
        self.before = previous.before + previous.records.len() as u64;
        self.origin = Arc::clone(&previous.origin);
        Ok(())
    }

    /// Becomes the first chunk of a file.
    pub(crate) fn begin(&mut self, origin: Arc<str>) {
        self.records.clear();
        self.filled = 0;
        self.fresh = 0;
        self.before = 0;
        self.origin = origin;
    }

    /// Bytes of its records.
    pub(crate) fn length(&self) -> usize {
        self.records.ends.last().copied().unwrap_or(0)
    }

    /// Where to read to: at least half of the chunk, so that reads stay large and a long record
    /// is copied a few times only.
    pub(crate) fn room(&mut self) -> anyhow::Result<&mut [u8]> {
        self.make_room(self.filled)?;
        let end = self.bytes.len().min(self.filled + Self::BYTES);
        Ok(&mut self.bytes[self.filled..end])
    }

    /// Makes the buffer as long as `held` bytes need.
    fn make_room(&mut self, held: usize) -> anyhow::Result<()> {
        let length = self.bytes.len();
        if held > length / 2 || length == 0 {
            let longer = (2 * held + 1).next_power_of_two().max(Self::BYTES);
            if self.bytes.try_reserve_exact(longer - length).is_err() {
                bail!("a record longer than {held} bytes does not fit into memory");
            }
            self.bytes.resize(longer, 0);
        } else if length > Self::BYTES && held <= Self::BYTES / 2 {
            // A long record has gone; its memory goes, too.
            self.bytes.truncate(Self::BYTES);
            self.bytes.shrink_to_fit();
        }
        Ok(())
    }
}

impl Records {
    /// Adds a record to judge.
    #[inline]
    pub(crate) fn judge(&mut self, end: usize, hash: u64, moment: Option<Time>) {
        self.ends.push(end);
        self.hashes.push(hash);
        self.times.extend(moment);
    }

    /// Adds a record that is not to be judged.
    pub(crate) fn put_aside(&mut self, end: usize, aside: Aside) {
        self.asides.push((self.ends.len(), aside));
        self.ends.push(end);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The keys of the records to judge; none if only their hashes are needed.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter()
    }

    /// Where the next key is kept.
    pub(crate) fn texts(&mut self) -> &mut Texts {
        &mut self.texts
    }

    pub(crate) fn times(&self) -> &[Time] {
        &self.times
    }

    pub(crate) fn asides(&self) -> &[(usize, Aside)] {
        &self.asides
    }

    /// Which of the records to judge are among those of a range.
    pub(crate) fn judged(&self, range: Range<usize>) -> Range<usize> {
        let judged = |end| end - self.asides.partition_point(|&(index, _)| index < end);
        judged(range.start)..judged(range.end)
    }

    /// Where each record is.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.ranges_of(0..self.len())
    }

    /// Where each of some records is.
    pub(crate) fn ranges_of(&self, records: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut start = records.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends[records].iter().map(move |&end| std::mem::replace(&mut start, end)..end)
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.hashes.clear();
        self.texts.clear();
        self.times.clear();
        self.asides.clear();
    }
}
