//! Removing what is too old from a segment, where it is.
//!
//! Bin by bin: which slots have a tag that is too old; all others are packed. Then exiles come home.

use core::ops::DerefMut;

use super::segment::{Info, Segment, Shape};
use crate::bits::Isa;

/// Slots of a bin that stay free when exiles come home, so that the next arrivals do not send them out again
/// at once.
const SPARE: usize = 4;

impl<W: DerefMut<Target = [u64]>> Segment<W> {
    /// Removes what is more than `oldest` generations old, counted from the generation of the segment, and
    /// says how many are left. The tags of the rest, and the generation, stay as they are.
    #[inline(always)]
    pub(super) fn sweep<I: Isa>(&mut self, isa: I, shape: &Shape, oldest: u32) -> usize {
        let info = self.info();
        let (layout, generation) = (info.layout(shape), self.generation());
        if oldest >= shape.ages {
            return info.count;
        }
        // Most sweeps are one generation late, and this is all that they remove.
        let tag_of = |age: u32| u64::from(shape.tag(generation.wrapping_sub(age.into())));
        let oldest_tag = tag_of(shape.ages);
        let mut removed = 0;
        for number in 0..info.bins {
            let mut bin = self.bin_mut(&layout, number);
            let mut old = bin.tagged_in(isa, oldest_tag, shape.tag_bits);
            for age in oldest + 1..shape.ages {
                old |= bin.tagged_in(isa, tag_of(age), shape.tag_bits);
            }
            let mut head = bin.head();
            let leaving = old & head.used();
            if leaving != 0 {
                let kept = head.used() & !leaving;
                bin.keep(isa, &mut head, kept);
                bin.set_head(head);
                removed += leaving.count_ones() as usize;
            }
        }
        let is_old = |beside: u64| shape.age(generation, shape.tag(beside)) > oldest;
        removed += self.bring_home(isa, shape, info, SPARE, |_, beside| is_old(beside));
        let count = info.count - removed;
        self.set_info(Info { count, ..info });
        count
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::Ticks;
    use super::super::entry::{Entry, is_sorted};
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;

    /// Random segments of every fill and kind: what is left is what was young, in the same order; and so it
    /// is in other numbers of bins.
    #[test]
    fn what_is_left_is_what_was_young() {
        for round in 0..600 {
            let draw = |stream| remix(round, stream);
            let generations = [1, 2, 7, 15, 200][(round % 5) as usize];
            let shape = Shape::new(8 << (round % 3), Ticks::new(1_000_000, generations), 9, 3);
            let generation = draw(1);
            let count = [0, 1, 5, 63, 64, 65, 700, 1_500][(draw(2) % 8) as usize];
            let spread = if round % 7 == 0 { 10 } else { shape.buckets.into() };
            let mut entries: Vec<Entry> = (0..count)
                .map(|i| {
                    let age = remix(draw(3), i) % u64::from(shape.ages + 1);
                    let short = round % 2 == 0 && remix(draw(4), i).is_multiple_of(5);
                    Entry {
                        bucket: (remix(draw(5), i) % spread) as u32,
                        remainder: remix(draw(6), i) | 1,
                        tag: shape.tag(generation.wrapping_sub(age)),
                        payload: 0,
                    }
                    .cut(if short {
                        (remix(draw(7), i) % 9) as u32
                    } else {
                        9
                    })
                })
                .collect();
            entries.sort_by_key(|entry| (entry.bucket, entry.remainder));
            entries.dedup_by_key(|entry| (entry.bucket, entry.remainder));
            assert!(is_sorted(&entries));
            let segment = Segment::of_entries(Scalar, &shape, &entries, 9, generation, 0).unwrap();
            segment.check(&shape).unwrap();
            assert_eq!(segment.entries(Scalar, &shape), entries);
            assert_eq!(
                segment.all_long(Scalar, &shape),
                entries.iter().all(|entry| entry.len() == 9)
            );
            let bins = segment.info().bins;
            if bins > 0 {
                for bins in
                    [bins + 1, bins + 5, entries.len().div_ceil(super::super::segment::SLOTS)]
                {
                    let again = segment.with_bins(Scalar, &shape, bins).unwrap();
                    again.check(&shape).unwrap();
                    assert!(again.info().bins >= bins);
                    assert_eq!(again.entries(Scalar, &shape), entries, "{round}: {bins}");
                }
            }
            for oldest in [0, 1, shape.ages / 2, shape.ages - 1, shape.ages] {
                let young = |entry: &Entry| shape.age(generation, entry.tag) <= oldest;
                let expected: Vec<Entry> = entries.iter().copied().filter(young).collect();
                let mut swept = segment.clone();
                assert_eq!(swept.sweep(Scalar, &shape, oldest), expected.len());
                swept.check(&shape).unwrap();
                assert_eq!(swept.entries(Scalar, &shape), expected, "{round}: {oldest}");
            }
        }
    }
}
