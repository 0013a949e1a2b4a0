//! Putting an entry into a segment, and taking one out.
//!
//! A new entry is the first of its bucket. It moves those behind it in its bin up by one: a row of bytes and a
//! few words. Where the bin is full, its last entries go into the stash, a few at once so that the next ones find
//! room, or the new one if it belongs behind them: what is in the stash is always behind what is in the bin.

use core::ops::DerefMut;

use super::entry::Site;
use super::find::{Found, Spot, may_match};
use super::segment::{Info, SLOTS, Segment, Shape};
use super::stash::Numbered;
use crate::bits::Isa;
pub(super) use crate::dictionary::Repeat;
use crate::dictionary::bins::NOBODY;
use crate::dictionary::several::FEW;

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

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Looks for a hash, and stores it with this tag. The segment is swept.
    ///
    /// An entry that is shorter than this one would be is left alone, and this one is stored beside it: a
    /// longer one might no longer match the key it was made for, and a short one that is refreshed would
    /// err as often for ever.
    #[inline(always)]
    pub(super) fn insert<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        rest: u64,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let stored = match info.is_plain() {
            true => self.put_at_once::<_, false>(isa, shape, info, rest, tag.into()),
            false => self.put_into_mixed(isa, shape, rest, tag.into()),
        };
        match stored {
            Some(true) => Outcome::Stored { seen: false },
            Some(false) => Outcome::Full,
            None => self.insert_after_all(isa, shape, rest, tag, repeat),
        }
    }

    /// Stores a hash that is certainly new in a segment whose fields fill a byte, mixed or not: the common case.
    /// `Some(false)` if it has no room, `None` if it may not be new; nothing is changed then.
    #[inline(always)]
    pub(super) fn put_at_once<I: Isa, const MIXED: bool>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        rest: u64,
        beside: u64,
    ) -> Option<bool> {
        let info = Info { mixed: MIXED, ..info };
        let layout = info.long_layout(shape);
        let site = self.site(shape, info, rest);
        let field = info.field(site.remainder);
        let mut bin = self.bin_mut(&layout, site.bin);
        bin.prefetch_row();
        let view = bin.view(site.bucket);
        let run = view.run(isa);
        // One branch for all that is rare.
        let perhaps = may_match(isa, info, &bin, run, field) | view.overflows();
        if perhaps | view.is_full() {
            return (!perhaps).then(|| self.put_into_full(isa, shape, site, field, beside));
        }
        bin.open(view.ends, site.bucket, run);
        bin.insert(isa, run, field, beside);
        self.words[1] += Info::ONE;
        Some(true)
    }

    /// The same where fields are of several lengths: so it is while keys become more.
    #[inline(never)]
    fn put_into_mixed<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        rest: u64,
        beside: u64,
    ) -> Option<bool> {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                match info.long {
                    true => self.put_at_once::<_, true>(isa, shape, info, rest, beside),
                    false => None,
                }
            },
        )
    }

    /// The same where the bin is full.
    #[inline(never)]
    fn put_into_full<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        site: Site,
        field: u64,
        beside: u64,
    ) -> bool {
        isa.vectorize(
            #[inline(always)]
            || self.put_first(isa, shape, self.info(), site, field, beside),
        )
    }

    /// The rest of it; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn insert_after_all<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        rest: u64,
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
                let site = self.site(shape, info, rest);
                let field = info.field(site.remainder);
                let (mut seen, mut equal) = (false, None);
                if self.may_have(isa, shape, info, site, field) {
                    self.matching(isa, shape, info, site, |found| {
                        seen = true;
                        if found.field == field {
                            equal = Some(found);
                        }
                    });
                }
                if let Some(found) = equal {
                    return self.meet(isa, shape, info, site, found, tag, repeat);
                }
                if seen && repeat == Repeat::Keep {
                    return Outcome::Seen;
                }
                match self.put_first(isa, shape, info, site, field, tag.into()) {
                    true => Outcome::Stored { seen },
                    false => Outcome::Full,
                }
            },
        )
    }

    /// Whether an entry may match, as far as a few bytes tell.
    #[inline(always)]
    fn may_have<I: Isa>(&self, isa: I, shape: &Shape, info: Info, site: Site, field: u64) -> bool {
        // A shorter field is in its byte together with what is beside it.
        if info.field_bits() < u8::BITS {
            return true;
        }
        let layout = info.layout(shape);
        let bin = self.bin(&layout, site.bin);
        let view = bin.view(site.bucket);
        view.overflows() || may_match(isa, info, &bin, view.run(isa), field)
    }

    /// A hash whose very field is stored.
    #[allow(clippy::too_many_arguments, reason = "what the search found, at its only caller")]
    fn meet<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        found: Found,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let before = shape.tag(found.beside);
        let age = |tag| shape.age(self.generation(), tag);
        if repeat == Repeat::Keep || age(tag) >= age(before) {
            return Outcome::Seen;
        }
        self.set_beside(isa, shape, info, site, found.spot, tag.into());
        Outcome::Refreshed { before }
    }

    /// Replaces what is beside the field of an entry of this site.
    pub(super) fn set_beside<I: Isa>(
        &mut self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        spot: Spot,
        beside: u64,
    ) {
        match spot {
            Spot::Slot(slot) => {
                let layout = info.layout(shape);
                self.bin_mut(&layout, site.bin).set_tag(isa, slot, beside);
            }
            Spot::Exile(index) => {
                let exile = self.exile(shape, info, index);
                let changed = Numbered::new(info, exile.number, exile.field(info), beside);
                self.set_exile(shape, info, index, changed);
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
        site: Site,
        field: u64,
        beside: u64,
    ) -> bool {
        let layout = info.layout(shape);
        let room = self.most_exiles() - self.exiles();
        let mut bin = self.bin_mut(&layout, site.bin);
        let mut head = bin.head();
        let occupied = head.run(isa, site.bucket).occupied;
        let full = head.count() as usize == SLOTS;
        let behind_exiles =
            site.bucket > head.threshold || site.bucket == head.threshold && !occupied;
        if (full || behind_exiles) && room == 0 {
            return false;
        }
        let first = site.number - site.bucket;
        if behind_exiles || full && site.bucket > head.last_bucket() {
            head.threshold = head.threshold.min(site.bucket);
            bin.set_head(head);
            let exile = Numbered::new(info, site.number, field, beside);
            self.push_exiles(shape, info, [exile].into_iter());
        } else {
            let (mut leaving, mut left) = ([0; FEW], 0);
            let mut values = [0; FEW];
            if full {
                while left < room.min(FEW) && head.last_bucket() >= site.bucket {
                    (_, leaving[left]) = head.take_last();
                    left += 1;
                }
                head.threshold = leaving[left - 1];
                values = bin.take_end(isa, left as u32);
            }
            let run = head.run(isa, site.bucket);
            head.open(site.bucket, run);
            bin.insert(isa, run, field, beside);
            bin.set_head(head);
            let leaving = leaving[..left].iter().zip(values.into_iter().rev());
            let leaving = leaving.map(|(bucket, value)| Numbered { number: first + bucket, value });
            self.push_exiles(shape, info, leaving);
        }
        self.words[1] += Info::ONE;
        true
    }

    /// Takes an entry of this site out.
    pub(super) fn take_out<I: Isa>(&mut self, isa: I, shape: &Shape, site: Site, spot: Spot) {
        let info = self.info();
        let mut gone = None;
        match spot {
            Spot::Slot(slot) => {
                let layout = info.layout(shape);
                let mut bin = self.bin_mut(&layout, site.bin);
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
        let (layout, steps) = (info.layout(shape), self.steps());
        let mut exiles = self.exiles_in_order(shape, info);
        let (mut next, mut kept, mut left) = (0, 0, 0);
        while next < exiles.len() {
            let number = steps.bin(exiles[next].1.number);
            let (first, end) = (steps.first(number), steps.first(number + 1));
            let mut bin = self.bin_mut(&layout, number);
            let mut head = bin.head();
            head.threshold = NOBODY;
            while let Some(&(index, exile)) = exiles.get(next) {
                if exile.number >= end {
                    break;
                }
                next += 1;
                let bucket = exile.number - first;
                if gone(index, exile.beside(info)) {
                    left += 1;
                } else if head.threshold == NOBODY && head.count() as usize + spare < SLOTS {
                    let slot = head.push_last(bucket).trailing_zeros();
                    bin.fill(isa, slot, exile.value);
                } else {
                    head.threshold = head.threshold.min(bucket);
                    exiles[kept] = (index, exile);
                    kept += 1;
                }
            }
            bin.set_head(head);
        }
        self.set_stash(shape, info, exiles[..kept].iter().map(|&(_, exile)| exile));
        left
    }
}
