//! What a growing filter says of itself before it is built.

use alloc::boxed::Box;

use super::filter::Growing;
use super::parameters::{GrowingParameters, UNKNOWN_ITEMS};
use super::segment::SLOTS;
use super::state;
use crate::bits::LINE_WORDS;
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::promise::Promise;
use crate::window::{Slack, Window};

impl Parameters for GrowingParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("expected items", &mut self.expected_items, .., "")?;
        list.add("removing", &mut self.removing, .., "")?;
        self.list_segments(list)?;
        let mut stated = [self.stated_bins, self.wider];
        list.later("stated bins and wider", &mut stated)?;
        [self.stated_bins, self.wider] = stated;
        let expected = "those of a number that was stated";
        list.check(self.can_be_stated(), "stated bins and wider", stated[0].into(), expected)
    }
}

impl GrowingParameters {
    /// How segments are built: what filters and counters have in common.
    pub(super) fn list_segments(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let mut bins = self.bins as u8;
        list.add("bins", &mut bins, .., "")?;
        self.bins = bins.into();
        list.add("remainder bits", &mut self.remainder_bits, .., "")?;
        let expected = "of a segment whose entries fit its halves";
        list.check(self.is_valid(), "bins or remainder bits", bins.into(), expected)
    }
}

impl Blueprint for GrowingParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(Window::Ever, Slack::Unlimited, self.false_positive_rate())
    }

    fn heap_bytes(&self) -> u64 {
        self.expected_bytes()
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        // Address, block, ends, and fields that may go on in another line.
        let moved = SLOTS * self.width(self.expected_depth() as u32);
        4.0 + moved as f64 / (64 * LINE_WORDS) as f64
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Growing::new(*self))
    }
}

impl Structure for GrowingParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        goal.ever()?;
        goal.does_not_count()?;
        match (goal.limit, goal.expected_items) {
            (Limit::Error(rate), Some(items)) if !goal.removing => {
                GrowingParameters::with_stated_items(rate.get(), items)
            }
            (Limit::Error(rate), items) => {
                let items = items.unwrap_or(UNKNOWN_ITEMS);
                GrowingParameters::with_error(rate.get(), items, goal.removing)
            }
            (Limit::Memory(memory), Some(items)) => {
                GrowingParameters::with_memory(memory.bytes(), items, goal.removing)
            }
            (Limit::Memory(_), None) => Err(Unfit("must know how many items a memory is for")),
        }
    }

    fn floor(goal: &Goal) -> Floor {
        match (goal.limit, goal.expected_items) {
            (Limit::Memory(_), Some(items)) => GrowingParameters::least_bytes(items, goal.removing)
                .map_or(Floor::ENDLESS, Floor::of_bytes),
            _ => Floor::NONE,
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Ok(Box::new(state::read(self, payload)?))
    }
}
