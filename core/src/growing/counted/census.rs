//! How large the counts of a segment are, and the length of code that suits them.

use super::counts::CountedSegment;
use super::shape::{CODES, Shape};
use core::ops::Deref;

/// Codes are changed only if that saves so much: others would be again soon.
const WORTH: f64 = 0.97;

/// Entries by the length of their counts.
#[derive(Debug, Clone)]
pub(super) struct Census {
    lengths: [u32; 65],
    entries: usize,
    slots: usize,
}

impl Census {
    /// Of some blocks of a segment.
    pub(super) fn of<W: Deref<Target = [u64]>>(
        counts: &CountedSegment<W>,
        blocks: impl Iterator<Item = usize>,
    ) -> Self {
        let mut census = Self { lengths: [0; 65], entries: 0, slots: 0 };
        counts.each(blocks, |_, entry| census.add(entry.count, entry.digits));
        census
    }

    #[inline(always)]
    fn add(&mut self, count: u64, digits: usize) {
        self.lengths[64 - count.leading_zeros() as usize] += 1;
        self.entries += 1;
        self.slots += 1 + digits;
    }

    /// Entries among so many slots, if these are like those; where none was asked, each is one.
    pub(super) fn entries_of(&self, slots: usize) -> usize {
        (slots * self.entries).checked_div(self.slots).unwrap_or(slots)
    }

    /// The length of code that takes the fewest bits, where signatures have so many: the one there is if
    /// another would not be much better.
    pub(super) fn code_bits(&self, key_bits: u32, now: Option<u32>) -> u32 {
        let bits = |code_bits| self.bits(Shape { key_bits, code_bits });
        // A code that holds every count is long enough.
        let enough = self.longest().clamp(1, CODES as u32);
        let mut best = (1, bits(1));
        for code_bits in 2..=enough {
            let bits = bits(code_bits);
            if bits < best.1 && (Shape { key_bits, code_bits }).is_valid() {
                best = (code_bits, bits);
            }
        }
        now.filter(|&now| best.1 > WORTH * bits(now)).unwrap_or(best.0)
    }

    /// Bits of the largest count.
    fn longest(&self) -> u32 {
        self.lengths.iter().rposition(|&entries| entries > 0).unwrap_or(0) as u32
    }

    /// Bits of these entries in this shape.
    fn bits(&self, shape: Shape) -> f64 {
        let mut slots = 0;
        for (length, &entries) in (0..=self.longest()).zip(&self.lengths) {
            let digits =
                if length <= shape.code_bits { 0 } else { length.div_ceil(shape.digit_bits()) };
            slots += entries * (1 + digits);
        }
        f64::from(slots) * (1 + shape.width()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(counts: &[u64]) -> Census {
        let mut census = Census { lengths: [0; 65], entries: 0, slots: 0 };
        counts.iter().for_each(|&count| census.add(count, 0));
        census
    }

    #[test]
    fn codes_are_as_long_as_suits_the_counts() {
        assert_eq!(census(&[1; 100]).code_bits(12, None), 1);
        assert_eq!(census(&[25; 100]).code_bits(12, None), 5);
        // One large count does not lengthen the codes of all.
        let mut counts = [1; 100];
        counts[7] = 1_000_000_000;
        assert_eq!(census(&counts).code_bits(12, None), 1);
    }

    #[test]
    fn a_code_is_kept_if_another_is_hardly_better() {
        let mut counts = [1; 100];
        counts[..5].fill(2);
        let census = census(&counts);
        let best = census.code_bits(12, None);
        assert_eq!((best, census.code_bits(12, Some(2))), (1, 2));
        assert_eq!(census.code_bits(12, Some(6)), 1);
    }
}
