//! The parameters of a spectral filter, and what follows from them.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::allotment::{Allotment, MOST_HASHES, Rows};
use super::counters::{Bytes, Counters, Fixed, Pools, Serial, StringArray};
use super::rule::{Rule, Second};
use super::{Design, Spectral};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::{Goal, Limit};
use crate::probability::least;
use crate::promise::Promise;
use crate::rate::ErrorRate;
use crate::window::{Slack, Window};

/// The parameters of a spectral filter with a row of counters for each hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpectralParameters {
    /// Different keys for which the error is promised.
    pub items: u64,
    /// Where the counters of a key are.
    pub rows: Rows,
    /// What an insertion does to them.
    pub rule: Rule,
    /// How they are stored.
    pub storage: Storage,
}

/// How counters are stored: see [`counters`](super::counters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Storage {
    /// In a byte each, and in a table what outgrows it: the one we recommend.
    #[default]
    Bytes,
    /// Sharing the bits of words.
    Pools,
    /// In strings of their own lengths, with an index.
    StringArray,
    /// In codes that end by themselves.
    Serial,
    /// In a byte each, up to 255.
    Fixed8,
    /// In two bytes each, up to 65,535.
    Fixed16,
    /// In four bytes each, up to 4,294,967,295.
    Fixed32,
}

impl Storage {
    /// Every storage; its place here is its number in snapshots.
    pub const ALL: [Storage; 7] = [
        Storage::Bytes,
        Storage::Pools,
        Storage::StringArray,
        Storage::Serial,
        Storage::Fixed8,
        Storage::Fixed16,
        Storage::Fixed32,
    ];

    /// Its name, for people and commands.
    pub fn name(self) -> &'static str {
        match self {
            Storage::Bytes => "bytes",
            Storage::Pools => "pools",
            Storage::StringArray => "string-array",
            Storage::Serial => "serial",
            Storage::Fixed8 => "fixed-8",
            Storage::Fixed16 => "fixed-16",
            Storage::Fixed32 => "fixed-32",
        }
    }
}

/// The hashes for an error: seven tenths of what would need the fewest counters, because that many
/// fewer accesses cost only one counter in twenty more.
pub fn hashes_for(rate: f64) -> u32 {
    ((-0.7 * rate.log2()).ceil() as u32).clamp(1, MOST_HASHES)
}

impl SpectralParameters {
    /// The smallest that keeps `rate` for `items` different keys.
    pub fn with_error(items: u64, rate: f64, rule: Rule) -> Self {
        let rows = Rows::for_items(items, rate, hashes_for(rate));
        Self { items, rows, rule, storage: Storage::Bytes }
    }

    /// Those that err least within `bytes`, with as few hashes as come close to that or to the
    /// error that we plan for unless told otherwise; `None` if not even one counter fits.
    pub fn with_memory(items: u64, bytes: u64, rule: Rule) -> Option<Self> {
        let with_hashes = |hashes| {
            let of_width =
                |width| Self { items, rows: Rows { width, hashes }, rule, storage: Storage::Bytes };
            let guess = bytes / u64::from(hashes) + 1;
            let width = least(guess, |width| of_width(width).heap_bytes() > bytes) - 1;
            (width > 0).then(|| of_width(width))
        };
        let choices: Vec<Self> = (1..=MOST_HASHES).filter_map(with_hashes).collect();
        let rates = choices.iter().map(Self::false_positive_rate);
        let best = rates.fold(f64::INFINITY, f64::min);
        let enough = (1.3 * best).max(ErrorRate::DEFAULT.get());
        choices.into_iter().find(|choice| choice.false_positive_rate() <= enough)
    }

    /// Chance that a key's count is wrong, and that an unseen key seems seen: the Bloom error.
    pub fn false_positive_rate(&self) -> f64 {
        self.rows.collision_rate(self.items)
    }

    /// Heap bytes and cache lines per counter of a storage.
    fn cost<C: Counters>(&self) -> (u64, f64, bool) {
        let bytes = C::heap_bytes_for(self.rows.counters())
            + Second::<C>::heap_bytes_for(self.rule, &self.rows);
        (bytes, C::LINES, C::ADAPTS)
    }

    fn storage_cost(&self) -> (u64, f64, bool) {
        match self.storage {
            Storage::Bytes => self.cost::<Bytes>(),
            Storage::Pools => self.cost::<Pools>(),
            Storage::StringArray => self.cost::<StringArray>(),
            Storage::Serial => self.cost::<Serial>(),
            Storage::Fixed8 => self.cost::<Fixed<u8>>(),
            Storage::Fixed16 => self.cost::<Fixed<u16>>(),
            Storage::Fixed32 => self.cost::<Fixed<u32>>(),
        }
    }
}

/// The parameters for a goal of counting without end, of those that are made for so many different keys
/// and a rule: `with_error` keeps a rate, `with_memory` fits into so many bytes.
pub(super) fn proposed<P>(
    goal: &Goal,
    with_error: impl Fn(u64, f64, Rule) -> P,
    with_memory: impl Fn(u64, u64, Rule) -> Option<P>,
    too_small: &'static str,
) -> Result<P, Unfit> {
    let (items, rule) = counted_items(goal)?;
    match goal.limit {
        Limit::Error(rate) => Ok(with_error(items, rate.get(), rule)),
        Limit::Memory(memory) => with_memory(items, memory.bytes(), rule).ok_or(Unfit(too_small)),
    }
}

/// The different keys and the rule for a goal of counting without end.
fn counted_items(goal: &Goal) -> Result<(u64, Rule), Unfit> {
    goal.counts()?;
    if goal.window != Window::Ever {
        return Err(Unfit("counts without end only"));
    }
    let items = goal.expected_items.ok_or(Unfit("needs to know about how many keys to expect"))?;
    let rule = if goal.removing { Rule::MinimumSelection } else { Rule::MinimalIncrease };
    Ok((items.clamp(1, Window::LONGEST), rule))
}

/// What counting without end promises.
pub(super) fn promise(false_positives: f64) -> Promise {
    Promise { window: Window::Ever, slack: Slack::Unlimited, false_positives, false_negatives: 0.0 }
}

impl Parameters for SpectralParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("items", &mut self.items, .., "")?;
        self.rows.list(list)?;
        self.rule.list(list)?;
        let text = |storage: Storage| storage.name().to_owned();
        list.one_of("storage", &mut self.storage, &Storage::ALL, (text, "from 0 to 6"))
    }
}

impl Blueprint for SpectralParameters {
    fn promise(&self) -> Promise {
        promise(self.false_positive_rate())
    }

    fn promised_items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn heap_bytes(&self) -> u64 {
        self.storage_cost().0
    }

    fn adapts(&self) -> bool {
        self.storage_cost().2
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        f64::from(self.rows.hashes) * self.storage_cost().1
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        match self.storage {
            Storage::Bytes => Box::new(Spectral::<Bytes, Self>::new(*self)),
            Storage::Pools => Box::new(Spectral::<Pools, Self>::new(*self)),
            Storage::StringArray => Box::new(Spectral::<StringArray, Self>::new(*self)),
            Storage::Serial => Box::new(Spectral::<Serial, Self>::new(*self)),
            Storage::Fixed8 => Box::new(Spectral::<Fixed<u8>, Self>::new(*self)),
            Storage::Fixed16 => Box::new(Spectral::<Fixed<u16>, Self>::new(*self)),
            Storage::Fixed32 => Box::new(Spectral::<Fixed<u32>, Self>::new(*self)),
        }
    }
}

impl Structure for SpectralParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        proposed(goal, Self::with_error, Self::with_memory, "needs at least 120 bytes")
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        match self.storage {
            Storage::Bytes => Spectral::<Bytes, Self>::open(self, payload),
            Storage::Pools => Spectral::<Pools, Self>::open(self, payload),
            Storage::StringArray => Spectral::<StringArray, Self>::open(self, payload),
            Storage::Serial => Spectral::<Serial, Self>::open(self, payload),
            Storage::Fixed8 => Spectral::<Fixed<u8>, Self>::open(self, payload),
            Storage::Fixed16 => Spectral::<Fixed<u16>, Self>::open(self, payload),
            Storage::Fixed32 => Spectral::<Fixed<u32>, Self>::open(self, payload),
        }
    }
}

impl Design for SpectralParameters {
    type Allotment = Rows;

    fn place(&self) -> Rows {
        self.rows
    }

    fn rule(&self) -> Rule {
        self.rule
    }

    fn set_rule(&mut self, rule: Rule) {
        self.rule = rule;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_error_are_inverse() {
        for items in [1, 100, 100_000] {
            for rate in [0.3, 0.01, 1e-4] {
                let given = SpectralParameters::with_error(items, rate, Rule::MinimalIncrease);
                let back = SpectralParameters::with_memory(
                    items,
                    given.heap_bytes(),
                    Rule::MinimalIncrease,
                )
                .unwrap();
                assert!(back.heap_bytes() <= given.heap_bytes());
                let enough = f64::max(1.3 * rate, ErrorRate::DEFAULT.get());
                assert!(back.false_positive_rate() <= enough, "{given:?} {back:?}");
            }
        }
        assert_eq!(SpectralParameters::with_memory(10, 100, Rule::MinimalIncrease), None);
    }
}
