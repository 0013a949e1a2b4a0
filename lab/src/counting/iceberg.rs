//! Thresholds chosen when asking: recall, and how many reports are false.

use std::collections::HashSet;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::Lately;
use lately::queries::Iceberg;
use lately::raw::quantity;
use lately::spectral::counters::Bytes;
use lately::spectral::{Rule, Spectral, SpectralParameters};
use testkit::oracle::Counts;
use testkit::stats::rate_is_within;
use testkit::streams;

use super::hash;
use crate::table::Table;

/// How much to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// Items of the stream
    #[arg(long, default_value = "10M", value_parser = quantity::items)]
    items: u64,
    /// Different keys there are to draw
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    keys: u64,
    /// Room for heavy keys
    #[arg(long, default_value_t = 10_000)]
    room: usize,
}

/// Candidates that never came, to ask about.
const STRANGERS: u64 = 1_000_000;

/// Counts a stream and asks at thresholds from 1 to a million. Claims: every key that reaches the
/// threshold is reported, by the filter and by the keys kept; strangers are reported as often as
/// the counters predict (to 15% where there are enough to tell); of the keys that do not reach it,
/// no more are reported than the planned error.
pub fn iceberg(options: &Options, out: &mut impl Write) -> Result<bool> {
    let rate = 0.01;
    let headings = [
        "rule",
        "threshold",
        "reach it",
        "reported",
        "recall",
        "kept recall",
        "false share",
        "strangers",
        "predicted",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    let mut truth = Counts::new();
    let builder = Lately::ever().counting().expected_items(options.keys).error(rate);
    let mut iceberg = Iceberg::new(builder.build()?, options.room)?;
    let rules = [Rule::MinimumSelection, Rule::MinimalIncrease];
    let mut filters = rules.map(|rule| {
        let parameters = SpectralParameters::with_error(options.keys, rate, rule);
        Spectral::<Bytes, _>::new(parameters)
    });
    for key in streams::zipf(options.keys, 1.0, 1).take(options.items as usize) {
        truth.add(key, 1);
        filters.iter_mut().for_each(|filter| _ = filter.add(hash(1, key), 1));
        iceberg.add(key.to_le_bytes(), 1);
    }
    for (rule, filter) in rules.into_iter().zip(&filters) {
        for threshold in [1, 2, 3, 5, 10, 30, 100, 1_000, 10_000, 100_000, 1_000_000] {
            let (mut reach, mut reported, mut right) = (0_u64, 0_u64, 0_u64);
            for (key, count) in truth.iter() {
                let is_reported = filter.count(hash(1, key)) >= threshold;
                reach += u64::from(count >= threshold);
                reported += u64::from(is_reported);
                right += u64::from(count >= threshold && is_reported);
            }
            let kept = iceberg.at_least(threshold).ok().map(|heavy| {
                let keys: HashSet<&[u8]> = heavy.into_iter().map(|(key, _)| key).collect();
                let all = truth.iter().filter(|&(_, count)| count >= threshold);
                all.filter(|(key, _)| keys.contains(&key.to_le_bytes()[..])).count() as u64
            });
            let hits = streams::absent(1)
                .take(STRANGERS as usize)
                .filter(|&key| filter.count(hash(1, key)) >= threshold)
                .count() as u64;
            let predicted = filter.reach_rate(threshold);
            let others = truth.distinct() - reach;
            let false_share = (reported - right) as f64 / others.max(1) as f64;
            let holds = right == reach
                && kept.is_none_or(|kept| kept == reach)
                && rate_is_within(hits, STRANGERS, predicted, 0.15, 1e-9)
                && false_share <= rate;
            all_hold &= holds;
            let recall = |found: u64| {
                if reach == 0 {
                    "-".to_owned()
                } else {
                    format!("{:.6}", found as f64 / reach as f64)
                }
            };
            table.row([
                rule.name().to_owned(),
                threshold.to_string(),
                reach.to_string(),
                reported.to_string(),
                recall(right),
                kept.map_or("below floor".to_owned(), recall),
                format!("{false_share:.6}"),
                format!("{:.6}", hits as f64 / STRANGERS as f64),
                format!("{predicted:.6}"),
                if holds { "holds" } else { "FAILS" }.to_owned(),
            ]);
        }
    }
    writeln!(
        out,
        "{} different keys, floor of the kept keys {}",
        truth.distinct(),
        iceberg.floor()
    )?;
    write!(out, "{table}")?;
    Ok(all_hold)
}
