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
//! A shed is a row of the low byte of every slot's home, then tag, bucket, remainder and the rest of
//! the home of each slot without gaps between them, then a word of used slots. The exiles of a home
//! are found by one look at the row, and each of them is one load.

use super::Shape;
use super::bins::{SLOTS, THRESHOLD_BITS};
use super::store::slots;
use super::tools::{Tier, Tools};
use crate::bits::{Aligned, Isa, LINE_BYTES, SlotBytes, planes, size};
use crate::hash::reduce;

/// Rooms that may hold exiles of one bin: two sheds and the stash.
pub(super) const ROOMS: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Backyard {
    sheds: usize,
    /// See [`sheds_of`].
    reciprocal: u64,
    tag_bits: u8,
    remainder_bits: u8,
    /// A shed, and the stash.
    sizes: [Size; 2],
    pub(super) bytes: Aligned<u8>,
}

/// How large a shed or the stash is.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Bits of a home.
    home_bits: u8,
    /// Bits of an exile beside the row.
    exile_bits: u8,
    bytes: u16,
}

/// A shed or the stash, as seen from one home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    at: usize,
    home: u64,
    size: Size,
}

/// An entry away from home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exile {
    pub(crate) bucket: u32,
    pub(crate) remainder: u64,
    pub(crate) tag: u64,
}

/// Bits of a home in the row.
const ROW_BITS: u32 = 8;
/// Bytes of the word of used slots.
const USED: usize = 8;
/// The exiles begin after the row.
const EXILES: usize = SLOTS as usize;
/// A bucket takes as many bits as the threshold, which has a value to spare.
const BUCKET_BITS: u8 = THRESHOLD_BITS as u8;

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
pub(super) const fn bytes(shape: &Shape) -> u64 {
    let [shed, stash] = sizes(shape);
    (shape.sheds as u64).saturating_mul(shed.bytes as u64).saturating_add(stash.bytes as u64)
}

/// A shed, and the stash.
const fn sizes(shape: &Shape) -> [Size; 2] {
    [Size::new(shape, home_bits(shape)), Size::new(shape, stash_home_bits(shape))]
}

impl Size {
    const fn new(shape: &Shape, home_bits: u32) -> Self {
        let rest_of_home = home_bits.saturating_sub(ROW_BITS);
        let bits = shape.tag_bits + THRESHOLD_BITS + shape.remainder_bits + rest_of_home;
        // More would not fit a word that begins with any bit of a byte.
        let exile_bits = if bits <= 57 { bits } else { 64 };
        let bytes = EXILES + SLOTS as usize / 8 * exile_bits as usize + USED;
        Self { home_bits: home_bits as u8, exile_bits: exile_bits as u8, bytes: bytes as u16 }
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        self.bytes.into()
    }
}

impl Backyard {
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            sheds: shape.sheds,
            reciprocal: reciprocal(shape.sheds),
            tag_bits: shape.tag_bits as u8,
            remainder_bits: shape.remainder_bits as u8,
            sizes: sizes(shape),
            bytes: Aligned::new(size(bytes(shape))),
        }
    }

    /// Where exiles of `bin` may be.
    #[inline(always)]
    pub(super) fn rooms(&self, bin: usize) -> [Room; ROOMS] {
        let (row, first, second) = sheds_of(bin, self.sheds, self.reciprocal);
        let [size, stash] = self.sizes;
        let stride = size.bytes();
        let home = (row as u64) << 1;
        [
            Room { at: first * stride, home, size },
            Room { at: second * stride, home: home | 1, size },
            Room { at: self.sheds * stride, home: bin as u64, size: stash },
        ]
    }

    /// Asks for the sheds of a home, all at once: what is read first decides what is read next.
    #[inline(always)]
    pub(super) fn prefetch(&self, rooms: &[Room; ROOMS]) {
        let [sheds @ .., _] = rooms;
        for room in sheds {
            let end = room.at + room.size.bytes() - 1;
            for at in [room.at, room.at + LINE_BYTES, room.at + 2 * LINE_BYTES, end] {
                self.bytes.prefetch(at);
            }
        }
    }

    /// The room and slot of an exile of these rooms' home.
    #[inline(always)]
    pub(super) fn find<T: Tools>(
        &self,
        tools: T,
        rooms: &[Room; ROOMS],
        bucket: u32,
        remainder: u64,
    ) -> Option<(Room, u64)> {
        for room in rooms {
            let residents = self.residents(tools, room);
            for slot in slots(residents) {
                if self.value(room, slot) >> self.tag_bits == self.wanted(room, bucket, remainder) {
                    return Some((*room, slot));
                }
            }
        }
        None
    }

    /// The room that takes the next exiles, and for how many it has space. The stash is the last
    /// resort.
    #[inline(always)]
    pub(super) fn vacancy(&self, rooms: &[Room; ROOMS], tools: impl Tools) -> (Room, u32) {
        let [first, second, stash] = rooms;
        let vacant = |room: &Room| {
            self.touch_used(room, tools);
            self.used(room).count_zeros()
        };
        let (room, space) = match (vacant(first), vacant(second)) {
            (0, 0) => (stash, vacant(stash)),
            (space, other) if space >= other => (first, space),
            (_, space) => (second, space),
        };
        self.touch(room, tools);
        (*room, space)
    }

    /// Takes an exile in, if there is space.
    #[inline(always)]
    pub(super) fn put(&mut self, room: &Room, exile: Exile) -> bool {
        let used = self.used(room);
        let slot = !used & used.wrapping_add(1);
        if slot == 0 {
            return false;
        }
        let wanted = self.wanted(room, exile.bucket, exile.remainder);
        self.set_value(room, slot, exile.tag | wanted << self.tag_bits);
        let number = slot.trailing_zeros() as usize;
        *self.bytes.item_mut(room.at + number) = room.home as u8;
        self.set_used(room, used | slot);
        true
    }

    /// The slots of a room that hold exiles of its home.
    #[inline(always)]
    pub(super) fn residents<T: Tools>(&self, tools: T, room: &Room) -> u64 {
        let isa = tools.isa();
        self.touch_used(room, tools);
        let used = self.used(room);
        if used == 0 {
            return 0;
        }
        tools.touch(Tier::Backyard, room.at, EXILES);
        let row: &SlotBytes = self.bytes.range(room.at..room.at + EXILES).first_chunk().unwrap();
        let mut residents = isa.bytes_holding(row, u8::MAX, room.home as u8) & used;
        if residents != 0 {
            self.touch(room, tools);
        }
        // A large table has more homes than the row can tell apart.
        if u32::from(room.size.home_bits) > ROW_BITS {
            let rest = self.tag_bits + BUCKET_BITS + self.remainder_bits;
            for slot in slots(residents) {
                if self.value(room, slot) >> rest != room.home >> ROW_BITS {
                    residents ^= slot;
                }
            }
        }
        residents
    }

    #[inline(always)]
    pub(super) fn set_tag(&mut self, room: &Room, slot: u64, tag: u64) {
        let value = self.value(room, slot) >> self.tag_bits << self.tag_bits;
        self.set_value(room, slot, value | tag);
    }

    #[inline(always)]
    pub(super) fn exile(&self, room: &Room, slot: u64) -> Exile {
        let Self { tag_bits, remainder_bits, .. } = *self;
        let value = self.value(room, slot);
        Exile {
            bucket: (value >> tag_bits) as u32 % (1 << BUCKET_BITS),
            remainder: value >> (tag_bits + BUCKET_BITS) & ((1 << remainder_bits) - 1),
            tag: value & ((1 << tag_bits) - 1),
        }
    }

    /// Frees slots of a room.
    #[inline(always)]
    pub(super) fn free(&mut self, room: &Room, slots: u64) {
        self.set_used(room, self.used(room) & !slots);
    }

    /// Used slots of all sheds, and of the stash.
    pub(super) fn population(&self) -> (u64, u64) {
        let used = |shed| u64::from(self.used_slots(shed));
        ((0..self.sheds).map(used).sum(), used(self.sheds))
    }

    /// Used slots of the fullest shed.
    pub(super) fn fullest(&self) -> u32 {
        (0..self.sheds).map(|shed| self.used_slots(shed)).max().unwrap_or(0)
    }

    /// Used slots of a shed; the stash is the one after the last.
    fn used_slots(&self, shed: usize) -> u32 {
        let size = self.sizes[usize::from(shed == self.sheds)];
        let at = shed * self.sizes[0].bytes();
        self.used(&Room { at, home: 0, size }).count_ones()
    }

    #[inline(always)]
    fn touch(&self, room: &Room, tools: impl Tools) {
        tools.touch(Tier::Backyard, room.at, room.size.bytes());
    }

    #[inline(always)]
    fn touch_used(&self, room: &Room, tools: impl Tools) {
        let end = room.at + room.size.bytes();
        tools.touch(Tier::Backyard, end - USED, USED);
    }

    #[inline(always)]
    fn used(&self, room: &Room) -> u64 {
        let end = room.at + room.size.bytes();
        planes::word(self.bytes.range(end - USED..end), 0)
    }

    #[inline(always)]
    fn set_used(&mut self, room: &Room, used: u64) {
        let end = room.at + room.size.bytes();
        planes::set_word(self.bytes.range_mut(end - USED..end), 0, used);
    }

    /// What is stored of an exile above its tag.
    #[inline(always)]
    fn wanted(&self, room: &Room, bucket: u32, remainder: u64) -> u64 {
        let rest = (room.home >> ROW_BITS) << (BUCKET_BITS + self.remainder_bits);
        u64::from(bucket) | remainder << BUCKET_BITS | rest
    }

    /// All that is stored in a slot beside the row, tag first.
    #[inline(always)]
    fn value(&self, room: &Room, slot: u64) -> u64 {
        let (at, shift, mask) = Self::place(room, slot);
        // What is read beyond the last slot is the word of used ones.
        planes::word(self.bytes.range(at..at + 8), 0) >> shift & mask
    }

    #[inline(always)]
    fn set_value(&mut self, room: &Room, slot: u64, value: u64) {
        let (at, shift, mask) = Self::place(room, slot);
        let bytes = self.bytes.range_mut(at..at + 8);
        let others = planes::word(bytes, 0) & !(mask << shift);
        planes::set_word(bytes, 0, value << shift | others);
    }

    /// The byte where an exile begins, its lowest bit there, and as many ones as it has bits.
    #[inline(always)]
    fn place(room: &Room, slot: u64) -> (usize, u32, u64) {
        let bits = u32::from(room.size.exile_bits);
        let bit = bits * slot.trailing_zeros();
        (room.at + EXILES + bit as usize / 8, bit % 8, u64::MAX >> (64 - bits))
    }
}

/// 2^64 / sheds, or a little less.
const fn reciprocal(sheds: usize) -> u64 {
    u64::MAX / sheds as u64
}

/// bin / sheds, and the two sheds of a bin.
#[inline(always)]
fn sheds_of(bin: usize, sheds: usize, reciprocal: u64) -> (usize, usize, usize) {
    // The rounding of the reciprocal takes less than 1 / sheds off, because both numbers have 32
    // bits, and the one added makes up for it.
    let (row, _) = reduce(bin as u64 + 1, reciprocal);
    let row = row as usize;
    let first = bin - row * sheds;
    let second = first + 1 + row;
    // Mostly below twice as many; the difference is huge if there was nothing to subtract.
    let second = second.min(second.wrapping_sub(sheds));
    (row, first, if second < sheds { second } else { second % sheds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    #[test]
    fn sheds_are_found_without_a_division() {
        const MOST: usize = u32::MAX as usize;
        let some = |stream| (0..2000).map(move |i| remix(i, stream) as usize >> (i % 32) & MOST);
        for sheds in (1..70).chain([MOST - 1, MOST]).chain(some(1).filter(|&sheds| sheds > 0)) {
            let around = (0..4).flat_map(|times| [times * sheds, times * sheds + sheds - 1]);
            let bins = around.chain(some(2).take(50)).chain([MOST - 1]);
            for bin in bins.filter(|&bin| bin < MOST) {
                let (row, first) = (bin / sheds, bin % sheds);
                let expected = (row, first, (first + 1 + row) % sheds);
                assert_eq!(sheds_of(bin, sheds, reciprocal(sheds)), expected, "{bin} of {sheds}");
            }
        }
    }
}
