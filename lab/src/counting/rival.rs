//! Against a count-min sketch with conservative update, the `count-min-sketch` crate, at equal
//! memory: keys drawn by Zipf's law from an alphabet, counted, and every one of them asked for.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::Args;
use count_min_sketch::CountMinSketch32;
use lately::raw::{Blueprint, quantity};
use lately::spectral::{Blocked, BlockedParameters, Rows, Rule, SpectralParameters, Storage};
use testkit::oracle::Counts;
use testkit::streams;

use super::Errors;
use super::counter::{CountMin, Counter, Ours, Pace};
use crate::summary::Summary;
use crate::table::Table;

/// How much to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// Different keys there are to draw
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    keys: u64,
    /// Sightings
    #[arg(long, default_value = "10M", value_parser = quantity::items)]
    sightings: u64,
    /// Skews of the streams
    #[arg(long = "skew", value_delimiter = ',', default_value = "0.8,1.0,1.2")]
    skews: Vec<f64>,
}

/// Sightings of a round of the race.
const ROUND: usize = 250_000;

/// Counts streams with everybody. Claims: no more memory than the rival, no count too low, and a
/// smaller mean error; with three hashes, the recommended rule and storage take at most 1.5 times as
/// long to update, and the blocked row takes less time than the rival (medians of the rounds, each
/// beside the rival's in that round). A fourth hash and batches show what else there is.
pub fn rival(options: &Options, out: &mut impl Write) -> Result<bool> {
    let mut all_hold = true;
    for &skew in &options.skews {
        all_hold &= race(options, skew, out)?;
    }
    Ok(all_hold)
}

fn race(options: &Options, skew: f64, out: &mut impl Write) -> Result<bool> {
    let keys: Vec<u64> =
        streams::zipf(options.keys, skew, 1).take(options.sightings as usize).collect();
    let mut truth = Counts::new();
    keys.iter().for_each(|&key| truth.add(key, 1));

    // With a tolerance of two for as many keys, the rival's tables come to 16 bytes per key in all.
    let (capacity, certainty) = (options.keys as usize, 0.95);
    let refused = |why: &str| anyhow!("the rival refuses: {why}");
    let sketch = CountMinSketch32::new(capacity, certainty, 2.0).map_err(refused)?;
    let bytes =
        CountMinSketch32::<u64>::estimate_memory(capacity, certainty, 2.0).map_err(refused)?;
    let theirs = CountMin { sketch, bytes: bytes as u64 };
    let items = truth.distinct();
    let mut contenders: Vec<(String, Box<dyn Counter>)> =
        vec![("count-min-sketch".to_owned(), Box::new(theirs))];
    // What spills comes on top, so a little is left for it.
    let counters = bytes as u64 * 95 / 100;
    for (hashes, pace) in [(3, Pace::Single), (4, Pace::Single), (3, Pace::Batched)] {
        let rows = Rows { width: counters / u64::from(hashes), hashes };
        let rule = Rule::MinimalIncrease;
        let spread = SpectralParameters { items, rows, rule, storage: Storage::Bytes };
        let blocked = Blocked { lines: counters / 64, hashes };
        let blocked = BlockedParameters { items, blocked, rule };
        let ours = |blueprint: &dyn Blueprint| Ours::new(blueprint, pace);
        let how = if pace == Pace::Batched { ", batched" } else { "" };
        contenders.push((format!("spectral {hashes}{how}"), Box::new(ours(&spread))));
        contenders.push((format!("spectral-blocked {hashes}{how}"), Box::new(ours(&blocked))));
    }

    let mut times = vec![(Vec::new(), Vec::new()); contenders.len()];
    for round in keys.chunks(ROUND) {
        for ((_, contender), (adding, looking)) in contenders.iter_mut().zip(&mut times) {
            let per = |start: Instant| start.elapsed().as_nanos() as f64 / round.len() as f64;
            let start = Instant::now();
            contender.add_each(round);
            adding.push(per(start));
            let start = Instant::now();
            black_box(contender.count_each(round));
            looking.push(per(start));
        }
    }

    let headings = [
        "who",
        "bytes",
        "exact",
        "mean error",
        "ns/update",
        "least",
        "ratio",
        "ns/look",
        "least",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    let rivals_error = Errors::of(&truth, |key| contenders[0].1.count(key)).mean();
    for ((name, contender), (adding, looking)) in contenders.iter().zip(&times) {
        let errors = Errors::of(&truth, |key| contender.count(key));
        let [add, look] = [adding, looking].map(|times| Summary::of(times).expect("samples"));
        let ratio = Summary::of_ratios(adding, &times[0].0).expect("samples");
        let allowed = match &name[..] {
            "spectral 3" => 1.5,
            "spectral-blocked 3" => 1.0,
            _ => f64::INFINITY,
        };
        let holds = name.starts_with("count")
            || contender.bytes() <= bytes as u64
                && errors.below == 0
                && errors.mean() < rivals_error
                && ratio.median <= allowed;
        all_hold &= holds;
        table.row([
            name.clone(),
            contender.bytes().to_string(),
            format!("{:.3}%", 100.0 * (1.0 - errors.ratio())),
            format!("{:.5}", errors.mean()),
            format!("{:.1}", add.median),
            format!("{:.1}", add.least),
            format!("{:.2}", ratio.median),
            format!("{:.1}", look.median),
            format!("{:.1}", look.least),
            if holds { "holds" } else { "FAILS" }.to_owned(),
        ]);
    }
    write!(out, "{} different keys, skew {}\n{table}", items, skew)?;
    Ok(all_hold)
}
