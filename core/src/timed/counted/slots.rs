//! Numbers in a segment: finding, raising and lowering them.
//!
//! The digits of a number are neighbours: slots with one field and one tag, the lowest digit first. There is
//! never a second number of the same field and tag, so what is equal and adjacent is one number; what sweeps,
//! splits and moves slots need not know of it.

use core::ops::{Deref, DerefMut, Range};

use super::super::entry::Place;
use super::super::segment::{Info, Layout, SLOTS, Segment, Shape};
use super::digits::{MOST_COUNT, digits, slots_of, worth};
use crate::bits::Isa;

/// A number found in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    /// Its first slot, and how many there are.
    pub(super) first: usize,
    pub(super) slots: usize,
    pub(super) count: u64,
    /// The value in its slots without the digit.
    value: u64,
}

impl Number {
    pub(super) fn tag(&self, shape: &Shape) -> u32 {
        shape.tag(self.value)
    }

    /// Unknown bits at the end of its remainder: none if it is as long as can be.
    pub(super) fn missing_bits(&self, shape: &Shape, info: Info) -> u32 {
        if info.mixed { (self.value >> shape.beside_bits()).trailing_zeros() } else { 0 }
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Tells of every number that matches a hash, in order of its slots.
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
        let place = Place::of(hash, depth, info.groups(shape));
        if !self.group(place.group).has(place.bucket) {
            return;
        }
        let layout = info.layout(shape);
        let run = self.run(isa, shape, layout, place);
        let field = info.field(place.remainder);
        let mut open: Option<Number> = None;
        self.matching(isa, layout, info.mixed, run, field, |slot, found| {
            let digit = shape.payload(found);
            let value = found ^ shape.value(0, digit, 0);
            match &mut open {
                Some(number) if number.value == value && number.first + number.slots == slot => {
                    number.count += worth(digit, number.slots);
                    number.slots += 1;
                }
                _ => {
                    let next = Number { first: slot, slots: 1, count: worth(digit, 0), value };
                    if let Some(number) = open.replace(next) {
                        each(number);
                    }
                }
            }
        });
        if let Some(number) = open {
            each(number);
        }
    }

    /// The number with exactly this field and tag among slots that all have the field.
    fn number_in(
        &self,
        shape: &Shape,
        layout: Layout,
        equal: Range<usize>,
        tag: u32,
    ) -> Option<Number> {
        let mut tagged = equal.skip_while(|&slot| self.tag_at(layout, slot) != tag);
        let first = tagged.next()?;
        let value_at = |slot| self.value_at(layout, slot);
        let (digit, value) = (shape.payload(value_at(first)), value_at(first));
        let value = value ^ shape.value(0, digit, 0);
        let mut number = Number { first, slots: 1, count: worth(digit, 0), value };
        for slot in tagged.take_while(|&slot| self.tag_at(layout, slot) == tag) {
            number.count += worth(shape.payload(value_at(slot)), number.slots);
            number.slots += 1;
        }
        Some(number)
    }
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Counts so many sightings of a hash with this tag. The segment is swept and has bins. How many
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
        let place = Place::of(hash, depth, info.groups(shape));
        let layout = info.layout(shape);
        let run = self.run(isa, shape, layout, place);
        let field = info.field(place.remainder);
        let compared = self.compare(isa, shape, layout, info.mixed, run, field);
        let mut at = run.first + compared.less;
        let mut number = None;
        if let Some(equal) = compared.equal {
            let has_field =
                |slot: usize| self.value_at(layout, slot) >> shape.beside_bits() == field;
            let first = (run.first..equal).rev().take_while(|&slot| has_field(slot)).count();
            let after = (equal..run.end).take_while(|&slot| has_field(slot)).count();
            number = self.number_in(shape, layout, equal - first..equal + after, tag);
            at = number.map_or(equal + after, |number| number.first + number.slots);
        }
        let (before, had) = number.map_or((0, 0), |number| (number.count, number.slots));
        let count = before.saturating_add(times).min(MOST_COUNT);
        let more = slots_of(count) - had;
        if info.slots() - info.count < more {
            return None;
        }
        let mut digits = digits(count);
        for slot in at - had..at {
            self.set_digit(layout, slot, digits.next().unwrap_or(0));
        }
        let from_start = at - run.first;
        for (new, digit) in digits.enumerate() {
            // Slots before or after it moved by one, by the half that they are in.
            let run = self.run(isa, shape, layout, place);
            let slot = run.first + from_start + new;
            let value = shape.value(field, digit, tag);
            self.put(isa, shape, self.info(), layout, place, run, slot, value);
        }
        Some(more)
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
        let (place, layout) = (Place::of(hash, depth, info.groups(shape)), info.layout(shape));
        let left = slots_of(count);
        for (slot, digit) in (number.first..).zip(digits(count)) {
            self.set_digit(layout, slot, digit);
        }
        let from_start = number.first - self.run(isa, shape, layout, place).first;
        for slot in (left..number.slots).rev() {
            let run = self.run(isa, shape, layout, place);
            self.take_out(isa, shape, self.info(), place, run, run.first + from_start + slot);
        }
        number.slots - left
    }

    /// Replaces the digit in a slot.
    #[inline(always)]
    fn set_digit(&mut self, layout: Layout, slot: usize, digit: u32) {
        let (planes, beside) = (layout.planes(), layout.beside_bits);
        let word = &mut self.planes_mut(layout)[slot / SLOTS * planes + planes - beside];
        *word = *word & !(1 << (slot % SLOTS)) | u64::from(digit) << (slot % SLOTS);
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::super::super::clock::Ticks;
    use super::super::digits::{are_counts, counted};
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;

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
                    segment = segment.with_bins(Scalar, &shape, bins);
                }
                *truth.entry((hash, tag)).or_default() += times;
                let entries = segment.entries(&shape);
                assert_eq!(entries.len(), segment.info().count, "{round} {step}");
                assert!(are_counts(&entries), "{round} {step}");
                let mut sums: Vec<u64> =
                    counted(&entries).iter().map(|number| number.count).collect();
                let mut expected: Vec<u64> = truth.values().copied().collect();
                sums.sort_unstable();
                expected.sort_unstable();
                assert_eq!(sums, expected, "{round} {step}");
                let again = segment.with_bins(Scalar, &shape, segment.info().bins);
                assert_eq!(again.entries(&shape), entries, "{round} {step}: dealt anew");
            }
        }
    }
}
