//! `work`: the most cache lines that one operation of the sliding filter touches. Counted, not timed.

use std::io::Write;

use anyhow::{Result, anyhow};
use clap::Args;
use lately::dictionary::Repeat;
use lately::dictionary::tools::CacheLines;
use lately::raw::quantity;
use lately::sliding::{Sliding, SlidingParameters};
use lately::{ErrorRate, Hashing, Seed};

/// What to count.
#[derive(Debug, Args)]
pub struct Options {
    /// Items in the window
    #[arg(long, default_value = "100k", value_parser = quantity::items)]
    last: u64,
    /// Promised share of false positives
    #[arg(long, default_value = "1%")]
    error: ErrorRate,
    /// Insertions, and as many lookups
    #[arg(long, default_value = "1e7", value_parser = quantity::items)]
    operations: u64,
}

/// Inserts distinct keys and looks up absent ones.
pub fn work(options: &Options, out: &mut impl Write) -> Result<bool> {
    let parameters = SlidingParameters::with_error(options.last, None, options.error.get())
        .map_err(|unfit| anyhow!("the sliding filter {}", unfit.0))?;
    let mut filter = Sliding::new(parameters);
    let hashing = Hashing::Fast(Seed(1));
    let mut work = CacheLines::default();
    let mut tally = [Tally::default(), Tally::default()];
    for key in 0..options.operations {
        let hash = hashing.hash(&key.to_le_bytes());
        filter.insert_counted(hash, Repeat::Refresh, &mut work);
        tally[0].add(work.count());
        let absent = hashing.hash(&(!key).to_le_bytes());
        filter.contains_counted(absent, &mut work);
        tally[1].add(work.count());
    }
    for (name, tally) in ["insert", "lookup"].into_iter().zip(tally) {
        let mean = tally.sum as f64 / options.operations as f64;
        writeln!(out, "{name}: at most {} cache lines, {mean:.2} on average", tally.most)?;
    }
    writeln!(out, "{} entries found no room", filter.lost())?;
    Ok(true)
}

#[derive(Default)]
struct Tally {
    most: usize,
    sum: u64,
}

impl Tally {
    fn add(&mut self, lines: usize) {
        self.most = self.most.max(lines);
        self.sum += lines as u64;
    }
}
