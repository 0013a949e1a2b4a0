//! Pictures of time: tails of insertions, windows of every size beside the caches, bits against time.

use anyhow::Result;
use lately::plan::{Goal, bound};
use lately::{ErrorRate, Window};
use lately_papers::CATALOG;

use super::figure::{Drawn, Effort};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::clock::Monotonic;
use crate::contender::{Contender, Rival};
use crate::course::Course;
use crate::machine::cache_bytes;
use crate::race::{self, Lane, Operation, race};
use crate::rivals::{
    EXACT_WINDOW, FASTBLOOM, QFILTER, QFILTER_GROWN, ROTATING_FASTBLOOM, SCALABLE_CUCKOO,
};
use crate::stream::DISTINCT;
use crate::worst_insert::{Stretch, insert_times};

/// Whoever reads more cache lines than this is not raced.
const SLOW_LINES: f64 = 64.0;

fn percent() -> Result<ErrorRate> {
    Ok(ErrorRate::new(0.01)?)
}

fn window(items: u64) -> Result<Goal> {
    Ok(Goal::new(Window::Last(items), percent()?))
}

fn set(items: u64) -> Result<Goal> {
    Ok(Goal { expected_items: Some(items), ..Goal::new(Window::Ever, percent()?) })
}

fn name_of(contender: Contender) -> &'static str {
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
    let items = effort.pick(100_000, 1_000_000);
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

/// Times by operation, and bits, of all who run.
struct Ran {
    contender: Contender,
    bits: f64,
    nanos: Vec<(Operation, Vec<f64>)>,
}

fn run(
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
        let nanos = |operation: Operation| {
            let timing = lane.timings.iter().find(|timing| timing.operation == operation.name())?;
            Some((operation, timing.nanos_per_key.clone()))
        };
        let bits = lane.meter.bytes() as f64 * 8.0 / items as f64;
        Ran { contender, bits, nanos: Operation::ALL.into_iter().filter_map(nanos).collect() }
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

/// Bits against the time of an insertion.
pub fn front(effort: Effort) -> Result<Drawn> {
    let items = effort.pick(100_000, 1_000_000);
    let mut panels = Vec::new();
    let windows: &[&'static Rival] = &[&ROTATING_FASTBLOOM, &EXACT_WINDOW];
    let sets: &[&'static Rival] = &[&FASTBLOOM, &QFILTER, &SCALABLE_CUCKOO];
    for (title, goal, rivals, least) in [
        ("a window", window(items)?, windows, bound::sliding_window(percent()?, items, None)),
        ("a set of known size, from nothing", set(items)?, sets, bound::static_set(percent()?)),
    ] {
        let fits = |row: &&'static lately::catalog::Row| {
            let proposed = (row.propose)(&goal);
            proposed.is_ok_and(|found| found.lines_touched() <= SLOW_LINES)
        };
        let rows = CATALOG.iter().filter(fits).map(Contender::Row);
        let contenders: Vec<_> = rows.chain(rivals.iter().copied().map(Contender::Rival)).collect();
        let x = Axis::log("ns per insertion", Unit::Nanos);
        let y = Axis::log("bits per key", Unit::Plain).from(5.0);
        let mut panel = Panel::new(x, y).titled(title);
        let rounds = effort.pick(5, 9);
        for ran in run(&contenders, &goal, items, rounds, 50_000)? {
            let insert = ran.nanos.iter().find(|(operation, _)| *operation == Operation::Insert);
            let Some(time) = insert.and_then(|(_, nanos)| Point::samples(0.0, nanos)) else {
                continue;
            };
            let hue = match (ran.contender, lately::catalog::CATALOG.row(ran.contender.name())) {
                (Contender::Rival(_), _) => 1,
                (_, Some(_)) => 0,
                (_, None) => 2,
            };
            // Its place is its time; bits have hardly any luck in them.
            let point = Point { x: time.y, ..Point::about(time.y, ran.bits, 0.05) };
            panel.put(Role::Measured, hue, name_of(ran.contender), vec![point]);
        }
        let ends = panel.series.iter().flat_map(|series| &series.points).map(|point| point.x);
        let (from, to) =
            ends.fold((f64::INFINITY, 0.0_f64), |(from, to), x| (from.min(x), to.max(x)));
        let level = [from / 1.3, to * 2.0].map(|x| Point::exact(x, least));
        panel.put(Role::Bound, 0, "", level.to_vec());
        panels.push(panel);
    }
    Ok(panels.into())
}
