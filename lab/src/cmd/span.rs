//! `span`: section 7 of *Time-limited Bloom Filter* with the real structure.
//!
//! A span of 300 s and one insertion every 0.1 s, 10000 in all, into filters that expect 1000 and
//! 10000 keys where 3000 come: under- and over-dimensioned. For every error, the pairs (k, l) of
//! the authors with one bit per slice, and what our planner chooses. The table is their table 2; the
//! files hold what their figures 1 to 5 show, at every insertion.
//!
//! Bits per element are counted as the paper does: the bits of all slices over the elements inside
//! the span. Table 2 has whole numbers, rounded down: `k (k + l) / (l ln 2)`, what slices cost that
//! are half full when they leave, is 45.9 for its worst pair at an error of 1e-4, and the table says
//! 45; all five of its maxima are that formula so rounded. Beside it stands our own count: the whole
//! heap over the same elements.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use lately::plan::Goal;
use lately::raw::{Filter, Structure};
use lately::{ErrorRate, Window};
use lately_papers::TimeLimitedParameters;

use crate::limited::{INSERTIONS, MENU, Moment, SPAN, TABLE_2, WITHIN, pair, through};
use crate::table::Table;

/// What to keep.
#[derive(Debug, Args)]
pub struct Options {
    /// Write one file per filter into this directory, one line per insertion
    #[arg(long, value_name = "DIRECTORY")]
    csv: Option<PathBuf>,
}

/// Runs them all; says whether no pair takes more than table 2 says, every filter returned to k + l
/// slices, and the planner's choice takes no more than the best pair.
pub fn span(options: &Options, out: &mut impl Write) -> Result<bool> {
    let mut missed = Vec::new();
    for (&(rate, pairs), (least, most)) in MENU.iter().zip(TABLE_2) {
        let mut table = Table::new(&[
            "who",
            "k",
            "l",
            "bits",
            "first",
            "slices",
            "most",
            "slice 0",
            "formula",
            "bits/element",
            "heap bits",
            "error now",
            "most ever",
        ]);
        // What the planner chooses when it is told how many keys come, and when it is not.
        let mut chosen = Vec::new();
        for (who, expected_items) in [("told", Some(WITHIN)), ("untold", None)] {
            let goal = Goal::new(Window::Within(SPAN), ErrorRate::new(rate)?);
            let goal = Goal { expected_items, ..goal };
            let choice = TimeLimitedParameters::propose(&goal).map_err(|unfit| anyhow!(unfit.0))?;
            chosen.push((who, choice));
        }
        let (mut best_pair, mut best_choice) = (f64::INFINITY, f64::INFINITY);
        for (who, parameters) in pairs.iter().map(|&p| (PAIR, pair(p))).chain(chosen) {
            // Of both filters the one that takes more.
            let mut taken: f64 = 0.0;
            for first in [1_000, 10_000] {
                let run =
                    Run::of(TimeLimitedParameters { expected: first, ..parameters }, options)?;
                let TimeLimitedParameters { slices_per_key: k, turns: l, .. } = parameters;
                let name = format!("error {rate}: {who} ({k}, {l}) made for {first} keys");
                if who == PAIR && run.most.floor() > f64::from(most) {
                    missed.push(format!("{name}: {:.2} bits, table 2 has {most}", run.most));
                }
                if run.slices > (k + l) as usize {
                    missed.push(format!("{name}: {} slices", run.slices));
                }
                taken = taken.max(run.most);
                table.row(run.cells(who, first));
            }
            let best = if who == PAIR { &mut best_pair } else { &mut best_choice };
            *best = best.min(taken);
        }
        if best_choice > best_pair {
            missed.push(format!("error {rate}: the planner chose {best_choice:.2} bits"));
        }
        write!(out, "error {rate}: table 2 says {least} to {most} bits per element; ")?;
        writeln!(out, "best pair {best_pair:.2}, best choice {best_choice:.2}")?;
        writeln!(out, "{table}")?;
    }
    missed.iter().try_for_each(|miss| writeln!(out, "MISSED: {miss}"))?;
    Ok(missed.is_empty())
}

/// Who did not ask the planner.
const PAIR: &str = "pair";

/// What came out of one filter.
struct Run {
    parameters: TimeLimitedParameters,
    /// Slices at the end, and at most.
    slices: usize,
    most_slices: usize,
    /// Bits of the newest slice at the end.
    slice_0: u64,
    /// Bits of all slices over the elements within the span, over the last tenth of the stream.
    least: f64,
    most: f64,
    /// The whole heap over the elements that the promise covers, at the end.
    heap: f64,
    /// The error computed from what is stored, at most over the last tenth, and ever.
    error: f64,
    most_error: f64,
}

impl Run {
    fn of(parameters: TimeLimitedParameters, options: &Options) -> Result<Self> {
        let mut csv = options.csv.as_deref().map(|path| csv(path, &parameters)).transpose()?;
        let mut run = Run {
            parameters,
            slices: 0,
            most_slices: 0,
            slice_0: 0,
            least: f64::INFINITY,
            most: 0.0,
            heap: 0.0,
            error: 0.0,
            most_error: 0.0,
        };
        let mut kept = Ok(());
        through(parameters, |filter, moment| {
            let Moment { before, slices, slice_0, bits, heap } = moment;
            let error = filter.false_positive_rate();
            (run.slices, run.slice_0, run.heap) = (slices, slice_0, heap);
            run.most_slices = run.most_slices.max(slices);
            run.most_error = run.most_error.max(error);
            if before >= INSERTIONS / 10 * 9 {
                run.least = run.least.min(bits);
                run.most = run.most.max(bits);
                run.error = run.error.max(error);
            }
            if let Some(csv) = &mut csv
                && kept.is_ok()
            {
                kept = writeln!(csv, "{before},{slices},{slice_0},{bits:.3},{heap:.3},{error:.4e}");
            }
        });
        kept?;
        Ok(run)
    }

    /// Bits per element by the formula for slices of single bits, half full when they leave.
    fn formula(&self) -> Option<f64> {
        let TimeLimitedParameters { slices_per_key, turns, bits_per_slice, .. } = self.parameters;
        let (k, l) = (f64::from(slices_per_key), f64::from(turns));
        (bits_per_slice == 1).then(|| k * (k + l) / l / std::f64::consts::LN_2)
    }

    fn cells(&self, who: &str, first: u64) -> Vec<String> {
        let TimeLimitedParameters { slices_per_key, turns, bits_per_slice, .. } = self.parameters;
        vec![
            who.to_owned(),
            slices_per_key.to_string(),
            turns.to_string(),
            bits_per_slice.to_string(),
            first.to_string(),
            self.slices.to_string(),
            self.most_slices.to_string(),
            self.slice_0.to_string(),
            self.formula().map_or(String::new(), |bits| format!("{bits:.2}")),
            format!("{:.2} .. {:.2}", self.least, self.most),
            format!("{:.1}", self.heap),
            format!("{:.2e}", self.error),
            format!("{:.2e}", self.most_error),
        ]
    }
}

/// A file for a filter, with its heading.
fn csv(directory: &Path, parameters: &TimeLimitedParameters) -> Result<BufWriter<File>> {
    let TimeLimitedParameters { slices_per_key, turns, bits_per_slice, expected, .. } = parameters;
    let name = format!("k{slices_per_key}-l{turns}-b{bits_per_slice}-first{expected}.csv");
    let path = directory.join(name);
    fs::create_dir_all(directory)?;
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut file = BufWriter::new(file);
    writeln!(file, "insertion,slices,slice_0_bits,bits_per_element,heap_bits_per_element,error")?;
    Ok(file)
}
