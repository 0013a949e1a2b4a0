//! Making room for an entry in a segment, and taking one out.
//!
//! Entries of a group lie side by side and free slots behind them, so one that comes between others moves
//! those of its group that are larger by one. In rows that is a piece of memory that moves by a byte, in
//! planes a word shifted for 64 entries, and one bit handed on to the next bin. If a group has no free slot,
//! it takes one of the next group that has, and all between move.

use core::ops::DerefMut;

use super::entry::{Place, ones};
use super::find::Run;
use super::segment::{Group, HEAD, Info, Layout, SLOTS, Segment, Shape};
use crate::bits::{Isa, bytes_mut};

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
        if info.is_plain() {
            let (info, layout) = info.plain(shape);
            return self.insert_with(isa, shape, info, layout, hash, depth, tag, repeat);
        }
        self.insert_apart(isa, shape, hash, depth, tag, repeat)
    }

    /// The same into one that is not plain.
    #[inline(never)]
    fn insert_apart<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                let layout = info.layout(shape);
                self.insert_with(isa, shape, info, layout, hash, depth, tag, repeat)
            },
        )
    }

    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "what is known of the segment, at its only caller"
    )]
    fn insert_with<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        layout: Layout,
        hash: u64,
        depth: u32,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let place = Place::of(hash, depth, info.groups(shape));
        let run = self.run(isa, shape, layout, place);
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
    fn meet(&mut self, shape: &Shape, slot: usize, tag: u32, repeat: Repeat) -> Outcome {
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

    /// Puts field and tag before the entry in `slot`, which is in the run or just after it. A slot is free.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "what the search found, at its only caller")]
    pub(super) fn put<I: Isa>(
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
        self.words[HEAD + place.group] |= Group::bit(place.bucket);
        self.words[1] += Info::ONE;
        // The last of the run ends it.
        let last = slot == run.end;
        let ended = last & (run.first < run.end);
        let next = self.start(shape, info, place.group + 1);
        if slot < next && !self.is_end(layout, next - 1) {
            self.move_up(isa, layout, slot, next - 1, last, value);
            // Whether one was an end cannot be guessed, so nobody asks.
            let before = slot.saturating_sub(1);
            let ends = layout.planes_at + before / SLOTS * layout.planes();
            self.words[ends] ^= u64::from(ended) << (before % SLOTS);
        } else {
            if ended {
                let ends = layout.planes_at + (slot - 1) / SLOTS * layout.planes();
                self.words[ends] ^= 1 << ((slot - 1) % SLOTS);
            }
            self.put_far(isa, shape, place.group, slot, last, value);
        }
    }

    /// The same if all slots of the group are in use: others move too, up to the next that is free.
    #[inline(never)]
    fn put_far<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        group: usize,
        slot: usize,
        last: bool,
        value: u64,
    ) {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                let (layout, groups) = (info.layout(shape), info.groups(shape));
                // Whether a slot before a group is free, and on the right side of this one.
                let mut later = group + 2..=groups;
                let above = later.find(|&number| {
                    let start = self.start(shape, info, number);
                    start > slot && !self.is_end(layout, start - 1)
                });
                if let Some(number) = above {
                    let free = self.start(shape, info, number) - 1;
                    self.move_up(isa, layout, slot, free, last, value);
                    self.words[HEAD + group + 1..HEAD + number]
                        .iter_mut()
                        .for_each(|word| *word += 1);
                    return;
                }
                let mut earlier = (1..=group).rev();
                let below = earlier.find(|&number| {
                    let start = self.group(number).start();
                    start > 0 && !self.is_end(layout, start - 1)
                });
                let number = below.expect("a slot is free");
                let start = self.group(number).start();
                // Groups without a slot that begin there too begin before it then.
                let beside = |number: &usize| self.group(*number).start() == start;
                let number = (1..=number).rev().take_while(beside).last().unwrap_or(number);
                let free = start - 1;
                self.move_down(isa, layout, free, slot - 1, last, value);
                self.words[HEAD + number..=HEAD + group].iter_mut().for_each(|word| *word -= 1);
            },
        );
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
        if run.end - run.first == 1 {
            self.words[HEAD + place.group] &= !Group::bit(place.bucket);
        } else if slot + 1 == run.end {
            let ends = layout.planes_at + (slot - 1) / SLOTS * layout.planes();
            self.words[ends] |= 1 << ((slot - 1) % SLOTS);
        }
        let next = self.start(shape, info, place.group + 1);
        self.move_down(isa, layout, slot, next - 1, false, 0);
        self.set_info(Info { count: info.count - 1, ..info });
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
            let from_row = &mut bytes_mut(&mut self.words)[layout.row_at(number)..];
            isa.move_bytes_up(from_row, first, free, layout.byte(value, number));
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

/// What planes hold of a value, and whether it is the last of its bucket.
#[inline(always)]
pub(super) fn low_part(layout: Layout, last: bool, value: u64) -> u64 {
    u64::from(last) << layout.low_bits | value & ones(layout.low_bits)
}
