//! Making room for an entry in a segment, and taking one out.
//!
//! Entries lie side by side, so one that comes between others moves those between it and the free slots
//! in the middle by one: a quarter of all on average. In bins of 64 slots that is a word shifted for
//! 64 entries, and one bit handed on to the next bin.

use std::ops::DerefMut;

use super::entry::Place;
use super::find::Run;
use super::segment::{Group, HEAD, Info, SLOTS, Segment, Shape, ones};
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
        hash: u64,
        depth: u32,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let info = self.info();
        if info.bins == 0 {
            return Outcome::Full;
        }
        let place = Place::of(hash, depth, info.groups(shape));
        let run = self.run(isa, shape, info, place);
        let field = info.field(place.remainder);
        let compared = self.compare(shape, info, run, field);
        if let Some(slot) = compared.equal {
            return self.meet(shape, info, slot, tag, repeat);
        }
        if compared.seen && repeat == Repeat::Keep {
            return Outcome::Seen;
        }
        if info.is_full() {
            return Outcome::Full;
        }
        let slot = run.first + compared.less;
        self.put(shape, info, place, run, slot, field << shape.tag_bits | u64::from(tag));
        Outcome::Stored { seen: compared.seen }
    }

    /// A hash whose very field is in a slot.
    #[inline(always)]
    fn meet(
        &mut self,
        shape: &Shape,
        info: Info,
        slot: usize,
        tag: u32,
        repeat: Repeat,
    ) -> Outcome {
        let before = self.tag_at(shape, info, slot);
        let age = |tag| shape.age(self.generation(), tag);
        if repeat == Repeat::Keep || age(tag) >= age(before) {
            return Outcome::Seen;
        }
        self.set_tag(shape, info, slot, tag);
        Outcome::Refreshed { before }
    }

    /// Replaces the tag in a slot.
    #[inline(always)]
    pub(super) fn set_tag(&mut self, shape: &Shape, info: Info, slot: usize, tag: u32) {
        let (stride, tag_bits) = (info.stride(shape), shape.tag_bits as usize);
        let bin = &mut self.bins_mut(shape, info)[slot / SLOTS * stride..][..stride];
        for (plane, bit) in bin[stride - tag_bits..].iter_mut().zip((0..tag_bits).rev()) {
            let shift = slot % SLOTS;
            *plane = *plane & !(1 << shift) | u64::from(tag >> bit & 1) << shift;
        }
    }

    /// Puts field and tag before the entry in `slot`, which is in the run or just after it.
    #[inline(always)]
    fn put(&mut self, shape: &Shape, info: Info, place: Place, run: Run, slot: usize, value: u64) {
        let groups = info.groups(shape);
        let (half, stride) = (groups / 2, info.stride(shape));
        self.words[HEAD + place.group] |= Group::bit(place.bucket);
        let bins = &mut self.words[info.bins_at(shape)..];
        // The last of the run ends it.
        let last = slot == run.end;
        if last && run.first < run.end {
            let before = slot - 1;
            bins[before / SLOTS * stride] &= !(1 << (before % SLOTS));
        }
        let value = u64::from(last) << (stride - 1) | value;
        if place.group < half {
            move_up(bins, stride, slot, info.lower, value);
            self.words[HEAD + place.group + 1..HEAD + half].iter_mut().for_each(|word| *word += 1);
            self.set_info(Info { lower: info.lower + 1, ..info });
        } else {
            move_down(bins, stride, info.upper_start() - 1, slot - 1, value);
            self.words[HEAD + half..=HEAD + place.group].iter_mut().for_each(|word| *word -= 1);
            self.set_info(Info { upper: info.upper + 1, ..info });
        }
    }

    /// Takes the entry in a slot out, one of a run of this place.
    pub(super) fn take_out(
        &mut self,
        shape: &Shape,
        info: Info,
        place: Place,
        run: Run,
        slot: usize,
    ) {
        let groups = info.groups(shape);
        let (half, stride) = (groups / 2, info.stride(shape));
        let bins = &mut self.words[info.bins_at(shape)..];
        if run.end - run.first == 1 {
            self.words[HEAD + place.group] &= !Group::bit(place.bucket);
        } else if slot + 1 == run.end {
            let before = slot - 1;
            bins[before / SLOTS * stride] |= 1 << (before % SLOTS);
        }
        let bins = &mut self.words[info.bins_at(shape)..];
        if place.group < half {
            move_down(bins, stride, slot, info.lower - 1, 0);
            self.words[HEAD + place.group + 1..HEAD + half].iter_mut().for_each(|word| *word -= 1);
            self.set_info(Info { lower: info.lower - 1, ..info });
        } else {
            move_up(bins, stride, info.upper_start(), slot, 0);
            self.words[HEAD + half..=HEAD + place.group].iter_mut().for_each(|word| *word += 1);
            self.set_info(Info { upper: info.upper - 1, ..info });
        }
    }
}

/// Moves the slots from `first` on up by one, into `free`, whose content is lost, and puts a value into
/// `first`.
#[inline(always)]
fn move_up(bins: &mut [u64], stride: usize, first: usize, free: usize, value: u64) {
    let (lowest, highest) = (first / SLOTS, free / SLOTS);
    // Slots that move, in the bin that is at hand.
    let mut moving = ones(free % SLOTS);
    if lowest < highest {
        let (below, here) = bins.split_at_mut(highest * stride);
        let staying = !(moving << 1 | 1);
        change(&mut here[..stride], &below[(highest - 1) * stride..], |word, before| {
            word & staying | (word & moving) << 1 | before >> (SLOTS - 1)
        });
        // The bins between, as one piece of memory after the other.
        let (start, mut end) = ((lowest + 1) * stride, highest * stride);
        let mut before = [0; PIECE];
        while end > start {
            let begin = start.max(end.saturating_sub(PIECE));
            let before = &mut before[..end - begin];
            before.copy_from_slice(&bins[begin - stride..end - stride]);
            for (word, before) in bins[begin..end].iter_mut().zip(before) {
                *word = *word << 1 | *before >> (SLOTS - 1);
            }
            end = begin;
        }
        moving = u64::MAX;
    }
    let at = first % SLOTS;
    let below = ones(at);
    let staying = !(moving << 1 | 1) | below;
    let moving = moving & !below;
    put_bits(&mut bins[lowest * stride..][..stride], value, |word, bit| {
        word & staying & !(1 << at) | (word & moving) << 1 | bit << at
    });
}

/// Moves the slots after `free`, whose content is lost, up to `last` down by one, and puts a value into
/// `last`.
#[inline(always)]
fn move_down(bins: &mut [u64], stride: usize, free: usize, last: usize, value: u64) {
    let (lowest, highest) = (free / SLOTS, last / SLOTS);
    let mut below = ones(free % SLOTS);
    let mut gone = 1 << (free % SLOTS);
    if lowest < highest {
        let (here, above) = bins.split_at_mut((lowest + 1) * stride);
        let moving = !(below | gone);
        change(&mut here[lowest * stride..], &above[..stride], |word, next| {
            word & below | (word & moving) >> 1 | next << (SLOTS - 1)
        });
        let (mut begin, stop) = ((lowest + 1) * stride, highest * stride);
        let mut after = [0; PIECE];
        while begin < stop {
            let end = stop.min(begin + PIECE);
            let after = &mut after[..end - begin];
            after.copy_from_slice(&bins[begin + stride..end + stride]);
            for (word, after) in bins[begin..end].iter_mut().zip(after) {
                *word = *word >> 1 | *after << (SLOTS - 1);
            }
            begin = end;
        }
        (below, gone) = (0, 0);
    }
    let at = last % SLOTS;
    let above = !ones(at + 1);
    let (staying, moving) = (below | above, !(below | gone | above));
    put_bits(&mut bins[highest * stride..][..stride], value, |word, bit| {
        word & staying | (word & moving) >> 1 | bit << at
    });
}

/// Words of neighbouring bins that are shifted together, with a copy of those that hand a bit on: they
/// would be in the way of each other otherwise, and shifted one by one.
const PIECE: usize = 64;

/// Words that are changed at once. Compilers unroll a loop over words so far that the few words of a bin
/// would all be in the rest.
const AT_ONCE: usize = 4;

/// Makes of every word, with the one at its place among the others, another.
#[inline(always)]
fn change(words: &mut [u64], others: &[u64], make: impl Fn(u64, u64) -> u64) {
    let (fours, rest) = words.as_chunks_mut::<AT_ONCE>();
    let (other_fours, other_rest) = others.as_chunks::<AT_ONCE>();
    for (four, others) in fours.iter_mut().zip(other_fours) {
        *four = std::array::from_fn(|at| make(four[at], others[at]));
    }
    for (word, &other) in rest.iter_mut().zip(other_rest) {
        *word = make(*word, other);
    }
}

/// Makes of every word, with its bit of a value, another; the bit of the first word is the highest.
#[inline(always)]
pub(super) fn put_bits(words: &mut [u64], value: u64, make: impl Fn(u64, u64) -> u64) {
    // The bit of the first word, highest of all.
    let mut value = value << (u64::BITS as usize - words.len());
    let (fours, rest) = words.as_chunks_mut::<AT_ONCE>();
    for four in fours {
        *four = std::array::from_fn(|at| make(four[at], value << at >> 63));
        value <<= AT_ONCE;
    }
    for word in rest {
        *word = make(*word, value >> 63);
        value <<= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    const STRIDE: usize = 5;
    const BINS: usize = 30;

    fn read(bins: &[u64], slot: usize) -> u64 {
        let bin = &bins[slot / SLOTS * STRIDE..][..STRIDE];
        bin.iter().fold(0, |value, word| value << 1 | word >> (slot % SLOTS) & 1)
    }

    /// Both directions against a plain list, with every distance.
    #[test]
    fn slots_move_like_items_of_a_list() {
        for round in 0..4_000 {
            let mut bins: Vec<u64> = (0..(STRIDE * BINS) as u64).map(|i| remix(round, i)).collect();
            let mut list: Vec<u64> = (0..SLOTS * BINS).map(|slot| read(&bins, slot)).collect();
            let one = (remix(round, 100) % (SLOTS * BINS) as u64) as usize;
            let other = (remix(round, 101) % (SLOTS * BINS) as u64) as usize;
            let (first, last) = (one.min(other), one.max(other));
            let value = remix(round, 102) % (1 << STRIDE);
            if round % 2 == 0 {
                move_up(&mut bins, STRIDE, first, last, value);
                list.remove(last);
                list.insert(first, value);
            } else {
                move_down(&mut bins, STRIDE, first, last, value);
                list.remove(first);
                list.insert(last, value);
            }
            let found: Vec<u64> = (0..SLOTS * BINS).map(|slot| read(&bins, slot)).collect();
            assert_eq!(found, list, "{round}: {first} {last}");
        }
    }
}
