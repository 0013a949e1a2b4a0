//! A ring of short hashes with an index: a window exact to the item, in constant time.
//!
//! The ring holds the short hash of each of the last w insertions, as in
//! [`CompactShortHash`](super::CompactShortHash); a dictionary beside it holds every short hash of
//! the ring with its number of copies, so that nothing is scanned. With w = 3 and the stream
//! `a b a c`: the ring is `b a c`, and the dictionary has each once, because the first `a` left.
//! A false positive is a collision with one of w hashes; nothing is forgotten, nothing kept longer.
//! Since copies are counted anyway, it also tells how often a key is in the window, and how many
//! different ones are: both exact but for collisions, so a count is never too low, and the number of different keys never too high. This is what
//! Assaf, Ben Basat, Einziger and Friedman call SWAMP (*Pay for a Sliding Bloom Filter and Get Counting,
//! Distinct Elements, and Entropy for Free*, INFOCOM 2018).
//!
//! Géraud-Stewart, Lombard-Platet and Naccache, section 3. Three rows differ in their dictionary:
//!
//! - [`ShortHash`], the paper's SHF: a hash map that stores hash and count whole. The paper counts
//!   `w (h + log2 w)` bits for it, that is a map without one free slot; ours has one in ten, so
//!   that a search ends.
//! - [`QuotientShortHash`]: a quotient table ([`QuotientCounts`]) that stores neither the part of a
//!   hash which its place tells, nor a count for what occurs once. The same memory holds longer
//!   hashes.
//! - [`ExactWindow`], Theorem 1: the map over whole 64-bit hashes. Keys are confused only if their
//!   hashes are, once in 2^64.
//!
//! A snapshot holds the ring alone; the dictionary is built again from it.

use super::counts::{HashCounts, QuotientCounts, WholeHashes};
use super::latest_shorts::LatestShorts;
use super::law::{Stream, collision};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{Seed, reduce};
use crate::latest::Latest;
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::promise::{Mistakes, Promise};
use crate::window::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;

/// The short hash filter of the paper.
pub type ShortHash = Ring<HashCounts>;
/// The short hash filter on a quotient table.
pub type QuotientShortHash = Ring<QuotientCounts>;
/// The window that stores hashes whole.
pub type ExactWindow = Ring<WholeHashes>;

/// How many copies of each short hash are in the ring.
pub trait Counts: Debug + Clone + Send + Sync + 'static {
    /// Hash lengths to choose from: remainder bits for a quotient table, all bits for a map.
    const BITS: core::ops::RangeInclusive<u32>;

    /// How many values a hash of this length has, in a window of so many; they start at 1.
    fn values(window: u64, bits: u32) -> u64;

    /// Bytes on the heap.
    fn heap_bytes_for(window: u64, bits: u32) -> u64;

    /// Empty counts for at most `window` hashes.
    fn new(window: u64, bits: u32) -> Self;

    /// Counts of these hashes, which are at most `window` and below the number of values. In order,
    /// so that no choice of them makes it slow.
    fn of(window: u64, bits: u32, shorts: Vec<u64>) -> Self;

    /// Adds so many copies. All that are there are never more than the window.
    fn add(&mut self, short: u64, times: u64);

    /// Takes so many copies away; there are as many.
    fn take(&mut self, short: u64, times: u64);

    /// How many copies there are.
    fn copies(&self, short: u64) -> u64;

    /// Whether there is a copy.
    fn contains(&self, short: u64) -> bool {
        self.copies(short) > 0
    }

    /// Different hashes.
    fn distinct(&self) -> u64;
}

/// How many hashes of what length.
pub struct RingParameters<C> {
    /// Insertions remembered, exactly.
    pub window: u64,
    /// The length of each hash, as `Counts::BITS` says.
    pub bits: u32,
    counts: PhantomData<C>,
}

impl<C: Counts> RingParameters<C> {
    /// A window of hashes of this length.
    pub fn new(window: u64, bits: u32) -> Self {
        Self { window, bits, counts: PhantomData }
    }

    /// The smallest that keeps `rate`; `None` if the longest hashes would not.
    pub fn with_error(window: u64, rate: f64) -> Option<Self> {
        let mut shapes = C::BITS.map(|bits| Self::new(window, bits));
        shapes.find(|parameters| parameters.false_positive_rate() <= rate)
    }

    /// The largest that fits into `bytes`; `None` if the shortest hashes do not.
    pub fn with_memory(window: u64, bytes: u64) -> Option<Self> {
        let shapes = C::BITS.rev().map(|bits| Self::new(window, bits));
        // A window beyond the budget in bytes cannot fit, and must not overflow the sums.
        let mut shapes = shapes.filter(|_| window / 8 <= bytes);
        shapes.find(|parameters| parameters.heap_bytes() <= bytes)
    }

    /// Chance that an unseen key collides with one of a full window.
    pub fn false_positive_rate(&self) -> f64 {
        collision(self.window as f64, self.hash_values())
    }

    /// Bits of a hash in the ring.
    fn ring_bits(&self) -> u32 {
        64 - self.hash_values().leading_zeros()
    }

    fn hash_values(&self) -> u64 {
        C::values(self.window, self.bits)
    }
}

/// The hash length by which the paper sizes its short hash filter: `M/(2w) - log2(w)/2`.
pub fn published_hash_bits(memory_bits: u64, window: u64) -> f64 {
    let window = window as f64;
    (memory_bits as f64 / (2.0 * window) - window.log2() / 2.0).floor()
}

// By hand, because a derive would ask the same of the counts.
impl<C> Clone for RingParameters<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for RingParameters<C> {}

impl<C> PartialEq for RingParameters<C> {
    fn eq(&self, other: &Self) -> bool {
        (self.window, self.bits) == (other.window, other.bits)
    }
}

impl<C> Debug for RingParameters<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RingParameters")
            .field("window", &self.window)
            .field("bits", &self.bits)
            .finish()
    }
}

impl<C> Default for RingParameters<C> {
    fn default() -> Self {
        Self { window: 0, bits: 0, counts: PhantomData }
    }
}

impl<C: Counts> Parameters for RingParameters<C> {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("bits", &mut self.bits, C::BITS, "a length that this structure has")?;
        list.shown("hash values", || self.hash_values());
        Ok(())
    }
}

impl<C: Counts> Blueprint for RingParameters<C> {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, 0, self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        Stream::new(self.window, alphabet).collisions(self.hash_values())
    }

    fn heap_bytes(&self) -> u64 {
        Latest::heap_bytes_for(self.window, self.ring_bits())
            + C::heap_bytes_for(self.window, self.bits)
    }

    fn lines_touched(&self) -> f64 {
        // The ring, where it leaves and comes; the dictionary, for both and for the question.
        4.0
    }

    fn items_scanned(&self) -> f64 {
        // Tables so full that the way to a free slot is long: to look, to add and to take away.
        450.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Ring::new(*self))
    }
}

/// A ring of short hashes, and how many copies of each are in it.
#[derive(Debug, Clone)]
pub struct Ring<C> {
    parameters: RingParameters<C>,
    /// The last `window` insertions.
    latest: Latest,
    /// Copies of every hash among them.
    counts: C,
}

impl<C: Counts> Ring<C> {
    /// An empty window.
    pub fn new(parameters: RingParameters<C>) -> Self {
        let latest = Latest::new(parameters.window, parameters.ring_bits());
        let counts = C::new(parameters.window, parameters.bits);
        Self { parameters, latest, counts }
    }

    /// Replaces as many of the oldest insertions by this one.
    fn push_many(&mut self, short: u64, times: u64) {
        let RingParameters { window, bits, .. } = self.parameters;
        if times >= window && self.latest.is_better_cleared(C::heap_bytes_for(window, bits)) {
            self.counts = C::new(window, bits);
            self.latest.fill(short);
        } else {
            let Self { latest, counts, .. } = self;
            latest.push_many(short, times.min(window), |short, times| counts.take(short, times));
        }
        self.counts.add(short, times.min(window));
    }
}

impl<C: Counts> LatestShorts for Ring<C> {
    fn short(&self, hash: u64) -> u64 {
        let values = C::values(self.parameters.window, self.parameters.bits);
        1 + reduce(hash, values).0
    }

    fn holds(&self, short: u64) -> bool {
        self.counts.contains(short)
    }

    fn push(&mut self, short: u64) {
        let oldest = self.latest.push(short);
        if oldest != 0 {
            self.counts.take(oldest, 1);
        }
        if short != 0 {
            self.counts.add(short, 1);
        }
    }
}

impl<C: Counts> Counting for Ring<C> {
    fn add_hash(&mut self, hash: u64, times: u64, _now: Time) -> u64 {
        // Every sighting is an insertion.
        let short = self.short(hash);
        self.push_many(short, times);
        self.counts.copies(short)
    }

    fn displaced_by(&self, crowds: &[u64]) -> u64 {
        let RingParameters { window, bits, .. } = self.parameters;
        self.latest.work_of(crowds, C::heap_bytes_for(window, bits))
    }

    fn count_hash(&self, hash: u64, _now: Time) -> u64 {
        self.counts.copies(self.short(hash))
    }

    fn take_back_hash(&mut self, _hash: u64, _times: u64, _now: Time) -> Result<u64, Error> {
        Err(Error::Unsupported {
            operation: "take back sightings: its window does",
            instead: "count without end, for removing, to take back yourself",
        })
    }
}

impl<C: Counts> Filter for Ring<C> {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        let RingParameters { window, bits, .. } = self.parameters;
        self.latest.heap_bytes() + C::heap_bytes_for(window, bits)
    }

    fn false_positive_rate(&self) -> f64 {
        let RingParameters { window, bits, .. } = self.parameters;
        self.counts.distinct() as f64 / C::values(window, bits) as f64
    }

    fn write_payload(&self, out: &mut Writer) {
        self.latest.write(out);
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        Some(self.counts.distinct() as f64)
    }
}

impl<C: Counts> Structure for RingParameters<C> {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        if goal.removing {
            return Err(Unfit("takes back by itself what leaves its window, and nothing else"));
        }
        match goal.limit {
            Limit::Error(rate) => Self::with_error(window, rate.get())
                .ok_or(Unfit("cannot err so rarely over so long a window")),
            Limit::Memory(memory) => {
                Self::with_memory(window, memory.bytes()).ok_or(Unfit("needs more bits per item"))
            }
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let Self { window, bits, .. } = self;
        let latest = Latest::read(payload, window, self.ring_bits())?;
        let values = C::values(window, bits);
        let shorts = latest.shorts();
        if let Some(&found) = shorts.iter().find(|&&short| short > values) {
            let expected = "hashes that this structure can have";
            return Err(Error::Field { field: "ring", found, expected });
        }
        let counts = C::of(window, bits, shorts);
        Ok(Box::new(Ring { parameters: self, latest, counts }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Membership;

    fn the_example_with<C: Counts>(bits: u32) {
        let mut filter = Ring::<C>::new(RingParameters::new(3, bits));
        let key = |name: u8| crate::hash::remix(name.into(), 0);
        let new = b"abac".map(|name| filter.insert_hash(key(name), Time::ZERO));
        assert_eq!(new, [true, true, false, true]);
        assert_eq!(filter.counts.distinct(), 3);
        let known = |name: u8| filter.contains_hash(key(name), Time::ZERO);
        assert_eq!(b"abcd".map(known), [true, true, true, false]);
    }

    #[test]
    fn the_example_of_the_documentation() {
        the_example_with::<HashCounts>(40);
        the_example_with::<QuotientCounts>(40);
        the_example_with::<WholeHashes>(64);
    }

    /// In the paper's 1e5 bits the quotient table keeps 1% of error over windows 1.6 times as long
    /// as the paper's own formula does.
    #[test]
    fn the_quotient_table_reaches_further() {
        let published = |window: u64| {
            let values = published_hash_bits(100_000, window).exp2();
            -(window as f64 * (-1.0 / values).ln_1p()).exp_m1()
        };
        let paper = (1..5000).filter(|&window| published(window) < 0.01).max().unwrap();
        let ours = (1..5000)
            .filter(|&window| {
                RingParameters::<QuotientCounts>::with_memory(window, 12_500)
                    .is_some_and(|parameters| parameters.false_positive_rate() < 0.01)
            })
            .max()
            .unwrap();
        assert!(ours as f64 >= 1.6 * paper as f64, "{ours} {paper}");
    }
}
