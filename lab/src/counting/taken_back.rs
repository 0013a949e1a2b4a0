//! What taking back does to the rules: the paper's experiments on deletions and sliding windows.
//!
//! Minimal increase refuses to take back; here it is forced to, by lowering all counters of a key,
//! to show why it refuses.

use std::io::Write;

use anyhow::Result;
use lately::spectral::counters::{Counters, Fixed};
use lately::spectral::{Allotment, Rows, Rule};
use testkit::oracle::Counts;
use testkit::random::SplitMix64;
use testkit::streams;

use super::{Errors, Plain, hash, plain};
use crate::table::Table;

const KEYS: u64 = 1_000;
const SIGHTINGS: usize = 100_000;
const LIVES: u64 = 20;

/// Load 0.7 with five hashes.
const ROWS: Rows = Rows { width: KEYS * 10 / 7, hashes: 5 };

/// Measures both experiments for five skews. Claims: minimum selection never answers too little,
/// and minimal increase, forced to take back, does so for most of its errors.
pub fn taken_back(out: &mut impl Write) -> Result<bool> {
    let headings = [
        "what",
        "skew",
        "select",
        "increase",
        "recurring",
        "marked",
        "add select",
        "add increase",
        "add recurring",
        "add marked",
        "too little: select",
        "increase",
        "recurring",
        "marked",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for (name, way) in [("removals", Way::Removals), ("window", Way::Window)] {
        for skew in SKEWS {
            let errors = measure(way, skew, LIVES);
            let [select, increase, ..] = errors;
            all_hold &= select.below == 0 && increase.below > increase.above;
            let mut row = vec![name.to_owned(), skew.to_string()];
            row.extend(errors.map(|errors| format!("{:.5}", errors.ratio())));
            row.extend(errors.map(|errors| format!("{:.4}", errors.root_mean_square())));
            row.extend(
                errors.map(|errors| format!("{:.5}", errors.below as f64 / errors.keys as f64)),
            );
            table.row(row);
        }
    }
    write!(out, "{table}")?;
    Ok(all_hold)
}

/// The skews that are looked at.
pub const SKEWS: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];

/// How a life goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Ten phases of insertions, each followed by removing one key in twenty entirely.
    Removals,
    /// A window of a fifth of the stream slides over it.
    Window,
}

/// Errors of minimum selection, of minimal increase that is forced to take back, and of recurring minimum
/// without and with a marker.
pub fn measure(way: Way, skew: f64, lives: u64) -> [Errors; 4] {
    let mut errors: [Errors; 4] = Default::default();
    for seed in 0..lives {
        let mut life = Life::new(skew, seed);
        match way {
            Way::Removals => removals(&mut life),
            Way::Window => window(&mut life),
        }
        life.add_errors(&mut errors);
    }
    errors
}

/// All rules through the same insertions and removals.
struct Life {
    seed: u64,
    keys: Box<dyn Iterator<Item = u64>>,
    truth: Counts,
    filters: [Plain; 3],
    /// Minimal increase without its refusal.
    forced: Fixed<u32>,
}

impl Life {
    fn new(skew: f64, seed: u64) -> Self {
        let second_width = ROWS.width / 3;
        let first = Rows { width: 2 * second_width, ..ROWS };
        let marked = Rows { width: (ROWS.width as f64 / 1.625) as u64, ..ROWS };
        let marked_rule = Rule::MarkedRecurringMinimum { second_width: marked.width / 2 };
        Self {
            seed,
            keys: Box::new(streams::zipf(KEYS, skew, seed)),
            truth: Counts::new(),
            filters: [
                plain(KEYS, ROWS, Rule::MinimumSelection),
                plain(KEYS, first, Rule::RecurringMinimum { second_width }),
                plain(KEYS, marked, marked_rule),
            ],
            forced: Fixed::new(ROWS.counters()),
        }
    }

    fn insert(&mut self) -> u64 {
        let key = self.keys.next().expect("streams do not end");
        let hash = hash(self.seed, key);
        self.truth.add(key, 1);
        self.filters.iter_mut().for_each(|filter| _ = filter.add(hash, 1));
        self.forced.raise_least(&ROWS.indices(hash), 1);
        key
    }

    fn remove(&mut self, key: u64, times: u64) {
        let hash = hash(self.seed, key);
        assert!(self.truth.remove(key, times));
        for filter in &mut self.filters {
            filter.take_back(hash, times).expect("what is there can be taken back");
        }
        self.forced.subtract_from_all(&ROWS.indices(hash), times);
    }

    fn add_errors(&self, errors: &mut [Errors; 4]) {
        let Self { truth, seed, .. } = self;
        let [select, recurring, marked] = &self.filters;
        let of = |filter: &Plain| Errors::of(truth, |key| filter.count(hash(*seed, key)));
        let forced = Errors::of(truth, |key| self.forced.least(&ROWS.indices(hash(*seed, key))));
        for (errors, more) in errors.iter_mut().zip([of(select), forced, of(recurring), of(marked)])
        {
            errors.add(more);
        }
    }
}

fn removals(life: &mut Life) {
    let mut random = SplitMix64::new(life.seed);
    for _ in 0..10 {
        for _ in 0..SIGHTINGS / 10 {
            life.insert();
        }
        let mut keys: Vec<(u64, u64)> = life.truth.iter().collect();
        keys.sort_unstable();
        for (key, count) in keys {
            if random.below(20) == 0 {
                life.remove(key, count);
            }
        }
    }
}

fn window(life: &mut Life) {
    let mut recent = std::collections::VecDeque::new();
    for _ in 0..SIGHTINGS {
        recent.push_back(life.insert());
        if recent.len() > SIGHTINGS / 5 {
            let oldest = recent.pop_front().expect("the window is full");
            life.remove(oldest, 1);
        }
    }
}
