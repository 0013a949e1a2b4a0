//! The way between the two levels, and what happens when both are full.
//!
//! An exile for whom two sheds and the stash have no room is dropped and
//! counted, and the region of its home, a 64th of the bins, becomes *blind* until
//! the entry would have expired. A blind region does not raise its thresholds,
//! and answers [`Seen::Perhaps`] instead of [`Seen::No`] from the threshold up:
//! an error of a few percent there, and nothing is denied that was stored.

use super::backyard::{Exile, ROOMS, Room};
use super::bins::{Layout, NOBODY, SLOTS};
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
    pub(super) fn find_exile<I: Isa>(&self, isa: I, place: Place, work: &mut impl Work) -> Seen {
        let found = isa.vectorize(
            #[inline(always)]
            || {
                let layout = self.bins.layout;
                let rooms = self.backyard.rooms(layout, place.bin);
                let (room, slot) =
                    self.backyard.find(isa, layout, &rooms, place.bucket, place.remainder, work)?;
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
    pub(super) fn insert_after_all<I: Isa>(
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
                let slot = bin.find(isa, run, place.remainder);
                if slot != 0 {
                    let before = bin.tag(isa, slot);
                    if repeat == Repeat::Refresh {
                        bin.set_tag(isa, slot, tags.now);
                        self.due -= u64::from(before == tags.due);
                    }
                    return Seen::Yes(before);
                }
                let rooms = self.backyard.rooms(layout, place.bin);
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
                    bin.insert(isa, &mut head, place.bucket, run, place.remainder, tags.now);
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
                let mut guests = [0; ROOMS];
                let mut count = 0;
                for (guests, room) in guests.iter_mut().zip(&rooms) {
                    let residents = self.backyard.residents(isa, layout, room, work);
                    let mut leaving = 0;
                    for slot in slots(residents) {
                        let tag = self.backyard.exile(layout, room, slot).tag;
                        leaving |= if tag == expired { slot } else { 0 };
                        self.due += u64::from(tag == due);
                    }
                    self.backyard.free(layout, room, leaving);
                    self.forget(leaving);
                    *guests = residents & !leaving;
                    count += guests.count_ones();
                }
                let places = (SLOTS - SPARE).saturating_sub(head.count());
                let mut relaxed = NOBODY;
                if count > places {
                    relaxed = self.stay_away(layout, &rooms, &mut guests, places as usize);
                }
                let blind = self.is_blind(number);
                let mut bin = self.bins.get_mut(number);
                for (guests, room) in guests.into_iter().zip(&rooms) {
                    for slot in slots(guests) {
                        let Exile { bucket, remainder, tag } =
                            self.backyard.exile(layout, room, slot);
                        let run = head.run(isa, bucket);
                        bin.insert(isa, &mut head, bucket, run, remainder, tag);
                    }
                    self.backyard.free(layout, room, guests);
                }
                // In a blind region the threshold also stands for what was lost.
                if !blind {
                    head.threshold = relaxed;
                }
                bin.set_head(head);
            },
        )
    }

    /// Leaves of all guests in these rooms only so many as there are places, those of the smallest
    /// buckets, so that the threshold rises. Returns the smallest bucket of the others.
    fn stay_away(
        &self,
        layout: Layout,
        rooms: &[Room; ROOMS],
        guests: &mut [u64; ROOMS],
        places: usize,
    ) -> u32 {
        let mut waiting = [0_u16; ROOMS * SLOTS as usize];
        let mut count = 0;
        for (index, room) in rooms.iter().enumerate() {
            for slot in slots(guests[index]) {
                let bucket = self.backyard.exile(layout, room, slot).bucket as u16;
                waiting[count] = bucket << 8 | (index as u16) << 6 | slot.trailing_zeros() as u16;
                count += 1;
            }
        }
        let waiting = &mut waiting[..count];
        waiting.sort_unstable();
        let staying = waiting.get(places..).unwrap_or_default();
        for who in staying {
            guests[usize::from(who >> 6 & 3)] &= !(1 << (who & 63));
        }
        staying.first().map_or(NOBODY, |&who| u32::from(who >> 8))
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
