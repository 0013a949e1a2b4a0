//! One filter over two tables: the last n insertions, in a table that a sweep walks over.
//!
//! Keep a short fingerprint of every insertion in a table, with the number of its generation as data; a
//! repeated key gets a new number; what is c generations old is removed, home by home. Which table it is,
//! and in which order its homes are swept, is up to the parameters: [`SweptParameters`].
//!
//! Naor and Yogev, *Sliding Bloom Filters*, section 2.
//!
//! What is not guaranteed: the error, if hashes are not random. The table may then run out of room: the
//! filter reports too much for a while, never too little, and [`Swept::lost`] tells.

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use super::swept_parameters::{Passes, SweptParameters};
use crate::bits::{Footprint, Isa as _, vectorized};
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::dictionary::tools::{CacheLines, Tools};
use crate::dictionary::{Fault, Frame, Repeat, Seen, Table};
use crate::error::Error;
use crate::filter::{Age, Aging, Filter, Membership};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::plan::{Goal, Limit};
use crate::rate::ErrorRate;
use crate::window::{Time, Window};

/// How many hashes of a batch before its turn the memory of a hash is asked for. All along the
/// batch, so that memory and processor are busy at the same time.
const AHEAD: usize = 20;

/// Remembers the last n insertions.
///
/// What every insertion needs comes first, in 192 bytes with the dictionary of `sliding`: a filter that threads
/// share has many parts, and the nearest cache should hold that of all of them.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Swept<P: SweptParameters> {
    pub(super) clock: P::Clock,
    pub(super) table: P::Table,
    pub(super) parameters: P,
}

impl<P: SweptParameters> Swept<P> {
    /// An empty filter.
    pub fn new(parameters: P) -> Self {
        Self { parameters, clock: parameters.clock(), table: parameters.table() }
    }

    /// The generation in which the key was last inserted, as the least and most insertions since,
    /// zero for the last one; `None` if it is not in the window.
    fn age(&self, hash: u64) -> Option<RangeInclusive<u64>> {
        let place = self.table.place(hash);
        let seen = vectorized!(self.table.level(), |isa| { self.table.find(isa, place) });
        match seen {
            Seen::No => None,
            Seen::Perhaps => Some(0..=self.parameters.reach()),
            Seen::Yes(tag) => self.clock.is_alive(place.bin, tag).then(|| {
                let (least, most) = self.clock.age(place.bin, tag);
                least..=most
            }),
        }
    }

    /// Estimated number of different keys in the window.
    fn different(&self) -> f64 {
        // Different elements with equal fingerprints are stored once.
        let fingerprints = self.parameters.fingerprints();
        let stored = in_window(&self.clock, self.table.frame()).min(fingerprints - 0.5);
        -fingerprints * (-stored / fingerprints).ln_1p()
    }

    /// Insertions since the beginning, repeats included.
    pub fn insertions(&self) -> u64 {
        self.clock.elements()
    }

    /// Homes that one insert sweeps at most, beside the one it inserts into.
    pub fn most_sweeps(&self) -> u64 {
        self.clock.most_sweeps()
    }

    /// Entries that found no room, ever. Answers stay one-sided, see docs/sliding.md.
    pub fn lost(&self) -> u64 {
        self.table.frame().lost
    }

    /// Checks every invariant.
    pub fn validate(&self) -> Result<(), Fault> {
        self.table.validate(self.parameters.tags(), |home| self.clock.due(home))
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { table: self.table.without_vectors(), ..self }
    }

    /// An insert whose memory accesses are counted.
    #[doc(hidden)]
    pub fn insert_counted(&mut self, hash: u64, repeat: Repeat, lines: &mut CacheLines) -> bool {
        vectorized!(self.table.level(), |isa| self.insert(lines.of(isa), hash, repeat))
    }

    /// A lookup whose memory accesses are counted, the long way, which touches all that the short one
    /// does.
    #[doc(hidden)]
    pub fn contains_counted(&self, hash: u64, lines: &mut CacheLines) -> bool {
        vectorized!(self.table.level(), |isa| self.contains_after_all(lines.of(isa), hash))
    }

    #[inline(always)]
    fn insert<T: Tools>(&mut self, tools: T, hash: u64, repeat: Repeat) -> bool {
        if self.clock.advance() {
            return self.sweep_and_insert(tools, hash, repeat);
        }
        self.insert_into_swept(tools, hash, repeat)
    }

    /// An insertion before which homes are to be swept.
    ///
    /// Out of line, all of it: six of seven insertions sweep nothing, and should not have to keep
    /// anything for the time after.
    #[inline(always)]
    fn sweep_and_insert<T: Tools>(&mut self, tools: T, hash: u64, repeat: Repeat) -> bool {
        tools.isa().vectorize_apart(
            #[inline(always)]
            || {
                // On its way while another home is swept.
                self.fetch(hash);
                self.sweep(tools);
                self.insert_into_swept(tools, hash, repeat)
            },
        )
    }

    /// Sweeps the homes whose turn it is.
    #[inline(always)]
    fn sweep<T: Tools>(&mut self, tools: T) {
        let table = &mut self.table;
        self.clock.sweep(
            #[inline(always)]
            |sweep| table.sweep(tools, sweep),
        );
    }

    /// An insertion into a home that is swept as far as it should be.
    #[inline(always)]
    fn insert_into_swept<T: Tools>(&mut self, tools: T, hash: u64, repeat: Repeat) -> bool {
        let place = self.table.place(hash);
        let tag = self.clock.tag_of(place.bin);
        match self.table.try_insert_fresh(tools, place, tag) {
            Ok(()) => true,
            Err(slot) => self.repeat_or_insert(tools, hash, slot, repeat),
        }
    }

    /// An insertion of a batch, where repeats are as frequent as not. All of it in line but sweeps and what is rare:
    /// in a single insertion, a new key would wait for what only repeats need. After a sweep it goes on as without
    /// one, since the loop keeps its registers anyway.
    #[inline(always)]
    fn insert_of_batch<T: Tools>(&mut self, tools: T, hash: u64, repeat: Repeat) -> bool {
        if self.clock.advance() {
            tools.isa().vectorize_apart(
                #[inline(always)]
                || self.sweep(tools),
            );
        }
        let place = self.table.place(hash);
        let tag = self.clock.tag_of(place.bin);
        let Err(slot) = self.table.try_insert_fresh(tools, place, tag) else {
            return true;
        };
        let moment = self.clock.moment(place.bin);
        self.table.try_repeat(tools, place, slot, moment, repeat).is_none()
            && self.repeat_or_insert(tools, hash, 0, repeat)
    }

    /// The rest of an insertion that is not done at once. Begins with the hash, so that the short way
    /// need not keep what it made of it; a function of its own, so that only the long way stores what it
    /// hands on.
    #[inline(always)]
    fn repeat_or_insert<T: Tools>(
        &mut self,
        tools: T,
        hash: u64,
        slot: u64,
        repeat: Repeat,
    ) -> bool {
        tools.isa().vectorize_apart(
            #[inline(always)]
            || {
                let place = self.table.place(hash);
                let moment = self.clock.moment(place.bin);
                if self.table.try_repeat(tools, place, slot, moment, repeat).is_some() {
                    return false;
                }
                self.table.find_or_insert(tools, place, moment, repeat) == Seen::No
            },
        )
    }

    #[inline(always)]
    fn contains<T: Tools>(&self, tools: T, hash: u64) -> bool {
        match self.table.glance(tools, self.table.place(hash)) {
            Ok(seen) => seen,
            Err(slot) => self.contains_the_long_way(tools, hash, slot),
        }
    }

    /// The rest of a lookup when a glance did not tell. Begins with the hash, so that the glance need
    /// not keep what it made of it, and takes words only, which travel in registers.
    #[inline(never)]
    fn contains_the_long_way<T: Tools>(&self, tools: T, hash: u64, slot: u64) -> bool {
        let place = self.table.place(hash);
        if let Some(tag) = self.table.held(tools, place, slot) {
            return self.clock.is_alive(place.bin, tag);
        }
        tools.isa().vectorize_apart(
            #[inline(always)]
            || self.contains_after_all(tools, hash),
        )
    }

    #[inline(always)]
    fn contains_after_all<T: Tools>(&self, tools: T, hash: u64) -> bool {
        let place = self.table.place(hash);
        match self.table.find(tools, place) {
            Seen::No => false,
            Seen::Perhaps => true,
            Seen::Yes(tag) => self.clock.is_alive(place.bin, tag),
        }
    }

    /// What a repeat does is told by a function, each of which has a loop of its own: one loop would ask for every key.
    fn insert_batch(&mut self, hashes: &[u64], repeat: impl Fn() -> Repeat, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.table.level(), |tools| {
            self.table.prefetch_sweeps(self.clock.next_home());
            hashes.iter().take(AHEAD).for_each(|&hash| self.fetch(hash));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *new = self.insert_of_batch(tools, hash, repeat());
            }
        });
    }

    /// Asks for the memory of a hash.
    #[inline(always)]
    fn fetch(&self, hash: u64) {
        self.table.prefetch(self.table.place(hash));
    }
}

/// Estimated number of entries that are not older than the window.
pub(super) fn in_window(clock: &impl Passes, frame: &Frame) -> f64 {
    frame.len as f64 - frame.due as f64 * clock.past_the_window()
}

impl<P: SweptParameters> Membership for Swept<P> {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        // The closure holds two words, which travel in registers.
        vectorized!(self.table.level(), |tools| { self.insert(tools, hash, Repeat::Refresh) })
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.table.level(), |tools| { self.insert(tools, hash, Repeat::Keep) })
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.table.level(), |tools| self.contains(tools, hash))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.fetch(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, || Repeat::Refresh, new);
    }

    fn insert_new_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, || Repeat::Keep, new);
    }

    fn contains_hashes(&self, hashes: &[u64], _now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        vectorized!(self.table.level(), |tools| {
            let fetch = |hash| self.table.prefetch_front(self.table.place(hash));
            hashes.iter().take(AHEAD).for_each(|&hash| fetch(hash));
            for (index, (&hash, seen)) in hashes.iter().zip(seen).enumerate() {
                fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *seen = self.contains(tools, hash);
            }
        });
    }
}

impl<P: SweptParameters> Filter for Swept<P> {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        self.parameters.false_positive_rate_of(&self.clock, self.table.frame())
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.clock.elements());
        self.table.write(out);
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        Some(self.different())
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }

    fn footprint(&self) -> Option<Footprint> {
        P::footprint(&self.clock, &self.table)
    }
}

impl<P: SweptParameters> Aging for Swept<P> {
    fn age_hash(&self, hash: u64, _now: Time) -> Option<Age> {
        self.age(hash).map(Age::Items)
    }
}

impl<P: SweptParameters> Structure for P {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.neither_counts_nor_removes()?;
        let slack = goal.slack_in_items();
        match goal.limit {
            Limit::Error(rate) => Self::smallest(window, slack, rate.get(), u64::MAX),
            Limit::Memory(memory) => Self::with_memory(window, slack, memory.bytes()),
        }
    }

    fn floor(goal: &Goal) -> Floor {
        let (Window::Last(window), Limit::Memory(_)) = (goal.window, goal.limit) else {
            return Floor::NONE;
        };
        // As much slack as can be: the least that any slack takes.
        Self::smallest(window, None, ErrorRate::LOOSEST_LOG2.exp2(), u64::MAX)
            .map_or(Floor::ENDLESS, |least| Floor::of_bytes(least.heap_bytes()))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let clock = self.clock().after_elements(payload.u64("insertions")?);
        let table = self.read_table(payload)?;
        let table = table.counted(self.tags(), |home| clock.due(home))?;
        Ok(Box::new(Swept { parameters: self, clock, table }))
    }
}
