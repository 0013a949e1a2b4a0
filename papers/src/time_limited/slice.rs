//! One slice of its own size, and the generation in which it was the newest.

use std::ops::Range;

use super::TimeLimitedParameters;
use super::size::{Mark, SliceSize};
use lately::Error;
use lately::bits::{self, Aligned, LINE_WORDS};
use lately::raw::codec::{Reader, Writer};
use lately::sliding::slices::{Mask, Probe};

/// What a key is to the slices of one class, whatever their sizes: made once for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Trace {
    pub probe: Probe,
    mask: Mask,
}

impl Trace {
    /// What a key is to this class, of which it sets so many bits in each slice.
    #[inline(always)]
    pub fn new(hash: u64, class: usize, bits: u32) -> Self {
        let probe = Probe::new(hash, class);
        Self { probe, mask: probe.mask(bits) }
    }
}

/// So many words stay in the nearer caches, and need not be asked for.
const NEAR_WORDS: u64 = 1 << 14;

/// A slice.
#[derive(Debug, Clone)]
pub struct Slice {
    words: Aligned<u64>,
    /// Words to choose from if blocks are whole lines, as in all but the smallest slices; otherwise
    /// so many that none of those chosen is there.
    line_words: u64,
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
        let words = Aligned::new(bits::size(size.words()));
        let line_words =
            if size.block_words() == LINE_WORDS as u32 { size.words() } else { u64::MAX };
        Self { words, line_words, size, class, capacity, received: 0, last: None }
    }

    pub fn size(&self) -> SliceSize {
        self.size
    }

    /// Keys that it may still receive.
    pub fn room(&self) -> u64 {
        self.capacity - self.received
    }

    /// Whether it is too large to stay in the nearer caches.
    pub fn is_far(&self) -> bool {
        self.size.words() > NEAR_WORDS
    }

    #[inline(always)]
    pub fn holds(&self, trace: &Trace) -> bool {
        match self.words.lines().get(self.line(trace.probe)) {
            Some(line) => trace.mask.is_in_line(line),
            None => self.holds_elsewhere(trace),
        }
    }

    /// Writes a key, and says whether that changed anything.
    #[inline(always)]
    pub fn insert(&mut self, trace: &Trace) -> bool {
        let line = self.line(trace.probe);
        match self.words.lines_mut().get_mut(line) {
            Some(line) => trace.mask.set_in_line(line),
            None => self.insert_elsewhere(trace),
        }
    }

    /// In which line a key is, unless it is in the tail or there are none.
    #[inline(always)]
    fn line(&self, probe: Probe) -> usize {
        probe.one_of(self.line_words) / LINE_WORDS
    }

    // Tails, single bits and slices of a few keys are never inlined: with the mask in memory the
    // compiler keeps it in as few registers as it can for the others.
    #[inline(never)]
    fn holds_elsewhere(&self, trace: &Trace) -> bool {
        match self.size.place(trace.probe) {
            Mark::Block(words) => trace.mask.is_in(self.words.range(words)),
            Mark::Bit(at, bit) => self.words.item(at) & bit != 0,
        }
    }

    #[inline(never)]
    fn prefetch_elsewhere(&self, probe: Probe) {
        let (Mark::Block(Range { start: at, .. }) | Mark::Bit(at, _)) = self.size.place(probe);
        self.words.prefetch(at);
    }

    #[inline(never)]
    fn insert_elsewhere(&mut self, trace: &Trace) -> bool {
        match self.size.place(trace.probe) {
            Mark::Block(words) => trace.mask.set_in(self.words.range_mut(words)),
            Mark::Bit(at, bit) => {
                let word = self.words.item_mut(at);
                let changed = *word & bit == 0;
                *word |= bit;
                changed
            }
        }
    }

    #[inline(always)]
    pub fn prefetch(&self, probe: Probe) {
        let line = self.line(probe);
        if line < self.words.lines().len() {
            self.words.prefetch(line * LINE_WORDS);
        } else {
            self.prefetch_elsewhere(probe);
        }
    }

    /// The chance that it holds an unseen key now, from at most so many places.
    pub fn chance_now(&self, places: usize) -> f64 {
        self.size.chance_now(self.words.as_slice(), places)
    }

    pub fn write(&self, out: &mut Writer) {
        out.u32(self.size.block_words());
        out.u64(self.size.bits());
        out.u64(self.capacity);
        out.u64(self.received);
        out.u8(self.last.is_some().into());
        out.u64(self.last.unwrap_or(0));
        out.words(self.words.as_slice());
    }

    /// Reads what [`write`](Self::write) wrote, and believes no capacity that the size belies.
    pub fn read(
        reader: &mut Reader<'_>,
        parameters: &TimeLimitedParameters,
        class: usize,
        clock: u64,
    ) -> Result<Self, Error> {
        let block_words = reader.u32("block words")?;
        let bits = reader.u64("bits")?;
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
        let Some(size) = SliceSize::of_bits(block_words, bits, parameters.bits_per_slice) else {
            let expected = "1, 2, 4 or 8, or 0 for single bits, of which the bits can be made";
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
        slice.words.as_mut_slice().copy_from_slice(&words);
        Ok(slice)
    }
}
