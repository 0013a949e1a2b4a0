//! One slice of its own size, and the generation in which it was the newest.

use super::TimeLimitedParameters;
use crate::bits::{LINE_WORDS, Lines, prefetch};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::sliding::slices::{BlockShape, Probe};

/// How large a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceSize {
    pub block: BlockShape,
    pub blocks: u64,
}

impl SliceSize {
    /// The smallest that holds so many keys at this chance of holding another.
    pub fn for_keys(keys: u64, bits: u32, chance: f64) -> Self {
        let blocks = BlockShape::WORDS.map(|words| BlockShape { words, bits });
        let size = |block: BlockShape| Self { block, blocks: block.blocks_for(keys, chance) };
        let sizes = blocks.into_iter().filter(|block| block.is_valid()).map(size);
        sizes.min_by_key(|size| (size.words(), size.blocks)).expect("blocks of one word are valid")
    }

    pub fn bits(&self) -> u64 {
        64 * self.words()
    }

    pub fn heap_bytes(&self) -> u64 {
        Lines::heap_bytes_for(self.lines())
    }

    fn words(&self) -> u64 {
        self.blocks.saturating_mul(self.block.words.into())
    }

    fn lines(&self) -> usize {
        self.words().div_ceil(LINE_WORDS as u64) as usize
    }
}

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
        probe.hits(&words[at..at + self.size.block.words as usize], self.size.block) != 0
    }

    /// Writes a key, and says whether that changed anything.
    #[inline]
    pub fn insert(&mut self, probe: Probe) -> bool {
        let at = self.word_of(probe);
        let words = self.bits.as_mut_slice().as_flattened_mut();
        probe.set(&mut words[at..at + self.size.block.words as usize], self.size.block)
    }

    #[inline]
    pub fn prefetch(&self, probe: Probe) {
        prefetch(self.bits.as_slice(), self.word_of(probe) / LINE_WORDS);
    }

    /// The chance that it holds an unseen key now.
    pub fn chance_now(&self) -> f64 {
        self.size.block.chance_now(self.words().chunks(self.size.block.words as usize))
    }

    pub fn write(&self, out: &mut Writer) {
        out.u32(self.size.block.words);
        out.u64(self.size.blocks);
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
        let words = reader.u32("block words")?;
        let size = SliceSize {
            block: BlockShape { words, bits: parameters.bits_per_slice },
            blocks: reader.u64("blocks")?,
        };
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
        if !size.block.is_valid() || size.blocks == 0 {
            let expected = "1, 2, 4 or 8, and at least one block";
            return Err(Error::Field { field: "block words", found: words.into(), expected });
        }
        let words = reader.words("slice", size.words())?;
        // The margin is for another machine's rounding.
        if size.block.chance(capacity, size.blocks) > parameters.slice_chance * 1.000_001 {
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

    #[inline]
    fn word_of(&self, probe: Probe) -> usize {
        probe.block(self.size.blocks) * self.size.block.words as usize
    }
}
