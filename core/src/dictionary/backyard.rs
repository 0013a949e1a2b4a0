//! The second level: sheds of 64 slots for entries whose bin is full.
//!
//! An exile is addressed by the number of its home bin, not by its key: the
//! sweep can then find all exiles of a bin to bring them home. Home b may use
//! two sheds, the first being b mod Y (Y sheds), the second 1 + b div Y further
//! on; an exile goes to the emptier. What must be stored of b is b div Y and
//! which of the two it is. Both sheds of consecutive bins are consecutive, so
//! the sweep walks this level in order too, and the homes of a shed lie evenly
//! over the table, so that at every moment all sheds are equally full.
//!
//! One more shed, the *stash*, takes what finds both full, with the whole of b.
//!
//! A shed is a word of used slots and the planes of tag, bucket, remainder and home.

use super::Shape;
use super::bins::{Layout, SLOTS, THRESHOLD_BITS};
use super::work::{Part, Work};
use crate::bits::{Aligned, Isa, planes};

/// Rooms that may hold exiles of one bin: two sheds and the stash.
pub(super) const ROOMS: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Backyard {
    sheds: usize,
    /// Bits of the home in a shed and in the stash.
    home_bits: [usize; 2],
    pub(super) bytes: Aligned<u8>,
}

/// A shed or the stash, as seen from one home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    at: usize,
    home: u64,
    home_bits: usize,
}

/// An entry away from home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exile {
    pub(super) bucket: u32,
    pub(super) remainder: u64,
    pub(super) tag: u64,
}

/// The planes of a shed begin after the word of used slots, with the tags.
const PLANES: usize = 8;
/// A bucket takes as many bits as the threshold, which has a value to spare.
const BUCKET_BITS: usize = THRESHOLD_BITS as usize;

/// Bits that tell the homes of one shed apart, and the first from the second choice.
pub(super) const fn home_bits(shape: &Shape) -> u32 {
    1 + bits_below(shape.bins.div_ceil(shape.sheds))
}

/// Bits of the whole number of a bin: as many as a slot of the stash, one word at most, has left.
/// They do not depend on the number of bins, so that the stash takes as many cache lines in a small
/// table as in a large one.
const fn stash_home_bits(shape: &Shape) -> u32 {
    let left = u64::BITS.saturating_sub(shape.tag_bits + THRESHOLD_BITS + shape.remainder_bits);
    if left < 32 { left } else { 32 }
}

/// True if a slot is at most a word, and the stash can hold the number of every bin.
pub(super) const fn holds_every_home(shape: &Shape) -> bool {
    let entry = shape.tag_bits + THRESHOLD_BITS + shape.remainder_bits;
    entry + home_bits(shape) <= u64::BITS && bits_below(shape.bins) <= stash_home_bits(shape)
}

/// Bits of the numbers below `count`.
const fn bits_below(count: usize) -> u32 {
    usize::BITS - (count - 1).leading_zeros()
}

/// Bytes of all sheds and the stash.
pub(super) const fn bytes(shape: &Shape) -> usize {
    let entry = shape.tag_bits + THRESHOLD_BITS + shape.remainder_bits;
    let shed = 8 * (1 + entry + home_bits(shape)) as usize;
    let stash = 8 * (1 + entry + stash_home_bits(shape)) as usize;
    shape.sheds * shed + stash
}

impl Backyard {
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            sheds: shape.sheds,
            home_bits: [home_bits(shape) as usize, stash_home_bits(shape) as usize],
            bytes: Aligned::new(bytes(shape)),
        }
    }

    /// Where exiles of `bin` may be.
    #[inline(always)]
    pub(super) fn rooms(&self, layout: Layout, bin: usize) -> [Room; ROOMS] {
        // Both fit 32 bits, in which a division takes half the time.
        let (number, sheds) = (bin as u32, self.sheds as u32);
        let (row, first) = (number / sheds, number % sheds);
        let second = (first + 1 + row) % sheds;
        let (row, first, second) = (row as usize, first as usize, second as usize);
        let [home_bits, stash_bits] = self.home_bits;
        let stride = bytes_of(layout, home_bits);
        let home = (row as u64) << 1;
        [
            Room { at: first * stride, home, home_bits },
            Room { at: second * stride, home: home | 1, home_bits },
            Room { at: self.sheds * stride, home: bin as u64, home_bits: stash_bits },
        ]
    }

    /// The room and slot of an exile of these rooms' home.
    #[inline(always)]
    pub(super) fn find<I: Isa>(
        &self,
        isa: I,
        layout: Layout,
        rooms: &[Room; ROOMS],
        bucket: u32,
        remainder: u64,
        work: &mut impl Work,
    ) -> Option<(Room, u64)> {
        for room in rooms {
            let used = self.used(room);
            work.touch(Part::Backyard, room.at, PLANES);
            if used == 0 {
                continue;
            }
            work.touch(Part::Backyard, room.at, bytes_of(layout, room.home_bits));
            let wanted = Self::value(layout, room, bucket, remainder);
            let slots =
                planes::holding(isa, &self.planes(layout, room)[layout.tag_bits..], wanted) & used;
            if slots != 0 {
                return Some((*room, slots & slots.wrapping_neg()));
            }
        }
        None
    }

    /// Takes an exile in, if there is room. The stash is the last resort.
    #[inline(always)]
    pub(super) fn put<I: Isa>(
        &mut self,
        isa: I,
        layout: Layout,
        rooms: &[Room; ROOMS],
        exile: Exile,
        work: &mut impl Work,
    ) -> bool {
        let [first, second, stash] = rooms;
        work.touch(Part::Backyard, first.at, PLANES);
        work.touch(Part::Backyard, second.at, PLANES);
        let counts = [self.used(first).count_ones(), self.used(second).count_ones()];
        let emptier = if counts[0] <= counts[1] { first } else { second };
        let room = if counts[0].min(counts[1]) < SLOTS { emptier } else { stash };
        work.touch(Part::Backyard, room.at, bytes_of(layout, room.home_bits));
        let used = self.used(room);
        let slot = !used & used.wrapping_add(1);
        if slot == 0 {
            return false;
        }
        let value = Self::value(layout, room, exile.bucket, exile.remainder);
        let value = exile.tag | value << layout.tag_bits;
        isa.set(self.planes_mut(layout, room), slot, value);
        self.set_used(room, used | slot);
        true
    }

    /// The slots of a room that hold exiles of its home.
    #[inline(always)]
    pub(super) fn residents<I: Isa>(&self, isa: I, layout: Layout, room: &Room) -> u64 {
        let homes = layout.tag_bits + BUCKET_BITS + layout.remainder_bits;
        planes::holding(isa, &self.planes(layout, room)[homes..], room.home) & self.used(room)
    }

    /// The slots of a room with this tag, used or not.
    #[inline(always)]
    pub(super) fn tagged<I: Isa>(&self, isa: I, layout: Layout, room: &Room, tag: u64) -> u64 {
        planes::holding(isa, &self.planes(layout, room)[..layout.tag_bits], tag)
    }

    #[inline(always)]
    pub(super) fn tag<I: Isa>(&self, isa: I, layout: Layout, room: &Room, slot: u64) -> u64 {
        isa.get(&self.planes(layout, room)[..layout.tag_bits], slot)
    }

    #[inline(always)]
    pub(super) fn set_tag<I: Isa>(
        &mut self,
        isa: I,
        layout: Layout,
        room: &Room,
        slot: u64,
        tag: u64,
    ) {
        let tag_bits = layout.tag_bits;
        isa.set(&mut self.planes_mut(layout, room)[..tag_bits], slot, tag);
    }

    #[inline(always)]
    pub(super) fn bucket<I: Isa>(&self, isa: I, layout: Layout, room: &Room, slot: u64) -> u32 {
        isa.get(&self.planes(layout, room)[layout.tag_bits..][..BUCKET_BITS], slot) as u32
    }

    #[inline(always)]
    pub(super) fn exile<I: Isa>(&self, isa: I, layout: Layout, room: &Room, slot: u64) -> Exile {
        let Layout { tag_bits, remainder_bits, .. } = layout;
        let planes = &self.planes(layout, room)[..tag_bits + BUCKET_BITS + remainder_bits];
        let value = isa.get(planes, slot);
        Exile {
            bucket: (value >> tag_bits) as u32 % (1 << BUCKET_BITS),
            remainder: value >> (tag_bits + BUCKET_BITS),
            tag: value & ((1 << tag_bits) - 1),
        }
    }

    /// Frees slots of a room.
    #[inline(always)]
    pub(super) fn free(&mut self, room: &Room, slots: u64) {
        self.set_used(room, self.used(room) & !slots);
    }

    /// Used slots of all sheds, and of the stash.
    pub(super) fn population(&self, layout: Layout) -> (u64, u64) {
        let stride = bytes_of(layout, self.home_bits[0]);
        let used =
            |shed| u64::from(planes::word(self.bytes.as_slice(), shed * stride).count_ones());
        ((0..self.sheds).map(used).sum(), used(self.sheds))
    }

    /// Used slots of the fullest shed.
    pub(super) fn fullest(&self, layout: Layout) -> u32 {
        let stride = bytes_of(layout, self.home_bits[0]);
        let used = |shed| planes::word(self.bytes.as_slice(), shed * stride).count_ones();
        (0..self.sheds).map(used).max().unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn touch(&self, layout: Layout, room: &Room, work: &mut impl Work) {
        work.touch(Part::Backyard, room.at, bytes_of(layout, room.home_bits));
    }

    #[inline(always)]
    pub(super) fn used(&self, room: &Room) -> u64 {
        planes::word(self.bytes.as_slice(), room.at)
    }

    #[inline(always)]
    fn set_used(&mut self, room: &Room, used: u64) {
        planes::set_word(self.bytes.as_mut_slice(), room.at, used);
    }

    #[inline(always)]
    fn value(layout: Layout, room: &Room, bucket: u32, remainder: u64) -> u64 {
        u64::from(bucket)
            | remainder << BUCKET_BITS
            | room.home << (BUCKET_BITS + layout.remainder_bits)
    }

    /// Planes of tag, bucket, remainder and home, in this order.
    #[inline(always)]
    fn planes(&self, layout: Layout, room: &Room) -> &[planes::Plane] {
        let end = room.at + bytes_of(layout, room.home_bits);
        planes::of(self.bytes.range(room.at + PLANES..end))
    }

    #[inline(always)]
    fn planes_mut(&mut self, layout: Layout, room: &Room) -> &mut [planes::Plane] {
        let end = room.at + bytes_of(layout, room.home_bits);
        planes::of_mut(self.bytes.range_mut(room.at + PLANES..end))
    }
}

/// Bytes of a room.
#[inline(always)]
const fn bytes_of(layout: Layout, home_bits: usize) -> usize {
    PLANES + 8 * (layout.tag_bits + BUCKET_BITS + layout.remainder_bits + home_bits)
}
