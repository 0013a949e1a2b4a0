//! The parameters of a spectral filter that touches one cache line per key.

use alloc::boxed::Box;

use super::allotment::Allotment;
use super::blocked::Blocked;
use super::counters::{Bytes, Counters};
use super::parameters::{promise, proposed};
use super::rule::{Rule, Second};
use super::{Design, MOST_HASHES_IN_LINE, Spectral};
use crate::bits::Lines;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::Promise;

/// The parameters of a spectral filter with all counters of a key in one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockedParameters {
    /// Different keys for which the error is promised.
    pub items: u64,
    /// Where the counters of a key are.
    pub blocked: Blocked,
    /// What an insertion does to them.
    pub rule: Rule,
}

impl BlockedParameters {
    /// The smallest that keeps `rate` for `items` different keys.
    pub fn with_error(items: u64, rate: f64, rule: Rule) -> Self {
        Self { items, blocked: Blocked::for_items(items, rate), rule }
    }

    /// Those that err least within `bytes`; `None` if not even one line fits.
    pub fn with_memory(items: u64, bytes: u64, rule: Rule) -> Option<Self> {
        let lines = bytes.checked_sub(Lines::heap_bytes_for(0))? / 64;
        (lines > 0).then(|| Self { items, blocked: Blocked::for_lines(items, lines), rule })
    }
}

impl Parameters for BlockedParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Blocked { lines, hashes } = &mut self.blocked;
        list.add("items", &mut self.items, .., "")?;
        list.add("lines", lines, 1..1 << 48, "from 1 to 2^48")?;
        list.add("hashes", hashes, 1..=MOST_HASHES_IN_LINE, "from 1 to 8")?;
        self.rule.list(list)
    }
}

impl Blueprint for BlockedParameters {
    fn promise(&self) -> Promise {
        promise(self.blocked.collision_rate(self.items))
    }

    fn promised_items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn heap_bytes(&self) -> u64 {
        Bytes::heap_bytes_for(self.blocked.counters())
            + Second::<Bytes>::heap_bytes_for(self.rule, &self.blocked)
    }

    fn adapts(&self) -> bool {
        Bytes::ADAPTS
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Spectral::<Bytes, Self>::new(*self))
    }
}

impl Design for BlockedParameters {
    type Allotment = Blocked;

    fn place(&self) -> Blocked {
        self.blocked
    }

    fn rule(&self) -> Rule {
        self.rule
    }

    fn set_rule(&mut self, rule: Rule) {
        self.rule = rule;
    }
}

impl Structure for BlockedParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        proposed(goal, Self::with_error, Self::with_memory, "needs at least 120 bytes")
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Spectral::<Bytes, Self>::open(self, payload)
    }
}
