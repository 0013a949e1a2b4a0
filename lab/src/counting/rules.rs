//! The rules over skew, load and hashes: the figures of the paper as data.
//!
//! Recurring minimum gets the same memory as the others in all: its first filter two thirds, its
//! second one third; with a marker, a bit per counter of the first filter as well, taking a counter
//! as a byte.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::raw::quantity;
use lately::spectral::rule::least_and_single;
use lately::spectral::{Allotment, Rows, Rule};
use testkit::oracle::Counts;
use testkit::streams;

use super::{Errors, Plain, hash, plain};
use crate::table::Table;

/// How much to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// Key sightings to spend on each line: more of them repeat small lives more often
    #[arg(long, default_value = "10M", value_parser = quantity::items)]
    sightings: u64,
    /// The most different keys
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    keys: u64,
}

/// One line of a figure.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Different keys.
    pub keys: u64,
    /// Sightings of each, on average.
    pub frequency: u64,
    /// Of Zipf's law.
    pub skew: f64,
    /// Counters of a key.
    pub hashes: u32,
    /// `n k / m`.
    pub load: f64,
}

/// The one that the others vary.
pub const BASE: Setting = Setting { keys: 1_000, frequency: 100, skew: 0.5, hashes: 5, load: 0.7 };

impl Setting {
    fn width(&self) -> u64 {
        (self.keys as f64 / self.load).round() as u64
    }

    fn lives(&self, options: &Options) -> u64 {
        (options.sightings / (self.keys * self.frequency)).clamp(1, 1_000)
    }

    fn stream(&self, seed: u64) -> impl Iterator<Item = u64> {
        streams::zipf(self.keys, self.skew, seed).take((self.keys * self.frequency) as usize)
    }
}

fn settings(options: &Options) -> Vec<Setting> {
    let base = BASE;
    let mut settings = Vec::new();
    for load in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        settings.push(Setting { load, ..base });
    }
    for hashes in 1..=8 {
        settings.push(Setting { hashes, ..base });
    }
    for (keys, frequency) in
        [(1_000, 100), (1_000, 10), (1_000, 1), (10_000, 100), (100_000, 10), (1_000_000, 1)]
    {
        for skew in [0.0, 0.5, 1.0, 1.5, 2.0] {
            settings.push(Setting { keys, frequency, skew, ..base });
        }
    }
    settings.retain(|setting| setting.keys <= options.keys);
    settings
}

/// Measures all settings. Claims: minimum selection errs as a Bloom filter does, to 5% where the
/// luck of so few errors allows to tell; minimal increase is worse for no key at all; and neither
/// ever answers too little.
pub fn rules(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = [
        "keys",
        "freq",
        "skew",
        "k",
        "load",
        "bloom",
        "select",
        "increase",
        "recurring",
        "marked",
        "add select",
        "add increase",
        "add recurring",
        "add marked",
        "too little",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for setting in settings(options) {
        let measured = measure(&setting, setting.lives(options));
        let [select, increase, recurring, marked] = measured.errors;
        // Three standard deviations of so many errors, for their luck.
        let luck = 3.0 / (select.above as f64).sqrt().max(1.0);
        let ratio = select.ratio() / measured.bloom;
        let holds = (ratio - 1.0).abs() <= f64::max(0.05, luck)
            && measured.worse_than_selection == 0
            && select.below + increase.below == 0;
        all_hold &= holds;
        let share = |errors: Errors| format!("{:.5}", errors.ratio());
        let additive = |errors: Errors| format!("{:.4}", errors.root_mean_square());
        let below = |errors: Errors| errors.below as f64 / errors.keys as f64;
        table.row([
            setting.keys.to_string(),
            setting.frequency.to_string(),
            format!("{}", setting.skew),
            setting.hashes.to_string(),
            format!("{}", setting.load),
            format!("{:.5}", measured.bloom),
            share(select),
            share(increase),
            share(recurring),
            share(marked),
            additive(select),
            additive(increase),
            additive(recurring),
            additive(marked),
            format!("{:.5} {:.5}", below(recurring), below(marked)),
            if holds { "holds" } else { "FAILS" }.to_owned(),
        ]);
    }
    write!(out, "{table}")?;
    Ok(all_hold)
}

/// What the rules did in one setting.
pub struct Measured {
    /// The Bloom error for as many keys as occurred, averaged over lives.
    pub bloom: f64,
    /// Minimum selection, minimal increase, recurring minimum, with a marker.
    pub errors: [Errors; 4],
    /// The root of the mean square of errors, life by life, in the same order.
    pub lives: [Vec<f64>; 4],
    /// Keys for which minimal increase answers more than minimum selection.
    worse_than_selection: u64,
}

/// Counts the errors of all rules in one setting.
pub fn measure(setting: &Setting, lives: u64) -> Measured {
    let width = setting.width();
    let part = |share: f64| ((width as f64 * share) as u64).max(1);
    let rows = |width| Rows { width, hashes: setting.hashes };
    let shapes = [
        (rows(width), Rule::MinimumSelection),
        (rows(width), Rule::MinimalIncrease),
        (rows(part(2.0 / 3.0)), Rule::RecurringMinimum { second_width: part(1.0 / 3.0) }),
        (rows(part(1.0 / 1.625)), Rule::MarkedRecurringMinimum { second_width: part(0.5 / 1.625) }),
    ];
    let mut measured = Measured {
        bloom: 0.0,
        errors: Default::default(),
        lives: Default::default(),
        worse_than_selection: 0,
    };
    for seed in 0..lives {
        let mut filters = shapes.map(|(rows, rule)| plain(setting.keys, rows, rule));
        let mut truth = Counts::new();
        for key in setting.stream(seed) {
            truth.add(key, 1);
            for filter in &mut filters {
                filter.add(hash(seed, key), 1);
            }
        }
        let others = truth.distinct() - 1;
        measured.bloom += rows(width).collision_rate(others) / lives as f64;
        for (at, filter) in filters.iter().enumerate() {
            let errors = Errors::of(&truth, |key| filter.count(hash(seed, key)));
            measured.lives[at].push(errors.root_mean_square());
            measured.errors[at].add(errors);
        }
        let worse = |key| filters[1].count(hash(seed, key)) > filters[0].count(hash(seed, key));
        measured.worse_than_selection += truth.iter().filter(|&(key, _)| worse(key)).count() as u64;
    }
    measured
}

/// The paper's table 1: a second filter of half the size of the first, beside it. `formula` is its
/// expected error `P(R) P(E|R) + (1 - P(R)) E_s`, from the measured share of keys whose minimum
/// recurs; `measured` is what came out. Claims nothing.
pub fn recurring(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = [
        "load",
        "bloom",
        "recurs",
        "wrong if it does",
        "load 2",
        "bloom 2",
        "formula",
        "measured",
        "marked",
        "bloom/formula",
        "bloom/measured",
        "select, same memory",
        "too little",
    ];
    let mut table = Table::new(&headings);
    for load in LOADS {
        let setting = Setting { load, ..BASE };
        table.row(one_recurring(&setting, setting.lives(options)).cells(&setting));
    }
    write!(out, "{table}")?;
    Ok(true)
}

/// The loads of table 1.
pub const LOADS: [f64; 5] = [1.0, 0.83, 0.7, 0.625, 0.5];

/// One line of table 1.
pub struct Recurring {
    /// The Bloom error of the first filter.
    pub bloom: f64,
    /// The share of keys whose minimum recurs, and of them those that are wrong all the same.
    pub recurs: f64,
    /// Of those, the share with a wrong count.
    pub wrong: f64,
    /// Load and Bloom error of the second filter.
    second: (f64, f64),
    /// What the paper expects of all that.
    pub formula: f64,
    /// Recurring minimum, with a marker, and minimum selection in the same memory.
    pub errors: [Errors; 3],
}

impl Recurring {
    fn cells(&self, setting: &Setting) -> Vec<String> {
        let Self { bloom, recurs, wrong, second: (load_2, bloom_2), formula, errors } = self;
        let measured = errors[0].ratio();
        let below = |errors: Errors| errors.below as f64 / errors.keys as f64;
        vec![
            setting.load.to_string(),
            format!("{bloom:.5}"),
            format!("{recurs:.3}"),
            format!("{wrong:.5}"),
            format!("{load_2:.3}"),
            format!("{bloom_2:.5}"),
            format!("{formula:.5}"),
            format!("{measured:.5}"),
            format!("{:.5}", errors[1].ratio()),
            format!("{:.1}", bloom / formula),
            format!("{:.1}", bloom / measured),
            format!("{:.5}", errors[2].ratio()),
            format!("{:.5} {:.5}", below(errors[0]), below(errors[1])),
        ]
    }
}

/// Measures it.
pub fn one_recurring(setting: &Setting, lives: u64) -> Recurring {
    let hashes = setting.hashes;
    let first = Rows { width: setting.width(), hashes };
    let second_width = first.width / 2;
    let larger = Rows { width: first.width + second_width, hashes };
    let (mut keys, mut recurs, mut wrong, mut bloom) = (0_u64, 0_u64, 0_u64, 0.0);
    let mut errors: [Errors; 3] = Default::default();
    for seed in 0..lives {
        let mut filters = [
            plain(setting.keys, first, Rule::RecurringMinimum { second_width }),
            plain(setting.keys, first, Rule::MarkedRecurringMinimum { second_width }),
            plain(setting.keys, larger, Rule::MinimumSelection),
        ];
        let mut truth = Counts::new();
        for key in setting.stream(seed) {
            truth.add(key, 1);
            filters.iter_mut().for_each(|filter| _ = filter.add(hash(seed, key), 1));
        }
        bloom += first.collision_rate(truth.distinct() - 1) / lives as f64;
        for (key, exact) in truth.iter() {
            let (least, single) = first_answer(&filters[0], first, hash(seed, key));
            keys += 1;
            recurs += u64::from(!single);
            wrong += u64::from(!single && least != exact);
        }
        for (errors, filter) in errors.iter_mut().zip(&filters) {
            errors.add(Errors::of(&truth, |key| filter.count(hash(seed, key))));
        }
    }
    let recurring = recurs as f64 / keys as f64;
    let wrong = wrong as f64 / recurs as f64;
    let moved = (setting.keys as f64 * (1.0 - recurring)).round() as u64;
    let bloom_2 = Rows { width: second_width, hashes }.collision_rate(moved);
    let formula = recurring * wrong + (1.0 - recurring) * bloom_2;
    let second = (moved as f64 / second_width as f64, bloom_2);
    Recurring { bloom, recurs: recurring, wrong, second, formula, errors }
}

fn first_answer(filter: &Plain, rows: Rows, hash: u64) -> (u64, bool) {
    least_and_single(filter.counters(), &rows.indices(hash))
}
