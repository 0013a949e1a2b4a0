//! Numbers in a segment: finding, raising and lowering them.
//!
//! The digits of a number are the entries with one field and one tag, the lowest digit behind all others: a
//! new entry is the first of its bucket, so a number gets its next digit as any key gets an entry. What sweeps,
//! splits and moves entries need not know of it.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::super::entry::Site;
use super::super::find::Spot;
use super::super::segment::{Info, SLOTS, Segment, Shape};
use super::digits::{DIGIT_BITS, MOST_COUNT, digit, least, slots_of, stored_digits};
use crate::bits::Isa;

/// A number found in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Number {
    pub(super) field: u64,
    pub(super) tag: u32,
    /// How many slots it has.
    pub(super) slots: usize,
    /// Its digits as they are stored, the lowest in the lowest bit.
    stored: u64,
}

impl Number {
    /// So many more digits, lower ones; the first of them in the lowest bit.
    #[inline(always)]
    fn push(&mut self, digits: u64, slots: u32) {
        let lowest_last = digits.reverse_bits().unbounded_shr(u64::BITS - slots * DIGIT_BITS);
        self.stored = self.stored.unbounded_shl(slots * DIGIT_BITS) | lowest_last;
        self.slots += slots as usize;
    }

    #[inline(always)]
    pub(super) fn count(&self) -> u64 {
        self.stored + least(self.slots)
    }
}

/// Numbers that a key mostly has at most: one for every generation.
const FEW: usize = 8;

/// The numbers of a key.
#[derive(Debug, Default)]
struct Numbers {
    few: [Number; FEW],
    count: usize,
    more: Vec<Number>,
}

impl Numbers {
    /// The number of this field and tag.
    #[inline(always)]
    fn of(&mut self, field: u64, tag: u32) -> &mut Number {
        let is_of = |number: &Number| (number.field, number.tag) == (field, tag);
        let few = &self.few[..self.count];
        if let Some(at) = few.iter().rposition(is_of) {
            return &mut self.few[at];
        }
        let number = Number { field, tag, ..Number::default() };
        if self.count < FEW {
            self.few[self.count] = number;
            self.count += 1;
            return &mut self.few[self.count - 1];
        }
        let at = self.more.iter().rposition(is_of).unwrap_or_else(|| {
            self.more.push(number);
            self.more.len() - 1
        });
        &mut self.more[at]
    }
}

/// A number, and where its digits are: the higher ones in the bin, the others in the stash.
#[derive(Debug)]
struct Digits {
    number: Number,
    /// The slots, the highest digit in the first.
    slots: u64,
    /// The exiles, in the same order.
    exiles: Vec<usize>,
}

impl Digits {
    /// Where a digit is; the lowest one is the first.
    #[inline(always)]
    fn spot<I: Isa>(&self, isa: I, digit: usize) -> Spot {
        let (above, in_bin) = (self.number.slots - 1 - digit, self.slots.count_ones() as usize);
        match above < in_bin {
            true => Spot::Slot(isa.deposit(1 << above, self.slots)),
            false => Spot::Exile(self.exiles[above - in_bin]),
        }
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// Tells of every number that matches a hash.
    #[inline(always)]
    pub(super) fn numbers<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        rest: u64,
        mut each: impl FnMut(Number),
    ) {
        let info = self.info();
        if info.bins == 0 {
            return;
        }
        let site = self.site(shape, info, rest);
        let mut numbers = Numbers::default();
        match info.mixed {
            true => self.matching(isa, shape, info, site, |found| {
                let digit = shape.payload_beside(found.beside);
                numbers.of(found.field, shape.tag(found.beside)).push(digit.into(), 1);
            }),
            false => self.numbers_of_field(isa, shape, info, site, &mut numbers),
        }
        numbers.few[..numbers.count].iter().chain(&numbers.more).for_each(|&number| each(number));
    }

    /// The same where all that matches has one field: all digits of a number that are in the bin at once. A key
    /// that comes again and again has a hundred.
    #[inline(always)]
    fn numbers_of_field<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        numbers: &mut Numbers,
    ) {
        let layout = info.layout(shape);
        let bin = self.bin(&layout, site.bin);
        let view = bin.view(site.bucket);
        let field = info.field(site.remainder);
        let mut slots = bin.find(isa, view.run(isa), field);
        while slots != 0 {
            let tag = shape.tag(bin.tag(isa, slots & slots.wrapping_neg()));
            let of_tag = slots & bin.tagged_in(isa, tag.into(), shape.tag_bits);
            let twos = bin.tagged_in(isa, shape.beside(1, tag), shape.beside_bits());
            numbers.of(field, tag).push(isa.extract(twos, of_tag), of_tag.count_ones());
            slots ^= of_tag;
        }
        if view.overflows() {
            for index in self.exiles_of(shape, info, site.number) {
                let exile = self.exile(shape, info, index);
                if exile.field(info) == field {
                    let beside = exile.beside(info);
                    let digit = shape.payload_beside(beside);
                    numbers.of(field, shape.tag(beside)).push(digit.into(), 1);
                }
            }
        }
    }

    /// The digits of the number of exactly this field and tag. Other entries of its bucket, be they ever so many,
    /// are told apart all at once as far as they are in the bin.
    #[inline(always)]
    fn digits_of<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        (field, tag): (u64, u32),
    ) -> Digits {
        let layout = info.layout(shape);
        let bin = self.bin(&layout, site.bin);
        let view = bin.view(site.bucket);
        let mut slots = bin.find(isa, view.run(isa), field);
        let mut number = Number { field, tag, ..Number::default() };
        if slots != 0 {
            slots &= bin.tagged_in(isa, tag.into(), shape.tag_bits);
            let twos = bin.tagged_in(isa, shape.beside(1, tag), shape.beside_bits());
            number.push(isa.extract(twos, slots), slots.count_ones());
        }
        let mut digits = Digits { number, slots, exiles: Vec::new() };
        if view.overflows() {
            for index in self.exiles_of(shape, info, site.number) {
                let exile = self.exile(shape, info, index);
                let beside = exile.beside(info);
                if (exile.field(info), shape.tag(beside)) == (field, tag) {
                    digits.exiles.push(index);
                    digits.number.push(shape.payload_beside(beside).into(), 1);
                }
            }
        }
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
        rest: u64,
        tag: u32,
        times: u64,
    ) -> Option<usize> {
        let info = self.info();
        if info.is_plain() && times == 1 {
            let beside = shape.beside(0, tag);
            if let Some(stored) = self.put_at_once::<_, false>(isa, shape, info, rest, beside) {
                return stored.then_some(1);
            }
        }
        self.add_after_all(isa, shape, rest, tag, times)
    }

    /// The rest of it; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn add_after_all<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        rest: u64,
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
                let site = self.site(shape, info, rest);
                let field = info.field(site.remainder);
                let before = self.digits_of(isa, shape, info, site, (field, tag));
                let count = before.number.count().saturating_add(times).min(MOST_COUNT);
                let slots = slots_of(count);
                let more = slots - before.number.slots;
                if more > self.surely_free(shape, info, site) {
                    return None;
                }
                self.write_digits(isa, shape, info, site, &before, count);
                for slot in before.number.slots..slots {
                    let beside = shape.beside(digit(count, slot), tag);
                    let fits = self.put_first(isa, shape, info, site, field, beside);
                    assert!(fits, "there is room");
                }
                Some(more)
            },
        )
    }

    /// Makes those digits that are there the lowest ones of a count. Few change, since few are carried into.
    #[inline(always)]
    fn write_digits<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        before: &Digits,
        count: u64,
    ) {
        let Number { tag, slots, stored, .. } = before.number;
        let mut changed = (stored ^ stored_digits(count)) & least(slots);
        while changed != 0 {
            let slot = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let beside = shape.beside(digit(count, slot), tag);
            self.set_beside(isa, shape, info, site, before.spot(isa, slot), beside);
        }
    }

    /// Entries for which there is room at a site, wherever in its bucket they go.
    #[inline(always)]
    fn surely_free(&self, shape: &Shape, info: Info, site: Site) -> usize {
        let layout = info.layout(shape);
        let bin = self.bin(&layout, site.bin);
        let in_bin = match bin.view(site.bucket).overflows() {
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
        rest: u64,
        number: Number,
        count: u64,
    ) -> usize {
        let info = self.info();
        let site = self.site(shape, info, rest);
        let key = (number.field, number.tag);
        let left = slots_of(count);
        for _ in left..number.slots {
            // Others move when one goes.
            let digits = self.digits_of(isa, shape, info, site, key);
            let highest = digits.spot(isa, digits.number.slots - 1);
            self.take_out(isa, shape, site, highest);
        }
        let digits = self.digits_of(isa, shape, info, site, key);
        self.write_digits(isa, shape, info, site, &digits, count);
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
                while segment.add(Scalar, &shape, hash << 3, tag, times).is_none() {
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
