//! Recurring minimum with a marker: errors that are small rather than rare.
//!
//! A key whose least counter occurs once is probably counted too high. From then on it is counted in a second
//! filter of half the width as well, and a Bloom filter with a bit for every counter marks it ([`rule`]). With
//! five counters 4, 7, 9, 9 and 12 a key is marked and starts there with 4; others that come into its counter
//! no longer matter to it.
//!
//! Section 3.3 of the paper, with the marker that it leaves to the reader. Beside a filter of the first
//! one's size it errs half as often, and by far less; beside one of its whole size it errs more often
//! and by less (`cargo lab count recurring`, `cargo lab count rules`). Not guaranteed: that no
//! count is too small. A key that is marked by mistake is looked for among the counters of others.
//!
//! [`rule`]: super::rule

use alloc::boxed::Box;

use super::allotment::{Allotment, Rows};
use super::counters::Bytes;
use super::parameters::{SpectralParameters, Storage, promise, proposed};
use super::rule::Rule;
use super::{Design, Spectral};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::Reader;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::Promise;

/// The parameters of a spectral filter under recurring minimum with a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecurringParameters {
    /// Different keys for which the error is promised.
    pub items: u64,
    /// Where the counters of a key are in the first filter.
    pub rows: Rows,
    /// Counters for each hash in the second.
    pub second_width: u64,
}

/// Bytes beside counters and marker: what they are kept in, and that lines are aligned.
const BESIDE: u64 = 512;

impl RecurringParameters {
    /// Those whose first filter is the smallest that keeps `rate` for `items` different keys.
    pub fn with_error(items: u64, rate: f64) -> Self {
        Self::beside(SpectralParameters::with_error(items, rate, Rule::MinimumSelection))
    }

    /// Those that err least within `bytes`; `None` if there is too little room.
    pub fn with_memory(items: u64, bytes: u64) -> Option<Self> {
        // The first filter, half of it, and an eighth for the marker.
        let first = bytes.checked_sub(BESIDE)? / 13 * 8;
        SpectralParameters::with_memory(items, first, Rule::MinimumSelection).map(Self::beside)
    }

    fn beside(first: SpectralParameters) -> Self {
        let SpectralParameters { items, rows, .. } = first;
        Self { items, rows, second_width: rows.width.div_ceil(2) }
    }

    /// The same without a name of its own.
    fn plain(&self) -> SpectralParameters {
        let (items, rows, rule) = (self.items, self.rows, self.rule());
        SpectralParameters { items, rows, rule, storage: Storage::Bytes }
    }
}

impl Parameters for RecurringParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("items", &mut self.items, .., "")?;
        self.rows.list(list)?;
        let most = self.rows.width;
        list.add("second width", &mut self.second_width, 1..=most, "from 1 to the width")
    }
}

impl Blueprint for RecurringParameters {
    fn promise(&self) -> Promise {
        promise(self.rows.collision_rate(self.items))
    }

    fn promised_items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn heap_bytes(&self) -> u64 {
        self.plain().heap_bytes()
    }

    fn adapts(&self) -> bool {
        self.plain().adapts()
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        // The marker is always asked, the second filter for few.
        self.plain().lines_touched() + 1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Spectral::<Bytes, Self>::new(*self))
    }
}

impl Structure for RecurringParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let with_error = |items, rate, _| Self::with_error(items, rate);
        let with_memory = |items, bytes, _| Self::with_memory(items, bytes);
        proposed(goal, with_error, with_memory, "needs at least 900 bytes")
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        Spectral::<Bytes, Self>::open(self, payload)
    }
}

impl Design for RecurringParameters {
    type Allotment = Rows;

    fn place(&self) -> Rows {
        self.rows
    }

    fn rule(&self) -> Rule {
        Rule::MarkedRecurringMinimum { second_width: self.second_width }
    }

    /// Filters under this rule are not combined, which is when others change theirs.
    fn set_rule(&mut self, _rule: Rule) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Counting;
    use crate::hash::remix;
    use testkit::oracle::Counts;
    use testkit::streams::zipf;

    #[test]
    fn memory_is_kept_to_and_used() {
        for bytes in [1_000, 5_000, 100_000, 10_000_000] {
            let made = RecurringParameters::with_memory(1_000, bytes).unwrap();
            assert!(made.heap_bytes() <= bytes, "{bytes}: {}", made.heap_bytes());
            assert!(made.heap_bytes() as f64 > 0.85 * bytes as f64 - 512.0, "{bytes}: {made:?}");
        }
        assert_eq!(RecurringParameters::with_memory(1_000, 500), None);
    }

    /// Beside minimum selection with as many counters in its only filter: fewer counts are wrong, and by
    /// far less.
    #[test]
    fn errors_are_fewer_and_smaller_than_those_of_the_first_filter_alone() {
        let made = RecurringParameters::with_error(1_000, 0.03);
        let mut ours = Spectral::<Bytes, _>::new(made);
        let rule = Rule::MinimumSelection;
        let mut alone = Spectral::<Bytes, _>::new(SpectralParameters { rule, ..made.plain() });
        let mut truth = Counts::new();
        for key in zipf(1_000, 0.5, 1).take(100_000) {
            ours.add(remix(key, 0), 1);
            alone.add(remix(key, 0), 1);
            truth.add(key, 1);
        }
        let (mut wrong, mut squares) = ([0_u32; 2], [0.0; 2]);
        for (key, truth) in truth.iter() {
            let counts = [ours.count(remix(key, 0)), alone.count(remix(key, 0))];
            for (of, count) in counts.into_iter().enumerate() {
                let difference = count.abs_diff(truth);
                wrong[of] += u32::from(difference > 0);
                squares[of] += (difference * difference) as f64;
            }
        }
        assert!(10 * wrong[0] < 9 * wrong[1], "{wrong:?}");
        assert!(4.0 * squares[0] < squares[1], "{squares:?}");
        assert!(!Counting::never_undercounts(&ours));
    }
}
