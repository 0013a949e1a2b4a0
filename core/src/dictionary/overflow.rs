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
use super::table::Sweep;
use super::tools::Tools;
use super::{Place, SPARE};
use crate::bits::{FEW, Isa};

/// Entries that leave a full bin together.
const EXILED: u32 = 3;

impl Dictionary {
    /// The part of [`Table::find`](super::Table::find) that leaves the bin.
    #[inline(never)]
    pub(super) fn find_exile<T: Tools>(
        &self,
        tools: T,
        place: Place,
        rooms: &[Room; ROOMS],
    ) -> Seen {
        let isa = tools.isa();
        let found = isa.vectorize(
            #[inline(always)]
            || {
                let (room, slot) =
                    self.backyard.find(tools, rooms, place.bucket, place.remainder)?;
                Some(self.backyard.exile(&room, slot).tag)
            },
        );
        match found {
            Some(tag) => Seen::Yes(tag),
            None if self.frame.is_blind(place.bin) => Seen::Perhaps,
            None => Seen::No,
        }
    }

    /// The rest of [`Dictionary::insert`] when the entry may be stored already, or its bin is full.
    #[inline(always)]
    pub(super) fn insert_with_exiles<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        tags: Tags,
        repeat: Repeat,
    ) -> Seen {
        let isa = tools.isa();
        let blind = self.frame.is_blind(place.bin);
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
                self.frame.due -= u64::from(before == tags.due);
            }
            return Seen::Yes(before);
        }
        let rooms = self.backyard.rooms(place.bin);
        self.backyard.prefetch(&rooms);
        let mut seen = Seen::No;
        let mut lost = false;
        if place.bucket >= head.threshold {
            if let Some((room, slot)) =
                self.backyard.find(tools, &rooms, place.bucket, place.remainder)
            {
                let before = self.backyard.exile(&room, slot).tag;
                if repeat == Repeat::Refresh {
                    self.backyard.set_tag(&room, slot, tags.now);
                    self.frame.due -= u64::from(before == tags.due);
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
        self.frame.len += 1;
        let full = head.ends >> (SLOTS - 1) != 0;
        let stays = !full || place.bucket < head.last_bucket();
        if full {
            let (room, vacant) = self.backyard.vacancy(&rooms, tools);
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
                if !self.backyard.put(&room, exile) {
                    self.frame.due -= u64::from(exile.tag == tags.due);
                    self.frame.len -= 1;
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
            self.frame.lose(place.bin);
        }
        seen
    }

    /// The part of [`Table::sweep`](super::Table::sweep) that leaves the bin: smallest buckets come first, so that
    /// the threshold rises.
    #[inline(always)]
    pub(super) fn bring_home<T: Tools>(&mut self, tools: T, sweep: Sweep, mut head: Head) {
        let isa = tools.isa();
        isa.vectorize_apart(
            #[inline(always)]
            || {
                let rooms = self.backyard.rooms(sweep.home);
                self.backyard.prefetch(&rooms);
                let mut waiting = Waiting::default();
                for (index, room) in rooms.iter().enumerate() {
                    let mut leaving = 0;
                    for slot in slots(self.backyard.residents(tools, room)) {
                        let exile = self.backyard.exile(room, slot);
                        self.frame.due += u64::from(exile.tag == sweep.due);
                        if exile.tag == sweep.expired {
                            leaving |= slot;
                        } else {
                            waiting.push(exile, index, slot);
                        }
                    }
                    self.backyard.free(room, leaving);
                    self.frame.forget(leaving.count_ones());
                }
                let order = waiting.order(isa);
                let places = (SLOTS - SPARE).saturating_sub(head.count()) as usize;
                let (guests, staying) = order[..waiting.count].split_at(places.min(waiting.count));
                // From the largest on, so that those who come later, each to a smaller bucket, move
                // those who are there by one.
                let mut taken = 0_u64;
                for (before, &guest) in guests.iter().enumerate().rev() {
                    let bucket = waiting.bucket(guest);
                    let run = head.run(isa, bucket);
                    head.open(bucket, run);
                    taken |= 1 << (run.first + before as u32);
                }
                let blind = self.frame.is_blind(sweep.home);
                let mut bin = self.bins.get_mut(sweep.home);
                bin.make_room(isa, taken);
                for (&guest, slot) in guests.iter().zip(slots(taken)) {
                    bin.settle(isa, slot.trailing_zeros(), waiting.exile(guest));
                    let (room, slot) = waiting.whereabouts(guest);
                    self.backyard.free(&rooms[room], slot);
                }
                // In a blind region the threshold also stands for what was lost.
                if !blind {
                    let first = staying.first().map_or(NOBODY, |&guest| waiting.bucket(guest));
                    head.threshold = first.min(waiting.crowd);
                }
                bin.set_head(head);
            },
        )
    }

    /// Counts a sweep of the region whose last bin this is.
    #[inline(always)]
    pub(super) fn age_region(&mut self, bin: usize) {
        if self.frame.lost != 0 {
            self.age_blind_region(bin);
        }
    }

    #[cold]
    #[inline(never)]
    fn age_blind_region(&mut self, bin: usize) {
        let frame = &mut self.frame;
        let here = frame.region(bin);
        if bin + 1 == self.shape.bins || frame.region(bin + 1) != here {
            frame.blind[here] = frame.blind[here].saturating_sub(1);
        }
    }
}

/// Exiles of one home who may return.
struct Waiting {
    /// Bucket, room and slot of each; those that nobody has are larger. Signed, because the first
    /// instruction sets compare only such numbers many at a time.
    who: [i16; FEW],
    exiles: [Exile; FEW],
    count: usize,
    /// The smallest bucket of those beyond so few, who have to wait for the next sweep.
    crowd: u32,
}

impl Default for Waiting {
    fn default() -> Self {
        let nobody = Exile { bucket: 0, remainder: 0, tag: 0 };
        Self { who: [i16::MAX; FEW], exiles: [nobody; FEW], count: 0, crowd: NOBODY }
    }
}

impl Waiting {
    #[inline(always)]
    fn push(&mut self, exile: Exile, room: usize, slot: u64) {
        if self.count == FEW {
            self.crowd = self.crowd.min(exile.bucket);
            return;
        }
        self.who[self.count] =
            (exile.bucket << 8 | (room as u32) << 6 | slot.trailing_zeros()) as i16;
        self.exiles[self.count] = exile;
        self.count += 1;
    }

    /// Their numbers in the order of their buckets.
    #[inline(always)]
    fn order<I: Isa>(&self, isa: I) -> [u8; FEW] {
        let mut order = [0; FEW];
        // Each goes to its rank: no branch that depends on the order, which nobody could guess.
        for (number, &who) in self.who[..self.count].iter().enumerate() {
            order[isa.count_below(&self.who, who) as usize % FEW] = number as u8;
        }
        order
    }

    #[inline(always)]
    fn exile(&self, number: u8) -> Exile {
        self.exiles[usize::from(number) % FEW]
    }

    #[inline(always)]
    fn bucket(&self, number: u8) -> u32 {
        (self.who[usize::from(number) % FEW] >> 8) as u32
    }

    /// Room and slot.
    #[inline(always)]
    fn whereabouts(&self, number: u8) -> (usize, u64) {
        let who = self.who[usize::from(number) % FEW];
        ((who >> 6 & 3) as usize, 1 << (who & 63))
    }
}
