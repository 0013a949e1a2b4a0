//! The last n insertions in the fewest bits we know how to reach.
//!
//! Keep a short fingerprint of every insertion in a succinct dictionary, with the number of its
//! generation as data; a repeated key gets a new number; what is c generations old is removed. Naor
//! and Yogev, *Sliding Bloom Filters*, section 2.
//!
//! Worked example: a window of 1,000,000 at 1%. Seven generations, so three bits of tag; about 1.07
//! million entries are stored at any time, in bins of 64 slots at load 0.85, with 89 buckets per bin
//! and 6 bits of remainder: one chance in 5696 per entry of the bin, of which there are 54. The heap
//! is 14.9 bits per item of the window.
//!
//! What we changed: generations end bin by bin ([`Generations`]), and the dictionary is ours
//! ([`Dictionary`]). `docs/sliding.md` draws the layout.
//!
//! What is not guaranteed: the error, if hashes are not random. The dictionary may then run out of
//! room: it reports too much for a while, never too little, and [`Sliding::lost`] tells.

mod generations;
mod parameters;

use alloc::boxed::Box;
pub use generations::Generations;
pub use parameters::SlidingParameters;

use core::ops::RangeInclusive;

use crate::bits::{Footprint, Isa, vectorized};
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::dictionary::work::{Uncounted, Work};
use crate::dictionary::{Dictionary, Fault, Repeat, Seen, Stats, Tags};
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
#[derive(Debug, Clone)]
pub struct Sliding {
    parameters: SlidingParameters,
    generations: Generations,
    dictionary: Dictionary,
}

impl Sliding {
    /// An empty filter.
    pub fn new(parameters: SlidingParameters) -> Self {
        let dictionary = Dictionary::new(parameters.shape, parameters.lifetime());
        Sliding { parameters, generations: parameters.clock(), dictionary }
    }

    /// The generation in which the key was last inserted, as the least and most insertions since,
    /// zero for the last one; `None` if it is not in the window.
    fn age(&self, hash: u64) -> Option<RangeInclusive<u64>> {
        let place = self.dictionary.place(hash);
        match vectorized!(self.dictionary.level(), |isa| self.dictionary.find(
            isa,
            place,
            &mut Uncounted
        )) {
            Seen::No => None,
            Seen::Perhaps => {
                Some(0..=generations::reach(self.parameters.window, self.parameters.generations))
            }
            Seen::Yes(tag) => {
                let (least, most) = self.generations.age(place.bin, tag);
                Some(least..=most)
            }
        }
    }

    /// Estimated number of different keys in the window.
    fn different(&self) -> f64 {
        let past = self.dictionary.due() as f64 * self.generations.past_the_window();
        // Different elements with equal fingerprints are stored once.
        let fingerprints = self.parameters.shape.fingerprints();
        let stored = (self.dictionary.len() as f64 - past).min(fingerprints - 0.5);
        -fingerprints * (-stored / fingerprints).ln_1p()
    }

    /// Insertions since the beginning, repeats included.
    pub fn insertions(&self) -> u64 {
        self.generations.elements()
    }

    /// Bins that one insert sweeps at most, beside the one it inserts into.
    pub fn most_sweeps(&self) -> u64 {
        self.generations.most_sweeps()
    }

    /// Entries that found no room, ever. Answers stay one-sided, see docs/sliding.md.
    pub fn lost(&self) -> u64 {
        self.dictionary.lost()
    }

    /// Sizes of the second level, counted.
    pub fn stats(&self) -> Stats {
        self.dictionary.stats()
    }

    /// Checks every invariant.
    pub fn validate(&self) -> Result<(), Fault> {
        let due = |bin| self.generations.after(self.generations.tag_of(bin));
        self.dictionary.validate(self.parameters.generations + 1, due)
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { dictionary: self.dictionary.without_vectors(), ..self }
    }

    /// An insert whose memory accesses are counted.
    #[doc(hidden)]
    pub fn insert_counted(&mut self, hash: u64, repeat: Repeat, work: &mut impl Work) -> bool {
        vectorized!(self.dictionary.level(), |isa| self.insert(isa, hash, repeat, work))
    }

    /// A lookup whose memory accesses are counted, the long way, which touches all that the short one
    /// does.
    #[doc(hidden)]
    pub fn contains_counted(&self, hash: u64, work: &mut impl Work) -> bool {
        let place = self.dictionary.place(hash);
        vectorized!(self.dictionary.level(), |isa| {
            self.dictionary.find(isa, place, work) != Seen::No
        })
    }

    #[inline(always)]
    fn insert<I: Isa>(&mut self, isa: I, hash: u64, repeat: Repeat, work: impl Work) -> bool {
        if self.generations.advance() {
            return self.insert_after_sweep(isa, hash, repeat, work);
        }
        self.insert_now(isa, hash, repeat, work)
    }

    /// An insertion before which bins are to be swept.
    ///
    /// Out of line, all of it: six of seven insertions sweep nothing, and should not have to keep
    /// anything for the time after.
    #[inline(always)]
    fn insert_after_sweep<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        repeat: Repeat,
        mut work: impl Work,
    ) -> bool {
        isa.vectorize_apart(
            #[inline(always)]
            || {
                self.sweep(isa, hash, &mut work);
                self.insert_now(isa, hash, repeat, work)
            },
        )
    }

    /// An insertion into a bin that is swept as far as it should be.
    #[inline(always)]
    fn insert_now<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        repeat: Repeat,
        mut work: impl Work,
    ) -> bool {
        let place = self.dictionary.place(hash);
        let now = self.generations.tag_of(place.bin);
        match self.dictionary.insert_at_once(isa, place, now, &mut work) {
            Ok(()) => true,
            Err(slot) => self.insert_the_long_way(isa, hash, slot, repeat, work),
        }
    }

    /// An insertion of a batch, where repeats are as frequent as not. All of it in line but what is rare: in a single
    /// insertion, a new key would wait for what only repeats need.
    #[inline(always)]
    fn insert_of_batch<I: Isa>(&mut self, isa: I, hash: u64, repeat: Repeat) -> bool {
        if self.generations.advance() {
            return self.insert_after_sweep(isa, hash, repeat, Uncounted);
        }
        let place = self.dictionary.place(hash);
        let now = self.generations.tag_of(place.bin);
        let Err(slot) = self.dictionary.insert_at_once(isa, place, now, &mut Uncounted) else {
            return true;
        };
        let tags = Tags { now, due: self.generations.after(now) };
        self.dictionary.repeat_at_once(isa, place, slot, tags, repeat).is_none()
            && self.insert_the_long_way(isa, hash, 0, repeat, Uncounted)
    }

    /// The rest of an insertion that is not done at once. Begins with the hash, so that the short way
    /// need not keep what it made of it.
    #[inline(always)]
    fn insert_the_long_way<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        slot: u64,
        repeat: Repeat,
        mut work: impl Work,
    ) -> bool {
        isa.vectorize_apart(
            #[inline(always)]
            || {
                let place = self.dictionary.place(hash);
                let now = self.generations.tag_of(place.bin);
                let tags = Tags { now, due: self.generations.after(now) };
                if self.dictionary.repeat_at_once(isa, place, slot, tags, repeat).is_some() {
                    return false;
                }
                self.dictionary.insert_after_all(isa, place, tags, repeat, &mut work) == Seen::No
            },
        )
    }

    /// Sweeps the bins whose turn it is, before `next` is inserted.
    #[inline(always)]
    fn sweep<I: Isa>(&mut self, isa: I, next: u64, work: &mut impl Work) {
        // On its way while another bin is swept.
        self.fetch(next);
        let dictionary = &mut self.dictionary;
        self.generations.sweep(|bin, expired, due| dictionary.sweep(isa, bin, expired, due, work));
    }

    #[inline(always)]
    fn contains<I: Isa>(&self, isa: I, hash: u64) -> bool {
        match self.dictionary.glance(isa, self.dictionary.place(hash)) {
            Ok(seen) => seen,
            Err(slot) => self.contains_the_long_way(isa, hash, slot),
        }
    }

    /// The rest of a lookup when a glance did not tell. Begins with the hash, so that the glance need
    /// not keep what it made of it, and takes words only, which travel in registers.
    #[inline(never)]
    fn contains_the_long_way<I: Isa>(&self, isa: I, hash: u64, slot: u64) -> bool {
        let place = self.dictionary.place(hash);
        self.dictionary.holds(place, slot)
            || isa.vectorize_apart(
                #[inline(always)]
                || self.dictionary.find(isa, place, &mut Uncounted) != Seen::No,
            )
    }

    fn insert_batch(&mut self, hashes: &[u64], repeat: Repeat, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.dictionary.level(), |isa| {
            hashes.iter().take(AHEAD).for_each(|&hash| self.fetch(hash));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *new = self.insert_of_batch(isa, hash, repeat);
            }
        });
    }

    /// Asks for the memory of a hash.
    #[inline(always)]
    fn fetch(&self, hash: u64) {
        self.dictionary.prefetch(self.dictionary.place(hash));
    }
}

impl Membership for Sliding {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        // The closure holds two words, which travel in registers.
        vectorized!(self.dictionary.level(), |isa| {
            self.insert(isa, hash, Repeat::Refresh, Uncounted)
        })
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.dictionary.level(), |isa| {
            self.insert(isa, hash, Repeat::Keep, Uncounted)
        })
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.dictionary.level(), |isa| self.contains(isa, hash))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.fetch(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, Repeat::Refresh, new);
    }

    fn insert_new_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, Repeat::Keep, new);
    }

    fn contains_hashes(&self, hashes: &[u64], _now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        vectorized!(self.dictionary.level(), |isa| {
            let fetch = |hash| self.dictionary.prefetch_front(self.dictionary.place(hash));
            hashes.iter().take(AHEAD).for_each(|&hash| fetch(hash));
            for (index, (&hash, seen)) in hashes.iter().zip(seen).enumerate() {
                fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *seen = self.contains(isa, hash);
            }
        });
    }
}

impl Filter for Sliding {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        self.parameters.shape.false_positive_rate(self.dictionary.len() as f64)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.generations.elements());
        self.dictionary.write(out);
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        Some(self.different())
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }

    fn footprint(&self) -> Option<Footprint> {
        Some(self.dictionary.footprint(self.generations.changing()))
    }
}

impl Aging for Sliding {
    fn age_hash(&self, hash: u64, _now: Time) -> Option<Age> {
        self.age(hash).map(Age::Items)
    }
}

impl Structure for SlidingParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.neither_counts_nor_removes()?;
        let slack = goal.slack_in_items();
        match goal.limit {
            Limit::Error(rate) => Self::with_error(window, slack, rate.get()),
            Limit::Memory(memory) => Self::with_memory(window, slack, memory.bytes()),
        }
    }

    fn floor(goal: &Goal) -> Floor {
        let (Window::Last(window), Limit::Memory(_)) = (goal.window, goal.limit) else {
            return Floor::NONE;
        };
        // As much slack as can be: the least that any slack takes.
        Self::with_error(window, None, ErrorRate::LOOSEST_LOG2.exp2())
            .map_or(Floor::ENDLESS, |least| Floor::of_bytes(least.heap_bytes()))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let clock = self.clock().after_elements(payload.u64("insertions")?);
        let due = |bin| clock.after(clock.tag_of(bin));
        let (lifetime, tags) = (self.lifetime(), self.generations + 1);
        let dictionary = Dictionary::read(self.shape, lifetime, payload, tags, due)?;
        Ok(Box::new(Sliding { parameters: self, generations: clock, dictionary }))
    }
}
