//! What only some structures can do: count, be merged, forget single items, tell ages, hold deadlines,
//! give memory back while idle. Each says to whoever asks another one which structures can.

use lately::raw::Age;
use lately::{Admission, Time, Window};

use crate::engine::{Answers, Heap, Refusal};
use crate::metrics;
use crate::object::Stored;
use crate::top::{TOP_FORGETS_NOTHING, TOP_MERGES_NOTHING};

impl Stored {
    /// Whether the filter answers how often.
    pub fn is_counting(&self) -> bool {
        self.filter().counting().is_some()
    }

    /// How often each item was seen.
    pub fn counts<'i>(
        &self,
        items: impl Iterator<Item = &'i [u8]>,
        now: Time,
    ) -> Result<Vec<u64>, Refusal> {
        let counting = self.filter().counting().ok_or(DOES_NOT_COUNT)?;
        let counts: Vec<_> =
            items.map(|item| counting.count_hash(self.hashing.hash(item), now)).collect();
        metrics::ASKED.add_alone(counts.len() as u64);
        Ok(counts)
    }

    /// Adds sightings of each item and says how often it was seen now.
    pub fn add_counts(&mut self, items: &[(&[u8], u64)], now: Time) -> Result<Vec<u64>, Refusal> {
        let hashing = self.hashing;
        let (mut inserted, mut new) = (0_u64, 0);
        let mut counts = Vec::with_capacity(items.len());
        for &(item, times) in items {
            let hash = hashing.hash(item);
            let before = Heap::now();
            let counting = self.filter.as_counting().ok_or(DOES_NOT_COUNT)?;
            let count = counting.add_hash(hash, times, now);
            self.note(hash, item, Some(count), now);
            if before.has_changed() {
                self.settle(before);
            }
            inserted = inserted.saturating_add(times);
            new += u64::from(count == times && times > 0);
            counts.push(count);
        }
        self.count(inserted, new);
        Ok(counts)
    }

    /// Counts an item so often if it then counts at most the limit, and nothing otherwise.
    pub fn admit(
        &mut self,
        item: &[u8],
        times: u64,
        limit: u64,
        now: Time,
    ) -> Result<Admission, Refusal> {
        let hash = self.hashing.hash(item);
        let admission = self.change(|filter| {
            let counting = filter.as_counting().ok_or(DOES_NOT_COUNT)?;
            Ok::<_, Refusal>(counting.admit_hash(hash, times, limit, now))
        })?;
        if admission.allowed {
            if self.top.is_some() {
                let before = Heap::now();
                self.note(hash, item, Some(admission.count), now);
                if before.has_changed() {
                    self.settle(before);
                }
            }
            self.count(times, u64::from(admission.count == times));
        } else {
            metrics::ASKED.add_alone(1);
        }
        Ok(admission)
    }

    /// Refuses so many sightings at once that others would wait while they push out what is in the
    /// window.
    pub fn check_crowd(&self, items: &[(&[u8], u64)]) -> Result<(), Refusal> {
        let crowds: Vec<u64> = items.iter().map(|&(_, times)| times).collect();
        let counting = self.filter().counting().ok_or(DOES_NOT_COUNT)?;
        let displaced = counting.displaced_by(&crowds);
        if displaced <= MOST_DISPLACED {
            return Ok(());
        }
        Err(Refusal::new(format_args!(
            "these sightings push so many others out of the window that the server would wait: \
             {displaced}, one by one; add at most {MOST_DISPLACED} at a time"
        )))
    }

    /// Whether another filter can be merged into this one: both count, are built alike and hash
    /// alike.
    pub fn check_mergeable(&self, other: &Stored) -> Result<(), Refusal> {
        self.refuse_if_top(TOP_MERGES_NOTHING)?;
        if self.hashing != other.hashing {
            return Err(Refusal::new("these filters hash differently; reserve them with one SEED"));
        }
        let counting = self.filter().counting().ok_or(NOT_MERGEABLE)?;
        Ok(counting.check_mergeable(other.filter())?)
    }

    /// Adds all that another filter counted.
    pub fn merge(&mut self, other: &Stored) -> Result<(), Refusal> {
        self.check_mergeable(other)?;
        self.change(|filter| {
            let counting = filter.as_counting().ok_or(Refusal::FAULT)?;
            Ok::<_, Refusal>(counting.merge(other.filter())?)
        })?;
        self.tally.inserted = self.tally.inserted.saturating_add(other.tally.inserted);
        self.tally.new = self.tally.new.saturating_add(other.tally.new);
        Ok(())
    }

    /// Takes back one insertion of each item; `true` for each that was in the window.
    pub fn forget<'i>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'i [u8]>,
        now: Time,
    ) -> Result<Answers, Refusal> {
        self.refuse_if_top(TOP_FORGETS_NOTHING)?;
        let hashing = self.hashing;
        self.change(|filter| {
            if filter.as_removing().is_none() {
                return Err(CANNOT_FORGET);
            }
            let mut answers = Answers::default();
            for item in items {
                let hash = hashing.hash(item);
                // What has left the window may still be stored.
                let was_there = filter.contains_hash(hash, now);
                let removing = filter.as_removing().ok_or(Refusal::FAULT)?;
                answers.extend(&[removing.remove_hash(hash) && was_there]);
            }
            Ok(answers)
        })
    }

    /// Inserts items that count until a deadline, or to the end of the window if that is earlier;
    /// `true` for each that was new.
    pub fn insert_until<'i>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'i [u8]>,
        now: Time,
        deadline: Time,
    ) -> Result<Answers, Refusal> {
        let (hashing, inserted) = (self.hashing, items.len() as u64);
        let answers = self.change(|filter| {
            let window = filter.blueprint().promise().window;
            let deadlines = filter.as_deadlines().ok_or_else(|| no_deadlines(window))?;
            Ok::<_, Refusal>(Answers::in_batches(
                items.map(|item| hashing.hash(item)),
                |hashes, answers| {
                    for (&hash, new) in hashes.iter().zip(answers) {
                        *new = deadlines.insert_until_hash(hash, now, deadline);
                    }
                },
            ))
        })?;
        let new = answers.as_slice().iter().filter(|&&new| new).count();
        self.count(inserted, new as u64);
        Ok(answers)
    }

    /// How long ago each item came.
    pub fn ages<'i>(
        &self,
        items: impl Iterator<Item = &'i [u8]>,
        now: Time,
    ) -> Result<Vec<Option<Age>>, Refusal> {
        let aging = self.filter().aging().ok_or(KNOWS_NO_AGES)?;
        let ages: Vec<_> = items.map(|item| aging.age_hash(self.hashing.hash(item), now)).collect();
        metrics::ASKED.add_alone(ages.len() as u64);
        Ok(ages)
    }

    /// How many different items are in the window, as far as the structure can tell.
    pub fn distinct(&mut self, now: Time) -> Result<u64, Refusal> {
        if let Some(items) = self.filter().distinct(now) {
            return Ok(items.round() as u64);
        }
        // Where nothing leaves, all that were new are there.
        let is_for_ever = self.filter().blueprint().promise().window == Window::Ever;
        let takes_back = self.change(|filter| filter.as_removing().is_some());
        if is_for_ever && !takes_back { Ok(self.tally.new) } else { Err(KNOWS_NO_NUMBER) }
    }

    /// Gives back memory of what has left a window by time, in at most so many small steps; `true` if
    /// nothing is left to do.
    pub fn expire(&mut self, now: Time, steps: usize) -> bool {
        let done = self.change(|filter| filter.expire(now, steps));
        self.expire_top(now);
        done
    }

    /// Sets the clock of a window by time back, if it is later.
    pub fn turn_back(&mut self, moment: Time) {
        self.change(|filter| filter.turn_back(moment));
        self.look_at_top_again(moment);
    }
}

/// Sightings that one command may push out of a window one by one: half a millisecond of work, or one and
/// a half where each has to be fetched from a large memory.
const MOST_DISPLACED: u64 = 1_000;

const DOES_NOT_COUNT: Refusal =
    Refusal::coded("ERR this filter does not count; reserve one with COUNTING");

const NOT_MERGEABLE: Refusal = Refusal::coded(
    "ERR only counts can be merged: what two windows keep of their items does not fit together; \
     reserve filters with COUNTING and one SEED",
);

const CANNOT_FORGET: Refusal = Refusal::coded(
    "ERR this filter cannot forget single items; reserve a window by time (WITHIN), or EVER with \
     REMOVING",
);

const KNOWS_NO_AGES: Refusal = Refusal::coded(
    "ERR this filter does not know how long ago items came; reserve LAST or WITHIN, and leave the \
     structure to the planner",
);

const KNOWS_NO_NUMBER: Refusal = Refusal::coded(
    "ERR this filter does not know how many different items it has; reserve it with COUNTING, or as WITHIN \
     without a structure, or ask LATELY.INFO for `new`, all that ever were",
);

fn no_deadlines(window: Window) -> Refusal {
    Refusal::coded(match window {
        Window::Last(_) => {
            "ERR a window by count knows no deadlines: reserve one by time (WITHIN), as long as the \
             longest life"
        }
        Window::Ever => {
            "ERR a filter for ever knows no deadlines: reserve a window by time (WITHIN), as long as \
             the longest life"
        }
        Window::Within(_) => {
            "ERR this structure knows no deadlines: reserve WITHIN without COUNTING, and leave the \
             structure to the planner"
        }
    })
}
