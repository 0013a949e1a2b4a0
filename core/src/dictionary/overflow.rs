//! The way between the two levels, and what happens when both are full.
//!
//! An exile for whom two sheds and the stash have no room is dropped and
//! counted, and the region of its home, a 64th of the bins, becomes *blind* until
//! the entry would have expired. A blind region does not raise its thresholds,
//! and answers [`Seen::Perhaps`] instead of [`Seen::No`] from the threshold up:
//! an error of a few percent there, and nothing is denied that was stored.

use super::backyard::{Exile, ROOMS, Room};
use super::bins::{NOBODY, SLOTS};
use super::head::Head;
use super::store::{Dictionary, Repeat, Seen, Tags, slots};
use super::work::Work;
use super::{Place, SPARE, Shape};
use crate::bits::Isa;

/// Parts of the table that can lose entries independently.
pub(super) const REGIONS: usize = 64;

/// Entries that leave a full bin together.
const EXILED: u32 = 3;

impl Dictionary {
    /// The part of [`Dictionary::find`] that leaves the bin.
    #[inline(never)]
    pub(super) fn find_exile<I: Isa>(
        &self,
        isa: I,
        place: Place,
        rooms: &[Room; ROOMS],
        work: &mut impl Work,
    ) -> Seen {
        let found = isa.vectorize(
            #[inline(always)]
            || {
                let layout = self.bins.layout;
                let (room, slot) =
                    self.backyard.find(isa, layout, rooms, place.bucket, place.remainder, work)?;
                Some(self.backyard.exile(layout, &room, slot).tag)
            },
        );
        match found {
            Some(tag) => Seen::Yes(tag),
            None if self.is_blind(place.bin) => Seen::Perhaps,
            None => Seen::No,
        }
    }

    /// The rest of [`Dictionary::insert`] when the entry may be stored already, or its bin is full.
    #[inline(never)]
    pub fn insert_after_all<I: Isa>(
        &mut self,
        isa: I,
        place: Place,
        tags: Tags,
        repeat: Repeat,
        work: &mut impl Work,
    ) -> Seen {
        isa.vectorize(
            #[inline(always)]
            || {
                let layout = self.bins.layout;
                let blind = self.is_blind(place.bin);
                let mut bin = self.bins.get_mut(place.bin);
                let mut head = bin.head();
                let run = head.run(isa, place.bucket);
                let slot = match bin.may_hold(isa, run, place.remainder) {
                    true => bin.find(isa, run, place.remainder),
                    false => 0,
                };
                if slot != 0 {
                    let before = bin.tag(isa, slot);
                    if repeat == Repeat::Refresh {
                        bin.set_tag(isa, slot, tags.now);
                        self.due -= u64::from(before == tags.due);
                    }
                    return Seen::Yes(before);
                }
                let rooms = self.backyard.rooms(layout, place.bin);
                self.backyard.prefetch(layout, &rooms);
                let mut seen = Seen::No;
                let mut lost = false;
                if place.bucket >= head.threshold {
                    if let Some((room, slot)) =
                        self.backyard.find(isa, layout, &rooms, place.bucket, place.remainder, work)
                    {
                        let before = self.backyard.exile(layout, &room, slot).tag;
                        if repeat == Repeat::Refresh {
                            self.backyard.set_tag(layout, &room, slot, tags.now);
                            self.due -= u64::from(before == tags.due);
                        }
                        return Seen::Yes(before);
                    }
                    if blind {
                        seen = Seen::Perhaps;
                        if repeat == Repeat::Keep {
                            return seen;
                        }
                    }
                }
                self.len += 1;
                let full = head.ends >> (SLOTS - 1) != 0;
                let stays = !full || place.bucket < head.last_bucket();
                if full {
                    let (room, vacant) = self.backyard.vacancy(layout, &rooms, work);
                    let newcomer =
                        Exile { bucket: place.bucket, remainder: place.remainder, tag: tags.now };
                    // Some more while we are at it, so that the next ones find room in the bin.
                    let leaving = if vacant > SLOTS / 4 { EXILED } else { 1 };
                    let mut exile = newcomer;
                    for _ in 0..if stays { leaving } else { 1 } {
                        if stays {
                            exile = bin.take_last(isa, &mut head);
                        }
                        head.threshold = head.threshold.min(exile.bucket);
                        if !self.backyard.put(layout, &room, exile) {
                            self.due -= u64::from(exile.tag == tags.due);
                            self.len -= 1;
                            lost = true;
                        }
                    }
                }
                if stays {
                    let run = head.run(isa, place.bucket);
                    bin.insert(isa, run, place.remainder, tags.now);
                    head.open(place.bucket, run);
                }
                bin.set_head(head);
                if lost {
                    self.lose(place.bin);
                }
                seen
            },
        )
    }

    /// The part of [`Dictionary::sweep`] that leaves the bin: smallest buckets come first, so that
    /// the threshold rises.
    #[inline(never)]
    pub(super) fn bring_home<I: Isa>(
        &mut self,
        isa: I,
        number: usize,
        mut head: Head,
        expired: u64,
        due: u64,
        work: &mut impl Work,
    ) {
        isa.vectorize(
            #[inline(always)]
            || {
                let layout = self.bins.layout;
                let rooms = self.backyard.rooms(layout, number);
                self.backyard.prefetch(layout, &rooms);
                let mut waiting = Waiting::default();
                for (index, room) in rooms.iter().enumerate() {
                    let mut leaving = 0;
                    for slot in slots(self.backyard.residents(isa, layout, room, work)) {
                        let Exile { bucket, tag, .. } = self.backyard.exile(layout, room, slot);
                        self.due += u64::from(tag == due);
                        if tag == expired {
                            leaving |= slot;
                        } else {
                            waiting.push(bucket, index, slot);
                        }
                    }
                    self.backyard.free(layout, room, leaving);
                    self.forget(leaving);
                }
                let places = (SLOTS - SPARE).saturating_sub(head.count());
                let (guests, staying) = waiting.first(places as usize);
                // From the largest on, so that those who come later, each to a smaller bucket, move
                // those who are there by one.
                let mut taken = 0_u64;
                for (before, &guest) in guests.iter().enumerate().rev() {
                    let run = head.run(isa, bucket_of(guest));
                    head.open(bucket_of(guest), run);
                    taken |= 1 << (run.first + before as u32);
                }
                let blind = self.is_blind(number);
                let mut bin = self.bins.get_mut(number);
                bin.make_room(isa, taken);
                for (&guest, slot) in guests.iter().zip(slots(taken)) {
                    let (room, from) = (&rooms[(guest >> 6 & 3) as usize], 1 << (guest & 63));
                    let exile = self.backyard.exile(layout, room, from);
                    bin.settle(isa, slot.trailing_zeros(), exile);
                    self.backyard.free(layout, room, from);
                }
                // In a blind region the threshold also stands for what was lost.
                if !blind {
                    head.threshold = staying.first().map_or(NOBODY, |&guest| bucket_of(guest));
                }
                bin.set_head(head);
            },
        )
    }

    /// Counts the departure of expired slots.
    #[inline(always)]
    pub(super) fn forget(&mut self, slots: u64) {
        let count = u64::from(slots.count_ones());
        self.len -= count;
        self.due -= count;
    }

    /// An entry of `bin` found no room.
    #[cold]
    fn lose(&mut self, bin: usize) {
        self.lost = self.lost.saturating_add(1);
        self.blind[region(&self.shape, bin)] = self.lifetime;
    }

    fn is_blind(&self, bin: usize) -> bool {
        self.lost != 0 && self.blind[region(&self.shape, bin)] != 0
    }

    /// Counts a sweep of the region whose last bin this is.
    #[inline(always)]
    pub(super) fn age_region(&mut self, bin: usize) {
        if self.lost == 0 {
            return;
        }
        let here = region(&self.shape, bin);
        if bin + 1 == self.shape.bins || region(&self.shape, bin + 1) != here {
            self.blind[here] = self.blind[here].saturating_sub(1);
        }
    }
}

/// The region of a bin.
fn region(shape: &Shape, bin: usize) -> usize {
    (bin as u64 * REGIONS as u64 / shape.bins as u64) as usize
}

/// Exiles of one home who may return: bucket, room and slot of each.
struct Waiting {
    /// Signed, because the first instruction sets compare only such numbers many at a time.
    who: [i16; ROOMS * SLOTS as usize],
    count: usize,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { who: [i16::MAX; ROOMS * SLOTS as usize], count: 0 }
    }
}

impl Waiting {
    #[inline(always)]
    fn push(&mut self, bucket: u32, room: usize, slot: u64) {
        self.who[self.count] = (bucket << 8 | (room as u32) << 6 | slot.trailing_zeros()) as i16;
        self.count += 1;
    }

    /// The first so many, and the others; all in order of their buckets.
    #[inline(always)]
    fn first(&mut self, places: usize) -> (&[i16], &[i16]) {
        const FEW: usize = 16;
        if self.count <= FEW {
            // Each goes to its rank: no branch that depends on the order, which nobody could guess.
            let few: [i16; FEW] = *self.who.first_chunk().unwrap();
            for who in &few[..self.count] {
                let rank: u16 = few.iter().map(|other| u16::from(other < who)).sum();
                self.who[usize::from(rank) % FEW] = *who;
            }
        } else {
            self.who[..self.count].sort_unstable();
        }
        self.who[..self.count].split_at(places.min(self.count))
    }
}

/// The bucket of one who is [`Waiting`].
#[inline(always)]
fn bucket_of(who: i16) -> u32 {
    (who >> 8) as u32
}
