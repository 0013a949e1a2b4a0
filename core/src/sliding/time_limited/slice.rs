//! One slice of its own size, and the generation in which it was the newest.

use super::TimeLimitedParameters;
use super::size::SliceSize;
use crate::bits::{LINE_WORDS, Lines, prefetch};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::sliding::slices::Probe;

/// A slice.
#[derive(Debug, Clone)]
pub struct Slice {
    bits: Lines,
    size: SliceSize,
    /// Which probe of a key is for this slice, below k.
    pub class: usize,
    /// Keys that it may receive.
    pub capacity: u64,
    /// Keys that it received in generations that are over; at most its capacity.
    pub received: u64,
    /// When the generation in which it was the newest last received a key, if it did.
    pub last: Option<u64>,
}

impl Slice {
    /// An empty slice.
    pub fn new(size: SliceSize, capacity: u64, class: usize) -> Self {
        Self { bits: Lines::new(size.lines()), size, class, capacity, received: 0, last: None }
    }

    pub fn size(&self) -> SliceSize {
        self.size
    }

    /// Keys that it may still receive.
    pub fn room(&self) -> u64 {
        self.capacity - self.received
    }

    #[inline]
    pub fn holds(&self, probe: Probe) -> bool {
        let words = self.bits.as_slice().as_flattened();
        let at = self.word_of(probe);
        match self.size {
            SliceSize::Blocks(block, _) => {
                probe.hits(&words[at..at + block.words as usize], block) != 0
            }
            SliceSize::Bits(bits) => words[at] >> (probe.block(bits) % 64) & 1 == 1,
        }
    }

    /// Writes a key, and says whether that changed anything.
    #[inline]
    pub fn insert(&mut self, probe: Probe) -> bool {
        let at = self.word_of(probe);
        let words = self.bits.as_mut_slice().as_flattened_mut();
        match self.size {
            SliceSize::Blocks(block, _) => {
                probe.set(&mut words[at..at + block.words as usize], block)
            }
            SliceSize::Bits(bits) => {
                let before = words[at];
                words[at] |= 1 << (probe.block(bits) % 64);
                words[at] != before
            }
        }
    }

    #[inline]
    pub fn prefetch(&self, probe: Probe) {
        prefetch(self.bits.as_slice(), self.word_of(probe) / LINE_WORDS);
    }

    /// The chance that it holds an unseen key now.
    pub fn chance_now(&self) -> f64 {
        self.size.chance_now(self.words())
    }

    pub fn write(&self, out: &mut Writer) {
        out.u32(self.size.block_words());
        out.u64(self.size.parts());
        out.u64(self.capacity);
        out.u64(self.received);
        out.u8(self.last.is_some().into());
        out.u64(self.last.unwrap_or(0));
        out.words(self.words());
    }

    /// Reads what [`write`](Self::write) wrote, and believes no capacity that the size belies.
    pub fn read(
        reader: &mut Reader<'_>,
        parameters: &TimeLimitedParameters,
        class: usize,
        clock: u64,
    ) -> Result<Self, Error> {
        let block_words = reader.u32("block words")?;
        let parts = reader.u64("blocks")?;
        let capacity = reader.u64("capacity")?;
        let received = reader.u64_at_most("received", capacity, "at most the capacity")?;
        let used = reader.u8("used")?;
        let last = reader.u64_at_most("last", clock, "at most the clock")?;
        let last = match used {
            0 if last == 0 => None,
            1 => Some(last),
            _ => {
                let expected = "1, or 0 and never";
                return Err(Error::Field { field: "used", found: used.into(), expected });
            }
        };
        let Some(size) = SliceSize::of_parts(block_words, parts, parameters.bits_per_slice) else {
            let expected = "1, 2, 4 or 8, or 0 for single bits, and at least one of them";
            return Err(Error::Field { field: "block words", found: block_words.into(), expected });
        };
        let words = reader.words("slice", size.words())?;
        let unused = 64 * size.words() - size.bits();
        if let Some(&last) = words.last().filter(|last| unused > last.leading_zeros().into()) {
            let expected = "zero beyond the last bit";
            return Err(Error::Field { field: "slice", found: last, expected });
        }
        // The margin is for another machine's rounding.
        if size.chance(capacity) > parameters.slice_chance * 1.000_001 {
            let expected = "within the size of the slice";
            return Err(Error::Field { field: "capacity", found: capacity, expected });
        }
        let mut slice = Self { received, last, ..Self::new(size, capacity, class) };
        slice.bits.as_mut_slice().as_flattened_mut()[..words.len()].copy_from_slice(&words);
        Ok(slice)
    }

    fn words(&self) -> &[u64] {
        &self.bits.as_slice().as_flattened()[..self.size.words() as usize]
    }

    /// The word of the key, or the first of its block.
    #[inline]
    fn word_of(&self, probe: Probe) -> usize {
        match self.size {
            SliceSize::Blocks(block, blocks) => probe.block(blocks) * block.words as usize,
            SliceSize::Bits(bits) => probe.block(bits) / 64,
        }
    }
}
