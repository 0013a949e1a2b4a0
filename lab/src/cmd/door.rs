//! `door`: the public types beside two rotating `fastbloom` filters, texts for keys, one at a time.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::raw::quantity;
use lately::{ErrorRate, Lately};
use testkit::stats::rate_is_at_most;

use super::instructions::callgrind;
use crate::clock::Monotonic;
use crate::door::{Lap, Part, Texts, Who, crowd, race, with};
use crate::machine::Machine;
use crate::rivals::Rotating;
use crate::summary::Summary;
use crate::table::Table;

/// What to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// Items in the window
    #[arg(long, default_value = "1M", value_parser = quantity::items)]
    items: u64,
    /// Promised share of false positives; may be repeated
    #[arg(long = "error", default_values = ["1%", "0.1%", "0.01%"])]
    errors: Vec<ErrorRate>,
    /// Rounds, ten for each turn of the rotating filters
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Two threads at one filter, in place of the race
    #[arg(long)]
    threads: bool,
    /// Memory and time beside what else people use, in place of the race
    #[arg(long)]
    costs: bool,
    /// Instructions and cache misses of each operation, counted by valgrind, in place of the race
    #[arg(long)]
    instructions: bool,
    /// Do this instead
    #[arg(long, hide = true, num_args = 2, value_names = ["WHO", "OPERATION"])]
    perform: Vec<String>,
    /// Do everything but the operation
    #[arg(long, hide = true)]
    idle: bool,
}

const NAMES: [&str; 3] = ["insert", "absent", "present"];

/// What the times of a window of a million should be at most, as a share of the rival's, by error.
fn wanted(operation: usize, error: f64) -> Option<f64> {
    let column = [0.01, 0.001, 0.0001].iter().position(|&known| known == error)?;
    Some([[0.70, 0.66, 0.60], [0.42; 3], [1.0; 3]][operation][column])
}

/// What the handle may take of the plain type's time, and how many times as much two threads should do.
const HANDLE: f64 = 1.25;
const TWO_THREADS: f64 = 1.7;

/// Where a wish ends.
const MILLION: u64 = 1_000_000;

/// Measures; says whether all is as wanted.
pub fn door(options: &Options, out: &mut impl Write) -> Result<bool> {
    if let [who, operation] = &options.perform[..] {
        perform(options, who, operation)?;
        return Ok(true);
    }
    let Machine { cpu, caches, cores, compiler, commit, .. } = Machine::here();
    writeln!(out, "{cpu}, caches {caches}, {cores} cores, {compiler}, commit {commit}")?;
    if options.costs {
        return costs(options, out);
    }
    let mut met = true;
    for &error in &options.errors {
        writeln!(out, "\n{} items, {error}", options.items)?;
        met &= match (options.threads, options.instructions) {
            (true, _) => threads(options, error.get(), out)?,
            (_, true) => instructions(options, error, out)?,
            _ => times(options, error.get(), out)?,
        };
    }
    Ok(met)
}

fn times(options: &Options, error: f64, out: &mut impl Write) -> Result<bool> {
    let &Options { items, rounds, .. } = options;
    let mut rival = Rotating::new(items, error, 0);
    let laps = with(Who::Lately, items, error, |ours| {
        race([ours, &mut rival], items, rounds, &Monotonic::start())
    })?;
    let mut table =
        Table::new(&["", "ns/key", "fastbloom", "share", "least", "most", "at most", ""]);
    let mut met = true;
    for (operation, lap) in laps.iter().enumerate() {
        met &= answers_are_right(operation, lap, error);
        let [ours, theirs] = lap.nanos.each_ref().map(|nanos| summary(nanos).median);
        let share = Summary::of_ratios(&lap.nanos[0], &lap.nanos[1]).expect("there are rounds");
        let wanted = wanted(operation, error).filter(|_| items == MILLION);
        let verdict = wanted.map(|wanted| share.median <= wanted);
        met &= verdict.unwrap_or(true);
        table.row([
            NAMES[operation].to_owned(),
            format!("{ours:.1}"),
            format!("{theirs:.1}"),
            format!("{:.2}", share.median),
            format!("{:.2}", share.least),
            format!("{:.2}", share.most),
            wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}")),
            said(verdict),
        ]);
    }
    write!(out, "{table}")?;
    Ok(met)
}

/// Memory for each key, and time as a multiple of ours.
fn costs(options: &Options, out: &mut impl Write) -> Result<bool> {
    let found = crate::door::costs(options.items, options.rounds, &Monotonic::start())?;
    let mut table = Table::new(&["the last keys in", "bytes per key", "times the time"]);
    for cost in &found {
        let times =
            Summary::of_ratios(&cost.nanos, &found[0].nanos).expect("there are rounds").median;
        table.row([cost.name.to_owned(), format!("{:.1}", cost.bytes), format!("{times:.1}")]);
    }
    writeln!(out, "\n{} items, texts of 16 to 40 bytes", options.items)?;
    write!(out, "{table}")?;
    Ok(true)
}

fn threads(options: &Options, error: f64, out: &mut impl Write) -> Result<bool> {
    let builder = Lately::last(options.items).error(error);
    let (plain, shared) = (builder.build()?, builder.build_shared()?);
    let found = crowd(plain, &shared, options.items, options.rounds, &Monotonic::start());
    let mut table =
        Table::new(&["", "plain", "handle", "times", "wanted", "two threads", "times", "wanted"]);
    let mut met = true;
    for (way, name) in ["insert", "insert in batches"].into_iter().enumerate() {
        let [plain, one, two] =
            [&found.plain, &found.one, &found.two].map(|times| summary(&times[way]).median);
        let handle = Summary::of_ratios(&found.one[way], &found.plain[way]).expect("rounds").median;
        let share = Summary::of_ratios(&found.one[way], &found.two[way]).expect("rounds").median;
        let more = 2.0 * share;
        let verdicts = [handle <= HANDLE, more >= TWO_THREADS];
        met &= verdicts == [true; 2];
        table.row([
            name.to_owned(),
            format!("{plain:.1}"),
            format!("{one:.1}"),
            format!("{handle:.2}"),
            format!("{HANDLE} {}", said(Some(verdicts[0]))),
            format!("{two:.1}"),
            format!("{more:.2}"),
            format!("{TWO_THREADS} {}", said(Some(verdicts[1]))),
        ]);
    }
    write!(out, "{table}")?;
    Ok(met)
}

fn instructions(options: &Options, error: ErrorRate, out: &mut impl Write) -> Result<bool> {
    let headings =
        ["instructions, lines missed", "Lately", "Shared", "told the time", "clock", "fastbloom"];
    let mut table = Table::new(&headings);
    for name in NAMES {
        let mut cells = vec![name.to_owned()];
        for who in ["lately", "shared", "timed", "clocked", "fastbloom"] {
            let count = |idle: &[&str]| {
                let (items, error) = (options.items.to_string(), error.to_string());
                let all = ["door", "--items", &items, "--error", &error, "--perform", who, name];
                callgrind(&[&all, idle].concat())
            };
            let (with, without) = (count(&[])?, count(&["--idle"])?);
            let each = |with: u64, without: u64| {
                with.saturating_sub(without) as f64 / performed(options) as f64
            };
            let lines = each(with.lines_missed, without.lines_missed);
            cells.push(format!("{:.0}, {lines:.1}", each(with.instructions, without.instructions)));
        }
        table.row(cells);
    }
    write!(out, "{table}")?;
    Ok(true)
}

/// Keys of a counted operation.
fn performed(options: &Options) -> u64 {
    (options.items / 5).max(1)
}

/// Fills the window, and does the operation unless it is idle.
fn perform(options: &Options, who: &str, operation: &str) -> Result<()> {
    let who = <Who as clap::ValueEnum>::from_str(who, false).map_err(anyhow::Error::msg)?;
    let (items, count) = (options.items, performed(options));
    let filling = Texts::of(Part::Stream, 0..items * 5 / 2);
    let texts = match operation {
        "insert" => Texts::of(Part::Stream, items * 5 / 2..items * 5 / 2 + count),
        "absent" => Texts::of(Part::Absent, 0..count),
        _ => Texts::of(Part::Stream, (0..count).map(|i| items * 5 / 2 - 1 - i * 7_919_017 % items)),
    };
    let keys = texts.all();
    with(who, items, options.errors[0].get(), |door| {
        door.insert_each(&filling.all());
        std::hint::black_box(match (options.idle, operation) {
            (true, _) => 0,
            (false, "insert") => door.insert_each(&keys),
            (false, _) => door.contains_each(&keys),
        });
    })
}

/// Nothing of the window forgotten, and of what is absent no more reported than promised.
fn answers_are_right(operation: usize, lap: &Lap, error: f64) -> bool {
    let [ours, _] = lap.seen;
    match NAMES[operation] {
        "present" => ours.hits == ours.trials,
        _ => rate_is_at_most(ours.hits, ours.trials, error, 1e-9),
    }
}

fn summary(samples: &[f64]) -> Summary {
    Summary::of(samples).expect("there are rounds")
}

fn said(verdict: Option<bool>) -> String {
    match verdict {
        Some(true) => "met".to_owned(),
        Some(false) => "MISSED".to_owned(),
        None => String::new(),
    }
}
