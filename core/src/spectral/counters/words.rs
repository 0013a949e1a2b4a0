//! Words that several counters share, and a way out for those that need more room.
//!
//! A [`Layout`] says how the counters of a word share its bits. When they need more than there are,
//! the word *spills*: its counters move to words of their own in a side table, and the word keeps
//! their place. So every counter is exact, and finding one is one load, or two.
//!
//! When one word in 16 has spilled, all counters move to words that fewer of them share, until each
//! has a word for itself. So memory follows the values. They move a few at every change, so that no
//! change has to wait for all of them.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::grow::{Find, grow, grow_each};
use super::spilled::Spilled;
use super::{Counters, MOST};
use crate::bits::{Aligned, LINE_WORDS, prefetch};

/// How counters share a word. In a word of zeros all are zero, so that memory is good as it comes.
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// Counters in a word, level after level; at last one.
    const LEVELS: &'static [u32];

    /// The layout of a level.
    fn at_level(level: usize) -> Self;

    /// The word of a counter, and its lane there.
    fn place(self, index: usize) -> (usize, u32);

    /// Where the counter of a lane is, or where the counters of a spilled word begin.
    fn field(self, word: u64, lane: u32) -> Result<Field, usize>;

    /// The word of these counters; `None` if they need more bits than there are.
    fn share(self, values: &[u64]) -> Option<u64>;

    /// A spilled word whose counters begin at this place.
    fn spilled(self, place: usize) -> u64;

    /// The sums of the counters of two lines, if none of their words has spilled or has to. A layout
    /// may leave that to those who add counter by counter.
    #[inline]
    fn add_lines(self, ours: &[u64; LINE_WORDS], theirs: &[u64; LINE_WORDS]) -> Option<Line> {
        let _ = (ours, theirs);
        None
    }
}

/// The words of a cache line.
pub type Line = [u64; LINE_WORDS];

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
    spilled: Spilled,
    /// Where counters move while they move.
    wider: Option<Box<Wider<L>>>,
}

/// Counters that are on their way to words that fewer share.
#[derive(Debug, Clone)]
struct Wider<L> {
    counters: Words<L>,
    /// So many have moved, from the first on.
    moved: usize,
    /// So many of the words they moved from are given back.
    given_back: usize,
}

/// Counters that move at a change of one.
const MOVED_AT_ONCE: usize = 1 << 8;

/// Words that are given back together when their counters have moved.
const GIVEN_BACK_AT_ONCE: usize = 1 << 15;

/// The largest share of words that may spill, as a divisor.
const SPILLED_SHARE: usize = 16;

/// The most counters in a word.
const MOST_LANES: usize = 16;

impl<L: Layout> Counters for Words<L> {
    const ADAPTS: bool = true;
    const LINES: f64 = 1.0;
    const LARGEST: u64 = MOST;

    fn new(len: usize) -> Self {
        Self::at_level(0, len)
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        match &self.wider {
            Some(wider) if index < wider.moved => wider.counters.get_moved(index),
            _ => self.find(index).value,
        }
    }

    #[inline]
    fn set(&mut self, index: usize, value: u64) {
        debug_assert!(index < self.len);
        let value = value.min(MOST);
        if self.wider.is_some() {
            return self.set_on_the_way(index, value);
        }
        self.set_here(index, value);
    }

    #[inline(always)]
    fn add_to_all(&mut self, at: &[usize], amount: u64) -> u64 {
        self.grow(at, |_, value| value.saturating_add(amount))
    }

    #[inline(always)]
    fn raise_least(&mut self, at: &[usize], amount: u64) -> u64 {
        self.grow(at, |least, value| value.max(least.saturating_add(amount)))
    }

    /// Whole lines at a time, as long as both are arranged alike and the sums fit.
    fn add_all(&mut self, other: &Self) {
        self.arrive();
        let level = self.level;
        let alike = level == other.level && other.wider.is_none();
        let in_line = L::LEVELS[level] as usize * LINE_WORDS;
        for (line, start) in (0..self.len).step_by(in_line).enumerate() {
            if alike && level == self.level && self.wider.is_none() {
                let ours = &mut self.words.lines_mut()[line];
                if let Some(sum) = self.layout.add_lines(ours, &other.words.lines()[line]) {
                    *ours = sum;
                    continue;
                }
            }
            for index in start..self.len.min(start + in_line) {
                match other.get(index) {
                    0 => {}
                    more => self.set(index, self.get(index).saturating_add(more)),
                }
            }
        }
    }

    #[inline]
    fn prefetch(&self, index: usize) {
        prefetch(self.words.as_slice(), self.layout.place(index).0);
    }

    fn heap_bytes(&self) -> u64 {
        let wider = self
            .wider
            .as_deref()
            .map_or(0, |wider| size_of::<Wider<L>>() as u64 + wider.counters.heap_bytes());
        let words = Aligned::<u64>::heap_bytes_for(self.words.as_slice().len());
        words + self.spilled.heap_bytes() + wider
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
                Found { value: self.spilled.get(place), place, shift: ALONE, limit: MOST }
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
            self.spilled.set(found.place, grown);
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
        let words = Aligned::new(words_for(L::LEVELS[level], len));
        Self { len, level, layout, words, spilled: Spilled::default(), wider: None }
    }

    #[inline(always)]
    fn grow(&mut self, at: &[usize], by: impl Fn(u64, u64) -> u64) -> u64 {
        if self.wider.is_some() {
            return self.grow_on_the_way(at, by);
        }
        grow(self, at, by)
    }

    #[cold]
    fn grow_on_the_way(&mut self, at: &[usize], by: impl Fn(u64, u64) -> u64) -> u64 {
        let least = self.least(at);
        grow_each(self, at, least, by);
        least
    }

    #[cold]
    fn get_moved(&self, index: usize) -> u64 {
        self.get(index)
    }

    /// Gives a counter a value, and moves some.
    #[cold]
    fn set_on_the_way(&mut self, index: usize, value: u64) {
        self.move_some();
        match &mut self.wider {
            Some(wider) if index < wider.moved => wider.counters.set(index, value),
            _ => self.set_here(index, value),
        }
    }

    /// Gives a counter that has not moved a value.
    #[inline(always)]
    fn set_here(&mut self, index: usize, value: u64) {
        let (place, lane) = self.layout.place(index);
        let word = self.words.item_mut(place);
        match self.layout.field(*word, lane) {
            Ok(Field { shift, limit, mask }) if value <= limit => {
                *word = *word & !(mask << shift) | value << shift;
            }
            Ok(_) => self.outgrow(place, lane, value),
            Err(start) => self.spilled.set(start + lane as usize, value),
        }
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
        *self.words.item_mut(place) = self.layout.spilled(self.spilled.push(values));
        let too_many = self.spilled.words() > self.words.as_slice().len() / SPILLED_SHARE;
        if too_many && self.wider.is_none() && self.level + 1 < L::LEVELS.len() {
            let counters = Self::at_level(self.level + 1, self.len);
            self.wider = Some(Box::new(Wider { counters, moved: 0, given_back: 0 }));
        }
    }

    /// Moves some counters to words that fewer share, if they are on their way.
    fn move_some(&mut self) {
        let Some(mut wider) = self.wider.take() else { return };
        let moving = wider.moved..self.len.min(wider.moved + MOVED_AT_ONCE);
        for index in moving.clone() {
            let value = self.find(index).value;
            if value > 0 {
                wider.counters.set(index, value);
            }
        }
        wider.moved = moving.end;
        let left = wider.moved / L::LEVELS[self.level] as usize;
        if left - wider.given_back >= GIVEN_BACK_AT_ONCE {
            self.words.give_back(wider.given_back..left);
            wider.given_back = left;
        }
        let all_moved = wider.moved == self.len;
        if all_moved && !self.spilled.let_some_go() {
            *self = wider.counters;
        } else {
            self.wider = Some(wider);
        }
    }

    /// Moves all counters that are on their way.
    fn arrive(&mut self) {
        while self.wider.is_some() {
            self.move_some();
        }
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
