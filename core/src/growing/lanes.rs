//! The entries of a block as one of a half has them, some at a time.
//!
//! When a segment is halved, the first bit of every remainder becomes the last of its bucket, and that is all:
//! entries stay in their order. So their fields can be made as a word has them, the ends of runs and the
//! buckets that have entries as bits of one word each:
//!
//! ```text
//! two buckets     0            3                  four          0   1      6   7
//! first bits      0 0 1        0 1                              0 0 1      0   1
//! ends            0 0 1        0 1                              0 1 1      1   1
//! ```
//!
//! An entry ends a run if it did, or if the next one has another first bit. The lower half of a bucket has entries
//! if the first of the run has a zero there, and the upper one if the last has a one.
//!
//! That holds for entries with something left of their remainder, in blocks of at most a word of ends. Others are
//! halved one by one.

use core::ops::Range;

use super::address::SLOTS;
use super::segment::Segment;
use crate::bits::Isa;

/// Bits at even and at odd places.
const EVEN: u64 = u64::MAX / 3;
const ODD: u64 = !EVEN;

/// Fields side by side in a word, from its highest bit on, and as the half has them, up from its lowest.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldLanes {
    width: usize,
    child_width: usize,
    count: usize,
    /// First bits of remainders.
    firsts: u64,
    /// The others, and the one that ends them.
    rests: u64,
    /// Rests of which nothing is left but that one.
    nothing: u64,
    /// Where a half has the rests.
    child_rests: u64,
}

impl FieldLanes {
    /// Fields of these widths; the first is at least two.
    pub(super) fn new(width: usize, child_width: usize) -> Self {
        let count = 64 / width.max(child_width);
        let sum = |bits: u64, place: &dyn Fn(usize) -> usize| {
            (0..count).map(|lane| bits << place(lane)).sum::<u64>()
        };
        let rest = (1 << (width - 1)) - 1;
        Self {
            width,
            child_width,
            count,
            firsts: sum(1, &|lane| 63 - lane * width),
            rests: sum(rest, &|lane| 64 - (lane + 1) * width),
            nothing: sum(1, &|lane| 62 - lane * width),
            child_rests: sum(rest << (child_width + 1 - width), &|lane| lane * child_width),
        }
    }

    /// Puts the entries of these slots, which have the buckets `occupied`, into a half from slot `start` on, and
    /// says which buckets they have there; `None` if they are to be halved one by one, and nothing was done.
    #[inline(always)]
    pub(super) fn halve<I: Isa>(
        &self,
        isa: I,
        segment: &Segment<&[u64]>,
        slots: Range<usize>,
        occupied: u64,
        half: &mut Segment,
        start: usize,
    ) -> Option<u64> {
        let entries = slots.len();
        if entries == 0 || entries > SLOTS {
            return if entries == 0 { Some(0) } else { None };
        }
        let (mut bits, mut to) = (0, start);
        for slot in slots.clone().step_by(self.count) {
            let count = self.count.min(slots.end - slot);
            let valid = u64::MAX << (64 - count * self.width);
            let (firsts, rests) = (self.firsts & valid, self.rests & valid);
            let word = segment.fields(self.width, slot);
            let rest = word & rests;
            // What is not nothing carries into the first bit.
            let some = |rest: u64| (rest + rests) & firsts;
            if some(rest) & some(rest ^ self.nothing & valid) != firsts {
                (start..to).for_each(|slot| half.set_field(self.child_width, slot, 0));
                return None;
            }
            bits = bits << (count % 64) | isa.extract(word, firsts);
            let fields = isa.deposit(isa.extract(rest, rests), self.child_rests);
            to += count;
            half.set_fields(self.child_width, to, count, fields);
        }
        // The first entry is the lowest bit now.
        let bits = bits.reverse_bits() >> (SLOTS - entries);
        let ends = segment.ends(slots);
        half.set_ends(start, ends | !bits & bits >> 1);
        let begins = ends << 1 | 1;
        let lower = isa.deposit(!isa.extract(bits, begins), occupied);
        let upper = isa.deposit(isa.extract(bits, ends), occupied);
        Some(isa.deposit(lower, EVEN) | isa.deposit(upper, ODD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes of all widths that there are: none reaches into another.
    #[test]
    fn lanes_are_apart() {
        for width in 2..=49 {
            for child_width in width - 1..=49 {
                let lanes = FieldLanes::new(width, child_width);
                let (firsts, rests) = (lanes.firsts, lanes.rests);
                assert_eq!(firsts & rests, 0);
                assert_eq!(firsts.count_ones() as usize, lanes.count);
                assert_eq!(rests.count_ones() as usize, lanes.count * (width - 1));
                assert_eq!(lanes.child_rests.count_ones(), rests.count_ones());
                assert_eq!(lanes.nothing & !rests, 0);
            }
        }
    }
}
