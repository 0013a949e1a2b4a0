//! Sets of unknown size: the three constructions of Pagh, Segev and Wieder, and others that grow.

use anyhow::{Context, Result};
use lately::plan::{Goal, bound};
use lately::{ErrorRate, Time, Window};
use lately_papers::CATALOG;
use testkit::streams;

use super::figure::{Chapter, Drawn, Effort, Figure, Sheet};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::clock::{Clock, Monotonic};
use crate::contender::{Contender, Subject};
use crate::heap::Meter;
use crate::record::Tally;
use crate::rivals::{QFILTER_GROWN, SCALABLE_CUCKOO_GROWN};

/// The figures of this paper.
pub const CHAPTER: Chapter = Chapter {
    title: "Sets of unknown size",
    says: "Pagh, Segev and Wieder, *How to approximate a set without knowing its size in advance*: no data, but a table of three \
           constructions. `growing-layers` is the first, `growing-tails` the second, and `growing`, ours, does what the third \
           is for: no insertion is slow. Nobody is told how many keys come; `qfilter` must be told the most it may hold. \
           [More](growing.md).",
    figures: &[
        Figure {
            name: "growing-bits",
            title: "Table 1, space: bits per key as the set grows",
            says: "Each dot is the most since the one before. The bound is log2(1/ε) + log2 log2 n. The second construction stands on a dictionary that doubles, and pays for it half of \
                   the time; ours grows segment by segment. The third construction of the paper was thought to need a constant \
                   factor for its constant time; `growing` does without.",
            timed: false,
            seconds: 15,
            measure: bits,
        },
        Figure {
            name: "growing-error",
            title: "The error as the set grows",
            says: "What is promised is kept at every size (dashed: 1%). Layers never use all of it: they save some for layers that do not come. \
                   `growing` and `qfilter` have longer fingerprints while there are few.",
            timed: false,
            seconds: 20,
            measure: errors,
        },
        Figure {
            name: "growing-times",
            title: "Table 1, time: insertions and lookups as the set grows",
            says: "The paper's O(log n) for lookups of the first construction is the line that climbs. The other two are flat, \
                   but for the caches.",
            timed: true,
            seconds: 15,
            measure: times,
        },
    ],
};

const NAMES: [&str; 5] =
    ["growing", "growing-layers", "growing-tails", "qfilter", "scalable-cuckoo"];

/// Most keys that a rival is told of.
const MOST: u64 = 10_000_000;

fn fresh(name: &str) -> Result<Box<dyn Subject>> {
    let goal = Goal::new(Window::Ever, ErrorRate::new(0.01)?);
    let told = Goal { expected_items: Some(MOST), ..goal };
    match name {
        "qfilter" => Contender::Rival(&QFILTER_GROWN).fresh(&told, SEED),
        "scalable-cuckoo" => Contender::Rival(&SCALABLE_CUCKOO_GROWN).fresh(&told, SEED),
        name => {
            let row = CATALOG.row(name).context("a row of the catalog")?;
            Contender::Row(row).fresh(&goal, SEED)
        }
    }
}

/// Sizes at which one looks, so many for each power of ten.
fn stops(most: u64, per_decade: u32) -> Vec<u64> {
    let steps = (most as f64 / 1e3).log10() * f64::from(per_decade);
    let stop =
        |step: u32| (1e3 * 10_f64.powf(f64::from(step) / f64::from(per_decade))).round() as u64;
    (0..=(steps + 0.01) as u32).map(stop).collect()
}

/// Grows a contender, and looks at it at every stop.
fn grow(
    name: &str,
    stops: &[u64],
    mut look: impl FnMut(u64, &mut dyn Subject, &Meter) -> Result<()>,
) -> Result<()> {
    let mut meter = Meter::default();
    let mut subject = meter.during(|| fresh(name))?;
    let mut keys = streams::distinct(SEED);
    let mut inserted = 0;
    for &stop in stops {
        let next: Vec<u64> = keys.by_ref().take((stop - inserted) as usize).collect();
        meter.during(|| subject.insert_each(&next, Time::ZERO));
        inserted = stop;
        look(stop, &mut *subject, &meter)?;
    }
    Ok(())
}

fn keys_axis() -> Axis {
    Axis::log("keys in the set", Unit::Count)
}

fn bits(effort: Effort) -> Result<Drawn> {
    let y = Axis::even("bits per key at 1%, at most", Unit::Plain).from(0.0).to(70.0);
    let mut panel = Panel::new(keys_axis(), y);
    // Between two dots it is looked at often, and the most counts: who doubles is worst just after.
    const LOOKS: u32 = 8;
    const DOTS: u32 = 3;
    let stops = stops(effort.pick(1_000_000, MOST), LOOKS * DOTS);
    for (hue, name) in NAMES.iter().enumerate() {
        let points = panel.series_mut(Role::Measured, hue, name);
        // A rival that draws its own hashes may grow a little earlier or later.
        let luck = if hue > 2 { 0.1 } else { 0.002 };
        let (mut most, mut looks) = (0.0_f64, 0);
        grow(name, &stops, |items, _, meter| {
            most = most.max(meter.bytes() as f64 * 8.0 / items as f64);
            if looks % LOOKS == 0 {
                points.push(Point::about(items as f64, most, luck));
                most = 0.0;
            }
            looks += 1;
            Ok(())
        })?;
    }
    let percent = ErrorRate::new(0.01)?;
    let least =
        stops.iter().map(|&items| Point::exact(items as f64, bound::growing_set(percent, items)));
    panel.put(Role::Bound, 0, "bound", least.collect());
    let mut sheet = Sheet::new(&[
        "structure",
        "space in the paper",
        "lookup in the paper",
        "bits at a million, at most",
    ]);
    let claims = [
        ("growing-layers", "n log(1/ε) + O(n log log n)", "O(log n)"),
        ("growing-tails", "n log(1/ε) + O(n log log n)", "O(1)"),
        ("growing", "a constant factor more (construction 3)", "O(1)"),
    ];
    for (name, space, time) in claims {
        let series = panel.series.iter().find(|series| series.name == name);
        let at_million =
            series.and_then(|series| series.points.iter().find(|point| point.x == 1e6));
        let bits = at_million.map_or(String::new(), |point| format!("{:.1}", point.y));
        sheet.row([format!("`{name}`"), space.to_owned(), time.to_owned(), bits]);
    }
    Ok(Drawn { panels: vec![panel], sheets: vec![sheet], found: Vec::new() })
}

fn errors(effort: Effort) -> Result<Drawn> {
    let y = Axis::log("false positives", Unit::Share).from(1e-4).to(0.03);
    let mut panel = Panel::new(keys_axis(), y);
    let stops = stops(effort.pick(1_000_000, MOST), 4);
    let asked = effort.pick(50_000, 1_000_000);
    for (hue, name) in NAMES.iter().enumerate() {
        let points = panel.series_mut(Role::Measured, hue, name);
        grow(name, &stops, |items, subject, _| {
            let absent: Vec<u64> = streams::absent(items).take(asked).collect();
            let hits = subject.contains_each(&absent, Time::ZERO);
            points.push(Point::rate(items as f64, Tally { hits, trials: asked as u64 }));
            Ok(())
        })?;
    }
    let promised = stops.iter().map(|&items| Point::exact(items as f64, 0.01));
    panel.put(Role::Claim, 7, "promised", promised.collect());
    Ok(vec![panel].into())
}

fn times(effort: Effort) -> Result<Drawn> {
    let y = Axis::log("ns per insertion", Unit::Nanos);
    let mut insert = Panel::new(keys_axis(), y).titled("insertions since the last dot");
    let y = Axis::log("ns per lookup of an absent key", Unit::Nanos);
    let mut lookup = Panel::new(keys_axis(), y).titled("lookups");
    let stops = stops(effort.pick(1_000_000, MOST), 3);
    let clock = Monotonic::start();
    for (hue, name) in NAMES.iter().enumerate() {
        let mut samples = vec![(Vec::new(), Vec::new()); stops.len()];
        for _ in 0..effort.pick(3, 5) {
            let (mut at, mut before, mut begun) = (0, 0, clock.nanos());
            grow(name, &stops, |items, subject, _| {
                // Drawing the keys is a few nanoseconds of this.
                let nanos = (clock.nanos() - begun) as f64 / (items - before) as f64;
                samples[at].0.push(nanos);
                let absent: Vec<u64> = streams::absent(items).take(20_000).collect();
                for _ in 0..3 {
                    let start = clock.nanos();
                    std::hint::black_box(subject.contains_each(&absent, Time::ZERO));
                    samples[at].1.push((clock.nanos() - start) as f64 / absent.len() as f64);
                }
                (at, before, begun) = (at + 1, items, clock.nanos());
                Ok(())
            })?;
        }
        for (&items, (inserts, lookups)) in stops.iter().zip(&samples) {
            insert
                .series_mut(Role::Measured, hue, name)
                .extend(Point::samples(items as f64, inserts));
            lookup
                .series_mut(Role::Measured, hue, name)
                .extend(Point::samples(items as f64, lookups));
        }
    }
    Ok(vec![insert, lookup].into())
}
