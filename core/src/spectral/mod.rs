//! How often, not only whether: the spectral Bloom filter.
//!
//! A Bloom filter with counters in the place of bits. A key has k counters, one in each of k rows;
//! an insertion adds to them, and the least of them is the count. It is never below the truth, and
//! above it only if all k counters are shared: with the error of a Bloom filter. With k = 2 and the
//! stream `a b a`, if `a` has counters 3 and 7 and `b` has 3 and 9, then counter 3 holds three,
//! counter 7 two and counter 9 one: `a` counts two and `b` one.
//!
//! The paper (Cohen, Matias, SIGMOD 2003) gives three [`Rule`]s for what an insertion changes, and
//! ways to store counters of very different sizes, [`counters`]. We add [`Bytes`](counters::Bytes),
//! a variant with all counters of a key in one cache line ([`Blocked`]), and a window that takes
//! back what leaves it ([`SpectralWindow`]). We changed one thing: every hash has a row of its own,
//! so that a key never meets one of its counters twice.
//!
//! What to do with it: [`queries`](crate::queries).
//!
//! What is not guaranteed: the error for more different keys than were expected.

pub mod counters;

mod algebra;
mod allotment;
mod blocked;
mod blocked_parameters;
mod parameters;
mod recurring;
pub mod rule;
mod window;
mod window_parameters;

pub use allotment::{Allotment, Indices, MOST_HASHES, Rows};
pub use blocked::{Blocked, MOST_HASHES_IN_LINE};
pub use blocked_parameters::BlockedParameters;
pub use parameters::{SpectralParameters, Storage, hashes_for};
pub use recurring::RecurringParameters;
pub use rule::Rule;
pub use window::SpectralWindow;
pub use window_parameters::SpectralWindowParameters;

use alloc::boxed::Box;

use crate::blueprint::Blueprint;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter, Membership, Removing};
use crate::window::Time;
use counters::{Counters, read_counters, write_counters};
use rule::Second;

/// Parameters from which a spectral filter is made.
pub trait Design: Blueprint + Copy + 'static {
    /// How keys are given their counters.
    type Allotment: Allotment;

    /// How keys are given their counters.
    fn place(&self) -> Self::Allotment;

    /// What an insertion does to them.
    fn rule(&self) -> Rule;

    /// The same with another rule.
    fn set_rule(&mut self, rule: Rule);
}

/// A spectral filter: counters of storage `C`, arranged by the parameters `D`.
#[derive(Debug, Clone)]
pub struct Spectral<C, D: Design> {
    design: D,
    /// The design's, at hand.
    place: D::Allotment,
    counters: C,
    /// For recurring minimum only.
    second: Option<Box<Second<C>>>,
}

impl<C: Counters, D: Design> Spectral<C, D> {
    /// A filter that has counted nothing.
    pub fn new(design: D) -> Self {
        let place = design.place();
        let counters = C::new(place.counters());
        Self { design, place, counters, second: Second::new(design.rule(), &place).map(Box::new) }
    }

    /// Records `times` sightings, and gives the least counter of the key before.
    #[inline]
    pub fn add(&mut self, hash: u64, times: u64) -> u64 {
        // With the number of counters known, the compiler keeps them all in registers.
        match self.place.hashes() {
            3 => self.add_at(&self.place.index_array::<3>(hash), hash, times),
            4 => self.add_at(&self.place.index_array::<4>(hash), hash, times),
            5 => self.add_at(&self.place.index_array::<5>(hash), hash, times),
            _ => self.add_at(&self.place.indices(hash), hash, times),
        }
    }

    #[inline(always)]
    fn add_at(&mut self, at: &[usize], hash: u64, times: u64) -> u64 {
        if matches!(self.design.rule(), Rule::MinimalIncrease) {
            return self.counters.raise_least(at, times);
        }
        let before = self.counters.add_to_all(at, times);
        if let Some(second) = &mut self.second {
            let (least, single) = rule::least_and_single(&self.counters, at);
            second.add(hash, times, least, single);
        }
        before
    }

    /// How often a key was seen.
    #[inline]
    pub fn count(&self, hash: u64) -> u64 {
        match &self.second {
            None => self.least(hash),
            Some(second) => {
                let at = self.place.indices(hash);
                let (least, single) = rule::least_and_single(&self.counters, &at);
                second.count(hash, least, single)
            }
        }
    }

    /// Takes back `times` sightings; an error, changing nothing, if that cannot be.
    pub fn take_back(&mut self, hash: u64, times: u64) -> Result<(), Error> {
        if !self.design.rule().takes_back() {
            return Err(Error::Unsupported {
                operation: "take back sightings under minimal increase",
                instead: "choose minimum selection, which removing asks for",
            });
        }
        let at = self.place.indices(hash);
        let found = self.counters.least(&at);
        if found < times {
            return Err(Error::TooFew { asked: times, found });
        }
        self.counters.subtract_from_all(&at, times);
        if let Some(second) = &mut self.second {
            let (_, single) = rule::least_and_single(&self.counters, &at);
            second.subtract(hash, times, single);
        }
        Ok(())
    }

    /// Chance, at this moment, that a key never seen seems to have been seen at least so often.
    pub fn reach_rate(&self, threshold: u64) -> f64 {
        self.place.reach_rate(&self.counters, threshold)
    }

    /// The counters, for measuring.
    pub fn counters(&self) -> &C {
        &self.counters
    }

    /// The counters of the second filter, for measuring.
    pub fn second_counters(&self) -> Option<&C> {
        self.second.as_deref().map(Second::counters)
    }

    /// The least counter of a key.
    #[inline]
    fn least(&self, hash: u64) -> u64 {
        match self.place.hashes() {
            3 => self.counters.least(&self.place.index_array::<3>(hash)),
            4 => self.counters.least(&self.place.index_array::<4>(hash)),
            5 => self.counters.least(&self.place.index_array::<5>(hash)),
            _ => self.counters.least(&self.place.indices(hash)),
        }
    }

    fn read(design: D, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let place = design.place();
        let counters = read_counters("counters", place.counters() as u64, payload)?;
        let second = Second::read(design.rule(), &place, payload)?.map(Box::new);
        Ok(Self { design, place, counters, second })
    }

    fn open(design: D, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(Self::read(design, payload)?))
    }
}

impl<C: Counters, D: Design> Membership for Spectral<C, D> {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.add(hash, 1) == 0
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        let new = self.least(hash) == 0;
        if new {
            self.add(hash, 1);
        }
        new
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.least(hash) > 0
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        for &index in self.place.indices(hash).iter() {
            self.counters.prefetch(index);
        }
    }
}

impl<C: Counters, D: Design> Counting for Spectral<C, D> {
    #[inline]
    fn add_hash(&mut self, hash: u64, times: u64, _now: Time) -> u64 {
        self.add(hash, times);
        self.count(hash)
    }

    #[inline]
    fn count_hash(&self, hash: u64, _now: Time) -> u64 {
        self.count(hash)
    }

    fn take_back_hash(&mut self, hash: u64, times: u64, _now: Time) -> Result<u64, Error> {
        self.take_back(hash, times)?;
        Ok(self.count(hash))
    }

    fn largest_count(&self) -> u64 {
        C::LARGEST
    }

    fn never_undercounts(&self) -> bool {
        self.design.rule().never_undercounts()
    }

    fn check_mergeable(&self, other: &dyn Filter) -> Result<(), Error> {
        self.like(other).map(|_| ())
    }

    fn merge(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.add_filter(other)
    }

    fn multiply(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.multiply_by_filter(other)
    }
}

impl<C: Counters, D: Design> Removing for Spectral<C, D> {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.take_back(hash, 1).is_ok()
    }
}

impl<C: Counters, D: Design> Filter for Spectral<C, D> {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.design
    }

    fn heap_bytes(&self) -> u64 {
        self.counters.heap_bytes() + self.second.as_deref().map_or(0, Second::heap_bytes)
    }

    fn false_positive_rate(&self) -> f64 {
        self.place.reach_rate(&self.counters, 1)
    }

    fn write_payload(&self, out: &mut Writer) {
        write_counters(&self.counters, out);
        if let Some(second) = &self.second {
            second.write(out);
        }
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        if self.design.rule().takes_back() { Some(self) } else { None }
    }
}
