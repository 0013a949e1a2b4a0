//! `figures`: the figures of *Approaching optimal duplicate detection in a sliding window*, and the
//! grid of all rows in the same memory, as data: one line of CSV per point, measured and predicted.

use std::io::Write;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use lately::duplicates::law::{Crowd, Stream};
use lately::duplicates::{
    AloneParameters, Detector, Even, QueuingParameters, QuotientTable, Rotation, Subfilter, Update,
    published_hash_bits,
};
use lately::plan::{Goal, bound};
use lately::raw::{Blueprint, Mistakes, quantity};
use lately::{Memory, Window, catalog};
use lately_papers::{
    BlockDecayingParameters, CATALOG, Cuckoo, Ones, StableBloom, StreamingQuotient,
    TwoBuffersParameters,
};

use crate::uniform::{Uniform, hashing, judge};

/// Which figure.
#[derive(Debug, Args)]
pub struct Options {
    /// 1, 2, 3, 5, 6, 7 as in the paper, or `grid` for all rows of the catalog
    figure: String,
    /// Insertions per point
    #[arg(long, default_value = "1e6", value_parser = quantity::items)]
    length: u64,
    /// Windows of the grid; may be repeated
    #[arg(long = "window", value_name = "W", default_values_t = WINDOWS)]
    windows: Vec<u64>,
    /// Another seed is another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const MEMORY: Memory = Memory::from_bytes(12_500);
const ALPHABET: u64 = 1 << 18;
const WINDOWS: [u64; 6] = [100, 1_000, 3_000, 10_000, 30_000, 100_000];

/// One point: what is measured over which window.
struct Point {
    series: String,
    x: u64,
    window: u64,
    blueprint: Box<dyn Blueprint>,
}

/// Prints the points of a figure. The grid fails if a row is proven farther than 0.01 from its law,
/// uses more than its memory, or if the planner's first choice errs more than 5% above the least.
pub fn figures(options: &Options, out: &mut impl Write) -> Result<bool> {
    writeln!(out, "figure,series,x,window,false_positives,false_negatives,law_fp,law_fn,bytes")?;
    match options.figure.as_str() {
        "1" => draw(options, ALPHABET, short_hashes(), out),
        "2" => saturation(options, out),
        "3" => draw(options, ALPHABET, windows_and_table(), out),
        "5" => draw(options, ALPHABET, ten_in_a_queue(), out),
        "6" => draw(options, ALPHABET, filters_in_a_queue(), out),
        "7" => draw(options, ALPHABET, alone_and_queued(), out),
        "grid" => grid(options, out),
        other => bail!("no figure {other:?}; choose 1, 2, 3, 5, 6, 7 or grid"),
    }
}

fn draw(
    options: &Options,
    alphabet: u64,
    points: Vec<Point>,
    out: &mut impl Write,
) -> Result<bool> {
    let stream = Uniform { alphabet, length: options.length, seed: options.seed };
    for point in points {
        let law = point.blueprint.expected_mistakes(Some(alphabet));
        let mut filter = point.blueprint.build(hashing(options.seed).structure_seed())?;
        let found = judge(&mut *filter, point.window, stream).rates();
        write_point(&options.figure, &point, found, law, out)?;
    }
    Ok(true)
}

fn write_point(
    figure: &str,
    point: &Point,
    found: Mistakes,
    law: Mistakes,
    out: &mut impl Write,
) -> Result<()> {
    let Point { series, x, window, blueprint } = point;
    writeln!(
        out,
        "{figure},{series},{x},{window},{:.6},{:.6},{:.6},{:.6},{}",
        found.false_positives,
        found.false_negatives,
        law.false_positives,
        law.false_negatives,
        blueprint.heap_bytes()
    )?;
    Ok(out.flush()?)
}

/// Figure 1: rings of short hashes as the window grows, ours beside the paper's.
fn short_hashes() -> Vec<Point> {
    let windows = (500..=6_500).step_by(500);
    let names = ["short-hash", "quotient-short-hash", "compact-short-hash"];
    let all = windows.flat_map(|window| names.map(|name| (window, name)));
    all.filter_map(|(window, name)| of_row(name, window)).collect()
}

fn of_row(name: &str, window: u64) -> Option<Point> {
    let goal = Goal { alphabet: Some(ALPHABET), ..Goal::new(Window::Last(window), MEMORY) };
    let blueprint = (CATALOG.row(name)?.propose)(&goal).ok()?;
    let series = match name {
        "short-hash" => {
            format!("{name} (published: {} bits)", published_hash_bits(MEMORY.bits(), window))
        }
        _ => name.to_owned(),
    };
    Some(Point { series, x: window, window, blueprint })
}

/// Figure 2: detectors of 1e6 bits over the whole stream, as it grows, beside the least possible.
fn saturation(options: &Options, out: &mut impl Write) -> Result<bool> {
    const BITS: u64 = 1_000_000;
    const LETTERS: u64 = 1 << 26;
    let lengths = [1_u64, 2, 5, 10, 20, 50, 100, 150].map(|millions| millions * 1_000_000);
    for length in lengths.into_iter().filter(|&length| length <= options.length) {
        let stream = Uniform { alphabet: LETTERS, length, seed: options.seed };
        for (name, part) in published(BITS) {
            let point = part.alone(name, length);
            let mut filter = point.blueprint.build(hashing(options.seed).structure_seed())?;
            let found = judge(&mut *filter, u64::MAX, stream).rates();
            write_point("2", &point, found, part.while_filling(length, LETTERS), out)?;
        }
        let least = bound::duplicate_error(BITS, length, LETTERS);
        writeln!(out, "2,least possible,{length},{length},0,{least:.6},0,{least:.6},{}", BITS / 8)?;
    }
    Ok(true)
}

/// Figure 3: two published windows and a table that knows no window.
fn windows_and_table() -> Vec<Point> {
    let mut points = Vec::new();
    for window in WINDOWS {
        let stream = Stream::new(window, Some(ALPHABET));
        let half = TwoBuffersParameters::with_capacity(stream, window.div_ceil(2), MEMORY.bytes());
        let point = |series: &str, blueprint: Box<dyn Blueprint>| Point {
            series: series.to_owned(),
            x: window,
            window,
            blueprint,
        };
        points.extend(half.map(|blueprint| point("A2 by half windows", Box::new(blueprint))));
        let blocks = BlockDecayingParameters::with_memory(stream, MEMORY.bytes());
        points.extend(blocks.map(|blueprint| point("b_DBF", Box::new(blueprint))));
        points.push(Part::Table(table(MEMORY.bits())).alone("QHT", window));
    }
    points
}

/// Figure 5: ten subfilters, the paper's rotation and ours.
fn ten_in_a_queue() -> Vec<Point> {
    let all = WINDOWS
        .into_iter()
        .flat_map(|window| published(MEMORY.bits() / 10).map(|(name, part)| (window, name, part)));
    all.flat_map(|(window, name, part)| {
        [Rotation::AsPublished, Rotation::Covering]
            .map(|rotation| part.queued(name, window, 10, rotation, window))
    })
    .collect()
}

/// Figure 6: the number of subfilters.
fn filters_in_a_queue() -> Vec<Point> {
    let counts = [2, 3, 4, 5, 7, 10, 14, 20, 30, 50];
    let all =
        [100, 1_000, 3_000, 10_000].into_iter().flat_map(|window| counts.map(|l| (window, l)));
    all.flat_map(|(window, filters)| {
        [Rotation::AsPublished, Rotation::Covering].map(|rotation| {
            let part = Part::Table(table(MEMORY.bits() / filters));
            part.queued(&format!("QHT, window {window}"), window, filters, rotation, filters)
        })
    })
    .collect()
}

/// Figure 7: alone, and in the queue that errs least.
fn alone_and_queued() -> Vec<Point> {
    let mut points = Vec::new();
    for window in WINDOWS {
        for (name, part) in published(MEMORY.bits()) {
            points.push(part.alone(name, window));
        }
        for name in ["queued-quotient-table", "queued-streaming-quotient", "queued-cuckoo"] {
            points.extend(of_row(name, window));
        }
    }
    points
}

/// A detector with the parameters that the paper compares.
#[derive(Clone, Copy)]
enum Part {
    Table(QuotientTable),
    Signatures(StreamingQuotient),
    Cuckoo(Cuckoo),
    Stable(StableBloom),
}

/// The four of section 4.2, in so many bits: one bucket of three bits, or two bits per cell.
fn published(bits: u64) -> [(&'static str, Part); 4] {
    let ones = Ones { remainder: 2, kept: 1 };
    let signatures = StreamingQuotient::with_bits(bits, 1, ones).expect("there is room");
    let cuckoo = Cuckoo::with_bits(bits, 1, 3).expect("there is room");
    let decrements = StableBloom::decrements_for(bits / 2, 2, 2, 0.02);
    let stable = StableBloom { cells: bits / 2, bits: 2, hashes: 2, decrements };
    [
        ("QHT", Part::Table(table(bits))),
        ("SQF", Part::Signatures(signatures)),
        ("Cuckoo", Part::Cuckoo(cuckoo)),
        ("SBF", Part::Stable(stable)),
    ]
}

fn table(bits: u64) -> QuotientTable {
    let table = QuotientTable::with_bits(bits, 1, Even { bits: 3 }).expect("there is room");
    QuotientTable { update: Update::KeepRandom, ..table }
}

impl Part {
    fn alone(self, name: &str, window: u64) -> Point {
        fn boxed<D: Detector>(window: u64, detector: D) -> Box<dyn Blueprint> {
            Box::new(AloneParameters { window, detector })
        }
        let blueprint = match self {
            Part::Table(part) => boxed(window, part),
            Part::Signatures(part) => boxed(window, part),
            Part::Cuckoo(part) => boxed(window, part),
            Part::Stable(part) => boxed(window, part),
        };
        Point { series: name.to_owned(), x: window, window, blueprint }
    }

    /// The errors over a whole stream of this length, from empty on.
    fn while_filling(self, length: u64, alphabet: u64) -> Mistakes {
        const MOMENTS: u32 = 64;
        let stream = Stream::new(length, Some(alphabet));
        let after = |n: f64| match self {
            Part::Table(part) => part.after(n, n, stream, Crowd::AVERAGE),
            Part::Signatures(part) => part.after(n, n, stream, Crowd::AVERAGE),
            Part::Cuckoo(part) => part.after(n, n, stream, Crowd::AVERAGE),
            Part::Stable(part) => part.after(n, n, stream, Crowd::AVERAGE),
        };
        let (mut wrong, mut unseen, mut missed, mut seen) = (0.0, 0.0, 0.0, 0.0);
        for moment in 0..MOMENTS {
            let n = length as f64 * (f64::from(moment) + 0.5) / f64::from(MOMENTS);
            let (errors, repeats) = (after(n), stream.among(n));
            wrong += (1.0 - repeats) * errors.false_positives;
            unseen += 1.0 - repeats;
            missed += repeats * errors.false_negatives;
            seen += repeats;
        }
        Mistakes { false_positives: wrong / unseen, false_negatives: missed / seen }
    }

    fn queued(self, name: &str, window: u64, filters: u64, rotation: Rotation, x: u64) -> Point {
        let turn = rotation.turn(window, filters);
        fn boxed<S: Subfilter>(queue: (u64, u64, u64), subfilter: S) -> Box<dyn Blueprint> {
            let (window, filters, turn) = queue;
            Box::new(QueuingParameters { window, filters, turn, subfilter })
        }
        let queue = (window, filters, turn);
        let blueprint = match self {
            Part::Table(part) => boxed(queue, part),
            Part::Signatures(part) => boxed(queue, part),
            Part::Cuckoo(part) => boxed(queue, part),
            Part::Stable(part) => boxed(queue, part),
        };
        Point { series: format!("{name} {rotation:?}"), x, window, blueprint }
    }
}

/// All rows, and the planner's choice among them.
fn grid(options: &Options, out: &mut impl Write) -> Result<bool> {
    let mut kept = true;
    for &window in &options.windows {
        let goal = Goal { alphabet: Some(ALPHABET), ..Goal::new(Window::Last(window), MEMORY) };
        let mut totals = Vec::new();
        for row in CATALOG.iter() {
            let Some(point) = of_row(row.name, window) else { continue };
            // Scans are slow, and exact enough to be judged by less.
            let slow = point.blueprint.lines_touched() > 64.0;
            let length = if slow { options.length / 10 } else { options.length };
            let stream = Uniform { alphabet: ALPHABET, length, seed: options.seed };
            let mut filter = point.blueprint.build(hashing(options.seed).structure_seed())?;
            let judged = judge(&mut *filter, window, stream);
            let law = point.blueprint.expected_mistakes(Some(ALPHABET));
            write_point("grid", &point, judged.rates(), law, out)?;
            let distance = judged.proven_distance(law);
            if distance > 0.01 || point.blueprint.heap_bytes() > MEMORY.bytes() {
                kept = false;
                writeln!(out, "# {} is {distance:.4} from its law", row.name)?;
            }
            totals.push((row.name, point.blueprint.cost(), judged.rates().total()));
        }
        let plan = goal.best_plan()?;
        let pick = plan.row.name;
        let of = |name| totals.iter().find(|(row, ..)| *row == name).map(|(.., total)| *total);
        let picked = of(pick).ok_or_else(|| anyhow!("{pick} was not measured"))?;
        // Papers' structures are measured, and not what it picks from.
        let ours = totals.iter().filter(|(row, ..)| catalog::CATALOG.row(row).is_some());
        let as_fast = ours.filter(|(_, cost, _)| *cost <= plan.cost);
        let least = as_fast.map(|(.., total)| *total).fold(f64::INFINITY, f64::min);
        writeln!(
            out,
            "# window {window}: the planner picks {pick}, {picked:.5}; least of the as fast {least:.5}"
        )?;
        kept &= picked <= 1.05 * least;
    }
    Ok(kept)
}
