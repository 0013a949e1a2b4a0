//! Windows that never forget inside: bits beside Theorem 1.2 of Naor and Yogev, over error, size and slack.

use anyhow::Result;
use lately::plan::{Goal, bound};
use lately::{ErrorRate, Slack, Window};
use lately_papers::CATALOG;

use super::figure::{Chapter, Drawn, Effort, Figure};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::accuracy::{self, Outcome};
use crate::contender::Contender;
use crate::heap::Meter;
use crate::rivals::ROTATING_FASTBLOOM;
use crate::stream::DISTINCT;

/// The figures of this paper.
pub const CHAPTER: Chapter = Chapter {
    title: "Windows by count",
    says: "Naor and Yogev, *Sliding Bloom Filters*: no data, but a bound that nobody can pass (Theorem 1.2, \
           log2(1/ε) + max(log2(n/m), log2 log2(1/ε)) bits per key for a slack of m) and a construction that meets it up to \
           lower order terms. The paper's c = max(log 1/ε, m/n) has n and m exchanged. [More](sliding.md).",
    figures: &[
        Figure {
            name: "window-error",
            title: "Bits per key over the error",
            says: "Dots are the heap that the allocator counts, lines the formula that the planner goes by. `sliding` and \
                   `sliding-compact` are the paper's idea; slices and rotating filters pay for every bit of precision more than once.",
            timed: false,
            seconds: 10,
            measure: over_error,
        },
        Figure {
            name: "window-kept",
            title: "What is promised and what comes",
            says: "False positives at the worst moment of a life, over what was asked for. Nobody's are above one (dashed) but for the luck of \
                   counting, which the bars show; `sliding` errs less where the next shorter fingerprint would err too often.",
            timed: false,
            seconds: 20,
            measure: kept,
        },
        Figure {
            name: "window-size",
            title: "Bits per key over the size of the window",
            says: "The bound does not depend on n. Small windows pay for whole cache lines and for words that are not filled.",
            timed: false,
            seconds: 5,
            measure: over_size,
        },
        Figure {
            name: "window-slack",
            title: "Bits per key over the slack",
            says: "A slack of a tenth of the window costs nothing by Theorem 1.2: below n / log2(1/ε) every halving costs a bit. \
                   `sliding-compact` follows the bound down to a few keys; where a line ends, the structure cannot.",
            timed: false,
            seconds: 5,
            measure: over_slack,
        },
    ],
};

const ROWS: [&str; 5] =
    ["sliding", "sliding-compact", "age-partitioned", "interleaved", "double-buffer"];

/// Bits per key by the formula of a row; none if it does not fit.
fn formula(name: &str, goal: &Goal, items: u64) -> Option<f64> {
    let blueprint = (CATALOG.row(name)?.propose)(goal).ok()?;
    Some(blueprint.heap_bytes() as f64 * 8.0 / items as f64)
}

/// Bits per key by the allocator.
fn counted(contender: Contender, goal: &Goal, items: u64) -> Option<f64> {
    let mut meter = Meter::default();
    let subject = meter.during(|| contender.fresh(goal, SEED)).ok()?;
    let bits = meter.bytes() as f64 * 8.0 / items as f64;
    drop(subject);
    Some(bits)
}

/// A value counted once; boxes and what else runs in the process are a few hundred bytes.
fn heap(x: f64, bits: f64, items: u64) -> Point {
    Point::about(x, bits, 0.002 + 2_000.0 / (bits * items as f64))
}

fn over_error(_: Effort) -> Result<Drawn> {
    let items = 1_000_000;
    let x = Axis::log("one error in so many unseen keys, 1/ε", Unit::Count);
    let mut panel =
        Panel::new(x, Axis::even("bits per key, n = 1M", Unit::Plain).from(0.0).to(60.0));
    for (hue, name) in ROWS.iter().enumerate() {
        for step in 4..=24 {
            let rate = 10_f64.powf(-f64::from(step) / 4.0);
            let goal = Goal::new(Window::Last(items), ErrorRate::new(rate)?);
            if let Some(bits) = formula(name, &goal, items) {
                panel.series_mut(Role::Formula, hue, "").push(Point::exact(1.0 / rate, bits));
            }
            let Some(row) = CATALOG.row(name).filter(|_| step % 4 == 0) else { continue };
            if let Some(bits) = counted(Contender::Row(row), &goal, items) {
                panel.series_mut(Role::Measured, hue, name).push(heap(1.0 / rate, bits, items));
            }
        }
    }
    for step in 1..=6 {
        let rate = 10_f64.powi(-step);
        let goal = Goal::new(Window::Last(items), ErrorRate::new(rate)?);
        if let Some(bits) = counted(Contender::Rival(&ROTATING_FASTBLOOM), &goal, items) {
            let points = panel.series_mut(Role::Measured, ROWS.len(), "rotating fastbloom");
            points.push(heap(1.0 / rate, bits, items));
        }
    }
    let least = (4..=24).map(|step| 10_f64.powf(-f64::from(step) / 4.0)).flat_map(|rate| {
        let asked = ErrorRate::new(rate).ok()?;
        Some(Point::exact(1.0 / rate, bound::sliding_window(asked, items, None)))
    });
    panel.put(Role::Bound, 0, "Theorem 1.2", least.collect());
    Ok(vec![panel].into())
}

fn kept(effort: Effort) -> Result<Drawn> {
    let items = 20_000;
    let x = Axis::log("one error in so many unseen keys asked for, 1/ε", Unit::Count);
    let y = Axis::even("at the worst moment, over what was asked", Unit::Plain).from(0.0).to(1.4);
    let mut panel = Panel::new(x, y);
    let contenders = ROWS.iter().map(|name| CATALOG.row_named(name).map(Contender::Row));
    let mut contenders = contenders.collect::<Result<Vec<_>, _>>()?;
    contenders.push(Contender::Rival(&ROTATING_FASTBLOOM));
    let effort = effort.pick(accuracy::Effort::QUICK, accuracy::Effort::FULL);
    for rate in [0.1, 0.03, 0.01, 0.003, 0.001] {
        let goal = Goal::new(Window::Last(items), ErrorRate::new(rate)?);
        for (hue, &contender) in contenders.iter().enumerate() {
            let Outcome::Measured(measured) =
                accuracy::measure(contender, &goal, &DISTINCT, SEED, effort)?
            else {
                continue;
            };
            let name = if contender.is_ours() { contender.name() } else { "rotating fastbloom" };
            let point = Point::rate(1.0 / rate, measured.errors.worst()).times(1.0 / rate);
            panel.series_mut(Role::Measured, hue, name).push(point);
        }
        panel.series_mut(Role::Claim, 7, "asked").push(Point::exact(1.0 / rate, 1.0));
    }
    Ok(vec![panel].into())
}

fn over_size(_: Effort) -> Result<Drawn> {
    let percent = ErrorRate::new(0.01)?;
    let x = Axis::log("window n, keys", Unit::Count);
    let mut panel = Panel::new(x, Axis::even("bits per key at 1%", Unit::Plain).from(0.0).to(40.0));
    let sizes: Vec<u64> = (8..=28).map(|step| 10_f64.powf(f64::from(step) / 4.0) as u64).collect();
    for (hue, name) in ROWS.iter().enumerate() {
        for (at, &items) in sizes.iter().enumerate() {
            let goal = Goal::new(Window::Last(items), percent);
            if let Some(bits) = formula(name, &goal, items) {
                let points = panel.series_mut(Role::Formula, hue, "");
                points.push(Point::exact(items as f64, bits));
            }
            let Some(row) = CATALOG.row(name).filter(|_| at % 4 == 0 && items >= 10_000) else {
                continue;
            };
            if let Some(bits) = counted(Contender::Row(row), &goal, items) {
                let points = panel.series_mut(Role::Measured, hue, name);
                points.push(heap(items as f64, bits, items));
            }
        }
    }
    let least = sizes
        .iter()
        .map(|&items| Point::exact(items as f64, bound::sliding_window(percent, items, None)));
    panel.put(Role::Bound, 0, "Theorem 1.2", least.collect());
    Ok(vec![panel].into())
}

fn over_slack(_: Effort) -> Result<Drawn> {
    let (items, permille) = (1 << 20, ErrorRate::new(0.001)?);
    let x = Axis::log("window over slack, n/m, with n = 1M", Unit::Count);
    let mut panel =
        Panel::new(x, Axis::even("bits per key at 0.1%", Unit::Plain).from(0.0).to(60.0));
    let slacks: Vec<u64> = (2..=20).rev().map(|power| 1 << power).collect();
    for (hue, name) in ROWS.iter().enumerate() {
        for (at, &slack) in slacks.iter().enumerate() {
            let goal =
                Goal { slack: Slack::Items(slack), ..Goal::new(Window::Last(items), permille) };
            if let Some(bits) = formula(name, &goal, items) {
                let points = panel.series_mut(Role::Formula, hue, "");
                points.push(Point::exact((items / slack) as f64, bits));
            }
            let Some(row) = CATALOG.row(name).filter(|_| at % 3 == 0) else { continue };
            if let Some(bits) = counted(Contender::Row(row), &goal, items) {
                panel.series_mut(Role::Measured, hue, name).push(heap(
                    (items / slack) as f64,
                    bits,
                    items,
                ));
            }
        }
    }
    let least = slacks.iter().map(|&slack| {
        Point::exact((items / slack) as f64, bound::sliding_window(permille, items, Some(slack)))
    });
    panel.put(Role::Bound, 0, "Theorem 1.2", least.collect());
    Ok(vec![panel].into())
}
