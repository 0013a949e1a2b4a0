//! Segments made from segments: larger, with other codes, or one of two halves.

use core::ops::Deref;

use super::super::field::used_up;
use super::super::reshape::child;
use super::super::segment::{BLOCKS, Segment};
use super::census::Census;
use super::counts::Counts;
use super::draft::Draft;
use super::shape::Shape;
use crate::bits::Isa;

/// Every so many blocks are asked how large counts are when a segment grows.
const ASKED: usize = 8;

impl<W: Deref<Target = [u64]>> Counts<W> {
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
    pub(super) fn halves(&self, key_bits: u32, code_bits: u32) -> Option<[Segment; 2]> {
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
