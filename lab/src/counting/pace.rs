//! How long counting takes beside what people use: ever beside a count-min sketch with conservative update,
//! in the last n beside a hash map with a queue. The time is what the processor gave to this thread, in rounds
//! that take turns.

use std::collections::{HashMap, VecDeque, hash_map};
use std::io::Write;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use count_min_sketch::CountMinSketch32;
use foldhash::fast::FixedState;
use lately::raw::quantity;
use lately::{Counter, Lately};
use testkit::{cpu, streams};

use crate::summary::Summary;

/// How much to count.
#[derive(Debug, Args)]
pub struct Options {
    /// Sightings without end; in a window three times its length
    #[arg(long, default_value = "10M", value_parser = quantity::items)]
    sightings: u64,
    /// Different keys that there are by Zipf's law
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    keys: u64,
    /// The window by count
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    last: u64,
    /// Share of counts that may be too high
    #[arg(long, default_value_t = 0.001)]
    error: f64,
    /// Only the first or only the second of each pair, for a profiler
    #[arg(long)]
    only: Option<usize>,
}

/// Sightings of a round.
const ROUND: usize = 250_000;

/// Something that counts sightings one by one.
trait Counts {
    fn add(&mut self, key: u64);
}

impl Counts for Counter {
    fn add(&mut self, key: u64) {
        Counter::add(self, key);
    }
}

impl Counts for CountMinSketch32<u64> {
    fn add(&mut self, key: u64) {
        self.increment(&key);
    }
}

/// Exact counts of the last n.
struct Exact {
    last: usize,
    counts: HashMap<u64, u32, FixedState>,
    queue: VecDeque<u64>,
}

impl Counts for Exact {
    fn add(&mut self, key: u64) {
        *self.counts.entry(key).or_insert(0) += 1;
        self.queue.push_back(key);
        if self.queue.len() > self.last
            && let Some(oldest) = self.queue.pop_front()
            && let hash_map::Entry::Occupied(mut count) = self.counts.entry(oldest)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Races them; says whether adding takes at most the promised part of the rival's time.
pub fn pace(options: &Options, out: &mut impl Write) -> Result<bool> {
    let sightings = options.sightings as usize;
    let zipf: Vec<u64> = streams::zipf(options.keys, 1.0, 1).take(sightings).collect();
    let new: Vec<u64> = (0..options.sightings).collect();
    let refused = |why: &str| anyhow!("the rival refuses: {why}");
    let mut holds = true;
    for (name, keys, different, most) in [
        ("ever, Zipf 1.0", &zipf, options.keys, 0.4),
        ("ever, all new", &new, options.sightings, 0.8),
    ] {
        let ours = Lately::ever().counting().error(options.error).build()?;
        // With a tolerance of two for as many keys, the rival's tables come to 16 bytes per key in all.
        let theirs = CountMinSketch32::new(different as usize, 0.95, 2.0).map_err(refused)?;
        let pair: [Box<dyn Counts>; 2] = [Box::new(ours), Box::new(theirs)];
        holds &= race(name, "count-min-sketch", pair, keys, 0, most, options.only, out)?;
    }
    let ours = Lately::last(options.last).counting().error(options.error).build()?;
    let last = options.last as usize;
    let exact = Exact { last, counts: HashMap::default(), queue: VecDeque::new() };
    let keys: Vec<u64> = (0..3 * options.last).collect();
    let pair: [Box<dyn Counts>; 2] = [Box::new(ours), Box::new(exact)];
    let rounds = last.div_ceil(ROUND);
    holds &=
        race("last, all new", "HashMap and queue", pair, &keys, rounds, 0.75, options.only, out)?;
    Ok(holds)
}

/// One stream through both, in turns. Rounds before the first that counts fill them.
#[allow(clippy::too_many_arguments, reason = "a row of the table above")]
fn race(
    name: &str,
    rival: &str,
    mut pair: [Box<dyn Counts>; 2],
    keys: &[u64],
    skipped: usize,
    most: f64,
    only: Option<usize>,
    out: &mut impl Write,
) -> Result<bool> {
    let mut times = [Vec::new(), Vec::new()];
    for (round, keys) in keys.chunks(ROUND).enumerate() {
        for (number, (one, times)) in pair.iter_mut().zip(&mut times).enumerate() {
            if only.is_some_and(|only| only != number) {
                continue;
            }
            let before = cpu::spent().context("no time of threads here")?;
            keys.iter().for_each(|&key| one.add(key));
            let taken = cpu::spent().context("no time of threads here")? - before;
            if round >= skipped {
                times.push(taken.as_nanos() as f64 / keys.len() as f64);
            }
        }
    }
    let [ours, theirs] = &times;
    let (Some(time), Some(ratio)) = (Summary::of(ours), Summary::of_ratios(ours, theirs)) else {
        return Ok(true);
    };
    writeln!(
        out,
        "{name}: {:.0} ns, {:.2} of {rival} ({:.2} to {:.2}), at most {most}",
        time.median, ratio.median, ratio.least, ratio.most
    )?;
    Ok(ratio.median <= most)
}
