//! Two Bloom filters that take turns: the fastest window, and what people build by hand today.
//!
//! Keys go into the current filter. After n insertions it becomes the previous one, and the old
//! previous one is emptied to be the current. Both are asked. With n = 3 and the stream
//! `a b c d e f g`: `a b c` fill the first filter, `d e f` the second, and when `g` arrives the
//! first is emptied. So `d`, at distance 3, is still known, and `c`, at distance 4, just went.
//!
//! Known as double buffering (Chang, Li, Feng 2004); here over split-block Bloom filters. What is
//! not guaranteed: a bounded worst case. Every n-th insertion empties a filter, which takes time
//! linear in n.

use alloc::boxed::Box;

use crate::bits::size;
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::duplicates::law::{self, Stream};
use crate::error::Error;
use crate::filter::{Filter, Membership};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::promise::{Mistakes, Promise};
use crate::split_block::{self, BLOCK_BITS, SplitBlock};
use crate::window::{Time, Window};

/// How large the two filters are and when they change places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoubleBufferParameters {
    /// Insertions that are never forgotten, and after which the filters change places.
    pub window: u64,
    /// Blocks in each of the two filters.
    pub blocks: u64,
}

impl DoubleBufferParameters {
    /// The smallest that keeps `rate`.
    pub fn with_error(window: u64, rate: f64) -> Self {
        Self { window, blocks: split_block::blocks_for(window, each(rate)) }
    }

    /// The largest that fits into `bytes`; `None` if not even two blocks do.
    pub fn with_memory(window: u64, bytes: u64) -> Option<Self> {
        let overhead = 2 * SplitBlock::heap_bytes_for(0);
        let blocks = bytes.checked_sub(overhead)? / (2 * BLOCK_BITS / 8);
        (blocks > 0).then_some(Self { window, blocks })
    }

    /// Chance that an unseen key is reported when both filters are full: `1 - (1 - f)^2`.
    pub fn false_positive_rate(&self) -> f64 {
        let each = split_block::false_positive_rate(self.window, self.blocks);
        each * (2.0 - each)
    }
}

/// What each of the two filters may err: half as often (a little more, because both may err at once).
fn each(rate: f64) -> f64 {
    1.0 - (1.0 - rate).sqrt()
}

impl Parameters for DoubleBufferParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("blocks", &mut self.blocks, 1.., "at least 1")
    }
}

impl Blueprint for DoubleBufferParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, self.window, self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        let stream = Stream::new(self.window, alphabet);
        law::queued(stream, 2, stream.window, |n, _| {
            let keys_per_block = stream.distinct(n) / self.blocks as f64;
            let false_positives = split_block::false_positive_rate_in_lanes(keys_per_block, 64);
            Mistakes { false_positives, false_negatives: 0.0 }
        })
    }

    fn heap_bytes(&self) -> u64 {
        2 * SplitBlock::heap_bytes_for(size(self.blocks))
    }

    fn lines_touched(&self) -> f64 {
        2.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(DoubleBuffer::new(*self))
    }
}

/// Two split-block Bloom filters that take turns.
#[derive(Debug, Clone)]
pub struct DoubleBuffer {
    parameters: DoubleBufferParameters,
    /// Receives insertions.
    current: SplitBlock,
    /// Holds the `window` insertions before those in `current`.
    previous: SplitBlock,
    /// Insertions since the filters last changed places; at most `window`.
    inserted: u64,
}

impl DoubleBuffer {
    /// An empty pair of filters.
    pub fn new(parameters: DoubleBufferParameters) -> Self {
        let blocks = size(parameters.blocks);
        Self {
            parameters,
            current: SplitBlock::new(blocks),
            previous: SplitBlock::new(blocks),
            inserted: 0,
        }
    }

    fn turn_if_full(&mut self) {
        if self.inserted == self.parameters.window {
            core::mem::swap(&mut self.current, &mut self.previous);
            self.current.clear();
            self.inserted = 0;
        }
        self.inserted += 1;
    }
}

impl Membership for DoubleBuffer {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.turn_if_full();
        let place = self.current.place(hash);
        let seen = self.current.contains(&place) | self.previous.contains(&place);
        self.current.insert(&place);
        !seen
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.turn_if_full();
        let place = self.current.place(hash);
        let seen = self.current.contains(&place) | self.previous.contains(&place);
        if !seen {
            self.current.insert(&place);
        }
        !seen
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        let place = self.current.place(hash);
        self.current.contains(&place) | self.previous.contains(&place)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.current.prefetch(hash);
        self.previous.prefetch(hash);
    }
}

impl Filter for DoubleBuffer {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        self.current.false_positive_rate_with(&self.previous)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.inserted);
        out.words(self.current.as_words());
        out.words(self.previous.as_words());
    }
}

impl Structure for DoubleBufferParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let window = goal.last()?;
        goal.neither_counts_nor_removes()?;
        if !goal.allows_slack(window) {
            return Err(Unfit("needs a slack as long as the window"));
        }
        match goal.limit {
            Limit::Error(rate) => Ok(Self::with_error(window, rate.get())),
            Limit::Memory(memory) => {
                Self::with_memory(window, memory.bytes()).ok_or(Unfit("needs at least 240 bytes"))
            }
        }
    }

    fn floor(goal: &Goal) -> Floor {
        let (Window::Last(window), Limit::Error(rate)) = (goal.window, goal.limit) else {
            return Floor::NONE;
        };
        let blocks = split_block::blocks_at_least(window, each(rate.get()));
        let least = Self { window, blocks };
        Floor::of(goal, [(least.heap_bytes(), least.lines_touched())])
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let inserted = payload.u64_at_most("inserted", self.window, "at most the window")?;
        let words = self.blocks.saturating_mul(BLOCK_BITS / 64);
        let current = SplitBlock::from_words(&payload.words("current filter", words)?);
        let previous = SplitBlock::from_words(&payload.last_words("previous filter", words)?);
        Ok(Box::new(DoubleBuffer { parameters: self, current, previous, inserted }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let mut filter = DoubleBuffer::new(DoubleBufferParameters { window: 3, blocks: 8 });
        let key = |name: u8| crate::hash::remix(name.into(), 0);
        for name in *b"abcdefg" {
            assert!(filter.insert_hash(key(name), Time::ZERO));
        }
        assert!(!filter.contains_hash(key(b'c'), Time::ZERO));
        assert!(filter.contains_hash(key(b'd'), Time::ZERO));
    }

    #[test]
    fn memory_and_error_are_inverse() {
        for window in [1, 100, 1_000_000] {
            let given = DoubleBufferParameters::with_error(window, 0.01);
            let back = DoubleBufferParameters::with_memory(window, given.heap_bytes());
            assert_eq!(back, Some(given));
        }
    }
}
