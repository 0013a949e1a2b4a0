//! The three rules: what an insertion does to the counters of its key, and what they then tell.
//!
//! Take k = 3 and a key `x` whose counters are 4, 4 and 9, because others share the third:
//!
//! | Rule | inserting `x` gives | and answers | can take back |
//! |---|---|---|---|
//! | minimum selection | 5, 5, 10 | the least: 5 | yes |
//! | minimal increase | 5, 5, 9 | the least: 5 | no |
//! | recurring minimum | 5, 5, 10 | 5, which recurs | yes |
//!
//! Minimal increase raises only the counters that bound the count, so it errs least. Taking back
//! from it would lower counters that others rely on. Recurring minimum distrusts a minimum that
//! occurs once: had the counters been 4, 7 and 9, the key would be counted from then on in a
//! second, smaller filter, where it starts with 4.
//!
//! Sections 2.2 and 3 of the paper. Its claim that recurring minimum never answers too little does
//! not hold: a key is looked for in the second filter by its counters there, which others may have
//! set, and a key counted there is not counted while its minimum recurs. The lab shows how often.

use super::allotment::{Allotment, MOST_HASHES, Rows, WIDEST};
use super::counters::{Counters, read_counters, write_counters};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::hash::remix;
use crate::parameters::{List, Parameters};
use crate::split_block::{BLOCK_BITS, SplitBlock};

/// How insertions change counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// All counters of a key count it. Never too little; sightings can be taken back.
    #[default]
    MinimumSelection,
    /// Only the least counters of a key count it. Never too little, and errs least; sightings
    /// cannot be taken back.
    MinimalIncrease,
    /// Like minimum selection, and keys whose minimum occurs once are counted in a second filter
    /// as well. Sightings can be taken back; seldom answers too little.
    RecurringMinimum {
        /// Counters for each hash in the second filter.
        second_width: u64,
    },
    /// The same, and a Bloom filter with a bit for every counter marks the keys that are counted in
    /// the second filter. Answers too little more seldom.
    MarkedRecurringMinimum {
        /// Counters for each hash in the second filter.
        second_width: u64,
    },
}

impl Rule {
    /// Its name, for people and commands.
    pub fn name(self) -> &'static str {
        match self {
            Rule::MinimumSelection => "minimum-selection",
            Rule::MinimalIncrease => "minimal-increase",
            Rule::RecurringMinimum { .. } => "recurring-minimum",
            Rule::MarkedRecurringMinimum { .. } => "marked-recurring-minimum",
        }
    }

    /// Its number in snapshots.
    fn number(self) -> u8 {
        match self {
            Rule::MinimumSelection => 0,
            Rule::MinimalIncrease => 1,
            Rule::RecurringMinimum { .. } => 2,
            Rule::MarkedRecurringMinimum { .. } => 3,
        }
    }

    /// Whether sightings can be taken back.
    pub fn takes_back(self) -> bool {
        self != Rule::MinimalIncrease
    }

    /// Whether no count is ever below the truth.
    pub fn never_undercounts(self) -> bool {
        self.second_width().is_none()
    }

    /// Counters for each hash in the second filter, if there is one.
    pub fn second_width(self) -> Option<u64> {
        match self {
            Rule::MinimumSelection | Rule::MinimalIncrease => None,
            Rule::RecurringMinimum { second_width }
            | Rule::MarkedRecurringMinimum { second_width } => Some(second_width),
        }
    }
}

impl Parameters for Rule {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.shown("rule", || self.name());
        if let Some(width) = self.second_width() {
            list.shown("second width", || width);
        }
        let (mut rule, mut width) = (self.number(), self.second_width().unwrap_or(0));
        list.stored("rule", &mut rule, ..4, "from 0 to 3")?;
        list.stored("width of the second filter", &mut width, ..=WIDEST, "at most 2^48")?;
        let expected = "zero for a rule without one, and not zero with one";
        list.check((rule < 2) == (width == 0), "width of the second filter", width, expected)?;
        *self = match rule {
            0 => Rule::MinimumSelection,
            1 => Rule::MinimalIncrease,
            2 => Rule::RecurringMinimum { second_width: width },
            _ => Rule::MarkedRecurringMinimum { second_width: width },
        };
        Ok(())
    }
}

/// The least of a key's counters, and whether it occurs once.
pub fn least_and_single(counters: &impl Counters, at: &[usize]) -> (u64, bool) {
    let (mut least, mut single) = (u64::MAX, false);
    for &index in at {
        let value = counters.get(index);
        single = if value == least { false } else { single || value < least };
        least = least.min(value);
    }
    (least, single)
}

/// The second filter of recurring minimum, for keys whose minimum occurs once.
#[derive(Debug, Clone)]
pub struct Second<C> {
    rows: Rows,
    counters: C,
    /// Marks the keys that are counted here.
    marker: Option<SplitBlock>,
}

impl<C: Counters> Second<C> {
    /// The second filter that a rule asks for, beside a first one.
    pub fn new(rule: Rule, first: &impl Allotment) -> Option<Self> {
        let rows = second_rows(rule, first)?;
        let blocks = marker_blocks(rule, first);
        let marker = (blocks > 0).then(|| SplitBlock::new(blocks));
        Some(Self { rows, counters: C::new(rows.counters()), marker })
    }

    /// After the first filter counted `times` sightings: `least` and `single` are its answer now.
    pub fn add(&mut self, hash: u64, times: u64, least: u64, single: bool) {
        let hash = apart(hash);
        let at = self.rows.indices(hash);
        let here = match &self.marker {
            Some(marker) => marker.contains(&marker.place(hash)),
            None => single && self.counters.least(&at) > 0,
        };
        if here {
            self.counters.add_to_all(&at, times);
        } else if single {
            self.counters.add_to_all(&at, least);
            if let Some(marker) = &mut self.marker {
                marker.insert(&marker.place(hash));
            }
        }
    }

    /// After the first filter took back `times` sightings.
    pub fn subtract(&mut self, hash: u64, times: u64, single: bool) {
        let hash = apart(hash);
        let at = self.rows.indices(hash);
        if self.answers_for(hash, single) && self.counters.least(&at) >= times {
            self.counters.subtract_from_all(&at, times);
        }
    }

    /// The count of a key for which the first filter answers `least`.
    pub fn count(&self, hash: u64, least: u64, single: bool) -> u64 {
        let hash = apart(hash);
        if !self.answers_for(hash, single) {
            return least;
        }
        match self.counters.least(&self.rows.indices(hash)) {
            0 => least,
            // The first filter never answers too little, so what is above it is wrong.
            count => count.min(least),
        }
    }

    fn answers_for(&self, hash: u64, single: bool) -> bool {
        match &self.marker {
            Some(marker) => marker.contains(&marker.place(hash)),
            None => single,
        }
    }

    /// Its counters.
    pub fn counters(&self) -> &C {
        &self.counters
    }

    /// Bytes on the heap, with the box it is in.
    pub fn heap_bytes(&self) -> u64 {
        let marker = self.marker.as_ref().map_or(0, |marker| {
            SplitBlock::heap_bytes_for(marker.as_words().len() * 64 / BLOCK_BITS as usize)
        });
        self.counters.heap_bytes() + marker + size_of::<Self>() as u64
    }

    /// Bytes on the heap that a second filter takes, with the box it is in.
    pub fn heap_bytes_for(rule: Rule, first: &impl Allotment) -> u64 {
        let Some(rows) = second_rows(rule, first) else { return 0 };
        let marker = match marker_blocks(rule, first) {
            0 => 0,
            blocks => SplitBlock::heap_bytes_for(blocks),
        };
        C::heap_bytes_for(rows.counters()) + marker + size_of::<Self>() as u64
    }

    /// Writes everything.
    pub fn write(&self, out: &mut Writer) {
        write_counters(&self.counters, out);
        if let Some(marker) = &self.marker {
            out.words(marker.as_words());
        }
    }

    /// Reads what [`write`](Self::write) wrote, for this rule beside this first filter.
    pub fn read(
        rule: Rule,
        first: &impl Allotment,
        from: &mut Reader<'_>,
    ) -> Result<Option<Self>, Error> {
        let Some(rows) = second_rows(rule, first) else { return Ok(None) };
        let field = "counters of the second filter";
        let counters = read_counters(field, rows.counters() as u64, from)?;
        let marker = match marker_blocks(rule, first) {
            0 => None,
            blocks => {
                let words = blocks as u64 * (BLOCK_BITS / 64);
                Some(SplitBlock::from_words(&from.words("marker", words)?))
            }
        };
        Ok(Some(Self { rows, counters, marker }))
    }
}

/// The rows of the second filter, if the rule has one.
fn second_rows(rule: Rule, first: &impl Allotment) -> Option<Rows> {
    rule.second_width().map(|width| Rows { width, hashes: first.hashes() })
}

/// Blocks of the marker: a bit for each counter of the first filter, or none without a marker.
fn marker_blocks(rule: Rule, first: &impl Allotment) -> usize {
    match rule {
        Rule::MarkedRecurringMinimum { .. } => first.counters().div_ceil(BLOCK_BITS as usize),
        _ => 0,
    }
}

/// The hash of a key for the second filter: keys that meet in the first must not meet there too.
fn apart(hash: u64) -> u64 {
    remix(hash, MOST_HASHES.into())
}

#[cfg(test)]
mod tests {
    use super::super::counters::Fixed;
    use super::*;

    fn counters(values: [u64; 3]) -> (Fixed<u32>, [usize; 3]) {
        let mut counters = Fixed::new(3);
        for (index, value) in values.into_iter().enumerate() {
            counters.set(index, value);
        }
        (counters, [0, 1, 2])
    }

    fn values(counters: &Fixed<u32>) -> [u64; 3] {
        [0, 1, 2].map(|index| counters.get(index))
    }

    #[test]
    fn the_example_of_the_documentation() {
        let (mut selected, at) = counters([4, 4, 9]);
        assert_eq!(selected.add_to_all(&at, 1), 4);
        assert_eq!(values(&selected), [5, 5, 10]);
        let (mut raised, at) = counters([4, 4, 9]);
        assert_eq!(raised.raise_least(&at, 1), 4);
        assert_eq!(values(&raised), [5, 5, 9]);
        assert_eq!(raised.raise_least(&at, 7), 5);
        assert_eq!(values(&raised), [12, 12, 12]);
    }

    #[test]
    fn a_minimum_recurs_or_is_single() {
        for (values, expected) in [
            ([4, 4, 9], (4, false)),
            ([4, 7, 9], (4, true)),
            ([9, 9, 4], (4, true)),
            ([4, 4, 4], (4, false)),
            ([9, 4, 4], (4, false)),
            ([0, 0, 0], (0, false)),
        ] {
            let (counters, at) = counters(values);
            assert_eq!(least_and_single(&counters, &at), expected, "{values:?}");
        }
    }
}
