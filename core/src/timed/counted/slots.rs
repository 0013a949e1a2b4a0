//! Numbers in a segment: finding, raising and lowering them.
//!
//! The digits of a number are the entries with one field and one tag, the lowest digit behind all others: a
//! new entry is the first of its bucket, so a number gets its next digit as any key gets an entry. What sweeps,
//! splits and moves entries need not know of it.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::super::entry::Place;
use super::super::find::Found;
use super::super::segment::{Info, SLOTS, Segment, Shape};
use super::digits::{MOST_COUNT, digits, slots_of, worth};
use crate::bits::Isa;

/// A number found in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Number {
    pub(super) field: u64,
    pub(super) tag: u32,
    /// How many slots it has.
    pub(super) slots: usize,
    pub(super) count: u64,
}

/// Numbers that a key mostly has at most: one for every generation.
const FEW: usize = 8;

/// The numbers of a key, in the order in which they came.
#[derive(Debug, Default)]
struct Numbers {
    few: [Number; FEW],
    count: usize,
    more: Vec<Number>,
}

impl Numbers {
    /// One more digit, the next higher one of its number.
    #[inline(always)]
    fn add(&mut self, field: u64, tag: u32, digit: u32) {
        let few = &mut self.few[..self.count];
        let known = few.iter_mut().chain(&mut self.more).rev();
        let mut known = known.filter(|number| (number.field, number.tag) == (field, tag));
        if let Some(number) = known.next() {
            number.count += worth(digit, number.slots);
            number.slots += 1;
            return;
        }
        let number = Number { field, tag, slots: 1, count: worth(digit, 0) };
        if self.count < FEW {
            self.few[self.count] = number;
            self.count += 1;
        } else {
            self.more.push(number);
        }
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Tells of every number that matches a hash, in the order in which they came.
    #[inline(always)]
    pub(super) fn numbers<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        mut each: impl FnMut(Number),
    ) {
        let info = self.info();
        if info.bins == 0 {
            return;
        }
        let place = self.place(shape, info, hash, depth);
        let mut numbers = Numbers::default();
        self.digits_backwards(isa, shape, info, place, |found| {
            numbers.add(found.field, shape.tag(found.beside), shape.payload_beside(found.beside));
        });
        numbers.few[..numbers.count].iter().chain(&numbers.more).for_each(|&number| each(number));
    }

    /// Tells of every entry that matches a place, whoever came first first.
    #[inline(always)]
    fn digits_backwards<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        mut tell: impl FnMut(Found),
    ) {
        let mut few = [const { None }; FEW];
        let (mut count, mut more) = (0, Vec::new());
        self.matching(isa, shape, info, place, |found| {
            if count < FEW {
                few[count] = Some(found);
                count += 1;
            } else {
                more.push(found);
            }
        });
        more.into_iter().rev().for_each(&mut tell);
        few.into_iter().rev().flatten().for_each(tell);
    }

    /// The entries that are the digits of a number of exactly this field and tag, the lowest first.
    fn digits_of<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        (field, tag): (u64, u32),
    ) -> Vec<Found> {
        let mut digits = Vec::new();
        self.matching(isa, shape, info, place, |found| {
            if (found.field, shape.tag(found.beside)) == (field, tag) {
                digits.push(found);
            }
        });
        digits.reverse();
        digits
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Counts so many sightings of a hash with this tag. The segment is swept. How many
    /// slots that took; `None` if there are not as many, and nothing changed.
    #[inline(always)]
    pub(super) fn add<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        tag: u32,
        times: u64,
    ) -> Option<usize> {
        let info = self.info();
        if info.is_plain() && times == 1 {
            let beside = shape.beside(0, tag);
            if let Some(stored) =
                self.put_at_once::<_, false>(isa, shape, info, hash, depth, beside)
            {
                return stored.then_some(1);
            }
        }
        self.add_after_all(isa, shape, hash, depth, tag, times)
    }

    /// The rest of it; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn add_after_all<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        tag: u32,
        times: u64,
    ) -> Option<usize> {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                if info.bins == 0 {
                    return None;
                }
                let place = self.place(shape, info, hash, depth);
                let field = info.field(place.remainder);
                let mut before = Number::default();
                self.digits_backwards(isa, shape, info, place, |found| {
                    if (found.field, shape.tag(found.beside)) == (field, tag) {
                        before.count += worth(shape.payload_beside(found.beside), before.slots);
                        before.slots += 1;
                    }
                });
                let count = before.count.saturating_add(times).min(MOST_COUNT);
                let more = slots_of(count) - before.slots;
                if more > self.surely_free(shape, info, place) {
                    return None;
                }
                let mut written = digits(count);
                if before.slots > 0 {
                    // Those that are there are as they were from the first that is not carried into.
                    for found in self.digits_of(isa, shape, info, place, (field, tag)) {
                        let beside = shape.beside(written.next().unwrap_or(0), tag);
                        if beside != found.beside {
                            self.set_beside(isa, shape, info, place, found, beside);
                        }
                    }
                }
                for digit in written {
                    let beside = shape.beside(digit, tag);
                    let fits = self.put_first(isa, shape, info, place, field, beside);
                    assert!(fits, "there is room");
                }
                Some(more)
            },
        )
    }

    /// Entries for which there is room at a place, wherever in its bucket they go.
    #[inline(always)]
    fn surely_free(&self, shape: &Shape, info: Info, place: Place) -> usize {
        let layout = info.layout(shape);
        let bin = self.bin(&layout, place.bin);
        let in_bin = match bin.view(place.bucket).overflows() {
            true => 0,
            false => SLOTS - bin.head().count() as usize,
        };
        in_bin.max(self.most_exiles() - self.exiles())
    }

    /// Gives a number of this hash a smaller count, or none; how many slots became free.
    pub(super) fn lower<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        number: Number,
        count: u64,
    ) -> usize {
        let info = self.info();
        let place = self.place(shape, info, hash, depth);
        let key = (number.field, number.tag);
        let found = self.digits_of(isa, shape, info, place, key);
        for (&found, digit) in found.iter().zip(digits(count)) {
            self.set_beside(isa, shape, info, place, found, shape.beside(digit, number.tag));
        }
        let left = slots_of(count);
        for slot in (left..number.slots).rev() {
            // Others move when one goes.
            let found = self.digits_of(isa, shape, info, place, key);
            self.take_out(isa, shape, place, found[slot].spot);
        }
        number.slots - left
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::super::super::clock::Ticks;
    use super::super::super::deal::is_crowded;
    use super::super::super::segment::HEAD;
    use super::super::super::stash::stash_words;
    use super::super::digits::{are_counts, counted};
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;

    fn with_larger_stash(segment: &Segment, shape: &Shape) -> Segment {
        let (info, exiles) = (segment.info(), segment.exiles());
        let stash = stash_words(shape, info, exiles + 64);
        let mut made = Segment::zeros(shape, segment.generation(), info, stash);
        let used = made.words.len().min(segment.words.len());
        made.words[HEAD..used].copy_from_slice(&segment.words[HEAD..used]);
        made.set_exiles(exiles);
        made
    }

    /// Few hashes of few buckets, added and lowered at random until the segment is full many times over: its
    /// entries are always the digits of the counts, whatever moved.
    #[test]
    fn numbers_stay_together_whatever_moves() {
        for round in 0..40 {
            let shape = Shape::new(8 << (round % 2), Ticks::new(1_000_000, 7), 9, 3);
            let shape = Shape { payload_bits: 1, ..shape };
            let mut segment = Segment::with_room(&shape, 9, 5, 0);
            let mut truth: BTreeMap<(u64, u32), u64> = BTreeMap::new();
            for step in 0..600 {
                let draw = |stream| remix(remix(round, step), stream);
                let hash = remix(draw(1) % 30, 7);
                let (tag, times) = ((draw(2) % 5) as u32, 1 << (draw(3) % 12));
                while segment.add(Scalar, &shape, hash, 3, tag, times).is_none() {
                    let bins = segment.info().bins + 1;
                    segment = match is_crowded(&shape, segment.info()) {
                        true => segment.with_bins(Scalar, &shape, bins).unwrap(),
                        false => with_larger_stash(&segment, &shape),
                    };
                }
                *truth.entry((hash, tag)).or_default() += times;
                let entries = segment.entries(Scalar, &shape);
                assert_eq!(entries.len(), segment.info().count, "{round} {step}");
                assert!(are_counts(&entries), "{round} {step}");
                let mut sums: Vec<u64> =
                    counted(&entries).iter().map(|number| number.count).collect();
                let mut expected: Vec<u64> = truth.values().copied().collect();
                sums.sort_unstable();
                expected.sort_unstable();
                assert_eq!(sums, expected, "{round} {step}");
                segment.check(&shape).unwrap();
                let again = segment.with_bins(Scalar, &shape, segment.info().bins).unwrap();
                assert_eq!(again.entries(Scalar, &shape), entries, "{round} {step}: dealt anew");
            }
        }
    }
}
