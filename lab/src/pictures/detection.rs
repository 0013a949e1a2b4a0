//! Duplicate detection in fixed memory: the figures of Géraud-Stewart, Lombard-Platet and Naccache.

use anyhow::Result;
use lately_papers::CATALOG;

use super::figure::{Chapter, Drawn, Effort, Figure, Sheet};
use super::keep::SEED;
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::duplicates::{
    self, ALPHABET, Found, MEMORY, Part, WINDOWS, measure, of_point, of_row, table,
};
use crate::record::Tally;
use crate::uniform::{Judged, Uniform};

/// The figures of this paper.
pub const CHAPTER: Chapter = Chapter {
    title: "Duplicates in fixed memory",
    says: "Géraud-Stewart, Lombard-Platet and Naccache, *Approaching optimal duplicate detection in a sliding window*: \
           100,000 bits, keys drawn evenly from 2^18. The error is the sum of both kinds: new keys reported as \
           seen, and keys of the window reported as new. [What we found](duplicates.md).",
    figures: &[
        Figure {
            name: "detection-1",
            title: "Figure 1: rings of short hashes as the window grows",
            says: "All is well until the hashes run out of bits, and then nothing is. A quotient table for the dictionary \
                   (`quotient-short-hash`) reaches farther than the paper's in the same memory. The paper fits a straight line \
                   to where its Theorem 3 (dashed) says that half of all new keys are reported (marks); at this memory the line is \
                   off.",
            timed: false,
            seconds: 20,
            measure: rings,
        },
        Figure {
            name: "detection-2",
            title: "Figure 2: a megabit fills up as the stream grows",
            says: "The order is the paper's, and the hatched area below the bound of Theorem 4 stays empty. \
                   Stable Bloom reports a key if all of its cells are set; the paper's benchmark reported it if any was.",
            timed: false,
            seconds: 8,
            measure: saturation,
        },
        Figure {
            name: "detection-3",
            title: "Figure 3: two published windows, and a table that knows no window",
            says: "The paper says that block decaying ends at 6000 (mark); nothing in it does. A2 that turns \
                   every half window forgets a quarter of the window, whatever the memory: it promises a window it does not keep.",
            timed: false,
            seconds: 5,
            measure: windows,
        },
        Figure {
            name: "detection-5",
            title: "Figure 5: ten subfilters in a queue",
            says: "Turned every w/L keys, as published, a queue forgets the end of its window: a twentieth with ten filters, \
                   however good they are. Turned every w/(L-1), it does not. Theorems 7 and 8 (dashed, for the quotient \
                   table) predict a third forgotten even by perfect filters: Theorem 8 lets a key be in every \
                   subfilter independently, and a repeat has one latest copy.",
            timed: false,
            seconds: 10,
            measure: queues,
        },
        Figure {
            name: "detection-6",
            title: "Figure 6: how many subfilters",
            says: "The best number depends on the window, as the paper says. With the paper's turns (left) even perfect \
                   subfilters forget 1/(2L) (dashed), and many filters seem better than they are; with turns that cover \
                   the window (right) few do.",
            timed: false,
            seconds: 12,
            measure: numbers,
        },
        Figure {
            name: "detection-7",
            title: "Figures 7 and 9: alone, and in the queue that errs least",
            says: "In a queue a small window errs about a thousandth as often, or less; a large one gains nothing, \
                   as the paper saw. Figure 9 (right) is its appendix; there the cuckoo filter had a quarter of its memory \
                   and stable Bloom reported a key if any cell was set, so its curves lie higher than ours.",
            timed: false,
            seconds: 12,
            measure: alone_and_queued,
        },
        Figure {
            name: "detection-8",
            title: "Figure 8: streams that are hardly longer than the window",
            says: "The paper sees the error fall where the window comes near the stream, and leaves it unexplained. Once the window is \
                   longer than the alphabet of 65,536 keys, nearly all keys that are new to it come at the beginning of the stream, when \
                   the filter is still empty: what is counted is the youth of the filter. Judged over its second half alone, the \
                   stream of a million keeps the law of the long run.",
            timed: false,
            seconds: 6,
            measure: short_streams,
        },
        Figure {
            name: "detection-grid",
            title: "All rows in the same memory",
            says: "The sum of both errors in percent, with the parameters that our formulas choose for each window; where there is no \
                   number, the structure cannot. `cargo lab figures grid` holds each beside its law and the planner's choice beside the best.",
            timed: false,
            seconds: 40,
            measure: grid,
        },
    ],
};

/// The sum of both errors. All answers about one stream share its luck, which is more than that of counting.
fn total(found: &Found) -> Point {
    const SHARED: f64 = 0.02;
    let (x, Judged { unseen, reported, seen, missed }) = (found.x, found.judged);
    let mut sum = Point::rate(x as f64, Tally { hits: reported, trials: unseen });
    // Who cannot forget has no luck in that.
    if missed > 0 || found.law.false_negatives > 0.0 {
        let negative = Point::rate(x as f64, Tally { hits: missed, trials: seen });
        let [y, low, high] = [sum.y + negative.y, sum.low + negative.low, sum.high + negative.high];
        sum = Point { y, low, high, ..sum };
    }
    Point { low: sum.low * (1.0 - SHARED), high: sum.high * (1.0 + SHARED), ..sum }
}

fn shares() -> Axis {
    Axis::log("error, sum of both kinds", Unit::Share).from(1e-4).to(1.2)
}

fn window_axis() -> Axis {
    Axis::log("window w, keys", Unit::Count)
}

/// Measures a figure into a panel: dots, and the line of the law.
fn into(
    panel: &mut Panel,
    figure: &str,
    length: u64,
    place: impl Fn(&Found) -> Option<(usize, String)>,
) -> Result<()> {
    into_each(std::slice::from_mut(panel), figure, length, |found| {
        place(found).map(|(hue, name)| (0, hue, name))
    })
}

/// The same into several.
fn into_each(
    panels: &mut [Panel],
    figure: &str,
    length: u64,
    place: impl Fn(&Found) -> Option<(usize, usize, String)>,
) -> Result<()> {
    measure(figure, length, SEED, |found| {
        if let Some((panel, hue, name)) = place(&found) {
            let panel = &mut panels[panel];
            panel.series_mut(Role::Measured, hue, &name).push(total(&found));
            let law = Point::exact(found.x as f64, found.law.total());
            panel.series_mut(Role::Formula, hue, "").push(law);
        }
        Ok(())
    })
}

fn hue_of(names: &[&str], series: &str) -> Option<(usize, String)> {
    names.iter().position(|name| series == *name).map(|hue| (hue, series.to_owned()))
}

fn rings(effort: Effort) -> Result<Drawn> {
    let mut panel = Panel::new(Axis::even("window w, keys", Unit::Count), shares().from(1e-6));
    let names = ["short-hash", "quotient-short-hash", "compact-short-hash"];
    let length = effort.pick(100_000, 1_000_000);
    into(&mut panel, "1", length, |found| hue_of(&names, &found.series))?;
    let bits = MEMORY.bits() as f64;
    // Theorem 3, as printed.
    let theorem = |window: f64, miss: f64| 1.0 - (1.0 - miss).powf(window);
    let claim = |miss: &dyn Fn(f64) -> f64| -> Vec<Point> {
        let windows = (10..=140).map(|step| f64::from(step) * 50.0);
        windows.map(|window| Point::exact(window, theorem(window, miss(window).min(1.0)))).collect()
    };
    panel.put(Role::Claim, 0, "", claim(&|window| (window * (-bits / window).exp2()).sqrt()));
    panel.put(Role::Claim, 2, "", claim(&|window| (-bits / window).exp2()));
    let (short, compact) = (0.0233 * bits + 186.0, 0.0627 * bits + 443.0);
    panel.mark(short, "paper: SHF ends");
    panel.mark(compact, "paper: CSHF ends");
    let half = |miss: &dyn Fn(f64) -> f64| {
        let mut windows = (1..20_000).map(f64::from);
        windows.find(|&window| theorem(window, miss(window).min(1.0)) >= 0.5).unwrap_or(0.0)
    };
    let found = format!(
        "The fitted ends are {short:.0} and {compact:.0}; the theorem itself has them at {:.0} and {:.0}.",
        half(&|window| (window * (-bits / window).exp2()).sqrt()),
        half(&|window| (-bits / window).exp2()),
    );
    Ok(Drawn { panels: vec![panel], sheets: Vec::new(), found: vec![found] })
}

fn saturation(effort: Effort) -> Result<Drawn> {
    let y = Axis::even("error, sum of both kinds", Unit::Share).from(0.0).to(1.2);
    let mut panel = Panel::new(Axis::log("keys of the stream", Unit::Count), y);
    let names = ["QHT", "SQF", "Cuckoo", "SBF"];
    let longest = effort.pick(10_000_000, 50_000_000);
    into(&mut panel, "2", longest, |found| hue_of(&names, &found.series))?;
    let lengths = (0..=34).map(|step| 1e6 * 10_f64.powf(f64::from(step) / 20.0));
    let least = lengths.map(|length| Point::exact(length, duplicates::least(length as u64)));
    panel.put(Role::Bound, 0, "Theorem 4", least.collect());
    Ok(vec![panel].into())
}

fn windows(effort: Effort) -> Result<Drawn> {
    let mut panel = Panel::new(window_axis(), shares());
    let names = ["A2 by half windows", "b_DBF", "QHT"];
    let length = effort.pick(1_000_000, 10_000_000);
    into(&mut panel, "3", length, |found| hue_of(&names, &found.series))?;
    panel.mark(6_000.0, "paper: b_DBF ends");
    Ok(vec![panel].into())
}

/// Turns as published, and turns that cover the window.
const TURNS: [(&str, &str); 2] =
    [("as published", "turned every w/L, as published"), ("covering", "turned every w/(L-1)")];

/// A panel for either, with lines of these names.
fn by_turns(figure: &str, effort: Effort, x: &Axis, names: &[&str]) -> Result<Vec<Panel>> {
    let panel = |(_, title): (&str, &str)| Panel::new(x.clone(), shares().from(1e-3)).titled(title);
    let mut panels = TURNS.map(panel).to_vec();
    into_each(&mut panels, figure, effort.pick(1_000_000, 10_000_000), |found| {
        let at = TURNS.iter().position(|(how, _)| found.series.ends_with(how))?;
        let (hue, name) = hue_of(names, found.series.strip_suffix(TURNS[at].0)?.trim_end())?;
        Some((at, hue, name))
    })?;
    Ok(panels)
}

fn queues(effort: Effort) -> Result<Drawn> {
    let mut panels = by_turns("5", effort, &window_axis(), &["QHT", "SQF", "Cuckoo", "SBF"])?;
    let claim = WINDOWS.map(|window| {
        let part = Part::Table(table(MEMORY.bits() / 10));
        Point::exact(window as f64, part.by_theorems(window, 10, ALPHABET).total())
    });
    panels[0].put(Role::Claim, 0, "Theorems 7, 8", claim.to_vec());
    Ok(panels.into())
}

fn numbers(effort: Effort) -> Result<Drawn> {
    let x = Axis::log("subfilters L", Unit::Plain);
    let names = ["window 100", "window 1000", "window 3000", "window 10000"];
    let mut panels = by_turns("6", effort, &x, &names)?;
    let perfect =
        (2..=50).map(|filters| Point::exact(f64::from(filters), 0.5 / f64::from(filters)));
    panels[0].put(Role::Claim, 7, "1/(2L)", perfect.collect());
    Ok(panels.into())
}

fn alone_and_queued(effort: Effort) -> Result<Drawn> {
    let length = effort.pick(1_000_000, 10_000_000);
    let mut panels = Vec::new();
    for (figure, title, names) in [
        ("7", "Figure 7", ["QHT", "SQF", "queued-quotient-table", "queued-streaming-quotient"]),
        ("9", "Figure 9", ["Cuckoo", "SBF", "queued-cuckoo", "queued-stable-bloom"]),
    ] {
        let mut panel = Panel::new(window_axis(), shares()).titled(title);
        into(&mut panel, figure, length, |found| {
            let (hue, name) = hue_of(&names, &found.series)?;
            // What is queued is said in fewer letters.
            let short = match name.strip_prefix("queued-") {
                Some(part) => format!("in a queue: {}", part.split('-').next().unwrap_or(part)),
                None => name,
            };
            Some((hue, short))
        })?;
        panels.push(panel);
    }
    Ok(panels.into())
}

/// With the longest stream in a quick run too: nothing else tells whether its line is as it was.
fn short_streams(_: Effort) -> Result<Drawn> {
    let mut panel = Panel::new(
        window_axis(),
        Axis::even("error, sum of both kinds", Unit::Share).from(0.0).to(1.0),
    );
    let names = ["100k keys", "1M keys", "10M keys", "1M, second half", "100M keys"];
    into(&mut panel, "8", 100_000_000, |found| hue_of(&names, &found.series))?;
    // The law is that of streams without an end: one line for all.
    let is_formula = |role: Role| role == Role::Formula;
    let law = panel.series.iter().position(|series| is_formula(series.role));
    let law = law.map(|at| panel.series[at].points.clone()).unwrap_or_default();
    panel.series.retain(|series| !is_formula(series.role));
    panel.put(Role::Formula, 7, "the law", law);
    Ok(vec![panel].into())
}

fn grid(effort: Effort) -> Result<Drawn> {
    let windows = WINDOWS.map(|window| format!("w = {window}"));
    let mut sheet = Sheet::new(&["structure"]);
    sheet.headings.extend(windows);
    for row in CATALOG.iter() {
        let mut cells = vec![format!("`{}`", row.name)];
        for window in WINDOWS {
            let Some(point) = of_row(row.name, window) else {
                cells.push(String::new());
                continue;
            };
            let law = point.blueprint.expected_mistakes(Some(ALPHABET));
            // Scans are slow, and exact enough to be judged by less.
            let slow = point.blueprint.lines_touched() > 64.0;
            let length = effort.pick(300_000, 3_000_000) / if slow { 10 } else { 1 };
            let found = of_point(point, law, Uniform { alphabet: ALPHABET, length, seed: SEED })?;
            cells.push(format!("{:.2}", 100.0 * found.judged.rates().total()));
        }
        if cells.iter().skip(1).any(|cell| !cell.is_empty()) {
            sheet.row(cells);
        }
    }
    Ok(Drawn { sheets: vec![sheet], ..Drawn::default() })
}
