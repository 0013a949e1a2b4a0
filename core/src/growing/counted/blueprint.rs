//! What a counter of unknown size says of itself before it is built.

use alloc::boxed::Box;

use super::super::parameters::GrowingParameters;
use super::filter::GrowingCounts;
use crate::bits::LINE_WORDS;
use crate::blueprint::{Blueprint, Unfit};
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::promise::Promise;
use crate::window::{Slack, Window};

/// How long the signatures of a counter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GrowingCountsParameters {
    /// Signatures and segments, for half of the error.
    pub lengths: GrowingParameters,
}

/// What counts take beside signatures, in bits for each key, when ten sightings of each follow Zipf's
/// law. Where all keys are new it is 1.3, where they come a hundred times it is 9.
const COUNT_BITS: f64 = 5.5;

/// Keys share an entry with others that came before, and with others that come later.
const BOTH_WAYS: f64 = 2.0;

impl GrowingCountsParameters {
    /// Nearly the smallest that count at most this share of the keys too high, at every size.
    pub fn with_error(rate: f64, expected_items: u64) -> Result<Self, Unfit> {
        let lengths = GrowingParameters::with_error(rate / BOTH_WAYS, expected_items, false)?;
        Ok(Self { lengths })
    }

    /// The ones with the smallest error that hold `items` in `bytes`.
    pub fn with_memory(bytes: u64, items: u64) -> Result<Self, Unfit> {
        let counts = (items as f64 * COUNT_BITS / 8.0) as u64;
        let left = bytes.checked_sub(counts).ok_or(Unfit("needs more memory for so many items"))?;
        let made = |rate| GrowingParameters::with_error(rate, items, false);
        Ok(Self { lengths: GrowingParameters::least_error(left, made)? })
    }

    /// The share of keys that are counted too high, at the worst moment of however long a life.
    pub fn false_positive_rate(&self) -> f64 {
        (BOTH_WAYS * self.lengths.false_positive_rate()).min(1.0)
    }
}

impl Parameters for GrowingCountsParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("expected items", &mut self.lengths.expected_items, .., "")?;
        self.lengths.list_segments(list)
    }
}

impl Blueprint for GrowingCountsParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(Window::Ever, Slack::Unlimited, self.false_positive_rate())
    }

    fn heap_bytes(&self) -> u64 {
        let counts = self.lengths.expected_items as f64 * COUNT_BITS / 8.0;
        self.lengths.expected_bytes() + counts as u64
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        // Address, block, ends, and slots of which some move.
        let moved = 64.0 * (self.lengths.width(self.lengths.expected_depth() as u32) as f64 + 4.0);
        4.0 + moved / (64 * LINE_WORDS) as f64
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(GrowingCounts::new(*self))
    }
}
