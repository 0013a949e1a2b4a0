//! The last n insertions in fewer bits still: blocks that spill into the next one.
//!
//! The same as [`Sliding`](crate::sliding::Sliding), a fingerprint of every insertion with the number of its
//! generation, in another dictionary. There, what does not fit its bin lives in a second level, and costs
//! as much as three others. Here there is no second level: a full block pushes its last entry into the
//! next one, and the sweep brings it home again. That works at a load of nine tenths because the
//! sweep is interleaved ([`Clock`]).
//!
//! Worked example: a window of 1,000,000 at 1%. Seven generations, so three bits of tag; about 1.07
//! million entries are stored at any time, in blocks of 64 slots at load 0.9, with 95 buckets per
//! block and 6 bits of remainder. The heap is 13.9 bits per item of the window.
//!
//! Naor and Yogev, *Sliding Bloom Filters*, section 2, and for any slack their Theorem 1.1; the guests of
//! the next block are those of Pandey, Bender, Johnson and Patro's *rank-and-select quotient filter*, by
//! blocks instead of slots. `docs/sliding.md` draws the layout.
//!
//! What is not guaranteed: the error, if hashes are not random. Blocks may then run out of room: the
//! filter reports too much for a while, never too little, and [`SlidingCompact::lost`] and
//! [`SlidingCompact::late`] tell.

mod block;
mod chain;
mod clock;
mod moment;
mod parameters;
mod run;
mod shape;
mod state;
mod store;
mod sweep;
#[cfg(test)]
mod tests;
mod words;

pub use chain::REACH;
pub use clock::{Clock, Division};
pub use parameters::SlidingCompactParameters;
pub use shape::Shape;

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use crate::bits::{Isa, vectorized};
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::dictionary::work::{Uncounted, Work};
use crate::dictionary::{Fault, Repeat, Seen};
use crate::error::Error;
use crate::filter::{Age, Aging, Filter, Membership};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::plan::{Goal, Limit};
use crate::rate::ErrorRate;
use crate::window::{Time, Window};
use shape::SPARE_BLOCKS;
use store::Blocks;

/// How many hashes of a batch before its turn the memory of a hash is asked for. All along the
/// batch, so that memory and processor are busy at the same time.
const AHEAD: usize = 20;

/// Remembers the last n insertions.
#[derive(Debug, Clone)]
pub struct SlidingCompact {
    parameters: SlidingCompactParameters,
    clock: Clock,
    blocks: Blocks,
}

impl SlidingCompact {
    /// An empty filter.
    pub fn new(parameters: SlidingCompactParameters) -> Self {
        let blocks = Blocks::new(parameters.shape, parameters.lifetime());
        Self { parameters, clock: parameters.clock(), blocks }
    }

    /// The least and most insertions since the key's last, zero for the last one; `None` if it is not in
    /// the window.
    fn age(&self, hash: u64) -> Option<RangeInclusive<u64>> {
        let place = self.blocks.place(hash);
        let seen = vectorized!(self.blocks.level(), |isa| {
            self.blocks.find(isa, place, &mut Uncounted)
        });
        match seen {
            Seen::No => None,
            Seen::Perhaps => Some(0..=self.parameters.division().reach(self.parameters.window)),
            Seen::Yes(tag) => self.clock.moment(place.bin).is_alive(tag).then(|| {
                let (least, most) = self.clock.age(place.bin, tag);
                least..=most
            }),
        }
    }

    /// Estimated number of different keys in the window.
    fn different(&self) -> f64 {
        // Different elements with equal fingerprints are stored once.
        let fingerprints = self.parameters.shape.fingerprints();
        let stored = self.in_window().min(fingerprints - 0.5);
        -fingerprints * (-stored / fingerprints).ln_1p()
    }

    /// Estimated number of entries that are not older than the window.
    fn in_window(&self) -> f64 {
        self.blocks.len() as f64 - self.blocks.due() as f64 * self.clock.past_the_window()
    }

    /// Insertions since the beginning, repeats included.
    pub fn insertions(&self) -> u64 {
        self.clock.elements()
    }

    /// Homes that one insert sweeps at most, beside the one it inserts into.
    pub fn most_sweeps(&self) -> u64 {
        self.clock.most_sweeps()
    }

    /// Cache lines that any operation touches at most, the same for every window: an insertion and its
    /// sweeps each look at no more than [`REACH`] blocks and a home's own.
    pub fn most_lines(&self) -> u64 {
        let blocks = (REACH + SPARE_BLOCKS + 2) as u64;
        (1 + self.most_sweeps()) * (blocks * self.parameters.shape.block_bytes() / 64 + 2)
    }

    /// Entries that found no room, ever. Answers stay one-sided, see docs/sliding.md.
    pub fn lost(&self) -> u64 {
        self.blocks.lost()
    }

    /// Sweeps that were left out because too many blocks were full, ever: what they should have removed
    /// is reported for a window longer.
    pub fn late(&self) -> u64 {
        self.blocks.late()
    }

    /// Checks every invariant.
    pub fn validate(&self) -> Result<(), Fault> {
        let due = |home| self.clock.moment(home).due;
        self.blocks.validate(self.parameters.division().tags(), due)
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { blocks: self.blocks.without_vectors(), ..self }
    }

    /// An insert whose memory accesses are counted.
    #[doc(hidden)]
    pub fn insert_counted(&mut self, hash: u64, repeat: Repeat, work: &mut impl Work) -> bool {
        vectorized!(self.blocks.level(), |isa| self.insert(isa, hash, repeat, work))
    }

    /// A lookup whose memory accesses are counted, the long way, which touches all that the short one
    /// does.
    #[doc(hidden)]
    pub fn contains_counted(&self, hash: u64, work: &mut impl Work) -> bool {
        vectorized!(self.blocks.level(), |isa| self.contains_after_all(isa, hash, work))
    }

    #[inline(always)]
    fn insert<I: Isa>(&mut self, isa: I, hash: u64, repeat: Repeat, work: impl Work) -> bool {
        if self.clock.advance() {
            return self.insert_after_sweep(isa, hash, repeat, work);
        }
        self.insert_now(isa, hash, repeat, work)
    }

    /// An insertion before which homes are to be swept.
    ///
    /// Out of line, all of it: most insertions sweep nothing, and should not have to keep anything for
    /// the time after.
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
                // On its way while another block is swept.
                self.fetch(hash);
                let blocks = &mut self.blocks;
                self.clock.sweep(
                    #[inline(always)]
                    |home, expired, due, ends| {
                        blocks.sweep(isa, home, expired, due, &mut work);
                        if ends {
                            blocks.end_pass();
                        }
                    },
                );
                self.insert_now(isa, hash, repeat, work)
            },
        )
    }

    /// An insertion into a home that is swept as far as it should be.
    #[inline(always)]
    fn insert_now<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        repeat: Repeat,
        mut work: impl Work,
    ) -> bool {
        let place = self.blocks.place(hash);
        let tag = self.clock.tag_of(place.bin);
        self.blocks.insert_at_once(isa, place, tag, &mut work)
            || self.insert_the_long_way(isa, hash, repeat, work)
    }

    /// The rest of an insertion that is not done at once. Begins with the hash, so that the short way
    /// need not keep what it made of it.
    #[inline(always)]
    fn insert_the_long_way<I: Isa>(
        &mut self,
        isa: I,
        hash: u64,
        repeat: Repeat,
        mut work: impl Work,
    ) -> bool {
        isa.vectorize_apart(
            #[inline(always)]
            || {
                let place = self.blocks.place(hash);
                let moment = self.clock.moment(place.bin);
                self.blocks.insert_after_all(isa, place, moment, repeat, &mut work) == Seen::No
            },
        )
    }

    #[inline(always)]
    fn contains<I: Isa>(&self, isa: I, hash: u64) -> bool {
        match self.blocks.glance(isa, self.blocks.place(hash)) {
            Ok(seen) => seen,
            Err(slot) => self.contains_the_long_way(isa, hash, slot),
        }
    }

    /// The rest of a lookup when a glance did not tell. Begins with the hash, so that the glance need
    /// not keep what it made of it, and takes words only, which travel in registers.
    #[inline(never)]
    fn contains_the_long_way<I: Isa>(&self, isa: I, hash: u64, slot: u64) -> bool {
        let place = self.blocks.place(hash);
        if let Some(tag) = self.blocks.held(isa, place, slot) {
            return self.clock.moment(place.bin).is_alive(tag);
        }
        isa.vectorize_apart(
            #[inline(always)]
            || self.contains_after_all(isa, hash, &mut Uncounted),
        )
    }

    #[inline(always)]
    fn contains_after_all<I: Isa>(&self, isa: I, hash: u64, work: &mut impl Work) -> bool {
        let place = self.blocks.place(hash);
        match self.blocks.find(isa, place, work) {
            Seen::No => false,
            Seen::Perhaps => true,
            Seen::Yes(tag) => self.clock.moment(place.bin).is_alive(tag),
        }
    }

    fn insert_batch(&mut self, hashes: &[u64], repeat: Repeat, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.blocks.level(), |isa| {
            hashes.iter().take(AHEAD).for_each(|&hash| self.fetch(hash));
            for (index, (&hash, new)) in hashes.iter().zip(new).enumerate() {
                self.fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *new = self.insert(isa, hash, repeat, Uncounted);
            }
        });
    }

    /// Asks for the memory of a hash.
    #[inline(always)]
    fn fetch(&self, hash: u64) {
        self.blocks.prefetch(self.blocks.place(hash));
    }
}

impl Membership for SlidingCompact {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        // The closure holds two words, which travel in registers.
        vectorized!(self.blocks.level(), |isa| {
            self.insert(isa, hash, Repeat::Refresh, Uncounted)
        })
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        vectorized!(self.blocks.level(), |isa| { self.insert(isa, hash, Repeat::Keep, Uncounted) })
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        vectorized!(self.blocks.level(), |isa| self.contains(isa, hash))
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
        vectorized!(self.blocks.level(), |isa| {
            let fetch = |hash| self.blocks.prefetch_front(self.blocks.place(hash));
            hashes.iter().take(AHEAD).for_each(|&hash| fetch(hash));
            for (index, (&hash, seen)) in hashes.iter().zip(seen).enumerate() {
                fetch(hashes[(index + AHEAD).min(hashes.len() - 1)]);
                *seen = self.contains(isa, hash);
            }
        });
    }
}

impl Filter for SlidingCompact {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.parameters.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        let stored = match self.parameters.shape.fine_bits {
            0 => self.blocks.len() as f64,
            _ => self.in_window(),
        };
        self.parameters.shape.false_positive_rate(stored)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.clock.elements());
        self.blocks.write(out);
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        Some(self.different())
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }
}

impl Aging for SlidingCompact {
    fn age_hash(&self, hash: u64, _now: Time) -> Option<Age> {
        self.age(hash).map(Age::Items)
    }
}

impl Structure for SlidingCompactParameters {
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
        let due = |home| clock.moment(home).due;
        let (lifetime, tags) = (self.lifetime(), self.division().tags());
        let blocks = Blocks::read(self.shape, lifetime, payload, tags, due)?;
        Ok(Box::new(SlidingCompact { parameters: self, clock, blocks }))
    }
}
