//! Decides which records are new.

use std::ops::Range;
use std::time::Instant;

use lately::raw::{Filter, Untyped};
use lately::{Admission, Clock, SystemClock, Time};

use crate::idle::Idle;
use crate::input::Records;
#[cfg(feature = "redis")]
use crate::remote::Remote;
use crate::stats::About;

/// What a repeat does to the window of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It starts anew: the record passes again only after it was absent for a whole window.
    Refresh,
    /// Nothing: the record passes once per window, however often it is repeated.
    Leave,
    /// The record passes so many times per window.
    Pass(u64),
}

/// Who says how late it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timing {
    /// This machine's clock.
    Clock,
    /// The records.
    Records,
}

/// Where the filter is.
pub(crate) enum Seen {
    /// In this process.
    Here(Untyped),
    /// In a server, where many share it.
    #[cfg(feature = "redis")]
    There(Box<Remote>),
}

/// The filter and what is needed to ask it about many records at once.
pub(crate) struct Judge {
    seen: Seen,
    repeats: Repeats,
    timing: Timing,
    idle: Option<Idle>,
    /// The latest moment that a record told.
    latest: Time,
    /// How many records told a moment before the latest.
    late: u64,
    /// The verdicts on the current records.
    new: Vec<bool>,
    /// What was told of the last of them, where several pass.
    admission: Option<Admission>,
}

/// Records with moments of their own that are looked up together, so that memory is fetched for
/// all of them at once.
const TOGETHER: usize = 32;

impl Judge {
    pub(crate) fn new(seen: Seen, repeats: Repeats, timing: Timing, latest: Time) -> Self {
        let idle = match &seen {
            Seen::Here(seen) => Some(Idle::of(seen.filter())),
            #[cfg(feature = "redis")]
            Seen::There(_) => None,
        };
        Self { seen, repeats, timing, idle, latest, late: 0, new: Vec::new(), admission: None }
    }

    /// Gives back memory of what has left the window, a little, and says when to come again. A server
    /// does so by itself.
    pub(crate) fn expire(&mut self) -> Option<Instant> {
        let idle = self.idle.as_mut()?;
        let moment = match self.timing {
            Timing::Clock => SystemClock.now()?,
            Timing::Records => self.latest,
        };
        match &mut self.seen {
            Seen::Here(seen) => idle.look_after(seen.filter_mut(), moment),
            #[cfg(feature = "redis")]
            Seen::There(_) => None,
        }
    }

    /// How many records may be judged before they are printed.
    pub(crate) fn together(&self) -> usize {
        match &self.seen {
            Seen::Here(_) => usize::MAX,
            #[cfg(feature = "redis")]
            Seen::There(remote) => remote.together(),
        }
    }

    /// Whether what was judged must be printed before more is.
    pub(crate) fn waits(&self) -> bool {
        match &self.seen {
            Seen::Here(_) => false,
            #[cfg(feature = "redis")]
            Seen::There(remote) => remote.owes(),
        }
    }

    /// Remembers what was printed, if that is not done yet.
    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        match &mut self.seen {
            Seen::Here(_) => Ok(()),
            #[cfg(feature = "redis")]
            Seen::There(remote) => remote.settle(),
        }
    }

    /// One verdict per record to judge among those of a range: whether it was not seen in the window.
    pub(crate) fn judge(
        &mut self,
        records: &Records,
        range: Range<usize>,
        now: Time,
    ) -> anyhow::Result<&[bool]> {
        let judged = records.judged(range);
        let hashes = &records.hashes()[judged.clone()];
        let times = records.times().get(judged).unwrap_or_default();
        for &time in times {
            self.late += u64::from(time < self.latest);
            self.latest = self.latest.max(time);
        }
        match &mut self.seen {
            #[cfg(feature = "redis")]
            Seen::There(remote) => return remote.judge(hashes, times),
            Seen::Here(seen) => {
                if let Some(idle) = &mut self.idle {
                    idle.used();
                }
                self.new.resize(hashes.len(), false);
                let records = (hashes, times, now);
                match self.repeats {
                    Repeats::Pass(most) => {
                        self.admission = admit(seen.filter_mut(), most, records, &mut self.new);
                    }
                    Repeats::Refresh => judge(seen.filter_mut(), true, records, &mut self.new),
                    Repeats::Leave => judge(seen.filter_mut(), false, records, &mut self.new),
                }
            }
        }
        Ok(&self.new)
    }

    /// What was told of the last record, where several pass.
    pub(crate) fn admission(&self) -> Option<&Admission> {
        self.admission.as_ref()
    }

    /// The filter, if it is in this process.
    pub(crate) fn here(&self) -> Option<&Untyped> {
        match &self.seen {
            Seen::Here(seen) => Some(seen),
            #[cfg(feature = "redis")]
            Seen::There(_) => None,
        }
    }

    /// What to tell of the filter at the end.
    pub(crate) fn about(&mut self) -> anyhow::Result<About> {
        match &mut self.seen {
            Seen::Here(seen) => Ok(About::of(seen)),
            #[cfg(feature = "redis")]
            Seen::There(remote) => remote.about(),
        }
    }

    /// Whether this machine says how late it is, not the records.
    pub(crate) fn follows_the_clock(&self) -> bool {
        self.timing == Timing::Clock
    }

    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    pub(crate) fn latest(&self) -> Time {
        self.latest
    }
}

/// Lets the first few of each key pass, and says what was told of the last.
fn admit(
    filter: &mut dyn Filter,
    most: u64,
    (hashes, times, now): (&[u64], &[Time], Time),
    new: &mut [bool],
) -> Option<Admission> {
    let counting = filter.as_counting()?;
    let times = times.iter().copied().chain(std::iter::repeat(now));
    let mut last = None;
    for ((&hash, time), new) in hashes.iter().zip(times).zip(new) {
        let admission = counting.admit_hash(hash, 1, most, time);
        *new = admission.allowed;
        last = Some(admission);
    }
    last
}

/// Judges records at their times, or at one moment if they tell none.
fn judge(
    filter: &mut dyn Filter,
    refresh: bool,
    (hashes, times, now): (&[u64], &[Time], Time),
    new: &mut [bool],
) {
    if times.is_empty() {
        return match refresh {
            true => filter.insert_hashes(hashes, now, new),
            false => filter.insert_new_hashes(hashes, now, new),
        };
    }
    let groups = hashes.chunks(TOGETHER).zip(times.chunks(TOGETHER));
    for ((hashes, times), new) in groups.zip(new.chunks_mut(TOGETHER)) {
        filter.prefetch_hashes(hashes);
        for ((&hash, &time), new) in hashes.iter().zip(times).zip(new) {
            *new = match refresh {
                true => filter.insert_hash(hash, time),
                false => filter.insert_new_hash(hash, time),
            };
        }
    }
}
