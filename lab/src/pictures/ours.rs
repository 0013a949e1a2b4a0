//! What no paper measured: memory through a day, and the error through a life.

use anyhow::Result;
use lately::plan::{Goal, bound};
use lately::{ErrorRate, Window};
use lately_papers::CATALOG;

use super::figure::{Chapter, Drawn, Effort, Figure};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use super::{command, front, speed};
use crate::accuracy::{self, Outcome};
use crate::contender::Contender;
use crate::rivals::ROTATING_FASTBLOOM;
use crate::stream::DISTINCT;
use crate::timed::day::{NAMES, rotating, through};

/// Our own figures.
pub const CHAPTER: Chapter = Chapter {
    title: "Ours",
    says: "What decides in practice and stands in no paper: rates that change, moments that are worse than others, single \
           insertions that are slow, caches, and what is bought with a bit.",
    figures: &[
        Figure {
            name: "ours-day",
            title: "Memory through a day",
            says: "A window of an hour at 0.1%: a quiet night, a rise a hundredfold at eight, half a million keys in one second at noon, a \
                   lull from three to five, then batches every ten minutes. `timed` follows what is in the window; two rotating filters must be \
                   made for the busiest hour, and whoever knew it.",
            timed: false,
            seconds: 10,
            measure: day,
        },
        Figure {
            name: "ours-life",
            title: "False positives through a life",
            says: "Four windows of a stream without repeats, asked after every quarter of a window; 1% promised. A promise on average would \
                   not show the teeth of those that take turns.",
            timed: false,
            seconds: 10,
            measure: life,
        },
        Figure {
            name: "ours-tails",
            title: "How many insertions are slow",
            says: "The time that one insertion in so many exceeds; each counts with its least time over several lives, so that interruptions vanish. A \
                   table that doubles, and a filter that is cleared at once, climb at the right.",
            timed: true,
            seconds: 15,
            measure: speed::tails,
        },
        Figure {
            name: "ours-speed",
            title: "Time over the size of the window",
            says: "At 1%. Marks are where `sliding` fills a cache of the machine. The time of an insertion into an \
                   exact window doubles at a hundredth of the size at which that into `sliding` does.",
            timed: true,
            seconds: 30,
            measure: speed::sizes,
        },
        Figure {
            name: "ours-front",
            title: "Bits against time",
            says: "Every row of the catalog and every rival for a window (above) and for a set (below), at 1%: what lies left and below is better. \
                   Rivals are orange, structures of papers blue. Nothing can be below the red line.",
            timed: true,
            seconds: 40,
            measure: front::front,
        },
        Figure {
            name: "ours-counts",
            title: "Bits against time, for counts",
            says: "Ten sightings of each key by Zipf's law, at 1%: keys that are counted too high. Count-min sketches (orange) are sized by the \
                   chance that a key has a counter for itself, which takes a counter where a filter takes a bit; one of them updates \
                   conservatively, and errs less.",
            timed: true,
            seconds: 10,
            measure: front::counters,
        },
        Figure {
            name: "ours-command",
            title: "The command beside others",
            says: "Lines of 20 bytes, half of them repeats of an earlier one; everybody reads the file and prints each line once. CPU time is that \
                   of all threads. All answers are the same but for those that take one line in a thousand for a repeat when told to. Others \
                   are run where they are installed, and never built.",
            timed: true,
            seconds: 20,
            measure: command::command,
        },
    ],
};

fn day(_: Effort) -> Result<Drawn> {
    let error = ErrorRate::new(0.001)?;
    let minutes = through(error, |minute| minute % 10 == 9 || minute == 12 * 60)?;
    let y = Axis::log("memory", Unit::Bytes).from(1e3);
    let mut panel = Panel::new(Axis::even("hour of the day", Unit::Plain).from(0.0).to(24.0), y);
    let busiest = minutes.iter().map(|minute| minute.live).max().unwrap_or(0);
    for minute in &minutes {
        let hour = minute.minute as f64 / 60.0;
        for (hue, name) in NAMES.iter().enumerate() {
            let bytes = minute.bytes[hue] as f64;
            panel.series_mut(Role::Measured, hue, name).push(Point::exact(hour, bytes));
        }
        let bound =
            bound::sliding_window(error, minute.live.max(1), None) * minute.live as f64 / 8.0;
        panel.series_mut(Role::Bound, 0, "bound").push(Point::exact(hour, bound));
    }
    let level = [0.0, 24.0].map(|hour| Point::exact(hour, rotating(error, busiest)));
    panel.put(Role::Formula, 2, "two rotating", level.to_vec());
    Ok(vec![panel].into())
}

fn life(effort: Effort) -> Result<Drawn> {
    let items = 20_000;
    let goal = Goal::new(Window::Last(items), ErrorRate::new(0.01)?);
    let x = Axis::even("windows of the stream that have passed", Unit::Plain).from(0.0).to(4.0);
    let y = Axis::even("false positives", Unit::Share).from(0.0).to(0.014);
    let mut panel = Panel::new(x, y);
    let names = ["sliding", "sliding-compact", "age-partitioned", "interleaved", "double-buffer"];
    let rows = names.iter().map(|name| CATALOG.row_named(name).map(Contender::Row));
    let mut contenders = rows.collect::<Result<Vec<_>, _>>()?;
    contenders.push(Contender::Rival(&ROTATING_FASTBLOOM));
    let effort = effort.pick(accuracy::Effort::QUICK, accuracy::Effort::FULL);
    for (hue, &contender) in contenders.iter().enumerate() {
        let outcome = accuracy::measure(contender, &goal, &DISTINCT, SEED, effort)?;
        let Outcome::Measured(measured) = outcome else { continue };
        let name = if contender.is_ours() { contender.name() } else { "rotating fastbloom" };
        for moment in &measured.errors.moments {
            let windows = moment.inserted as f64 / items as f64;
            let point = Point::rate(windows, moment.unseen);
            panel.series_mut(Role::Measured, hue, name).push(point);
        }
    }
    let promised = [0.0, 4.0].map(|windows| Point::exact(windows, 0.01));
    panel.put(Role::Claim, 7, "promised", promised.to_vec());
    Ok(vec![panel].into())
}
