//! A join between two sites: what is exchanged, and that the verified result is the exact one.
//!
//! Orders at one site, payments at the other, a line of text each; they join on the customer. A
//! share of the customers is at both sites.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::queries::bifocal::{Relation, Sample, join_size};
use lately::queries::bloomjoin::{Bloomjoin, verify};
use lately::raw::quantity;
use lately::{Counter, Lately, Seed};
use testkit::random::SplitMix64;

use crate::table::Table;

/// How much to join.
#[derive(Debug, Args)]
pub struct Options {
    /// Rows of each relation
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    rows: u64,
    /// Different customers of each
    #[arg(long, default_value = "200k", value_parser = quantity::items)]
    customers: u64,
    /// Share of the customers of one that are also customers of the other
    #[arg(long, default_value_t = 0.02)]
    common: f64,
}

/// The largest error that still pays: a wrong candidate costs 20 bytes, a counter half a byte.
const ERROR: f64 = 0.01;

/// Joins for three thresholds. Claims: the verified result is the exact join, and at most 5% of the
/// bytes of the smaller relation's rows are exchanged.
pub fn join(options: &Options, out: &mut impl Write) -> Result<bool> {
    let orders = relation(options, 0, "order");
    let payments = relation(options, 1, "payment");
    let bytes = |rows: &[Row]| rows.iter().map(|row| row.line.len() as u64 + 1).sum::<u64>();
    let smaller = bytes(&orders).min(bytes(&payments));
    let counts = |rows: &[Row]| {
        rows.iter().fold(BTreeMap::new(), |mut counts, row| {
            *counts.entry(row.customer.clone()).or_insert(0_u64) += 1;
            counts
        })
    };
    let (here, there) = (counts(&orders), counts(&payments));
    let expected = here.len().max(there.len()) as u64;
    let filter = |rows: &[Row]| -> Result<(Counter, Sample)> {
        let builder = Lately::ever().counting().expected_items(expected);
        let mut filter = builder.error(ERROR).seed(9).build()?;
        let mut sample = Sample::new(Sample::size_for(rows.len() as u64), Seed(1));
        for row in rows {
            filter.add(&row.customer);
            sample.offer(filter.hashing().hash(row.customer.as_bytes()));
        }
        Ok((filter, sample))
    };
    let (ours, our_sample) = filter(&orders)?;
    let (theirs, their_sample) = filter(&payments)?;

    let estimate = join_size(
        Relation { counter: ours.counting(), sample: &our_sample },
        Relation { counter: theirs.counting(), sample: &their_sample },
    );
    let truth: u64 = here.iter().map(|(key, rows)| rows * there.get(key).unwrap_or(&0)).sum();
    writeln!(out, "rows of the join: {truth}; by bifocal sampling: {estimate:.0}")?;

    let join = Bloomjoin::new(ours, &theirs.save())?;
    let headings = [
        "having",
        "result",
        "candidates",
        "false share",
        "filter",
        "candidates",
        "counts",
        "bytes",
        "of rows",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for at_least in [1, 30, 100] {
        let candidates = join.candidates(orders.iter().map(|row| &row.customer), at_least);
        let traffic = join.traffic(&candidates);
        let result = verify(&candidates, at_least, |key| {
            let key = std::str::from_utf8(key).expect("customers are text");
            there.get(key).copied().unwrap_or(0)
        });
        let pairs = |key: &String| here[key] * there.get(key).copied().unwrap_or(0);
        let exact: Vec<(&String, u64)> = here
            .keys()
            .map(|key| (key, pairs(key)))
            .filter(|(_, pairs)| *pairs >= at_least)
            .collect();
        let same = exact.len() == result.len()
            && exact
                .iter()
                .zip(&result)
                .all(|((key, pairs), found)| key.as_bytes() == found.key && *pairs == found.pairs);
        let share = traffic.total() as f64 / smaller as f64;
        let holds = same && share <= 0.05;
        all_hold &= holds;
        table.row([
            at_least.to_string(),
            result.len().to_string(),
            candidates.len().to_string(),
            format!("{:.4}", (candidates.len() - result.len()) as f64 / here.len() as f64),
            traffic.filter.to_string(),
            traffic.candidates.to_string(),
            traffic.counts.to_string(),
            traffic.total().to_string(),
            format!("{:.2}%", 100.0 * share),
            if holds { "holds" } else { "FAILS" }.to_owned(),
        ]);
    }
    writeln!(out, "{smaller} bytes in the rows of the smaller relation")?;
    write!(out, "{table}")?;
    Ok(all_hold)
}

struct Row {
    customer: String,
    line: String,
}

/// Rows with a customer each; those with small numbers are common to both sites.
fn relation(options: &Options, site: u64, kind: &str) -> Vec<Row> {
    let mut random = SplitMix64::new(site);
    let common = (options.customers as f64 * options.common) as u64;
    let row = |_| {
        let number = random.below(options.customers);
        let number = if number < common { number } else { number + site * options.customers };
        let customer = format!("customer-{number:08}");
        let amount = random.below(1_000_000);
        let reference = random.next_u64();
        let line = format!(
            "{{\"kind\":\"{kind}\",\"customer\":\"{customer}\",\"amount\":{amount},\"reference\":\"{reference:016x}\"}}"
        );
        Row { customer, line }
    };
    (0..options.rows).map(row).collect()
}
