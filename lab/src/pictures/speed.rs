//! Pictures of time: tails of insertions, and windows of every size beside the caches.

use anyhow::Result;
use lately::plan::Goal;
use lately::{ErrorRate, Window};
use lately_papers::CATALOG;

use super::figure::{Drawn, Effort};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::clock::Monotonic;
use crate::contender::Contender;
use crate::course::Course;
use crate::machine::cache_bytes;
use crate::race::{self, Lane, Operation, race};
use crate::record::Tally;
use crate::rivals::{EXACT_WINDOW, QFILTER_GROWN, ROTATING_FASTBLOOM};
use crate::stream::DISTINCT;
use crate::worst_insert::{Stretch, insert_times};

pub(super) fn percent() -> Result<ErrorRate> {
    Ok(ErrorRate::new(0.01)?)
}

pub(super) fn window(items: u64) -> Result<Goal> {
    Ok(Goal::new(Window::Last(items), percent()?))
}

pub(super) fn set(items: u64) -> Result<Goal> {
    Ok(Goal { expected_items: Some(items), ..Goal::new(Window::Ever, percent()?) })
}

pub(super) fn name_of(contender: Contender) -> &'static str {
    match contender.name() {
        "exact-window" if !contender.is_ours() => "HashMap and queue",
        "rotating-fastbloom" => "rotating fastbloom",
        name => name,
    }
}

fn row(name: &str) -> Result<Contender> {
    Ok(Contender::Row(CATALOG.row_named(name)?))
}

/// The time that only one insertion in so many exceeds.
pub fn tails(effort: Effort) -> Result<Drawn> {
    // As many in a quick run: how rare a slow insertion is depends on how often a structure grew.
    let items = 1_000_000;
    let clock = Monotonic::start();
    let mut panels = Vec::new();
    let windows = vec![
        row("sliding")?,
        row("sliding-compact")?,
        row("age-partitioned")?,
        row("double-buffer")?,
        Contender::Rival(&ROTATING_FASTBLOOM),
        Contender::Rival(&EXACT_WINDOW),
    ];
    let sets = vec![
        row("growing")?,
        row("growing-layers")?,
        row("growing-tails")?,
        Contender::Rival(&QFILTER_GROWN),
    ];
    for (title, goal, contenders, skipped) in [
        ("a window, full", window(items)?, windows, 2 * items),
        ("a set that grows from nothing", set(items)?, sets, 0),
    ] {
        let x = Axis::log("one insertion in so many takes longer", Unit::Count);
        let y = Axis::log("time of an insertion", Unit::Nanos);
        let mut panel = Panel::new(x, y).titled(title);
        for (hue, contender) in contenders.into_iter().enumerate() {
            let fresh = || contender.fresh(&goal, SEED);
            let stream = || (DISTINCT.open)(&goal, SEED);
            let stretch = Stretch { skipped, timed: items };
            let mut times = insert_times(&fresh, &stream, stretch, effort.pick(2, 4), &clock)?;
            times.sort_unstable();
            let points = panel.series_mut(Role::Measured, hue, name_of(contender));
            // So many are slower: a half, a fifth, a tenth, and so on down to the slowest alone.
            let parts = (0..).flat_map(|ten| [2.0, 5.0, 10.0].map(|part| part * 10_f64.powi(ten)));
            for part in parts.take_while(|&part| part <= items as f64) {
                let slower = (items as f64 / part).round().max(1.0) as usize;
                let nanos = f64::from(times[times.len() - slower]);
                points.push(Point::about(items as f64 / slower as f64, nanos, 0.3));
            }
        }
        panels.push(panel);
    }
    Ok(panels.into())
}

/// Times by operation, bits, and how many keys that never came were reported, of all who run.
pub(super) struct Ran {
    pub(super) contender: Contender,
    pub(super) bits: f64,
    pub(super) nanos: Vec<(Operation, Vec<f64>)>,
    pub(super) reported: Tally,
}

impl Ran {
    /// The time of an operation, over all rounds.
    pub(super) fn time(&self, operation: Operation) -> Option<Point> {
        let (_, nanos) = self.nanos.iter().find(|(other, _)| *other == operation)?;
        Point::samples(0.0, nanos)
    }
}

pub(super) fn run(
    contenders: &[Contender],
    goal: &Goal,
    items: u64,
    rounds: usize,
    keys: u64,
) -> Result<Vec<Ran>> {
    let mut lanes = Vec::new();
    for &contender in contenders {
        let fresh = move || contender.fresh(goal, SEED);
        lanes.push(Lane::new(Box::new(fresh))?);
    }
    let mut course = Course::new(&DISTINCT, goal, SEED);
    let effort = race::Effort { rounds, keys, passes: 1 };
    race(&mut lanes, &mut course, goal, effort, &Monotonic::start())?;
    let ran = |(lane, &contender): (Lane<'_>, &Contender)| {
        let timing = |operation: Operation| {
            lane.timings.iter().find(|timing| timing.operation == operation.name())
        };
        let nanos = |operation| Some((operation, timing(operation)?.nanos_per_key.clone()));
        Ran {
            contender,
            bits: lane.meter.bytes() as f64 * 8.0 / items as f64,
            nanos: Operation::ALL.into_iter().filter_map(nanos).collect(),
            reported: timing(Operation::Absent).map(|timing| timing.seen).unwrap_or_default(),
        }
    };
    Ok(lanes.into_iter().zip(contenders).map(ran).collect())
}

/// Time of insertions and of lookups over the size of the window.
pub fn sizes(effort: Effort) -> Result<Drawn> {
    let contenders = [
        row("sliding")?,
        row("sliding-compact")?,
        row("double-buffer")?,
        Contender::Rival(&ROTATING_FASTBLOOM),
        Contender::Rival(&EXACT_WINDOW),
    ];
    let sizes: &[u64] = effort.pick(
        &[1_000, 10_000, 100_000, 1_000_000],
        &[1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
    );
    let mut panels = Vec::new();
    for (title, label) in
        [("insert", "ns per insertion"), ("absent", "ns per lookup of an absent key")]
    {
        let y = Axis::log(label, Unit::Nanos);
        panels.push(Panel::new(Axis::log("window n, keys", Unit::Count), y).titled(title));
    }
    let mut bits = 0.0;
    for &items in sizes {
        let rounds = effort.pick(5, 9);
        for (hue, ran) in
            run(&contenders, &window(items)?, items, rounds, 50_000)?.iter().enumerate()
        {
            for panel in &mut panels {
                let is_it =
                    |(operation, _): &&(Operation, Vec<f64>)| operation.name() == panel.title;
                let Some((_, nanos)) = ran.nanos.iter().find(is_it) else { continue };
                let points = panel.series_mut(Role::Measured, hue, name_of(ran.contender));
                points.extend(Point::samples(items as f64, nanos));
            }
            if hue == 0 {
                bits = ran.bits;
            }
        }
    }
    for (at, bytes) in cache_bytes().into_iter().enumerate() {
        let keys = bytes as f64 * 8.0 / bits;
        let inside = keys < *sizes.last().unwrap_or(&0) as f64;
        for panel in panels.iter_mut().filter(|_| inside) {
            panel.mark(keys, &format!("L{}", at + 1));
        }
    }
    Ok(panels.into())
}
