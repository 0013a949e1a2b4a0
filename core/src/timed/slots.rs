//! Making room for an entry in a segment, and taking one out.
//!
//! Entries lie side by side, so one that comes between others moves those between it and the free slots
//! in the middle by one: a quarter of all on average. In rows that is a piece of memory that moves by a
//! byte, in planes a word shifted for 64 entries, and one bit handed on to the next bin.

use core::ops::DerefMut;

use super::entry::{Place, ones};
use super::find::Run;
use super::segment::{Group, HEAD, Info, Layout, SLOTS, Segment, Shape};
use crate::bits::Isa;

/// What became of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is stored now; whether another entry matched before.
    Stored { seen: bool },
    /// Exactly it was there, and is younger now: its tag before.
    Refreshed { before: u32 },
    /// An entry matches; nothing changed.
    Seen,
    /// No slot is free; nothing changed.
    Full,
}

/// What to do with a key that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It counts as seen now.
    Refresh,
    /// It counts as seen when it was.
    Keep,
}

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Looks for a hash, and stores it with this tag. The segment is swept and has bins.
    ///
    /// An entry that is shorter than this one would be is left alone, and this one is stored beside it: a
    /// longer one might no longer match the key it was made for, and a short one that is refreshed would
    /// err as often for ever.
    #[inline(always)]
    pub(super) fn insert<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let info = self.info();
        let place = Place::of(hash, depth, info.groups(shape));
        let layout = info.layout(shape);
        let run = self.run(isa, layout, place);
        let field = info.field(place.remainder);
        let compared = self.compare(isa, shape, layout, info.mixed, run, field);
        if let Some(slot) = compared.equal {
            return self.meet(shape, slot, tag, repeat);
        }
        if compared.seen && repeat == Repeat::Keep {
            return Outcome::Seen;
        }
        if info.is_full() {
            return Outcome::Full;
        }
        let slot = run.first + compared.less;
        let value = shape.value(field, 0, tag);
        self.put(isa, shape, info, layout, place, run, slot, value);
        Outcome::Stored { seen: compared.seen }
    }

    /// A hash whose very field is in a slot.
    #[inline(never)]
    fn meet(
        &mut self,
        shape: &Shape,
        slot: usize,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let layout = self.info().layout(shape);
        let before = self.tag_at(layout, slot);
        let age = |tag| shape.age(self.generation(), tag);
        if repeat == Repeat::Keep || age(tag) >= age(before) {
            return Outcome::Seen;
        }
        self.set_tag(layout, slot, tag);
        Outcome::Refreshed { before }
    }

    /// Replaces the tag in a slot.
    #[inline(always)]
    pub(super) fn set_tag(&mut self, layout: Layout, slot: usize, tag: u32) {
        let (planes, tag_bits) = (layout.planes(), layout.tag_bits);
        let bin = &mut self.planes_mut(layout)[slot / SLOTS * planes..][..planes];
        for (plane, bit) in bin[planes - tag_bits..].iter_mut().zip((0..tag_bits).rev()) {
            let shift = slot % SLOTS;
            *plane = *plane & !(1 << shift) | u64::from(tag >> bit & 1) << shift;
        }
    }

    /// Puts field and tag before the entry in `slot`, which is in the run or just after it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "what the search found, at its only caller")]
    fn put<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        layout: Layout,
        place: Place,
        run: Run,
        slot: usize,
        value: u64,
    ) {
        let half = info.groups(shape) / 2;
        self.words[HEAD + place.group] |= Group::bit(place.bucket);
        // The last of the run ends it.
        let last = slot == run.end;
        if last && run.first < run.end {
            let before = slot - 1;
            let ends = layout.planes_at + before / SLOTS * layout.planes();
            self.words[ends] &= !(1 << (before % SLOTS));
        }
        if place.group < half {
            self.move_up(isa, layout, slot, info.lower, last, value);
            // Groups after this one start a slot later.
            add_where(&mut self.words[HEAD..HEAD + half], 1, |number| number > place.group);
            self.words[1] += Info::ONE_LOWER;
        } else {
            self.move_down(isa, layout, info.upper_start() - 1, slot - 1, last, value);
            // This one and those before it start a slot earlier.
            let upper = &mut self.words[HEAD + half..HEAD + info.groups(shape)];
            add_where(upper, u64::MAX, |number| number <= place.group - half);
            self.words[1] += Info::ONE_UPPER;
        }
    }

    /// Takes the entry in a slot out, one of a run of this place.
    pub(super) fn take_out<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        run: Run,
        slot: usize,
    ) {
        let layout = info.layout(shape);
        let half = info.groups(shape) / 2;
        if run.end - run.first == 1 {
            self.words[HEAD + place.group] &= !Group::bit(place.bucket);
        } else if slot + 1 == run.end {
            let before = slot - 1;
            let ends = layout.planes_at + before / SLOTS * layout.planes();
            self.words[ends] |= 1 << (before % SLOTS);
        }
        if place.group < half {
            self.move_down(isa, layout, slot, info.lower - 1, false, 0);
            self.words[HEAD + place.group + 1..HEAD + half].iter_mut().for_each(|word| *word -= 1);
            self.set_info(Info { lower: info.lower - 1, ..info });
        } else {
            self.move_up(isa, layout, info.upper_start(), slot, false, 0);
            self.words[HEAD + half..=HEAD + place.group].iter_mut().for_each(|word| *word += 1);
            self.set_info(Info { upper: info.upper - 1, ..info });
        }
    }

    /// Moves the slots from `first` on up by one, into `free`, whose content is lost, and puts a value
    /// into `first`.
    #[inline(always)]
    fn move_up<I: Isa>(
        &mut self,
        isa: I,
        layout: Layout,
        first: usize,
        free: usize,
        last: bool,
        value: u64,
    ) {
        for number in 0..layout.rows {
            let row = self.row_mut(layout, number);
            row.copy_within(first..free, first + 1);
            row[first] = layout.byte(value, number);
        }
        let low = low_part(layout, last, value);
        isa.move_slots_up(self.planes_mut(layout), layout.planes(), first, free, low);
    }

    /// Moves the slots after `free`, whose content is lost, up to `to` down by one, and puts a value into
    /// `to`.
    #[inline(always)]
    fn move_down<I: Isa>(
        &mut self,
        isa: I,
        layout: Layout,
        free: usize,
        to: usize,
        last: bool,
        value: u64,
    ) {
        for number in 0..layout.rows {
            let row = self.row_mut(layout, number);
            row.copy_within(free + 1..to + 1, free);
            row[to] = layout.byte(value, number);
        }
        let low = low_part(layout, last, value);
        isa.move_slots_down(self.planes_mut(layout), layout.planes(), free, to, low);
    }
}

/// Adds to those of the words whose numbers are wanted.
#[inline(always)]
fn add_where(words: &mut [u64], more: u64, wanted: impl Fn(usize) -> bool) {
    let (fours, rest) = words.as_chunks_mut::<4>();
    for (number, four) in fours.iter_mut().enumerate() {
        for (at, word) in four.iter_mut().enumerate() {
            *word = word.wrapping_add(if wanted(4 * number + at) { more } else { 0 });
        }
    }
    // Coarse segments have few groups.
    let before = 4 * fours.len();
    for (at, word) in rest.iter_mut().enumerate() {
        *word = word.wrapping_add(if wanted(before + at) { more } else { 0 });
    }
}

/// What planes hold of a value, and whether it is the last of its bucket.
#[inline(always)]
pub(super) fn low_part(layout: Layout, last: bool, value: u64) -> u64 {
    u64::from(last) << layout.low_bits | value & ones(layout.low_bits)
}
