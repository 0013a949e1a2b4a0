//! A segment in the making: slots in their order, until it is known how many there are.

use alloc::vec::Vec;

use super::super::reshape::starts;
use super::super::segment::{Address, BLOCKS, Block, Segment};
use super::shape::Shape;

/// Slots one after the other.
pub(super) struct Draft {
    shape: Shape,
    /// Fields, and [`ENDS`] in the last slot of a run.
    slots: Vec<u64>,
    taken: [usize; BLOCKS],
    occupied: [u64; BLOCKS],
    bucket: (u32, u32),
}

/// Above all bits of a field.
const ENDS: u64 = 1 << 63;

impl Draft {
    /// Nothing yet, with room for so many slots.
    pub(super) fn new(shape: Shape, slots: usize) -> Self {
        Self {
            shape,
            slots: Vec::with_capacity(slots),
            taken: [0; BLOCKS],
            occupied: [0; BLOCKS],
            bucket: (0, 0),
        }
    }

    /// Adds an entry after all that are there.
    #[inline(always)]
    pub(super) fn push(&mut self, place: Address, count: u64) {
        let bucket = (place.block, place.bucket);
        if self.bucket != bucket {
            self.end_run();
            self.bucket = bucket;
        }
        let digits = self.shape.digits(count);
        self.slots.push(self.shape.field(place.field, count));
        for number in 0..digits {
            self.slots.push(self.shape.digit(count, number, digits));
        }
        self.taken[place.block as usize] += 1 + digits;
        self.occupied[place.block as usize] |= 1 << place.bucket;
    }

    fn end_run(&mut self) {
        if let Some(last) = self.slots.last_mut() {
            *last |= ENDS;
        }
    }

    /// The segment, with room for more; `None` if there are too many.
    pub(super) fn finish(mut self) -> Option<Segment> {
        self.end_run();
        let width = self.shape.width();
        let mut made = Segment::of_length(self.shape.words_for(self.slots.len())?);
        let mut rest = &self.slots[..];
        let starts = starts(&self.taken, made.slots(width));
        for (number, (start, taken)) in starts.into_iter().zip(self.taken).enumerate() {
            made.set_block(number, Block::new(start, self.occupied[number]));
            let (slots, others) = rest.split_at(taken);
            // As many fields as a word holds, so that they are written at once.
            let (mut fields, mut held, mut to) = (0, 0, start);
            for &slot in slots {
                if (held + 1) * width > 64 {
                    made.set_fields(width, to, held, fields);
                    (fields, held) = (0, 0);
                }
                (fields, held) = (fields << width | slot & !ENDS, held + 1);
                if slot & ENDS != 0 {
                    made.set_end(to);
                }
                to += 1;
            }
            if held > 0 {
                made.set_fields(width, to, held, fields);
            }
            rest = others;
        }
        Some(made)
    }
}
