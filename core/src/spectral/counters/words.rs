//! Words that several counters share, and a way out for those that need more room.
//!
//! A [`Layout`] says how the counters of a word share its bits. When they need more than there are,
//! the word *spills*: its counters move to words of their own in a side table, and the word keeps
//! their place. So every counter is exact, and finding one is one load, or two.
//!
//! When one word in 16 has spilled, all counters move to words that fewer of them share, until each
//! has a word for itself. So memory follows the values.

use std::fmt::Debug;

use super::grow::{Find, grow};
use super::{Counters, MOST};
use crate::bits::{Aligned, LINE_WORDS, prefetch};

/// How counters share a word.
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// Counters in a word, level after level; at last one.
    const LEVELS: &'static [u32];

    /// The layout of a level.
    fn at_level(level: usize) -> Self;

    /// The word of a counter, and its lane there.
    fn place(self, index: usize) -> (usize, u32);

    /// A word of zeros.
    fn empty(self) -> u64;

    /// Where the counter of a lane is, or where the counters of a spilled word begin.
    fn field(self, word: u64, lane: u32) -> Result<Field, usize>;

    /// The word of these counters; `None` if they need more bits than there are.
    fn share(self, values: &[u64]) -> Option<u64>;

    /// A spilled word whose counters begin at this place.
    fn spilled(self, place: usize) -> u64;
}

/// Where one counter lies in its word.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its lowest bit.
    pub shift: u32,
    /// The largest value it can have there.
    pub limit: u64,
    /// As many ones as it has bits.
    pub mask: u64,
}

/// Counters that share words.
#[derive(Debug, Clone)]
pub struct Words<L> {
    len: usize,
    /// Index into the levels of the layout.
    level: usize,
    layout: L,
    /// From the start of a cache line to the end of one.
    words: Aligned<u64>,
    /// The counters of spilled words, as many for each as a word has.
    spilled: Vec<u64>,
}

/// The largest share of words that may spill, as a divisor.
const SPILLED_SHARE: usize = 16;

/// The most counters in a word.
const MOST_LANES: usize = 16;

impl<L: Layout> Counters for Words<L> {
    const ADAPTS: bool = true;
    const LINES: f64 = 1.0;

    fn new(len: usize) -> Self {
        Self::at_level(0, len)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn most(&self) -> u64 {
        MOST
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        self.find(index).value
    }

    #[inline]
    fn set(&mut self, index: usize, value: u64) {
        debug_assert!(index < self.len);
        let value = value.min(MOST);
        let (place, lane) = self.layout.place(index);
        let word = self.words.item_mut(place);
        match self.layout.field(*word, lane) {
            Ok(Field { shift, limit, mask }) if value <= limit => {
                *word = *word & !(mask << shift) | value << shift;
            }
            Ok(_) => self.outgrow(place, lane, value),
            Err(start) => self.spilled[start + lane as usize] = value,
        }
    }

    #[inline(always)]
    fn add_to_all(&mut self, at: &[usize], amount: u64) -> u64 {
        grow(self, at, |_, value| value.saturating_add(amount))
    }

    #[inline(always)]
    fn raise_least(&mut self, at: &[usize], amount: u64) -> u64 {
        grow(self, at, |least, value| value.max(least.saturating_add(amount)))
    }

    #[inline]
    fn prefetch(&self, index: usize) {
        prefetch(self.words.as_slice(), self.layout.place(index).0);
    }

    fn heap_bytes(&self) -> u64 {
        Aligned::<u64>::heap_bytes_for(self.words.as_slice().len())
            + 8 * self.spilled.capacity() as u64
    }

    fn heap_bytes_for(len: usize) -> u64 {
        Aligned::<u64>::heap_bytes_for(words_for(L::LEVELS[0], len))
    }
}

/// A counter that was found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found {
    value: u64,
    /// Its word, or its place among the spilled.
    place: usize,
    /// Its lowest bit in its word, or [`ALONE`].
    shift: u32,
    /// The largest value that it can have there.
    limit: u64,
}

/// Says that a counter has a word for itself.
const ALONE: u32 = 64;

impl<L: Layout> Find for Words<L> {
    type Found = Found;

    #[inline(always)]
    fn find(&self, index: usize) -> Found {
        debug_assert!(index < self.len);
        let (place, lane) = self.layout.place(index);
        let word = self.words.item(place);
        match self.layout.field(word, lane) {
            Ok(Field { shift, limit, mask }) => {
                Found { value: word >> shift & mask, place, shift, limit }
            }
            Err(start) => {
                let place = start + lane as usize;
                Found { value: self.spilled[place], place, shift: ALONE, limit: MOST }
            }
        }
    }

    #[inline(always)]
    fn value(found: Found) -> u64 {
        found.value
    }

    #[inline(always)]
    fn try_grow(&mut self, found: Found, grown: u64) -> bool {
        if grown > found.limit {
            return false;
        }
        if found.shift == ALONE {
            self.spilled[found.place] = grown;
        } else {
            // Two counters may share a word: adding leaves the other alone.
            *self.words.item_mut(found.place) += (grown - found.value) << found.shift;
        }
        true
    }
}

impl<L: Layout> Words<L> {
    fn at_level(level: usize, len: usize) -> Self {
        let layout = L::at_level(level);
        let mut words = Aligned::new(words_for(L::LEVELS[level], len));
        if layout.empty() != 0 {
            words.as_mut_slice().fill(layout.empty());
        }
        Self { len, level, layout, words, spilled: Vec::new() }
    }

    /// Gives a counter a value that its field cannot hold.
    #[cold]
    fn outgrow(&mut self, place: usize, lane: u32, value: u64) {
        let lanes = L::LEVELS[self.level] as usize;
        let mut values = [0; MOST_LANES];
        let values = &mut values[..lanes];
        let word = self.words.item(place);
        for (lane, value) in (0..).zip(values.iter_mut()) {
            let field = self.layout.field(word, lane).expect("only shared words are outgrown");
            *value = word >> field.shift & field.mask;
        }
        values[lane as usize] = value;
        if let Some(word) = self.layout.share(values) {
            *self.words.item_mut(place) = word;
            return;
        }
        *self.words.item_mut(place) = self.layout.spilled(self.spilled.len());
        let spills = self.spilled.len() / lanes;
        if self.spilled.len() + lanes > self.spilled.capacity() {
            // An eighth more than needed: the table stays close to what it holds.
            self.spilled.reserve_exact(lanes * (1 + spills / 8));
        }
        self.spilled.extend_from_slice(values);
        let too_many = spills >= self.words.as_slice().len() / SPILLED_SHARE;
        if too_many && self.level + 1 < L::LEVELS.len() {
            self.widen();
        }
    }

    /// Moves all counters to words that fewer share.
    fn widen(&mut self) {
        let mut wider = Self::at_level(self.level + 1, self.len);
        for index in 0..self.len {
            let value = self.get(index);
            if value > 0 {
                wider.set(index, value);
            }
        }
        *self = wider;
    }
}

/// Words for this many counters, so many to a word, in whole lines.
fn words_for(lanes: u32, len: usize) -> usize {
    len.div_ceil(lanes as usize).next_multiple_of(LINE_WORDS)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Bits per counter stay below these when all are around such values, and nothing is lost on
    /// the way there.
    pub fn memory_follows_the_values<L: Layout>(expected: &[(u64, f64)]) {
        let mut counters = Words::<L>::new(10_000);
        assert_eq!(counters.heap_bytes(), Words::<L>::heap_bytes_for(10_000));
        for &(value, most_bits) in expected {
            for index in 0..10_000 {
                counters.set(index, value + index as u64 % 4);
            }
            let bits = counters.heap_bytes() as f64 / 10_000.0 * 8.0;
            assert!(bits < most_bits, "{bits} bits for values around {value}");
            assert!((0..10_000).all(|index| counters.get(index) == value + index as u64 % 4));
        }
    }
}
