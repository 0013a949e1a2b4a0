//! One dictionary whose keys grow by a bit whenever it doubles: constant time, but for doublings.
//!
//! A key of l bits is stored with the next few bits of its hash, its *tail*. When the dictionary is
//! full, one twice as large takes over: keys get l + 1 bits, and the new bit comes from the tail. A
//! key whose tail is used up is stored with both values of the new bit. With tails of six bits a key
//! doubles for the first time when there are 128 times as many.
//!
//! Construction 2 of Pagh, Segev and Wieder (section 5), on the dictionary of the sliding filter.
//! We changed the length of keys: the paper adds two bits to it, because doubled keys may fill the
//! dictionary up to four times over; we double when so many keys are stored as were planned for,
//! which keeps the error without them. What is not guaranteed: the time of a single insertion. One
//! that doubles the dictionary moves everything, and holds both of them meanwhile.
//!
//! If hashes are not random, the dictionary may run out of room: what it loses it reports as seen,
//! and a doubling after that makes the filter report everything. [`GrowingTails::lost`] tells.

use super::parameters::UNKNOWN_ITEMS;
use crate::bits::{Isa, vectorized};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::dictionary::work::Uncounted;
use crate::dictionary::{Dictionary, Place, Population, Repeat, Seen, Shape, Tags};
use crate::error::Error;
use crate::filter::{Filter, Membership, Promise};
use crate::hash::{Seed, reduce};
use crate::plan::{Goal, Limit};
use crate::window::{Slack, Time, Window};

/// Bits of a tail: the paper's r, the logarithm of the 64 bits of a hash.
const TAIL_BITS: u32 = 6;

/// A tail as it is stored, from the highest bit on: its bits, a one, and zeros.
const EMPTY_TAIL: u64 = 1 << TAIL_BITS;

/// No tail is zero, so nothing is ever due.
const NEVER: u64 = 0;

/// Entries of the first dictionary: so many are grouped together, as the paper does.
const FIRST: u64 = 1024;

/// How the first dictionary is built; later ones have the same bins, more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowingTailsParameters {
    /// Items that are expected. A hint for plans.
    pub expected_items: u64,
    /// Dimensions of the first dictionary.
    pub shape: Shape,
}

impl GrowingTailsParameters {
    /// The smallest that keep `rate` at every size.
    pub fn with_error(rate: f64, expected_items: u64) -> Option<Self> {
        let population = Population { entries: FIRST as f64, before_sweep: 1.0 };
        let shape = Shape::smallest(population, rate, TAIL_BITS + 1)?;
        Some(Self { expected_items, shape })
    }

    /// Chance that an unseen key is reported when a dictionary is full.
    pub fn false_positive_rate(&self) -> f64 {
        self.shape.false_positive_rate(FIRST as f64)
    }

    /// The dimensions after so many doublings; `None` beyond the 64 bits of a hash.
    fn shape(&self, doublings: u32) -> Option<Shape> {
        let bins = self.shape.bins.checked_mul(1 << doublings)?;
        let sheds = self.shape.sheds.checked_mul(1 << doublings)?;
        Some(Shape { bins, sheds, ..self.shape }).filter(Shape::is_valid)
    }

    fn capacity(doublings: u32) -> u64 {
        FIRST << doublings
    }

    /// Doublings when so many items are stored; entries with used-up tails come on top.
    fn doublings(items: u64) -> u32 {
        let surplus = |doublings: u32| {
            let exhausted = doublings.saturating_sub(TAIL_BITS);
            1.0 + f64::from(exhausted) / f64::from(EMPTY_TAIL as u32 * 2)
        };
        let fits = |doublings: &u32| {
            items as f64 * surplus(*doublings) <= Self::capacity(*doublings) as f64
        };
        (0..40).find(fits).unwrap_or(40)
    }
}

impl Blueprint for GrowingTailsParameters {
    fn structure(&self) -> &'static str {
        GrowingTails::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Ever,
            slack: Slack::Unlimited,
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        let shape = self.shape(Self::doublings(self.expected_items));
        shape.map_or(u64::MAX, |shape| shape.heap_bytes())
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        let (bytes, _) = self.shape.level_bytes();
        bytes as f64 / self.shape.bins as f64 / 64.0 + 1.0
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("expected items", self.expected_items.to_string()),
            ("first bins", self.shape.bins.to_string()),
            ("buckets", self.shape.buckets.to_string()),
            ("remainder bits", self.shape.remainder_bits.to_string()),
            ("first sheds", self.shape.sheds.to_string()),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.expected_items);
        out.u64(self.shape.bins as u64);
        out.u32(self.shape.buckets);
        out.u32(self.shape.remainder_bits);
        out.u64(self.shape.sheds as u64);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(GrowingTails::new(*self))
    }
}

/// One dictionary that doubles.
#[derive(Debug, Clone)]
pub struct GrowingTails {
    parameters: GrowingTailsParameters,
    doublings: u32,
    dictionary: Dictionary,
    /// Entries that dictionaries before this one lost. If there are any, everything is reported.
    lost_before: u64,
}

impl GrowingTails {
    /// An empty filter.
    pub fn new(parameters: GrowingTailsParameters) -> Self {
        let dictionary = Dictionary::new(parameters.shape, LIFETIME);
        Self { parameters, doublings: 0, dictionary, lost_before: 0 }
    }

    /// Entries that found no room, ever.
    pub fn lost(&self) -> u64 {
        self.lost_before + self.dictionary.lost()
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { dictionary: self.dictionary.without_vectors(), ..self }
    }

    fn double(&mut self) {
        // A dictionary that cannot double fills up, and reports what it loses.
        let Some(shape) = self.parameters.shape(self.doublings + 1) else { return };
        let dictionary = &self.dictionary;
        let doubled = vectorized!(dictionary.level(), |isa| doubled(isa, dictionary, shape));
        self.lost_before += self.dictionary.lost();
        self.dictionary = doubled;
        self.doublings += 1;
    }
}

/// The entries of a dictionary, whose keys get one more bit, in one twice as large.
#[inline(always)]
fn doubled<I: Isa>(isa: I, dictionary: &Dictionary, shape: Shape) -> Dictionary {
    let mut doubled = Dictionary::new(shape, LIFETIME);
    for (place, tail) in dictionary.entries() {
        let number = 2 * number(dictionary.shape(), place);
        if tail == EMPTY_TAIL {
            insert(isa, &mut doubled, place_of(&shape, number), tail);
            insert(isa, &mut doubled, place_of(&shape, number + 1), tail);
        } else {
            let place = place_of(&shape, number + (tail >> TAIL_BITS));
            insert(isa, &mut doubled, place, tail << 1 & (2 * EMPTY_TAIL - 1));
        }
    }
    doubled
}

/// Sweeps until a loss is forgotten; there are none.
const LIFETIME: u16 = 1;

#[inline(always)]
fn insert<I: Isa>(isa: I, dictionary: &mut Dictionary, place: Place, tail: u64) -> Seen {
    let tags = Tags { now: tail, due: NEVER };
    dictionary.insert(isa, place, tags, Repeat::Keep, &mut Uncounted)
}

/// The key of a place as a number: with twice as many bins and one more bit, it is doubled.
fn number(shape: &Shape, place: Place) -> u64 {
    let bucket = place.bin as u64 * u64::from(shape.buckets) + u64::from(place.bucket);
    bucket << shape.remainder_bits | place.remainder
}

fn place_of(shape: &Shape, number: u64) -> Place {
    let bucket = number >> shape.remainder_bits;
    Place {
        bin: (bucket / u64::from(shape.buckets)) as usize,
        bucket: (bucket % u64::from(shape.buckets)) as u32,
        remainder: number & ((1 << shape.remainder_bits) - 1),
    }
}

/// The bits of a hash after those of its key, as a tail.
#[inline(always)]
fn tail(shape: &Shape, hash: u64) -> u64 {
    let (_, rest) = reduce(hash, shape.bins as u64);
    let (_, rest) = reduce(rest, shape.buckets.into());
    (rest << shape.remainder_bits) >> (64 - TAIL_BITS) << 1 | 1
}

impl Membership for GrowingTails {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        if self.lost_before != 0 {
            return false;
        }
        if self.dictionary.len() >= GrowingTailsParameters::capacity(self.doublings) {
            self.double();
        }
        let shape = self.dictionary.shape();
        let (place, tail) = (shape.place(hash), tail(shape, hash));
        let dictionary = &mut self.dictionary;
        vectorized!(dictionary.level(), |isa| insert(isa, dictionary, place, tail)) == Seen::No
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.insert_hash(hash, now)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        let place = self.dictionary.shape().place(hash);
        self.lost_before != 0
            || vectorized!(self.dictionary.level(), |isa| self.dictionary.contains(
                isa,
                place,
                &mut Uncounted
            ))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.dictionary.prefetch(self.dictionary.shape().place(hash));
    }
}

impl Filter for GrowingTails {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.dictionary.shape().heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        if self.lost_before != 0 {
            return 1.0;
        }
        self.dictionary.shape().false_positive_rate(self.dictionary.len() as f64)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u8(self.doublings as u8);
        out.u64(self.lost_before);
        self.dictionary.write(out);
    }
}

impl Structure for GrowingTails {
    type Blueprint = GrowingTailsParameters;

    const NAME: &'static str = "growing-tails";
    const FAMILY: u16 = 42;
    const STRENGTH: &'static str = "lookups in one place, but a doubling stops everything";

    fn propose(goal: &Goal) -> Result<GrowingTailsParameters, Unfit> {
        if goal.window != Window::Ever {
            return Err(Unfit("never forgets"));
        }
        if goal.counting || goal.removing {
            return Err(Unfit("neither counts nor removes"));
        }
        let Limit::Error(rate) = goal.limit else {
            return Err(Unfit("is planned by its error, not by memory"));
        };
        let items = goal.expected_items.unwrap_or(UNKNOWN_ITEMS);
        GrowingTailsParameters::with_error(rate.get(), items)
            .filter(|parameters| parameters.heap_bytes() != u64::MAX)
            .ok_or(Unfit("cannot err so rarely: hashes have 64 bits"))
    }

    fn read(parameters: &mut Reader<'_>, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let expected_items = parameters.u64("expected items")?;
        let bins = parameters.u64("first bins")? as usize;
        let buckets = parameters.u32("buckets")?;
        let remainder_bits = parameters.u32("remainder bits")?;
        let sheds = parameters.u64("first sheds")? as usize;
        let shape = Shape { bins, buckets, remainder_bits, tag_bits: TAIL_BITS + 1, sheds };
        let parameters = GrowingTailsParameters { expected_items, shape };
        let doublings = u32::from(payload.u8("doublings")?);
        let fault = |found: u64| {
            let expected = "the dimensions of a dictionary";
            Error::Field { field: "bins", found, expected }
        };
        if !shape.is_valid() || doublings > 32 {
            return Err(fault(bins as u64));
        }
        let doubled = parameters.shape(doublings).ok_or(fault(doublings.into()))?;
        let lost_before = payload.u64("lost before")?;
        let limit = 2 * EMPTY_TAIL;
        let dictionary = Dictionary::read(doubled, LIFETIME, payload, limit, |_| NEVER)?;
        Ok(Self { parameters, doublings, dictionary, lost_before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// A key's place in a doubled dictionary is what its old place and tail say.
    #[test]
    fn doubling_is_exact() {
        let parameters = GrowingTailsParameters::with_error(0.01, 1).unwrap();
        for doublings in 0..8 {
            let shape = parameters.shape(doublings).unwrap();
            let doubled = parameters.shape(doublings + 1).unwrap();
            for i in 0..10_000 {
                let hash = remix(i, 3);
                let place = shape.place(hash);
                assert_eq!(place_of(&shape, number(&shape, place)), place);
                let bit = tail(&shape, hash) >> TAIL_BITS;
                let expected = doubled.place(hash);
                assert_eq!(place_of(&doubled, 2 * number(&shape, place) + bit), expected);
            }
        }
    }

    /// Used-up tails cost little: after ten doublings a thirty-second more entries than keys.
    #[test]
    fn few_entries_come_from_used_up_tails() {
        let mut filter = GrowingTails::new(GrowingTailsParameters::with_error(0.001, 1).unwrap());
        let keys = 700_000;
        for i in 0..keys {
            filter.insert_hash(remix(i, 4), Time::ZERO);
        }
        assert_eq!(filter.lost(), 0);
        assert_eq!(filter.doublings, 10);
        let surplus = filter.dictionary.len() as f64 / keys as f64;
        assert!((1.02..1.05).contains(&surplus), "{surplus}");
    }
}
