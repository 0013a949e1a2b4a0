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
//!
//! What is not guaranteed: the time of a single insertion. One that doubles the dictionary moves
//! everything, and holds both of them meanwhile.
//!
//! If hashes are not random, the dictionary may run out of room: what it loses it reports as seen,
//! and a doubling after that makes the filter report everything. [`GrowingTails::lost`] tells.

mod keys;
mod parameters;

use self::keys::{EMPTY_TAIL, Keys, TAIL_BITS, common};
pub use self::parameters::GrowingTailsParameters;
use self::parameters::IMPOSSIBLE;
use lately::Error;
use lately::Time;
use lately::bits::Isa;
use lately::dictionary::{Dictionary, Place, Repeat, Seen, Table, Tags};
use lately::growing::UNKNOWN_ITEMS;
use lately::plan::Goal;
use lately::raw::codec::{Reader, Writer};
use lately::raw::{Blueprint, Structure, Unfit};
use lately::raw::{Filter, Membership};

/// No tail is zero, so nothing is ever due.
const NEVER: u64 = 0;

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
        self.lost_before + self.dictionary.frame().lost
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
        let doubled =
            lately::vectorized!(dictionary.level(), |isa| doubled(isa, dictionary, old, &new));
        self.lost_before += self.dictionary.frame().lost;
        (self.dictionary, self.keys) = (doubled, new);
        self.doublings += 1;
    }
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
    dictionary.insert(isa, place, tags, Repeat::Keep)
}

impl Membership for GrowingTails {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        if self.lost_before != 0 {
            return false;
        }
        if self.dictionary.frame().len >= GrowingTailsParameters::capacity(self.doublings) {
            self.double();
        }
        let (key, tail) = self.keys.of(hash);
        let place = self.keys.place(key);
        let dictionary = &mut self.dictionary;
        lately::vectorized!(dictionary.level(), |isa| {
            let seen = insert(isa, dictionary, place, tail);
            if let Seen::Yes(stored) = seen
                && common(stored, tail) != stored
            {
                let tags = Tags { now: common(stored, tail), due: NEVER };
                dictionary.insert(isa, place, tags, Repeat::Refresh);
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
            || lately::vectorized!(self.dictionary.level(), |isa| {
                let dictionary = &self.dictionary;
                dictionary
                    .glance(isa, place)
                    .unwrap_or_else(|_| dictionary.find(isa, place) != Seen::No)
            })
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
        self.dictionary.shape().false_positive_rate(self.dictionary.frame().len as f64)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u8(self.doublings as u8);
        out.u64(self.lost_before);
        self.dictionary.write(out);
    }
}

impl Structure for GrowingTailsParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        goal.ever()?;
        goal.neither_counts_nor_removes()?;
        let items = goal.expected_items.unwrap_or(UNKNOWN_ITEMS);
        Self::with_error(goal.rate()?.get(), items)
            .filter(|parameters| parameters.heap_bytes() != u64::MAX)
            .ok_or(Unfit("cannot err so rarely: hashes have 64 bits"))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let doublings = u32::from(payload.u8("doublings")?);
        let doubled = if doublings > 32 { None } else { self.shape(doublings) };
        let doubled = doubled.ok_or(Error::Field {
            field: "bins",
            found: doublings.into(),
            expected: IMPOSSIBLE,
        })?;
        let lost_before = payload.u64("lost before")?;
        let limit = 2 * EMPTY_TAIL;
        let dictionary = Dictionary::read(doubled, LIFETIME, payload)?.counted(limit, |_| NEVER)?;
        let keys = Keys::new(doubled);
        Ok(Box::new(GrowingTails { parameters: self, doublings, keys, dictionary, lost_before }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::raw::remix;

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
        let surplus = filter.dictionary.frame().len as f64 / keys as f64;
        assert!((1.02..1.08).contains(&surplus), "{surplus}");
    }
}
