//! The parameters of a spectral filter that touches one cache line per key.

use alloc::vec::Vec;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::blocked::Blocked;
use super::counters::{Bytes, Counters};
use super::parameters::{counted_items, promise};
use super::place::Place;
use super::rule::{Rule, Second};
use super::{Design, MOST_HASHES_IN_LINE, Spectral};
use crate::bits::Lines;
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Filter;
use crate::promise::Promise;
use crate::hash::Seed;
use crate::plan::{Goal, Limit};

/// The parameters of a spectral filter with all counters of a key in one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Blueprint for BlockedParameters {
    fn structure(&self) -> &'static str {
        Spectral::<Bytes, Self>::NAME
    }

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

    fn lines_touched(&self) -> f64 {
        1.0
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("items", self.items.to_string()),
            ("lines", self.blocked.lines.to_string()),
            ("hashes", self.blocked.hashes.to_string()),
        ];
        fields.extend(self.rule.fields());
        fields
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.items);
        out.u64(self.blocked.lines);
        out.u32(self.blocked.hashes);
        self.rule.write(out);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Spectral::<Bytes, Self>::new(*self))
    }
}

impl Design for BlockedParameters {
    type Place = Blocked;

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

impl Structure for Spectral<Bytes, BlockedParameters> {
    type Blueprint = BlockedParameters;

    const NAME: &'static str = "spectral-blocked";
    const FAMILY: u16 = 51;
    const STRENGTH: &'static str =
        "counts touch one cache line, for about twice the memory of counters spread out";

    fn propose(goal: &Goal) -> Result<BlockedParameters, Unfit> {
        let (items, rule) = counted_items(goal)?;
        match goal.limit {
            Limit::Error(rate) => Ok(BlockedParameters::with_error(items, rate.get(), rule)),
            Limit::Memory(memory) => BlockedParameters::with_memory(items, memory.bytes(), rule)
                .ok_or(Unfit("needs at least 120 bytes")),
        }
    }

    fn read(parameters: &mut Reader<'_>, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let items = parameters.u64("items")?;
        let lines = parameters.u64("lines")?;
        let hashes = parameters.u32("hashes")?;
        let rule = Rule::read(parameters)?;
        if !(1..1 << 48).contains(&lines) {
            let expected = "from 1 to 2^48";
            return Err(Error::Field { field: "lines", found: lines, expected });
        }
        if !(1..=MOST_HASHES_IN_LINE).contains(&hashes) {
            let expected = "from 1 to 8";
            return Err(Error::Field { field: "hashes", found: hashes.into(), expected });
        }
        let blocked = Blocked { lines, hashes };
        Spectral::open(BlockedParameters { items, blocked, rule }, payload)
    }
}
