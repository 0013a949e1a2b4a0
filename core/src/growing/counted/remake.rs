//! Segments made from segments: larger, with other codes, or one of two halves.

use core::ops::{Deref, Range};

use super::super::field::used_up;
use super::super::reshape::{buckets_of_half, child, half_blocks, starts};
use super::super::segment::{BLOCKS, Block, Segment};
use super::census::Census;
use super::counts::CountedSegment;
use super::draft::Draft;
use super::shape::Shape;
use crate::bits::Isa;

/// Every so many blocks are asked how large counts are when a segment grows.
const ASKED: usize = 8;

impl<W: Deref<Target = [u64]>> CountedSegment<W> {
    /// Some of the counts.
    pub(super) fn sample(&self) -> Census {
        Census::of(self, (0..BLOCKS).step_by(ASKED))
    }

    /// All of them.
    pub(super) fn census(&self) -> Census {
        Census::of(self, 0..BLOCKS)
    }

    /// The same entries with room for more, free slots spread evenly; with other codes if that is worth
    /// it. `None` if there are too many.
    pub(super) fn grown<I: Isa>(&self, isa: I, census: &Census) -> Option<Segment> {
        let code_bits = census.code_bits(self.shape.key_bits, Some(self.shape.code_bits));
        if code_bits == self.shape.code_bits {
            // Asked before a segment is made, because it tells how much there is.
            let words = self.shape.words_for(self.taken())?;
            return Some(self.segment.spread(isa, self.shape.width(), words));
        }
        self.recoded(code_bits)
    }

    /// The same entries with codes of this length.
    pub(super) fn recoded(&self, code_bits: u32) -> Option<Segment> {
        let mut draft = Draft::new(Shape { code_bits, ..self.shape }, self.taken());
        self.each_of_all(|place, entry| draft.push(place, entry.count));
        draft.finish()
    }

    /// The two halves, whose signatures have one bit less and at most so many; entries that have none left
    /// go to both. `None` if there are too many.
    pub(super) fn halves<I: Isa>(
        &self,
        isa: I,
        key_bits: u32,
        code_bits: u32,
    ) -> Option<[Segment; 2]> {
        if self.shape == (Shape { key_bits, code_bits })
            && let Some(halves) = self.halved_slot_by_slot(isa)
        {
            return Some(halves);
        }
        self.halved_entry_by_entry(key_bits, code_bits)
    }

    /// The same where slots are cut as before: digits are copied as they are, and no count is decoded.
    /// `None` if an entry has no bit left, or there are too many.
    fn halved_slot_by_slot<I: Isa>(&self, isa: I) -> Option<[Segment; 2]> {
        isa.vectorize(
            #[inline(always)]
            || {
                // Not by a function over both, which would not be compiled for this processor.
                Some([self.half(isa, 0)?, self.half(isa, BLOCKS / 2)?])
            },
        )
    }

    /// The half that begins with this block.
    #[inline(always)]
    fn half<I: Isa>(&self, isa: I, first_block: usize) -> Option<Segment> {
        let (segment, shape, width) = (&self.segment, self.shape, self.shape.width());
        let (code_bits, escape) = (shape.code_bits, shape.escape());
        let used_up = used_up(shape.key_bits as usize);
        let sources = half_blocks(isa, segment, width, first_block);
        let counts = sources.each_ref().map(Range::len);
        let mut made = Segment::of_length(shape.words_for(counts.iter().sum())?);
        let starts = starts(&counts, made.slots(width));
        for (number, (start, source)) in starts.into_iter().zip(sources).enumerate() {
            let (mut buckets, first_bucket) = buckets_of_half(segment, first_block, number);
            let (mut occupied, mut last, mut to) = (0_u64, 0, start);
            // As many fields as a word holds, so that they are written at once.
            let (mut fields, mut held, mut is_digit) = (0, 0, false);
            for slot in source {
                let mut field = segment.field(width, slot);
                if is_digit {
                    is_digit = shape.goes_on(field);
                } else {
                    let (key, code) = (field >> code_bits, field & escape);
                    if key == used_up {
                        return None;
                    }
                    is_digit = code == escape;
                    let bit = (key >> (shape.key_bits - 1)) as u32;
                    field = (key & (used_up - 1)) << 1 << code_bits | code;
                    let bucket = 2 * (buckets.trailing_zeros() - first_bucket) + bit;
                    if to > start && bucket != last {
                        made.set_end(to - 1);
                    }
                    occupied |= 1 << bucket;
                    last = bucket;
                }
                if segment.ends_at(slot) {
                    buckets &= buckets - 1;
                }
                if (held + 1) * width > 64 {
                    made.set_fields(width, to, held, fields);
                    (fields, held) = (0, 0);
                }
                (fields, held) = (fields << width | field, held + 1);
                to += 1;
            }
            if to > start {
                made.set_end(to - 1);
                made.set_fields(width, to, held, fields);
            }
            made.set_block(number, Block::new(start, occupied));
        }
        Some(made)
    }

    /// The same with slots that are cut in another way, by way of the counts.
    fn halved_entry_by_entry(&self, key_bits: u32, code_bits: u32) -> Option<[Segment; 2]> {
        let (used_up_before, used_up_after) =
            (used_up(self.shape.key_bits as usize), used_up(key_bits as usize));
        let shape = Shape { key_bits, code_bits };
        let room = self.taken() * 5 / 8;
        let mut drafts = [0, 1].map(|_| Draft::new(shape, room));
        let longer = key_bits + 1 - self.shape.key_bits;
        self.each_of_all(|place, entry| {
            if place.field == used_up_before {
                for bit in [0, 1] {
                    let (side, place) = child(place, bit, used_up_after);
                    drafts[side].push(place, entry.count);
                }
                return;
            }
            let bit = place.field >> (self.shape.key_bits - 1);
            let field = (place.field % used_up_before) << longer;
            let (side, place) = child(place, bit as u32, field);
            drafts[side].push(place, entry.count);
        });
        let [lower, upper] = drafts.map(Draft::finish);
        Some([lower?, upper?])
    }
}

#[cfg(test)]
mod tests {
    use super::super::blueprint::GrowingCountsParameters;
    use super::super::filter::GrowingCounts;
    use super::*;
    use crate::bits::{Level, Scalar, vectorized};
    use crate::hash::remix;

    /// Segments with counts of all sizes, digits after digits: both ways to halve them give the same bits, and
    /// vectors the same as plain Rust.
    #[test]
    fn halves_are_equal_slot_by_slot_and_entry_by_entry() {
        let mut with_digits = 0;
        for round in 0..60 {
            let parameters = GrowingCountsParameters::with_error(0.001, 1_000).unwrap();
            let mut counter = GrowingCounts::new(parameters);
            for step in 0..20 * round {
                let draw = |stream| remix(remix(round, step), stream);
                let times = 1 + draw(2) % (1 << (draw(3) % (1 + round)));
                counter.add(Scalar, remix(draw(1) % 700, 5), times);
            }
            let counts = &counter.counts(0).1;
            let Shape { key_bits, code_bits } = counts.shape;
            let expected = counts.halved_entry_by_entry(key_bits, code_bits).unwrap();
            assert_eq!(counts.halved_slot_by_slot(Scalar).unwrap(), expected, "{round}");
            let fast = vectorized!(Level::detect(), |isa| counts.halves(isa, key_bits, code_bits));
            assert_eq!(fast.unwrap(), expected, "{round}");
            counts.each_of_all(|_, entry| with_digits += u32::from(entry.digits > 1));
        }
        assert!(with_digits > 1_000, "{with_digits}");
    }

    /// An entry without a bit left goes to both halves, which is left to the slower way.
    #[test]
    fn used_up_entries_are_seen() {
        let parameters = GrowingCountsParameters::with_error(0.001, 1_000).unwrap();
        let mut counter = GrowingCounts::new(parameters);
        (0..300).for_each(|key| _ = counter.add(Scalar, remix(key, 1), 9));
        let (_, counts) = counter.counts(0);
        let mut words = counts.segment.words().to_vec();
        let (shape, width) = (counts.shape, counts.shape.width());
        let mut first = None;
        counts.each_of_all(|_, entry| _ = first.get_or_insert(entry.at));
        let at = first.unwrap();
        let mut forged = Segment::from_words(&mut words[..]);
        forged.set_field(width, at, shape.field(used_up(shape.key_bits as usize), 1));
        let counts = CountedSegment { segment: Segment::from_words(&words[..]), shape };
        assert_eq!(counts.halved_slot_by_slot(Scalar), None);
        let halves = counts.halves(Scalar, shape.key_bits, shape.code_bits).unwrap();
        let mut entries = 0;
        for half in halves {
            CountedSegment { segment: half, shape }.each_of_all(|_, _| entries += 1);
        }
        assert_eq!(entries, 301);
    }
}
