//! A quotient table with counts: a hash is its place and a short remainder, a count is only stored
//! where there is something to count.
//!
//! A hash is a quotient, below the number of slots, and a remainder of r bits. All remainders of a
//! quotient lie together, a *run*; runs lie in the order of their quotients, each at the slot of
//! its quotient or as soon after it as there is room. Two marks per slot find them again: whether
//! a quotient has a run, and whether a slot ends one. With 8 slots and the hashes (1, a), (1, b),
//! (2, c), (5, d): slots 1 to 3 hold `a b c`, where quotients 1 and 2 have runs and slots 2 and 3
//! end them, and slot 5 holds `d`. To find quotient 2: it is the second that has a run, so its run
//! is the second that ends. So as not to count from the first slot, every 64th knows how many slots
//! from it on belong to runs of quotients before it.
//!
//! Two values of a slot are no remainders: 0 is a free slot, and `ESCAPE`, all ones, starts a
//! count. A remainder x that occurs once is `x`, twice `x x`, and c times from three on `x ESCAPE
//! d` with as many pairs `ESCAPE d` as the number c - 3 has digits, lowest first; digits are stored
//! plus one, so that they are not free slots either. So no count takes more slots than its copies
//! would, w copies of whatever kind fit into a little more than w slots, and a stream of one key
//! is as fast as any.
//!
//! A quotient filter (Bender et al. 2012) with the two marks and the offsets of Pandey et al. 2017;
//! how counts are stored is ours and simpler than theirs. Cost: a little more than r + 2 bits a
//! slot, one slot in sixteen free.

use alloc::vec::Vec;

use crate::bits::{Packed, size};
use crate::duplicates::short_hash::Counts;

mod bulk;

/// Slots to an offset.
const BLOCK: usize = 64;

/// Hashes with counts, in a quotient table.
#[derive(Debug, Clone)]
pub struct QuotientCounts {
    /// Remainders, escapes and digits; 0 where a slot is free.
    slots: Packed,
    /// Whether a quotient has a run.
    occupied: Packed,
    /// Whether a slot ends a run.
    last: Packed,
    /// By block of slots: how many from its first on belong to runs of earlier quotients.
    spilled: Packed,
    remainder_bits: u32,
    distinct: u64,
}

/// One hash in a run: where it starts, and what it says.
struct Item {
    /// Slot of its remainder.
    start: usize,
    /// Slots that it takes.
    len: usize,
    /// Copies.
    copies: u64,
}

impl QuotientCounts {
    /// Whole blocks, of which one slot in sixteen stays free.
    fn slots_for(window: u64) -> usize {
        size((window + window / 15 + 1).next_multiple_of(BLOCK as u64))
    }

    /// Remainders that a slot can hold: all but 0 and the escape.
    fn remainders(bits: u32) -> u64 {
        (1 << bits) - 2
    }

    fn spilled_bits(slots: usize) -> u32 {
        usize::BITS - slots.leading_zeros()
    }

    fn escape(&self) -> u64 {
        (1 << self.remainder_bits) - 1
    }

    /// Values of a digit.
    fn base(&self) -> u64 {
        self.escape()
    }

    fn split(&self, short: u64) -> (usize, u64) {
        split(self.remainder_bits, short)
    }

    fn after(&self, slot: usize) -> usize {
        self.skip(slot, 1)
    }

    fn before(&self, slot: usize) -> usize {
        if slot == 0 { self.slots.len() - 1 } else { slot - 1 }
    }

    /// The slot so many further, around the end.
    fn skip(&self, slot: usize, by: usize) -> usize {
        let slot = slot + by;
        if slot < self.slots.len() { slot } else { slot - self.slots.len() }
    }

    fn is_occupied(&self, quotient: usize) -> bool {
        self.occupied.get(quotient) != 0
    }

    fn is_last(&self, slot: usize) -> bool {
        self.last.get(slot) != 0
    }

    /// The slot after the runs of all quotients up to and including the first so many of a block,
    /// counted from the block's first slot, on beyond the last slot of all.
    fn runs_end(&self, block: usize, quotients: usize) -> usize {
        let spilled = self.spilled.get(block) as usize;
        let marks = self.occupied.as_words()[block];
        let marks = if quotients == BLOCK { marks } else { marks & !(u64::MAX << quotients) };
        let mut runs = marks.count_ones();
        if runs == 0 {
            return spilled;
        }
        // The end of that many runs, from where earlier ones end.
        let ends = self.last.as_words();
        let mut word = block + spilled / BLOCK;
        let mut left = ends[word % ends.len()] & (u64::MAX << (spilled % BLOCK));
        while left.count_ones() < runs {
            runs -= left.count_ones();
            word += 1;
            left = ends[word % ends.len()];
        }
        for _ in 1..runs {
            left &= left - 1;
        }
        (word - block) * BLOCK + left.trailing_zeros() as usize + 1
    }

    /// Where the run of a quotient starts, or would.
    fn run(&self, quotient: usize) -> usize {
        let (block, within) = (quotient / BLOCK, quotient % BLOCK);
        let start = self.runs_end(block, within).max(within);
        self.skip(block * BLOCK, start)
    }

    /// From `slot` on, and on beyond the last slot of all, the first where no run of a quotient up to
    /// its own lies: a free slot.
    fn free_from(&self, slot: usize) -> usize {
        self.without_runs(slot, 1)
    }

    /// The same where no run of a quotient before its own lies: a free slot, or a run at home.
    fn home_from(&self, slot: usize) -> usize {
        self.without_runs(slot, 0)
    }

    fn without_runs(&self, slot: usize, own: usize) -> usize {
        let mut at = slot;
        loop {
            let (block, quotients) = (at / BLOCK, at % BLOCK + own);
            let end = block * BLOCK + self.runs_end(block % self.spilled.len(), quotients);
            if end <= at {
                return at;
            }
            at = end;
        }
    }

    /// The item at a slot of a run, with its count.
    fn item(&self, start: usize) -> Item {
        let remainder = self.slots.get(start);
        let (mut len, mut copies) = (1, 1);
        let (mut end, mut weight) = (start, 1u64);
        loop {
            if self.is_last(end) {
                break;
            }
            let next = self.after(end);
            let value = self.slots.get(next);
            if value == self.escape() {
                let digit = self.after(next);
                copies = if len == 1 { 3 } else { copies };
                copies += weight * (self.slots.get(digit) - 1);
                weight = weight.wrapping_mul(self.base());
                len += 2;
                end = digit;
            } else {
                if value == remainder && len == 1 {
                    (len, copies) = (2, 2);
                }
                break;
            }
        }
        Item { start, len, copies }
    }

    /// The item of a remainder in the run of its quotient.
    fn find(&self, quotient: usize, remainder: u64) -> Option<Item> {
        if !self.is_occupied(quotient) {
            return None;
        }
        let mut start = self.run(quotient);
        loop {
            let item = self.item(start);
            if self.slots.get(start) == remainder {
                return Some(item);
            }
            let end = self.skip(start, item.len - 1);
            if self.is_last(end) {
                return None;
            }
            start = self.after(end);
        }
    }

    /// Puts a value at a slot of the run of `quotient`, where everything up to the next free slot
    /// moves on by one. Marks of ends move with their slots.
    fn insert_slot(&mut self, at: usize, quotient: usize, value: u64, last: bool) {
        let free = self.free_from(at);
        self.spill(quotient, free, 1);
        let len = self.slots.len();
        for packed in [&mut self.slots, &mut self.last] {
            if free < len {
                packed.move_up(at, free);
            } else {
                packed.move_up(0, free - len);
                packed.set(0, packed.get(len - 1));
                packed.move_up(at, len - 1);
            }
        }
        self.slots.set(at, value);
        self.last.set(at, last.into());
    }

    /// Takes a slot out of the run of `quotient`, which starts at `run`, and moves up what lies
    /// behind it, up to a free slot or a run that lies at home.
    fn remove_slot(&mut self, at: usize, quotient: usize, run: usize) {
        let end = self.home_from(at + 1) - 1;
        self.spill(quotient, end, -1);
        if self.is_last(at) {
            if at == run {
                self.occupied.set(quotient, 0);
            } else {
                self.last.set(self.before(at), 1);
            }
        }
        let len = self.slots.len();
        for packed in [&mut self.slots, &mut self.last] {
            if end < len {
                packed.move_down(at, end);
                packed.set(end, 0);
            } else {
                packed.move_down(at, len - 1);
                packed.set(len - 1, packed.get(0));
                packed.move_down(0, end - len);
                packed.set(end - len, 0);
            }
        }
    }

    /// Notes that the runs up to that of `quotient` reach further, or less far, in every block that
    /// starts after it and up to `end`, which may lie beyond the last slot.
    fn spill(&mut self, quotient: usize, end: usize, by: i64) {
        let end = if end < quotient { end + self.slots.len() } else { end };
        for block in quotient / BLOCK + 1..=end / BLOCK {
            let block = block % self.spilled.len();
            let spilled = self.spilled.get(block).wrapping_add_signed(by);
            self.spilled.set(block, spilled);
        }
    }

    /// Inserts a slot after the `offset`-th of an item of the run of `quotient`.
    fn insert_into(&mut self, item: &Item, offset: usize, quotient: usize, value: u64) {
        let previous = self.skip(item.start, offset);
        let last = self.is_last(previous);
        self.insert_slot(self.after(previous), quotient, value, last);
        self.last.set(previous, 0);
    }

    /// Writes another number of copies, at least one, into an item of the run of `quotient`.
    fn recount(&mut self, item: &Item, quotient: usize, copies: u64) {
        let remainder = self.slots.get(item.start);
        let mut len = 1;
        for value in bulk::marks(self.remainder_bits, remainder, copies) {
            if len < item.len {
                self.slots.set(self.skip(item.start, len), value);
            } else {
                self.insert_into(item, len - 1, quotient, value);
            }
            len += 1;
        }
        for superfluous in (len..item.len).rev() {
            let at = self.skip(item.start, superfluous);
            // Never the first of its run: the remainder stays.
            self.remove_slot(at, quotient, item.start);
        }
    }
}

/// The quotient and the remainder of a hash.
fn split(remainder_bits: u32, short: u64) -> (usize, u64) {
    let remainders = QuotientCounts::remainders(remainder_bits);
    (((short - 1) / remainders) as usize, 1 + (short - 1) % remainders)
}

impl Counts for QuotientCounts {
    const BITS: core::ops::RangeInclusive<u32> = 2..=40;

    fn values(window: u64, bits: u32) -> u64 {
        (Self::slots_for(window) as u64).saturating_mul(Self::remainders(bits)).min(u64::MAX - 1)
    }

    fn heap_bytes_for(window: u64, bits: u32) -> u64 {
        let slots = Self::slots_for(window);
        Packed::heap_bytes_for(bits, slots)
            + 2 * Packed::heap_bytes_for(1, slots)
            + Packed::heap_bytes_for(Self::spilled_bits(slots), slots / BLOCK)
    }

    fn new(window: u64, bits: u32) -> Self {
        let slots = Self::slots_for(window);
        Self {
            slots: Packed::new(bits, slots),
            occupied: Packed::new(1, slots),
            last: Packed::new(1, slots),
            spilled: Packed::new(Self::spilled_bits(slots), slots / BLOCK),
            remainder_bits: bits,
            distinct: 0,
        }
    }

    fn of(window: u64, bits: u32, shorts: Vec<u64>) -> Self {
        Self::of_all(window, bits, shorts)
    }

    fn add(&mut self, short: u64, times: u64) {
        let (quotient, remainder) = self.split(short);
        let item = match self.find(quotient, remainder) {
            Some(item) => item,
            None if times == 0 => return,
            None => {
                self.distinct += 1;
                let start = self.run(quotient);
                // First in its run: then it ends it only if there is no other.
                let only = !self.is_occupied(quotient);
                self.insert_slot(start, quotient, remainder, only);
                self.occupied.set(quotient, 1);
                if times == 1 {
                    return;
                }
                Item { start, len: 1, copies: 0 }
            }
        };
        self.recount(&item, quotient, item.copies + times);
    }

    fn take(&mut self, short: u64, times: u64) {
        let (quotient, remainder) = self.split(short);
        let item = self.find(quotient, remainder).expect("only what was added is taken");
        match item.copies - times {
            0 => {
                self.distinct -= 1;
                for at in (0..item.len).rev() {
                    self.remove_slot(self.skip(item.start, at), quotient, self.run(quotient));
                }
            }
            left => self.recount(&item, quotient, left),
        }
    }

    fn copies(&self, short: u64) -> u64 {
        let (quotient, remainder) = self.split(short);
        self.find(quotient, remainder).map_or(0, |item| item.copies)
    }

    fn distinct(&self) -> u64 {
        self.distinct
    }
}
