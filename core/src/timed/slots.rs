//! Putting an entry into a segment, and taking one out.
//!
//! A new entry is the first of its bucket. It moves those behind it in its bin up by one: a row of bytes and a
//! few words. Where the bin is full, its last entries go into the stash, or the new one if it belongs behind
//! them: what is in the stash is always behind what is in the bin.

use core::ops::DerefMut;

use super::entry::Place;
use super::find::{Found, Spot, may_match};
use super::segment::{Info, SLOTS, Segment, Shape};
use crate::bits::Isa;
use crate::dictionary::Exile;
use crate::dictionary::bins::NOBODY;

/// Entries that leave a full bin together, so that the next ones find room.
const EXILED: usize = 3;

/// What became of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is stored now; whether another entry matched before.
    Stored { seen: bool },
    /// Exactly it was there, and is younger now: its tag before.
    Refreshed { before: u32 },
    /// An entry matches; nothing changed.
    Seen,
    /// There is no room; nothing changed.
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
    /// Looks for a hash, and stores it with this tag. The segment is swept.
    ///
    /// An entry that is shorter than this one would be is left alone, and this one is stored beside it: a
    /// longer one might no longer match the key it was made for, and a short one that is refreshed would
    /// err as often for ever.
    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "what is known of hash and segment, at its only caller"
    )]
    pub(super) fn insert<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        hash: u64,
        depth: u32,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        if info.is_plain() && self.put_at_once(isa, shape, info, hash, depth, tag.into()) {
            return Outcome::Stored { seen: false };
        }
        self.insert_after_all(isa, shape, hash, depth, tag, repeat)
    }

    /// Stores a hash that is certainly new in a bin of a plain segment that has room: the common case. In any
    /// other case does nothing and returns `false`.
    #[inline(always)]
    pub(super) fn put_at_once<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        hash: u64,
        depth: u32,
        beside: u64,
    ) -> bool {
        let info = Info { mixed: false, ..info };
        let layout = info.plain_layout(shape);
        let place = self.place(shape, info, hash, depth);
        let field = info.field(place.remainder);
        let mut bin = self.bin_mut(&layout, place.bin);
        let view = bin.view(place.bucket);
        let run = view.run(isa);
        // One branch for all that is rare.
        let perhaps = bin.may_hold(isa, run, field);
        if perhaps | view.overflows() | view.is_full() {
            return false;
        }
        bin.open(view.ends, place.bucket, run);
        bin.insert(isa, run, field, beside);
        self.words[1] += Info::ONE;
        true
    }

    /// The rest of it; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn insert_after_all<I: Isa>(
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
                if info.bins == 0 {
                    return Outcome::Full;
                }
                let place = self.place(shape, info, hash, depth);
                let field = info.field(place.remainder);
                let (mut seen, mut equal) = (false, None);
                if self.may_have(isa, shape, info, place, field) {
                    self.matching(isa, shape, info, place, |found| {
                        seen = true;
                        if found.field == field {
                            equal = Some(found);
                        }
                    });
                }
                if let Some(found) = equal {
                    return self.meet(isa, shape, info, place, found, tag, repeat);
                }
                if seen && repeat == Repeat::Keep {
                    return Outcome::Seen;
                }
                match self.put_first(isa, shape, info, place, field, tag.into()) {
                    true => Outcome::Stored { seen },
                    false => Outcome::Full,
                }
            },
        )
    }

    /// Whether an entry may match, as far as a few bytes tell.
    #[inline(always)]
    fn may_have<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        field: u64,
    ) -> bool {
        // A shorter field is in its byte together with what is beside it.
        if info.field_bits() < u8::BITS {
            return true;
        }
        let layout = info.layout(shape);
        let bin = self.bin(&layout, place.bin);
        let view = bin.view(place.bucket);
        view.overflows() || may_match(isa, info, &bin, view.run(isa), field)
    }

    /// A hash whose very field is stored.
    #[allow(clippy::too_many_arguments, reason = "what the search found, at its only caller")]
    fn meet<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        found: Found,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let before = shape.tag(found.beside);
        let age = |tag| shape.age(self.generation(), tag);
        if repeat == Repeat::Keep || age(tag) >= age(before) {
            return Outcome::Seen;
        }
        self.set_beside(isa, shape, info, place, found, tag.into());
        Outcome::Refreshed { before }
    }

    /// Replaces what is beside the field of an entry of this place.
    pub(super) fn set_beside<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        found: Found,
        beside: u64,
    ) {
        match found.spot {
            Spot::Slot(slot) => {
                let layout = info.layout(shape);
                self.bin_mut(&layout, place.bin).set_tag(isa, slot, beside);
            }
            Spot::Exile(index) => {
                let (number, field, _) = self.exile(shape, info, index);
                self.write_exile(shape, info, index, (number, field, beside));
            }
        }
    }

    /// Puts an entry before all others of its bucket. `false` if there is no room, and nothing changed.
    #[inline(always)]
    pub(super) fn put_first<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        place: Place,
        field: u64,
        beside: u64,
    ) -> bool {
        let layout = info.layout(shape);
        let room = self.most_exiles() - self.exiles();
        let mut bin = self.bin_mut(&layout, place.bin);
        let mut head = bin.head();
        let occupied = head.run(isa, place.bucket).occupied;
        let full = head.count() as usize == SLOTS;
        let behind_exiles =
            place.bucket > head.threshold || place.bucket == head.threshold && !occupied;
        if (full || behind_exiles) && room == 0 {
            return false;
        }
        if behind_exiles || full && place.bucket > head.last_bucket() {
            head.threshold = head.threshold.min(place.bucket);
            bin.set_head(head);
            let index = self.first_exile(shape, info, place.number);
            self.insert_exiles(shape, info, index, [(place.number, field, beside)].into_iter());
        } else {
            let mut leaving = [const { Exile { bucket: 0, remainder: 0, tag: 0 } }; EXILED];
            let mut left = 0;
            if full {
                while left < room.min(EXILED) && head.last_bucket() >= place.bucket {
                    leaving[left] = bin.take_last(isa, &mut head);
                    head.threshold = leaving[left].bucket;
                    left += 1;
                }
            }
            let run = head.run(isa, place.bucket);
            head.open(place.bucket, run);
            bin.insert(isa, run, field, beside);
            bin.set_head(head);
            if left > 0 {
                // They are before all others of the bin.
                let first = place.number - place.bucket;
                let index = self.first_exile(shape, info, first);
                let leaving = leaving[..left].iter().rev();
                let coming =
                    leaving.map(|exile| (first + exile.bucket, exile.remainder, exile.tag));
                self.insert_exiles(shape, info, index, coming);
            }
        }
        self.words[1] += Info::ONE;
        true
    }

    /// Takes an entry of this place out.
    pub(super) fn take_out<I: Isa>(&mut self, isa: I, shape: &Shape, place: Place, spot: Spot) {
        let info = self.info();
        let mut gone = None;
        match spot {
            Spot::Slot(slot) => {
                let layout = info.layout(shape);
                let mut bin = self.bin_mut(&layout, place.bin);
                let mut head = bin.head();
                let kept = head.used() & !slot;
                bin.keep(isa, &mut head, kept);
                bin.set_head(head);
            }
            Spot::Exile(index) => gone = Some(index),
        }
        self.bring_home(isa, shape, info, 0, |index, _| Some(index) == gone);
        self.words[1] -= Info::ONE;
    }

    /// Brings exiles home as far as there is room, but for so many slots of each bin, without those that are
    /// gone; how many are.
    #[inline(always)]
    pub(super) fn bring_home<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        spare: usize,
        gone: impl Fn(usize, u64) -> bool,
    ) -> usize {
        let (layout, steps, exiles) = (info.layout(shape), self.steps(), self.exiles());
        let (mut index, mut kept, mut left) = (0, 0, 0);
        while index < exiles {
            let number = steps.bin(self.exile(shape, info, index).0);
            let (first, end) = (steps.first(number), steps.first(number + 1));
            let mut head = self.bin(&layout, number).head();
            head.threshold = NOBODY;
            while index < exiles {
                let exile @ (bucket, field, beside) = self.exile(shape, info, index);
                if bucket >= end {
                    break;
                }
                if gone(index, beside) {
                    left += 1;
                } else if head.threshold == NOBODY && head.count() as usize + spare < SLOTS {
                    let slot = head.push_last(bucket - first).trailing_zeros();
                    let exile = Exile { bucket: bucket - first, remainder: field, tag: beside };
                    self.bin_mut(&layout, number).settle(isa, slot, exile);
                } else {
                    head.threshold = head.threshold.min(bucket - first);
                    self.write_exile(shape, info, kept, exile);
                    kept += 1;
                }
                index += 1;
            }
            self.bin_mut(&layout, number).set_head(head);
        }
        self.set_exiles(kept);
        left
    }
}
