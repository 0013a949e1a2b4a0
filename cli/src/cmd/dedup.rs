//! `lately dedup`: first occurrences out, in order, byte for byte.
//!
//! Records go through in batches: all keys of a batch are hashed, then the filter judges them, so
//! that the memory of many keys is fetched at once. Output is slices of the input.

use std::time::SystemTime;

use lately::{Lately, Time};

use crate::args::Dedup;
use crate::input::{Batch, Input};
use crate::output::Output;

pub(crate) fn run(request: Dedup) -> anyhow::Result<()> {
    let seen = request.filter()?;
    let mut judge = Judge { seen, refresh: request.refresh(), hashes: vec![], new: vec![] };
    let mut input = Input::new(request.files);
    let mut output = Output::new();
    while input.fill()? {
        // Records that arrive in one read arrive at one moment.
        let now = wall_clock();
        while let Some(batch) = input.batch() {
            let new = judge.judge(&batch, now);
            write_new(&batch, new, &mut output)?;
        }
        output.flush()?;
    }
    Ok(())
}

/// What a repeat does to the window of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// It starts anew: the record passes again only after it was absent for a whole window.
    EverySighting,
    /// Nothing: the record passes once per window, however often it is repeated.
    FirstOnly,
}

/// Decides which records are new.
struct Judge {
    seen: Lately,
    refresh: Refresh,
    /// The hashes of the current batch.
    hashes: Vec<u64>,
    /// The verdicts on the current batch.
    new: Vec<bool>,
}

impl Judge {
    /// One verdict per record: whether it was not seen in the window.
    fn judge(&mut self, batch: &Batch<'_>, now: Time) -> &[bool] {
        let hashing = self.seen.hashing();
        let filter = self.seen.filter_mut();
        self.hashes.clear();
        self.hashes.extend(batch.keys().map(|key| hashing.hash(key)));
        self.new.resize(self.hashes.len(), false);
        match self.refresh {
            Refresh::EverySighting => filter.insert_hashes(&self.hashes, now, &mut self.new),
            Refresh::FirstOnly => filter.insert_new_hashes(&self.hashes, now, &mut self.new),
        }
        &self.new
    }
}

/// Writes the new records, neighbours in one piece.
fn write_new(batch: &Batch<'_>, new: &[bool], output: &mut Output) -> anyhow::Result<()> {
    let mut piece = 0..0;
    for (record, _) in batch.records().zip(new).filter(|&(_, &new)| new) {
        if record.start != piece.end {
            output.write(&batch.bytes()[piece.clone()])?;
            piece.start = record.start;
        }
        piece.end = record.end;
    }
    output.write(&batch.bytes()[piece])
}

/// Milliseconds since 1970; a clock set before that counts as 1970.
fn wall_clock() -> Time {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX))
}
