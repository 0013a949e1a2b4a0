//! One dictionary whose keys grow by a bit whenever it doubles: constant time, but for doublings.
//!
//! A key of l bits is stored with the next few bits of its hash, its *tail*. When the dictionary is
//! full, one twice as large takes over: keys get l + 1 bits, and the new bit comes from the tail. A
//! key whose tail is used up is stored with both values of the new bit. With tails of six bits a key
//! doubles for the first time when there are 128 times as many.
//!
//! Construction 2 of Pagh, Segev and Wieder (section 5), on the dictionary of the sliding filter.
//! We changed two things. The paper adds two bits to the length of keys, because doubled keys may
//! fill the dictionary up to four times over; we double when so many keys are stored as were planned
//! for, which keeps the error without them. And two elements may have the same key but different
//! tails, of which the paper would store one: a doubling then gives the key the next bit of one of
//! them, and the other is forgotten. We keep the bits that the tails have in common. A key that was
//! doubled several times is a row of consecutive ones, so keys are permuted before they are stored.
//! What is not guaranteed: the time of a single insertion. One
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
    keys: Keys,
    dictionary: Dictionary,
    /// Entries that dictionaries before this one lost. If there are any, everything is reported.
    lost_before: u64,
}

impl GrowingTails {
    /// An empty filter.
    pub fn new(parameters: GrowingTailsParameters) -> Self {
        let dictionary = Dictionary::new(parameters.shape, LIFETIME);
        let keys = Keys::new(parameters.shape);
        Self { parameters, doublings: 0, keys, dictionary, lost_before: 0 }
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
        let (old, new) = (&self.keys, Keys::new(shape));
        let dictionary = &self.dictionary;
        let doubled = vectorized!(dictionary.level(), |isa| doubled(isa, dictionary, old, &new));
        self.lost_before += self.dictionary.lost();
        (self.dictionary, self.keys) = (doubled, new);
        self.doublings += 1;
    }
}

/// The keys of a dictionary, and the places where they lie.
#[derive(Debug, Clone, Copy)]
struct Keys {
    shape: Shape,
    /// How many there are.
    count: u64,
    /// Key k lies at place number k times this modulo the count: neighbours come to lie far apart.
    multiplier: u64,
    /// The way back.
    inverse: u64,
}

impl Keys {
    fn new(shape: Shape) -> Self {
        let count = (shape.bins as u64 * u64::from(shape.buckets)) << shape.remainder_bits;
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let near = (count as f64 * GOLDEN) as u64 | 1;
        let choices = (near..).step_by(2);
        let (multiplier, inverse) = choices
            .map(|multiplier| (multiplier, inverse(multiplier, count)))
            .find_map(|(multiplier, inverse)| Some((multiplier, inverse?)))
            .expect("a prime that does not divide the count is among the next numbers");
        Self { shape, count, multiplier, inverse }
    }

    /// The key of a hash, and the bits after it as a tail.
    #[inline(always)]
    fn of(&self, hash: u64) -> (u64, u64) {
        let (key, rest) = reduce(hash, self.count);
        (key, rest >> (64 - TAIL_BITS) << 1 | 1)
    }

    #[inline(always)]
    fn place(&self, key: u64) -> Place {
        let number = times(key, self.multiplier, self.count);
        let bucket = number >> self.shape.remainder_bits;
        Place {
            bin: (bucket / u64::from(self.shape.buckets)) as usize,
            bucket: (bucket % u64::from(self.shape.buckets)) as u32,
            remainder: number & ((1 << self.shape.remainder_bits) - 1),
        }
    }

    fn at(&self, place: Place) -> u64 {
        let bucket = place.bin as u64 * u64::from(self.shape.buckets) + u64::from(place.bucket);
        let number = bucket << self.shape.remainder_bits | place.remainder;
        times(number, self.inverse, self.count)
    }
}

/// A product modulo a number.
#[inline(always)]
fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

/// What a number must be multiplied with to give one, modulo another: Euclid's algorithm. `None` if
/// they have a common divisor.
fn inverse(number: u64, modulus: u64) -> Option<u64> {
    let (mut rest, mut next) = (i128::from(modulus), i128::from(number));
    let (mut factor, mut next_factor) = (0, 1);
    while next != 0 {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (factor, next_factor) = (next_factor, factor - quotient * next_factor);
    }
    (rest == 1).then(|| factor.rem_euclid(i128::from(modulus)) as u64)
}

/// The entries of a dictionary, whose keys get one more bit, in one twice as large.
#[inline(always)]
fn doubled<I: Isa>(isa: I, dictionary: &Dictionary, old: &Keys, new: &Keys) -> Dictionary {
    let mut doubled = Dictionary::new(new.shape, LIFETIME);
    for (place, tail) in dictionary.entries() {
        let key = 2 * old.at(place);
        if tail == EMPTY_TAIL {
            insert(isa, &mut doubled, new.place(key), tail);
            insert(isa, &mut doubled, new.place(key + 1), tail);
        } else {
            let place = new.place(key + (tail >> TAIL_BITS));
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

/// The bits that a tail and one as long as can be have in common, as a tail.
fn common(tail: u64, longest: u64) -> u64 {
    let ends = tail & tail.wrapping_neg();
    let differing = (tail ^ longest) & !(2 * ends - 1);
    if differing == 0 {
        return tail;
    }
    let highest = 1 << differing.ilog2();
    longest & !(2 * highest - 1) | highest
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
        let (key, tail) = self.keys.of(hash);
        let place = self.keys.place(key);
        let dictionary = &mut self.dictionary;
        vectorized!(dictionary.level(), |isa| {
            let seen = insert(isa, dictionary, place, tail);
            if let Seen::Yes(stored) = seen
                && common(stored, tail) != stored
            {
                let tags = Tags { now: common(stored, tail), due: NEVER };
                dictionary.insert(isa, place, tags, Repeat::Refresh, &mut Uncounted);
            }
            seen == Seen::No
        })
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.insert_hash(hash, now)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        let place = self.keys.place(self.keys.of(hash).0);
        self.lost_before != 0
            || vectorized!(self.dictionary.level(), |isa| self.dictionary.contains(
                isa,
                place,
                &mut Uncounted
            ))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.dictionary.prefetch(self.keys.place(self.keys.of(hash).0));
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
        Ok(Self { parameters, doublings, keys: Keys::new(doubled), dictionary, lost_before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// A key is found from its place, and in a doubled dictionary it is the old one and the first
    /// bit of its tail.
    #[test]
    fn doubling_is_exact() {
        for rate in [0.3, 0.01, 1e-6] {
            let parameters = GrowingTailsParameters::with_error(rate, 1).unwrap();
            for doublings in 0..8 {
                let keys = Keys::new(parameters.shape(doublings).unwrap());
                let doubled = Keys::new(parameters.shape(doublings + 1).unwrap());
                for i in 0..2_000 {
                    let hash = remix(i, 3);
                    let (key, tail) = keys.of(hash);
                    assert_eq!(keys.at(keys.place(key)), key);
                    assert_eq!(doubled.of(hash).0, 2 * key + (tail >> TAIL_BITS));
                }
            }
        }
    }

    #[test]
    fn tails_shrink_to_what_they_share() {
        for (tail, longest, shared) in [
            (0b1011011, 0b1011011, 0b1011011),
            (0b1011100, 0b1011011, 0b1011100),
            (0b1000000, 0b1011011, 0b1000000),
            (0b1011011, 0b1011001, 0b1011010),
            (0b1011011, 0b0011011, 0b1000000),
            (0b1011010, 0b1001011, 0b1010000),
        ] {
            assert_eq!(common(tail, longest), shared, "{tail:b} {longest:b}");
        }
    }

    /// Used-up tails cost little: after ten doublings at 0.1%, one entry in twenty or so.
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
        assert!((1.02..1.08).contains(&surplus), "{surplus}");
    }
}
