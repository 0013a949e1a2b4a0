//! A quotient table with counts: a hash is its place and a short remainder, a count is only stored
//! where there is something to count.
//!
//! A hash is a quotient, below the number of slots, and a remainder of r bits. All remainders of a
//! quotient lie together, a *run*; runs lie in the order of their quotients, each at the slot of
//! its quotient or as soon after it as there is room. Two marks per slot find them again: whether
//! a quotient has a run, and whether a slot ends one. With 8 slots and the hashes (1, a), (1, b),
//! (2, c), (5, d): slots 1 to 3 hold `a b c`, where quotients 1 and 2 have runs and slots 2 and 3
//! end them, and slot 5 holds `d`. To find quotient 2: the slot after the free slot 0 starts the
//! first run, and the second run is the one.
//!
//! Two values of a slot are no remainders: 0 is a free slot, and `ESCAPE`, all ones, starts a
//! count. A remainder x that occurs once is `x`, twice `x x`, and c times from three on `x ESCAPE
//! d` with as many pairs `ESCAPE d` as the number c - 3 has digits, lowest first; digits are stored
//! plus one, so that they are not free slots either. So no count takes more slots than its copies
//! would, w copies of whatever kind fit into a little more than w slots, and a stream of one key
//! is as fast as any.
//!
//! A quotient filter (Bender et al. 2012) with the two marks of Pandey et al. 2017; how counts are
//! stored is ours and simpler than theirs. Cost: r + 2 bits a slot, one slot in sixteen free.

use crate::bits::Packed;
use crate::duplicates::short_hash::Counts;

/// Mark of a quotient that has a run.
const OCCUPIED: u64 = 1;
/// Mark of a slot that ends a run.
const LAST: u64 = 2;

/// Hashes with counts, in a quotient table.
#[derive(Debug, Clone)]
pub struct QuotientCounts {
    /// Remainders, escapes and digits; 0 where a slot is free.
    slots: Packed,
    /// Two marks per slot: `OCCUPIED` of the quotient of the same number, `LAST` of the slot.
    marks: Packed,
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
    /// One slot in sixteen stays free.
    fn slots_for(window: u64) -> usize {
        (window + window / 15 + 2) as usize
    }

    /// Remainders that a slot can hold: all but 0 and the escape.
    fn remainders(bits: u32) -> u64 {
        (1 << bits) - 2
    }

    fn escape(&self) -> u64 {
        (1 << self.remainder_bits) - 1
    }

    /// Values of a digit.
    fn base(&self) -> u64 {
        self.escape()
    }

    fn split(&self, short: u64) -> (usize, u64) {
        let remainders = Self::remainders(self.remainder_bits);
        (((short - 1) / remainders) as usize, 1 + (short - 1) % remainders)
    }

    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }

    fn before(&self, slot: usize) -> usize {
        if slot == 0 { self.slots.len() - 1 } else { slot - 1 }
    }

    fn skip(&self, slot: usize, by: usize) -> usize {
        (slot + by) % self.slots.len()
    }

    fn has(&self, slot: usize, mark: u64) -> bool {
        self.marks.get(slot) & mark != 0
    }

    fn set_mark(&mut self, slot: usize, mark: u64, on: bool) {
        let marks = self.marks.get(slot);
        self.marks.set(slot, if on { marks | mark } else { marks & !mark });
    }

    /// Where the run of a quotient starts, or would.
    fn run(&self, quotient: usize) -> usize {
        if self.slots.get(quotient) == 0 {
            return quotient;
        }
        let mut start = quotient;
        let mut runs = 0;
        loop {
            let previous = self.before(start);
            if self.slots.get(previous) == 0 {
                break;
            }
            start = previous;
            // Runs of the quotients before this one come first.
            runs += usize::from(self.has(start, OCCUPIED));
        }
        for _ in 0..runs {
            while !self.has(start, LAST) {
                start = self.after(start);
            }
            start = self.after(start);
        }
        start
    }

    /// The item at a slot of a run, with its count.
    fn item(&self, start: usize) -> Item {
        let remainder = self.slots.get(start);
        let (mut len, mut copies) = (1, 1);
        let (mut end, mut weight) = (start, 1u64);
        loop {
            if self.has(end, LAST) {
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
        if !self.has(quotient, OCCUPIED) {
            return None;
        }
        let mut start = self.run(quotient);
        loop {
            let item = self.item(start);
            if self.slots.get(start) == remainder {
                return Some(item);
            }
            let end = self.skip(start, item.len - 1);
            if self.has(end, LAST) {
                return None;
            }
            start = self.after(end);
        }
    }

    /// Makes room at a slot by moving what lies there, and what lies behind it, on by one, and
    /// fills it. Marks of ends move with their slots.
    fn insert_slot(&mut self, at: usize, value: u64, last: bool) {
        let (mut slot, mut value, mut last) = (at, value, last);
        loop {
            let held = (self.slots.get(slot), self.has(slot, LAST));
            self.slots.set(slot, value);
            self.set_mark(slot, LAST, last);
            if held.0 == 0 {
                return;
            }
            (value, last) = held;
            slot = self.after(slot);
        }
    }

    /// Takes out a slot that is not the whole run of `quotient`, or is, and moves up what lies
    /// behind it, except runs that lie at their own quotient.
    fn remove_slot(&mut self, at: usize, quotient: usize, run: usize) {
        if self.has(at, LAST) {
            if at == run {
                self.set_mark(quotient, OCCUPIED, false);
            } else {
                self.set_mark(self.before(at), LAST, true);
            }
        }
        let mut owner = quotient;
        let mut ended = self.has(at, LAST);
        let mut gap = at;
        loop {
            let slot = self.after(gap);
            if self.slots.get(slot) == 0 {
                break;
            }
            if ended {
                // A new run starts here: whose?
                owner = self.after(owner);
                while !self.has(owner, OCCUPIED) {
                    owner = self.after(owner);
                }
                if owner == slot {
                    break;
                }
            }
            ended = self.has(slot, LAST);
            self.slots.set(gap, self.slots.get(slot));
            self.set_mark(gap, LAST, ended);
            gap = slot;
        }
        self.slots.set(gap, 0);
        self.set_mark(gap, LAST, false);
    }

    /// Inserts a slot after the `offset`-th of an item.
    fn insert_into(&mut self, item: &Item, offset: usize, value: u64) {
        let previous = self.skip(item.start, offset);
        let last = self.has(previous, LAST);
        self.set_mark(previous, LAST, false);
        self.insert_slot(self.after(previous), value, last);
    }

    /// Adds one to the digits of an item that has some.
    fn increment(&mut self, item: &Item) {
        for pair in (2..item.len).step_by(2) {
            let slot = self.skip(item.start, pair);
            let digit = self.slots.get(slot);
            if digit < self.base() {
                self.slots.set(slot, digit + 1);
                return;
            }
            self.slots.set(slot, 1);
        }
        self.insert_into(item, item.len - 1, self.escape());
        self.insert_into(item, item.len, 2);
    }

    /// Takes one from the digits of an item that has some and is not 3.
    fn decrement(&mut self, item: &Item, quotient: usize, run: usize) {
        for pair in (2..item.len).step_by(2) {
            let slot = self.skip(item.start, pair);
            let digit = self.slots.get(slot);
            if digit > 1 {
                self.slots.set(slot, digit - 1);
                break;
            }
            self.slots.set(slot, self.base());
        }
        let highest = self.skip(item.start, item.len - 1);
        if item.len > 3 && self.slots.get(highest) == 1 {
            self.remove_slot(highest, quotient, run);
            self.remove_slot(self.before(highest), quotient, run);
        }
    }
}

impl Counts for QuotientCounts {
    const NAME: &'static str = "quotient-short-hash";
    const FAMILY: u16 = 22;
    const STRENGTH: &'static str =
        "the window is exact to the item, in constant time, with a compact index";
    const BITS: std::ops::RangeInclusive<u32> = 2..=40;

    fn values(window: u64, bits: u32) -> u64 {
        (Self::slots_for(window) as u64).saturating_mul(Self::remainders(bits)).min(u64::MAX - 1)
    }

    fn heap_bytes_for(window: u64, bits: u32) -> u64 {
        let slots = Self::slots_for(window);
        Packed::heap_bytes_for(bits, slots) + Packed::heap_bytes_for(2, slots)
    }

    fn new(window: u64, bits: u32) -> Self {
        let slots = Self::slots_for(window);
        Self {
            slots: Packed::new(bits, slots),
            marks: Packed::new(2, slots),
            remainder_bits: bits,
            distinct: 0,
        }
    }

    fn add(&mut self, short: u64) {
        let (quotient, remainder) = self.split(short);
        let Some(item) = self.find(quotient, remainder) else {
            self.distinct += 1;
            let run = self.run(quotient);
            // First in its run: then it ends it only if there is no other.
            let only = !self.has(quotient, OCCUPIED);
            self.set_mark(quotient, OCCUPIED, true);
            self.insert_slot(run, remainder, only);
            return;
        };
        match item.copies {
            1 => self.insert_into(&item, 0, remainder),
            2 => {
                self.slots.set(self.skip(item.start, 1), self.escape());
                self.insert_into(&item, 1, 1);
            }
            _ => self.increment(&item),
        }
    }

    fn take(&mut self, short: u64) {
        let (quotient, remainder) = self.split(short);
        let item = self.find(quotient, remainder).expect("only what was added is taken");
        let run = self.run(quotient);
        match item.copies {
            1 => {
                self.distinct -= 1;
                self.remove_slot(item.start, quotient, run);
            }
            2 => self.remove_slot(self.skip(item.start, 1), quotient, run),
            3 => {
                self.slots.set(self.skip(item.start, 1), remainder);
                self.remove_slot(self.skip(item.start, 2), quotient, run);
            }
            _ => self.decrement(&item, quotient, run),
        }
    }

    fn contains(&self, short: u64) -> bool {
        let (quotient, remainder) = self.split(short);
        self.find(quotient, remainder).is_some()
    }

    fn distinct(&self) -> u64 {
        self.distinct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_map() {
        crate::duplicates::counts::tests::agrees_with_a_plain_map::<QuotientCounts>(&[2, 3, 7, 40]);
    }
}
