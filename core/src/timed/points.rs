//! Entries as points: how far the hash of each is into its segment.
//!
//! Bucket and remainder of an entry are one number, the bucket before the point and the remainder behind it,
//! ended by a one. Worked example: bucket 5 and remainder `011` of at most four bits are 101.0111, then a zero for the
//! bit that is missing: 5 + 14/32.
//!
//! Twice that number is how far the hash is into a half of the segment, beyond its first or its second one: so
//! a segment is split by a shift and a subtraction for each entry, and none of them has to be told apart, sorted
//! or weighed. Where they were, an insertion took 3.4 times the steady time while a filter grew; it takes about twice
//! that time now (`cargo lab timed rise`).

use alloc::vec::Vec;
use core::ops::Deref;

use super::segment::{Info, Segment, Shape};
use super::stash::{NUMBER_BITS, Numbered};
use crate::bits::Isa;

/// Points of one bucket that a point of an earlier one is put before, when that bucket is cut. There are two or
/// three where hashes are random.
const MOST_LATER: usize = 64;

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    /// Bucket, remainder, a one, and zeros; the bucket is that of a segment that has all of them.
    at: u64,
    beside: u64,
}

/// The entries of a segment in order of their buckets, and within a bucket whoever came last first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Points {
    all: Vec<Point>,
    /// Bits of the longest remainders that there may be.
    remainder_bits: u32,
}

impl Points {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }

    /// Whether no remainder is shorter than it may be.
    pub(super) fn all_long(&self) -> bool {
        self.all.iter().all(|point| point.at & 1 != 0)
    }

    /// The points as a segment with these numbers stores them.
    #[inline(always)]
    pub(super) fn stored(&self, info: Info) -> Vec<Numbered> {
        let (fraction, field_bits) = (self.remainder_bits + 1 + info.coarse, info.field_bits());
        let unmarked = u32::from(!info.mixed);
        let one = |point: &Point| {
            let field = (point.at & ((1 << fraction) - 1)) >> unmarked;
            let number = (point.at >> fraction) as u32;
            Numbered { number, value: field | point.beside << field_bits }
        };
        self.all.iter().map(one).collect()
    }
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// The entries as points; `None` if they are longer than a word, or crowd into one bucket.
    #[inline(always)]
    pub(super) fn points<I: Isa>(&self, isa: I, shape: &Shape) -> Option<Points> {
        let info = self.info();
        let (remainder_bits, fraction) = (info.remainder_bits, info.remainder_bits + 1);
        if !fits(remainder_bits) {
            return None;
        }
        let (mut all, mut in_order) = (Vec::with_capacity(info.count), true);
        self.each(
            isa,
            shape,
            #[inline(always)]
            |number, field, beside| {
                let point = Point { at: point(info, number, field), beside };
                in_order &= push(&mut all, point, fraction);
            },
        );
        in_order.then_some(Points { all, remainder_bits })
    }

    /// The points of the two halves of the segment, with remainders of so many bits. `None` if some are longer than
    /// that, have no remainder, so that nobody knows to which of two buckets they belong, or crowd into one.
    #[inline(always)]
    pub(super) fn halves<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        remainder_bits: u32,
    ) -> Option<[Points; 2]> {
        let info = self.info();
        let fraction = info.remainder_bits + 1;
        if remainder_bits + 1 < info.remainder_bits
            || !fits(remainder_bits.max(info.remainder_bits))
        {
            return None;
        }
        let half = u64::from(shape.buckets / 2) << fraction;
        // Twice as far, in units of the new remainders: one bit more, and as many as these are longer.
        let shift = remainder_bits + 1 - info.remainder_bits;
        let room = info.count / 2 + info.count / 8;
        let (mut lower, mut upper) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut known = true;
        self.each(
            isa,
            shape,
            #[inline(always)]
            |number, field, beside| {
                let at = point(info, number, field);
                known &= at << (u64::BITS - fraction) != 1 << (u64::BITS - 1);
                let (side, at) = if at < half { (&mut lower, at) } else { (&mut upper, at - half) };
                let point = Point { at: at << shift, beside };
                known &= push(side, point, remainder_bits + 1);
            },
        );
        known.then(|| [lower, upper].map(|all| Points { all, remainder_bits }))
    }
}

/// The point of a field in a bucket of a segment with these numbers.
#[inline(always)]
fn point(info: Info, number: u32, field: u64) -> u64 {
    let marked = if info.mixed { field } else { field << 1 | 1 };
    u64::from(number) << (info.remainder_bits + 1 + info.coarse) | marked
}

/// Whether points with remainders of so many bits are words.
fn fits(remainder_bits: u32) -> bool {
    NUMBER_BITS + remainder_bits < u64::BITS
}

/// Adds a point behind those of its bucket, before those of later ones: they were in one bucket before that was
/// cut into several. `false` if those are so many that hashes are not random, and sorting is faster.
#[inline(always)]
fn push(all: &mut Vec<Point>, point: Point, fraction: u32) -> bool {
    let bucket = point.at >> fraction;
    let is_later = |other: &&Point| other.at >> fraction > bucket;
    let later = all.iter().rev().take(MOST_LATER).take_while(is_later).count();
    all.push(point);
    if later > 0 {
        let end = all.len();
        all[end - 1 - later..].rotate_right(1);
    }
    later < MOST_LATER
}

#[cfg(test)]
mod tests {
    use super::super::clock::Ticks;
    use super::super::entry::{Entry, halves};
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;

    /// Random segments, mixed or not, coarse or not: their halves by points are their halves by entries, and all of
    /// them are what they were where they are more or less coarse.
    #[test]
    fn halves_are_those_of_the_entries() {
        let mut split = 0;
        for round in 0..400 {
            let draw = |stream| remix(round, stream);
            let shape = Shape::new(8 << (round % 4), Ticks::new(1_000_000, 7), 9, 3);
            let count = [1, 40, 300, 900, 2_500][(draw(1) % 5) as usize];
            let shortest = [9, 8, 1, 0][(draw(2) % 4) as usize];
            let mut entries: Vec<Entry> = (0..count)
                .map(|i| {
                    let len = shortest + remix(draw(3), i) % (10 - shortest);
                    Entry {
                        bucket: (remix(draw(4), i) % u64::from(shape.buckets)) as u32,
                        remainder: remix(draw(5), i) | 1,
                        tag: (remix(draw(6), i) % 8) as u32,
                        payload: 0,
                    }
                    .cut(len as u32)
                })
                .collect();
            entries.sort_by_key(|entry| entry.key());
            entries.dedup_by_key(|entry| entry.key());
            let segment = Segment::of_entries(Scalar, &shape, &entries, 9, 0, 0).unwrap();
            let points = segment.points(Scalar, &shape).unwrap();
            assert_eq!(points.len(), entries.len());
            let again = Segment::of_points(Scalar, &shape, &points, 0, 0).unwrap();
            assert_eq!(again.entries(Scalar, &shape), entries, "{round}");
            for needed in [7, 8, 9, 12] {
                let made = segment.halves(Scalar, &shape, needed);
                let unknown = entries.iter().any(|entry| entry.len() == 0);
                assert_eq!(made.is_none(), needed < 8 || unknown, "{round} {needed}");
                let Some(made) = made else { continue };
                let expected = halves(&entries, shape.buckets);
                for (half, expected) in made.iter().zip(&expected) {
                    let half = Segment::of_points(Scalar, &shape, half, 0, 0).unwrap();
                    half.check(&shape).unwrap();
                    assert_eq!(half.entries(Scalar, &shape), *expected, "{round} {needed}");
                    assert_eq!(
                        half.info().remainder_bits,
                        if expected.is_empty() { 0 } else { needed }
                    );
                }
                split += 1;
            }
        }
        assert!(split > 400, "{split}");
    }

    /// Entries of one bucket, by turns of either half of it: they are left to those who sort.
    #[test]
    fn crowds_are_left_alone() {
        let shape = Shape::new(8, Ticks::new(1_000_000, 7), 20, 3);
        let entry = |i: u64| {
            let remainder = remix(i, 1) | 1;
            Entry { bucket: 3, remainder, tag: 0, payload: 0 }.cut(20)
        };
        for (count, crowded) in [(20, false), (600, true)] {
            let mut entries: Vec<Entry> = (0..count).map(entry).collect();
            entries.sort_by_key(|entry| entry.key());
            entries.dedup_by_key(|entry| entry.key());
            let segment = Segment::of_entries(Scalar, &shape, &[], 20, 0, 0).unwrap();
            assert_eq!(segment.halves(Scalar, &shape, 20).unwrap()[0].len(), 0);
            let segment = Segment::of_entries(Scalar, &shape, &entries, 20, 0, 0).unwrap();
            assert_eq!(segment.halves(Scalar, &shape, 20).is_none(), crowded);
        }
    }
}
