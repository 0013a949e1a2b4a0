//! Bits against time: every row of the catalog and every rival, at the same error.

use anyhow::{Result, anyhow};
use datasketches::countmin::CountMinSketch;
use lately::catalog::Row;
use lately::plan::{Goal, bound};
use lately_papers::CATALOG;
use testkit::oracle::Counts;
use testkit::streams;

use super::figure::{Drawn, Effort, Sheet};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use super::speed::{name_of, percent, run, set, window};
use crate::clock::{Clock, Monotonic};
use crate::contender::{Contender, Rival};
use crate::counting::Errors;
use crate::counting::counter::{CountMin, Counter, Ours, Pace};
use crate::heap::Meter;
use crate::race::Operation;
use crate::rivals::{
    CUCKOO_CLOCK, DATASKETCHES, EXACT_WINDOW, FASTBLOOM, GROWABLE_BLOOM, LRU, QFILTER,
    ROTATING_FASTBLOOM, SCALABLE_CUCKOO, SPLIT_BLOCK,
};

/// Whoever reads more cache lines than this is not raced.
const SLOW_LINES: f64 = 64.0;

/// Rows that reach a goal and are not slow.
fn rows(goal: &Goal) -> impl Iterator<Item = &'static Row> {
    CATALOG.iter().filter(|row| {
        let proposed = (row.propose)(goal);
        proposed.is_ok_and(|found| found.lines_touched() <= SLOW_LINES)
    })
}

/// What the planner picks from, what others made, and what stands in papers.
fn hue(row: Option<&Row>) -> usize {
    match row.map(|row| lately::catalog::CATALOG.row(row.name)) {
        None => 1,
        Some(Some(_)) => 0,
        Some(None) => 2,
    }
}

/// Axes of bits over time.
fn panel(title: &str, doing: &str) -> Panel {
    let x = Axis::log(&format!("ns per {doing}"), Unit::Nanos);
    Panel::new(x, Axis::log("bits per key", Unit::Plain).from(5.0)).titled(title)
}

/// Its place is its time; bits have hardly any luck in them.
fn place(time: Point, bits: f64) -> Point {
    Point { x: time.y, ..Point::about(time.y, bits, 0.05) }
}

/// The least possible, below all that was measured.
fn draw_bound(panel: &mut Panel, least: f64) {
    let ends = panel.series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (from, to) = ends.fold((f64::INFINITY, 0.0_f64), |(from, to), x| (from.min(x), to.max(x)));
    let level = [from / 1.3, to * 2.0].map(|x| Point::exact(x, least));
    panel.put(Role::Bound, 0, "", level.to_vec());
}

/// Bits against the time of an insertion, with the error that was found in the same run.
pub fn front(effort: Effort) -> Result<Drawn> {
    let items = effort.pick(100_000, 1_000_000);
    let mut panels = Vec::new();
    let mut sheet = Sheet::new(&[
        "for",
        "who",
        "bits per key",
        "ns per insertion",
        "ns per absent key",
        "error",
    ]);
    let windows: &[&'static Rival] = &[&ROTATING_FASTBLOOM, &CUCKOO_CLOCK, &LRU, &EXACT_WINDOW];
    let sets: &[&'static Rival] =
        &[&FASTBLOOM, &SPLIT_BLOCK, &DATASKETCHES, &QFILTER, &GROWABLE_BLOOM, &SCALABLE_CUCKOO];
    for (title, goal, rivals, least) in [
        ("a window", window(items)?, windows, bound::sliding_window(percent()?, items, None)),
        ("a set of known size, from nothing", set(items)?, sets, bound::static_set(percent()?)),
    ] {
        let rows = rows(&goal).map(Contender::Row);
        let contenders: Vec<_> = rows.chain(rivals.iter().copied().map(Contender::Rival)).collect();
        let mut panel = panel(title, "insertion");
        let rounds = effort.pick(5, 9);
        for ran in run(&contenders, &goal, items, rounds, 50_000)? {
            let Some(time) = ran.time(Operation::Insert) else { continue };
            let row = if let Contender::Row(row) = ran.contender { Some(row) } else { None };
            let name = name_of(ran.contender);
            panel.put(Role::Measured, hue(row), name, vec![place(time, ran.bits)]);
            let absent = ran.time(Operation::Absent).map_or(0.0, |time| time.y);
            sheet.row([
                title.split([',', ' ']).nth(1).unwrap_or(title).to_owned(),
                if row.is_some() { format!("`{name}`") } else { name.to_owned() },
                format!("{:.1}", ran.bits),
                format!("{:.0}", time.y),
                format!("{absent:.0}"),
                format!("{:.2}%", 100.0 * ran.reported.rate()),
            ]);
        }
        draw_bound(&mut panel, least);
        panels.push(panel);
    }
    Ok(Drawn { panels, sheets: vec![sheet], found: Vec::new() })
}

/// One who counts in the race of [`counters`].
struct Lane {
    name: &'static str,
    hue: usize,
    counter: Box<dyn Counter>,
    meter: Meter,
    nanos: Vec<f64>,
}

impl Lane {
    fn new(
        name: &'static str,
        hue: usize,
        made: impl FnOnce() -> Result<Box<dyn Counter>>,
    ) -> Result<Self> {
        let mut meter = Meter::default();
        let counter = meter.during(made)?;
        Ok(Self { name, hue, counter, meter, nanos: Vec::new() })
    }
}

/// Bits against the time of an update, for counts of a set of known size.
pub fn counters(effort: Effort) -> Result<Drawn> {
    let alphabet = effort.pick(100_000, 1_000_000);
    let keys: Vec<u64> = streams::zipf(alphabet, 1.0, SEED).take(10 * alphabet as usize).collect();
    let mut truth = Counts::new();
    keys.iter().for_each(|&key| truth.add(key, 1));
    let items = truth.distinct();
    let goal = Goal { counting: true, ..set(items)? };
    let mut lanes = Vec::new();
    for row in rows(&goal) {
        let blueprint =
            (row.propose)(&goal).map_err(|unfit| anyhow!("{} {}", row.name, unfit.0))?;
        let made = || Ok(Box::new(Ours::new(&*blueprint, Pace::Single)) as Box<dyn Counter>);
        lanes.push(Lane::new(row.name, hue(Some(row)), made)?);
    }
    let rate = percent()?.get();
    lanes.push(Lane::new("count-min-sketch", 1, || {
        let (rows, width) = count_min(items, rate, u64::next_power_of_two);
        let made = CountMin::new(rows, width);
        Ok(Box::new(made.map_err(|why| anyhow!("count-min-sketch {why}"))?))
    })?);
    lanes.push(Lane::new("datasketches", 1, || {
        let (rows, width) = count_min(items, rate, |width| width);
        Ok(Box::new(CountMinSketch::<u32>::new(rows as u8, width as u32)?))
    })?);

    // The first quarter of the stream fills them; in every round another begins.
    let (filling, timed) = keys.split_at(keys.len() / 4);
    for lane in &mut lanes {
        lane.meter.during(|| lane.counter.add_each(filling));
    }
    let clock = Monotonic::start();
    for keys in timed.chunks(timed.len().div_ceil(effort.pick(5, 15))) {
        lanes.rotate_left(1);
        for Lane { counter, meter, nanos, .. } in &mut lanes {
            let start = clock.nanos();
            meter.during(|| counter.add_each(keys));
            nanos.push((clock.nanos() - start) as f64 / keys.len() as f64);
        }
    }

    let mut panel = panel("", "update");
    let mut sheet = Sheet::new(&["who", "bits per key", "ns per update", "counted too high"]);
    lanes.sort_by_key(|lane| (lane.hue, lane.name));
    for lane in &lanes {
        let Some(time) = Point::samples(0.0, &lane.nanos) else { continue };
        let bits = lane.meter.bytes() as f64 * 8.0 / items as f64;
        panel.put(Role::Measured, lane.hue, lane.name, vec![place(time, bits)]);
        let errors = Errors::of(&truth, |key| lane.counter.count(key));
        sheet.row([
            if lane.hue == 1 { lane.name.to_owned() } else { format!("`{}`", lane.name) },
            format!("{bits:.1}"),
            format!("{:.0}", time.y),
            format!("{:.2}%", 100.0 * errors.above as f64 / errors.keys as f64),
        ]);
    }
    draw_bound(&mut panel, bound::static_set(percent()?));
    Ok(Drawn { panels: vec![panel], sheets: vec![sheet], found: Vec::new() })
}

/// Rows and counters of each with which a count-min sketch counts this share of so many keys too high, in the least
/// memory. In a row of w a key shares its counter with chance 1 - exp(-n/w); it must in all of them.
fn count_min(items: u64, rate: f64, possible: impl Fn(u64) -> u64) -> (u32, u64) {
    let width = |rows: u32| {
        let shared = rate.powf(1.0 / f64::from(rows));
        possible((items as f64 / -(-shared).ln_1p()).ceil() as u64)
    };
    let sizes = (1..=16).map(|rows| (rows, width(rows)));
    sizes.min_by_key(|&(rows, width)| u64::from(rows) * width).unwrap_or((1, items))
}
