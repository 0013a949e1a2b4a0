//! Decides which records are new.

use lately::{Lately, Time};

use crate::input::Records;

/// What a repeat does to the window of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It starts anew: the record passes again only after it was absent for a whole window.
    Refresh,
    /// Nothing: the record passes once per window, however often it is repeated.
    Leave,
}

/// The filter and what is needed to ask it about many records at once.
pub(crate) struct Judge {
    seen: Lately,
    repeats: Repeats,
    /// The latest moment that a record told.
    latest: Time,
    /// How many records told a moment before the latest.
    late: u64,
    /// The verdicts on the current records.
    new: Vec<bool>,
}

/// Records with moments of their own that are looked up together, so that memory is fetched for
/// all of them at once.
const TOGETHER: usize = 32;

impl Judge {
    pub(crate) fn new(seen: Lately, repeats: Repeats, latest: Time) -> Self {
        Self { seen, repeats, latest, late: 0, new: Vec::new() }
    }

    /// One verdict per record to judge: whether it was not seen in the window.
    pub(crate) fn judge(&mut self, records: &Records, now: Time) -> &[bool] {
        let hashes = records.hashes();
        self.new.resize(hashes.len(), false);
        if records.times().is_empty() {
            let filter = self.seen.filter_mut();
            match self.repeats {
                Repeats::Refresh => filter.insert_hashes(hashes, now, &mut self.new),
                Repeats::Leave => filter.insert_new_hashes(hashes, now, &mut self.new),
            }
        } else {
            self.judge_by_their_times(hashes, records.times());
        }
        &self.new
    }

    fn judge_by_their_times(&mut self, hashes: &[u64], times: &[Time]) {
        let filter = self.seen.filter_mut();
        let groups = hashes.chunks(TOGETHER).zip(times.chunks(TOGETHER));
        for ((hashes, times), new) in groups.zip(self.new.chunks_mut(TOGETHER)) {
            filter.prefetch_hashes(hashes);
            for ((&hash, &time), new) in hashes.iter().zip(times).zip(new) {
                self.late += u64::from(time < self.latest);
                self.latest = self.latest.max(time);
                *new = match self.repeats {
                    Repeats::Refresh => filter.insert_hash(hash, time),
                    Repeats::Leave => filter.insert_new_hash(hash, time),
                };
            }
        }
    }

    pub(crate) fn seen(&self) -> &Lately {
        &self.seen
    }

    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    pub(crate) fn latest(&self) -> Time {
        self.latest
    }
}
