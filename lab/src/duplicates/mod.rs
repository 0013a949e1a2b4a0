//! The figures of *Approaching optimal duplicate detection in a sliding window*, as points to measure.

mod parts;

pub use parts::{Part, published, table};

use anyhow::Result;
use lately::duplicates::Rotation;
use lately::duplicates::law::Stream;
use lately::plan::{Goal, bound};
use lately::raw::{Blueprint, Mistakes};
use lately::{Memory, Window};
use lately_papers::{BlockDecayingParameters, CATALOG, TwoBuffersParameters};

use crate::uniform::{Judged, Uniform, hashing, judge, judge_after};

/// The memory of all figures but the second.
pub const MEMORY: Memory = Memory::from_bytes(12_500);
/// Their keys.
pub const ALPHABET: u64 = 1 << 18;
/// Their windows.
pub const WINDOWS: [u64; 6] = [100, 1_000, 3_000, 10_000, 30_000, 100_000];

/// Memory and keys of the second.
pub const SATURATED_BITS: u64 = 1_000_000;
/// Its keys.
pub const SATURATED_ALPHABET: u64 = 1 << 26;

/// Keys of the eighth.
pub const FEW: u64 = 1 << 16;

/// The figures with data.
pub const FIGURES: [&str; 8] = ["1", "2", "3", "5", "6", "7", "8", "9"];

/// One point: what is measured over which window.
pub struct Point {
    /// Whose.
    pub series: String,
    /// Where in the figure.
    pub x: u64,
    /// The window that is judged.
    pub window: u64,
    /// What is built.
    pub blueprint: Box<dyn Blueprint>,
}

/// One point of a figure, measured.
pub struct Found {
    /// Whose.
    pub series: String,
    /// Where in the figure.
    pub x: u64,
    /// The window that was judged.
    pub window: u64,
    /// What was counted.
    pub judged: Judged,
    /// What its law says.
    pub law: Mistakes,
    /// Its heap.
    pub bytes: u64,
}

/// Measures the points of a figure, one after the other, on streams of this length at most.
pub fn measure(
    figure: &str,
    length: u64,
    seed: u64,
    mut each: impl FnMut(Found) -> Result<()>,
) -> Result<()> {
    match figure {
        "2" => return saturation(length, seed, each),
        "8" => return short_streams(length, seed, each),
        _ => {}
    }
    let stream = Uniform { alphabet: ALPHABET, length, seed };
    for point in points(figure) {
        let law = point.blueprint.expected_mistakes(Some(ALPHABET));
        each(of_point(point, law, stream)?)?;
    }
    Ok(())
}

/// Measures one point.
pub fn of_point(point: Point, law: Mistakes, stream: Uniform) -> Result<Found> {
    let mut filter = point.blueprint.build(hashing(stream.seed).structure_seed())?;
    let judged = judge(&mut *filter, point.window, stream);
    Ok(found(point, law, judged))
}

fn found(point: Point, law: Mistakes, judged: Judged) -> Found {
    let Point { series, x, window, blueprint } = point;
    Found { series, x, window, judged, law, bytes: blueprint.heap_bytes() }
}

fn points(figure: &str) -> Vec<Point> {
    match figure {
        "1" => short_hashes(),
        "3" => windows_and_table(),
        "5" => ten_in_a_queue(),
        "6" => filters_in_a_queue(),
        "7" => alone_and_queued(
            &["QHT", "SQF"],
            &["queued-quotient-table", "queued-streaming-quotient"],
        ),
        "9" => alone_and_queued(&["Cuckoo", "SBF"], &["queued-cuckoo", "queued-stable-bloom"]),
        _ => Vec::new(),
    }
}

/// Figure 1: rings of short hashes as the window grows, ours beside the paper's.
fn short_hashes() -> Vec<Point> {
    let windows = (500..=6_500).step_by(500);
    let names = ["short-hash", "quotient-short-hash", "compact-short-hash"];
    let all = windows.flat_map(|window| names.map(|name| (window, name)));
    all.filter_map(|(window, name)| of_row(name, window)).collect()
}

/// What a row of the catalog proposes for this window.
pub fn of_row(name: &str, window: u64) -> Option<Point> {
    let goal = Goal { alphabet: Some(ALPHABET), ..Goal::new(Window::Last(window), MEMORY) };
    let blueprint = (CATALOG.row(name)?.propose)(&goal).ok()?;
    Some(Point { series: name.to_owned(), x: window, window, blueprint })
}

/// Figure 2: detectors of 1e6 bits over the whole stream, as it grows.
fn saturation(length: u64, seed: u64, mut each: impl FnMut(Found) -> Result<()>) -> Result<()> {
    let lengths = [1_u64, 2, 5, 10, 20, 50, 100, 150].map(|millions| millions * 1_000_000);
    for length in lengths.into_iter().filter(|&so_far| so_far <= length) {
        let stream = Uniform { alphabet: SATURATED_ALPHABET, length, seed };
        for (name, part) in published(SATURATED_BITS) {
            let point = Point { window: u64::MAX, ..part.alone(name, length) };
            let law = part.while_filling(length, SATURATED_ALPHABET);
            each(Found { window: length, ..of_point(point, law, stream)? })?;
        }
    }
    Ok(())
}

/// The least error in the setting of the second figure.
pub fn least(length: u64) -> f64 {
    bound::duplicate_error(SATURATED_BITS, length, SATURATED_ALPHABET)
}

/// Figure 8: streams hardly longer than the window, judged from their first key on.
fn short_streams(length: u64, seed: u64, mut each: impl FnMut(Found) -> Result<()>) -> Result<()> {
    let streams = [
        ("100k keys", 100_000, 0),
        ("1M keys", 1_000_000, 0),
        ("1M, second half", 1_000_000, 500_000),
        ("10M keys", 10_000_000, 0),
        ("100M keys", 100_000_000, 0),
    ];
    for (name, length, settled) in streams.into_iter().filter(|(_, shorter, _)| *shorter <= length)
    {
        for window in [1_000, 3_000, 10_000, 30_000, 60_000, 100_000, 200_000, 500_000, 1_000_000] {
            let part = Part::Table(table(MEMORY.bits() / 10));
            let point = part.queued(name, window, 10, Rotation::AsPublished, window);
            let law = point.blueprint.expected_mistakes(Some(FEW));
            let mut filter = point.blueprint.build(hashing(seed).structure_seed())?;
            let stream = Uniform { alphabet: FEW, length, seed };
            let judged = judge_after(&mut *filter, window, stream, settled);
            // The second half of a stream says nothing of windows that are longer.
            if judged.unseen > 100 && window <= length - settled.min(length / 2) {
                each(found(Point { series: name.to_owned(), ..point }, law, judged))?;
            }
        }
    }
    Ok(())
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
            part.queued(&format!("window {window}"), window, filters, rotation, filters)
        })
    })
    .collect()
}

/// Figures 7 and 9: alone, and in the queue that errs least.
fn alone_and_queued(alone: &[&str], queued: &[&str]) -> Vec<Point> {
    let mut points = Vec::new();
    for window in WINDOWS {
        for (name, part) in published(MEMORY.bits()) {
            if alone.contains(&name) {
                points.push(part.alone(name, window));
            }
        }
        points.extend(queued.iter().filter_map(|name| of_row(name, window)));
    }
    points
}
