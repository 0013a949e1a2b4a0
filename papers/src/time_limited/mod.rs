//! Slices by time: the last t, at whatever rate keys come.
//!
//! Like the age-partitioned filter, every key is written to the k newest slices, and reported if k
//! neighbours hold it. But slices move on when a *turn* of span / l has passed, or earlier when one
//! of the k is full; the new slice is sized for the rate measured since; and slices are dropped when
//! their keys are older than the span, so their number follows the rate too. With a span of 60 s,
//! l = 6 and 10 keys a second, a generation is 10 s and 100 keys. If suddenly 1000 keys a second
//! come, it is full after 100 ms; the next one is made for 400 keys, the one after for 1600, then
//! for 6400, then for 10,000, of which six fit into the span again.
//!
//! The time-limited Bloom filter of Rodrigues, Shtul, Baquero, Almeida, section 6. What we changed,
//! because their text (and their code) does not keep what it promises:
//!
//! - A generation also ends by time. Otherwise a slice made for a fast stream takes keys for ever
//!   when the stream slows down, and none of them expires. Now a key leaves no trace k turns after
//!   its span: that is the slack.
//! - Expiry is by generation, at the time of the question. Nothing needs to be inserted for a key to
//!   expire, and the newest slices expire like all others. Expired slices go with the next insertion,
//!   not with the next turn.
//! - The error is kept at the worst moment, not only at a steady rate: while more windows are live
//!   than there is room for, each new one gets half the chance of the one before (see [`turn`]).
//! - When the rate outgrows all k slices, all are replaced at once; windows that no key was written
//!   to are never asked. Then a leap by 1000 costs 5 generations, not k of them for each step.
//! - Memory follows what came, not what a rate measured over a millisecond suggests: a generation is
//!   made for at most [`GROWTH`] times the keys of the last. Slices of such a *leap* last for that
//!   generation only, since the next will be larger, or smaller, or they have room for it.
//! - A slice is as small as its keys allow, to the bit if a key sets one bit of it, else to a block
//!   of the fitting size (see `size`).
//! - An insertion that changes no bit takes no room: a key repeated for ever costs nothing.
//! - With the stream calm, slices are retired down to k (section 8 leaves it open).
//!
//! What is not guaranteed: memory, which follows the stream, and a bounded worst case: making a
//! slice takes time linear in its size.

use lately::Error;
use lately::bits::Level;
use lately::plan::{Goal, Limit};
use lately::raw::codec::{Reader, Writer};
use lately::raw::{Blueprint, Floor, Structure, Unfit};
use lately::raw::{Filter, Membership};
use lately::sample::{FEWEST_PLACES, PLACES};
use lately::sliding::slices::{Probe, find_window, window_chance};
use lately::{Span, Time, Window};
use slice::{Slice, Trace};

pub use parameters::TimeLimitedParameters;
use sizing::UNKNOWN;
pub use sizing::{choices, with_error};
pub use turn::{BEYOND, GROWTH};

mod parameters;
mod size;
mod sizing;
mod slice;
pub mod turn;

/// The filter.
#[derive(Debug, Clone)]
pub struct TimeLimited {
    parameters: TimeLimitedParameters,
    /// Newest first, at least k; classes go down from one to the next, in a circle.
    slices: Vec<Slice>,
    /// The latest time of any insertion.
    clock: u64,
    /// When this generation began; never after the clock.
    began: u64,
    /// When it is over, or the oldest slice expires: at most one comparison per insertion.
    due: u64,
    /// Insertions in this generation that changed a bit; at most `room`.
    received: u64,
    /// How many it may receive.
    room: u64,
    /// Keys for which new slices are made, per generation.
    target: u64,
    /// So many slices are worth asking for ahead of their use: from the newest to the last window with
    /// one that is too large for the nearer caches.
    far: usize,
    /// Bytes of all slices on the heap: known without a walk, because servers ask after every
    /// insertion.
    slices_bytes: u64,
    /// Keys that came in the last turn, or a few more; 0 before the first.
    came: u64,
    /// Room for more keys than that, by how much the number has lately changed.
    jitter: u64,
    level: Level,
}

impl TimeLimited {
    /// An empty filter.
    pub fn new(parameters: TimeLimitedParameters) -> Self {
        let mut filter = Self {
            parameters,
            slices: Vec::new(),
            clock: 0,
            began: 0,
            due: 0,
            received: 0,
            room: 0,
            far: 0,
            slices_bytes: 0,
            target: parameters.expected_generation(),
            came: 0,
            jitter: 0,
            level: Level::detect(),
        };
        filter.make_slices(filter.k(), Self::capacity_at);
        filter.measure_slices();
        filter
    }

    /// How many slices there are now.
    pub fn slices(&self) -> usize {
        self.slices.len()
    }

    /// Bits of the newest slice.
    pub fn newest_slice_bits(&self) -> u64 {
        self.slices[0].size().bits()
    }

    /// Bits of all slices.
    pub fn slice_bits(&self) -> u64 {
        self.slices.iter().map(|slice| slice.size().bits()).sum()
    }

    fn k(&self) -> usize {
        self.parameters.slices_per_key as usize
    }

    /// Whether the window at this age still counts.
    #[inline]
    fn is_live(&self, window: usize, now: u64) -> bool {
        self.slices[window].last.is_some_and(|last| now - last <= self.parameters.span.millis())
    }

    /// What a key is to the slices of a class.
    #[inline(always)]
    fn trace(&self, hash: u64, class: usize) -> Trace {
        Trace::new(hash, class, self.parameters.bits_per_slice)
    }

    /// What it is to those of the class in which the newest window has its oldest slice.
    #[inline(always)]
    fn first_trace(&self, hash: u64) -> Trace {
        self.trace(hash, self.slices[self.k() - 1].class)
    }

    /// Whether the key was seen; `first` is its first trace.
    ///
    /// Every k-th slice from the oldest of the newest window on is of one class, and every window has
    /// one of them: a key that none of them holds is in no window. For most keys that settles it.
    #[inline(always)]
    fn contains(&self, hash: u64, first: &Trace, now: u64) -> bool {
        let mut oldest = self.k() - 1;
        while let Some(slice) = self.slices.get(oldest) {
            if slice.holds(first) && self.contains_around(oldest + 1 - self.k(), hash, now) {
                return true;
            }
            oldest += self.k();
        }
        false
    }

    /// Whether this window or one of the k - 1 after it holds the key: those that share the oldest
    /// slice of this one, which does.
    #[inline(never)]
    fn contains_around(&self, window: usize, hash: u64, now: u64) -> bool {
        let k = self.k();
        let shared = window + k - 1;
        let windows = window..(shared + 1).min(self.slices.len() + 1 - k);
        let is_live = |window| self.is_live(window, now);
        find_window(k, windows, is_live, |age| {
            let slice = &self.slices[age];
            age == shared || slice.holds(&self.trace(hash, slice.class))
        })
    }

    /// Takes notice of the time, and moves the slices on if their time or room is over.
    #[inline(always)]
    fn advance(&mut self, now: Time) {
        self.clock = self.clock.max(now.millis());
        if self.received == self.room || self.clock >= self.due {
            self.move_on();
        }
    }

    /// Looks, and records the key: always, or only if it is new.
    #[inline(always)]
    fn insert(&mut self, hash: u64, now: Time, refresh: bool) -> bool {
        self.advance(now);
        let k = self.k();
        // Before the lookup, of which the processor does not foresee the end.
        let newest = self.trace(hash, self.slices[0].class);
        if self.far > 0 {
            self.slices[0].prefetch(newest.probe);
            for slice in self.slices[..k - 1].iter().skip(1) {
                slice.prefetch(Probe::new(hash, slice.class));
            }
        }
        let first = self.first_trace(hash);
        let seen = self.contains(hash, &first, self.clock);
        if seen && !refresh {
            return false;
        }
        let mut changed = self.slices[k - 1].insert(&first);
        if k > 1 {
            changed |= self.slices[0].insert(&newest);
        }
        for age in 1..k - 1 {
            let trace = self.trace(hash, self.slices[age].class);
            changed |= self.slices[age].insert(&trace);
        }
        self.slices[0].last = Some(self.clock);
        self.received += u64::from(changed);
        !seen
    }
}

impl Membership for TimeLimited {
    #[inline]
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        lately::vectorized!(self.level, |_isa| self.insert(hash, now, true))
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        lately::vectorized!(self.level, |_isa| self.insert(hash, now, false))
    }

    #[inline]
    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        let now = self.clock.max(now.millis());
        lately::vectorized!(self.level, |_isa| self.contains(hash, &self.first_trace(hash), now))
    }

    /// One after the other: a lookup knows all its places from the beginning, so that the processor
    /// asks for them together by itself. Asking ahead took longer.
    fn contains_hashes(&self, hashes: &[u64], now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        for (&hash, seen) in hashes.iter().zip(seen) {
            *seen = self.contains_hash(hash, now);
        }
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        if self.far == 0 {
            return;
        }
        // Where an insertion writes, ...
        let k = self.k();
        for slice in &self.slices[..k - 1] {
            slice.prefetch(Probe::new(hash, slice.class));
        }
        // ... and where a lookup looks that finds nothing.
        let first = Probe::new(hash, self.slices[k - 1].class);
        let mut oldest = k - 1;
        while oldest < self.far {
            self.slices[oldest].prefetch(first);
            oldest += k;
        }
    }
}

impl Filter for TimeLimited {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.slices_bytes + (self.slices.capacity() * size_of::<Slice>()) as u64
    }

    fn false_positive_rate(&self) -> f64 {
        let places = (PLACES / self.slices.len()).max(FEWEST_PLACES);
        let chances: Vec<f64> = self.slices.iter().map(|slice| slice.chance_now(places)).collect();
        window_chance(self.k(), &chances, |window| self.is_live(window, self.clock))
    }

    fn clock(&self) -> Option<Time> {
        // The newest that received a key is among the first: no walk.
        let is_used = self.slices.iter().any(|slice| slice.last.is_some());
        is_used.then_some(Time::from_millis(self.clock))
    }

    fn turn_back(&mut self, now: Time) {
        let now = now.millis();
        if now >= self.clock {
            return;
        }
        // Neighbours stay in order, and as many windows live on as did: the next slices are made
        // for the number that is live, so the error is kept.
        for last in self.slices.iter_mut().filter_map(|slice| slice.last.as_mut()) {
            *last = now.min(*last);
        }
        self.clock = now;
        self.began = now.min(self.began);
        self.measure_slices();
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.clock);
        out.u64(self.began);
        out.u64(self.received);
        out.u64(self.target);
        out.u64(self.came);
        out.u64(self.jitter);
        out.u32(self.slices[0].class as u32);
        out.u32(self.slices.len() as u32);
        self.slices.iter().for_each(|slice| slice.write(out));
    }
}

impl Structure for TimeLimitedParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let span = goal.within()?;
        goal.neither_counts_nor_removes()?;
        let Limit::Error(rate) = goal.limit else {
            return Err(Unfit("lets its memory follow the rate: limit the error instead"));
        };
        let slack = goal.slack_in_time()?.unwrap_or(Span::LONGEST);
        let (start, expected) = goal.expected_items.map_or(UNKNOWN, |keys| (keys, keys));
        let chosen = with_error(span, rate.get(), slack, expected);
        let chosen = chosen.ok_or(Unfit("needs more slack"))?;
        Ok(Self { expected: start.clamp(1, Window::LONGEST), ..chosen })
    }

    fn floor(_goal: &Goal) -> Floor {
        Floor { needs_even_stream: true, ..Floor::NONE }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let k = self.slices_per_key;
        let clock = payload.u64("clock")?;
        let began = payload.u64_at_most("begin of generation", clock, "at most the clock")?;
        let received = payload.u64("received")?;
        let target = payload.u64("target")?;
        let came = payload.u64_at_most("came", Window::LONGEST, "at most 2^48")?;
        let jitter = payload.u64("jitter")?;
        let newest_class = payload.u32("newest class")?;
        let count = payload.u32("slices")?;
        if newest_class >= k {
            let (found, expected) = (newest_class.into(), "below the slices per key");
            return Err(Error::Field { field: "newest class", found, expected });
        }
        if count < k {
            let expected = "at least the slices per key";
            return Err(Error::Field { field: "slices", found: count.into(), expected });
        }
        let mut slices = Vec::new();
        for age in 0..count {
            let class = (newest_class + k - age % k) % k;
            slices.push(Slice::read(payload, &self, class as usize, clock)?);
        }
        slices.shrink_to_fit();
        let (due, room, far, slices_bytes) = (0, 0, 0, 0);
        let mut filter = TimeLimited {
            parameters: self,
            slices,
            clock,
            began,
            due,
            received,
            room,
            far,
            slices_bytes,
            target,
            came,
            jitter,
            level: Level::detect(),
        };
        filter.measure_slices();
        if received > filter.room {
            let expected = "at most what the slices have room for";
            return Err(Error::Field { field: "received", found: received, expected });
        }
        if target == 0 || target > filter.slices[0].capacity {
            let expected = "at least 1, and within the newest slice";
            return Err(Error::Field { field: "target", found: target, expected });
        }
        Ok(Box::new(filter))
    }
}

#[cfg(test)]
mod tests;
