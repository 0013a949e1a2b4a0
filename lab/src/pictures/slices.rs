//! Slices by age: the figures and the table of Rodrigues, Shtul, Baquero and Almeida.

use anyhow::Result;
use lately::plan::{Goal, bound};
use lately::raw::{Filter, Structure};
use lately::sliding::slices::window_chance;
use lately::{ErrorRate, Hashing, Seed, Window};
use lately_papers::{TimeLimited, TimeLimitedParameters};
use testkit::streams;

use super::figure::{Chapter, Drawn, Effort, Figure, Sheet};
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::cmd::moment::{HALF_FULL, ask, half_full};
use crate::limited::{INSERTIONS, MENU, Moment, SPAN, TABLE_2, WITHIN, moment, pair, through};
use crate::record::Tally;

/// The figures of this paper.
pub const CHAPTER: Chapter = Chapter {
    title: "Slices by age, by count and by time",
    says: "Rodrigues, Shtul, Baquero and Almeida, *Time-limited Bloom Filter*: a span of 300 s and a key every 0.1 s, \
           10,000 in all, into filters that were made for 1000 and for 10,000 where 3000 come. The structure is \
           `time-limited` of `lately-papers`; ours for the same job is `timed`. [More](time.md).",
    figures: &[
        Figure {
            name: "slices-1",
            title: "Figures 1 and 2: slices and the size of the newest one, at every insertion",
            says: "As in the paper: a filter that is too small grows slices and returns to k + l, one that is too large \
                   makes its newest slice smaller at the first turn, and few large slices take longest to settle. \
                   An error of 10%, the five pairs (k, l) of the authors.",
            timed: false,
            seconds: 3,
            measure: slices,
        },
        Figure {
            name: "slices-3",
            title: "Figure 3: bits per element, at every insertion",
            says: "Both settle at the upper of the paper's 10 and 13 bits (dashed), which are rounded down. Naor and Yogev's bound for a \
                   window of known length lies far below.",
            timed: false,
            seconds: 3,
            measure: bits,
        },
        Figure {
            name: "slices-4",
            title: "Figures 4 and 5: false positives, at every insertion",
            says: "Lines are the error computed from what is stored, dots are keys asked that never came. The paper says that a filter \
                   too small goes a bit over the threshold (dashed): it does, because the threshold is the menu's, \
                   computed with fills that grow in a straight line. The last figure of this chapter shows that.",
            timed: false,
            seconds: 10,
            measure: errors,
        },
        Figure {
            name: "slices-table-2",
            title: "Table 2: bits per element for every error",
            says: "Measured in the last tenth of the stream. No pair of the authors takes more than the most that the paper says (dashed), \
                   whose numbers are rounded down. What our planner chooses for the same structure takes less, \
                   because it sets several bits in one word instead of one bit in a slice.",
            timed: false,
            seconds: 40,
            measure: table_2,
        },
        Figure {
            name: "slices-moment",
            title: "Age-partitioned slices at their worst moment",
            says: "Just before slices move on, young ones are fuller than a straight line from nothing to one half says, which is what all \
                   public code reckons with (dashed): the i-th is filled to 1 - 2^(-i/k). The recurrence with these fills (line) is \
                   what is measured.",
            timed: false,
            seconds: 10,
            measure: worst_moment,
        },
    ],
};

/// Every so many insertions there is a point.
const EVERY: u64 = 50;

fn insertions() -> Axis {
    Axis::even("insertions", Unit::Count).from(0.0).to(INSERTIONS as f64)
}

/// A line for each of the five pairs of a tenth, in filters made for so many keys.
fn lines(panel: &mut Panel, first: u64, value: impl Fn(&Moment) -> f64) {
    let (_, pairs) = MENU[0];
    for (hue, &(k, l)) in pairs.iter().enumerate() {
        let parameters = TimeLimitedParameters { expected: first, ..pair((k, l)) };
        let points = panel.series_mut(Role::Measured, hue, &format!("({k}, {l})"));
        through(parameters, |_, moment| {
            if moment.before % EVERY == 0 {
                points.push(Point::exact(moment.before as f64, value(&moment)));
            }
        });
    }
}

fn slices(_: Effort) -> Result<Drawn> {
    let mut panels = Vec::new();
    for first in [1_000, 10_000] {
        let y = Axis::even("slices", Unit::Plain).from(0.0);
        let mut panel = Panel::new(insertions(), y).titled(&format!("made for {first} keys"));
        lines(&mut panel, first, |moment| moment.slices as f64);
        panels.push(panel);
        let y = Axis::log("size of slice 0, bits", Unit::Count);
        let mut panel = Panel::new(insertions(), y).titled(&format!("made for {first} keys"));
        lines(&mut panel, first, |moment| moment.slice_0 as f64);
        panels.push(panel);
    }
    Ok(panels.into())
}

fn bits(_: Effort) -> Result<Drawn> {
    let tenth = ErrorRate::new(0.1)?;
    let mut panels = Vec::new();
    for first in [1_000, 10_000] {
        let y = Axis::even("bits per element", Unit::Plain).from(0.0).to(40.0);
        let mut panel = Panel::new(insertions(), y).titled(&format!("made for {first} keys"));
        lines(&mut panel, first, |moment| moment.bits);
        let level =
            |bits: f64| vec![Point::exact(0.0, bits), Point::exact(INSERTIONS as f64, bits)];
        panel.put(Role::Claim, 7, "10 to 13", level(10.0));
        panel.put(Role::Claim, 7, "", level(13.0));
        panel.put(Role::Bound, 0, "bound", level(bound::sliding_window(tenth, WITHIN, None)));
        panels.push(panel);
    }
    Ok(panels.into())
}

fn errors(effort: Effort) -> Result<Drawn> {
    let asked = effort.pick(20_000, 1_000_000);
    let mut panels = Vec::new();
    for (first, title) in
        [(1_000, "Figure 4: made for 1000 keys"), (10_000, "Figure 5: made for 10,000 keys")]
    {
        let y = Axis::log("false positives", Unit::Share).from(1e-5);
        let mut panel = Panel::new(insertions(), y).titled(title);
        for (hue, at) in [(0, 0), (1, 1), (2, 2)] {
            let (rate, pairs) = MENU[at];
            let parameters = TimeLimitedParameters { expected: first, ..pair(pairs[0]) };
            let (mut computed, mut measured) = (Vec::new(), Vec::new());
            through(parameters, |filter, now| {
                if now.before % EVERY == 0 {
                    computed.push(Point::exact(now.before as f64, filter.false_positive_rate()));
                }
                if now.before % 1_000 == 999 {
                    let tally = absent(filter, now.before, asked);
                    measured.push(Point::rate(now.before as f64, tally));
                }
            });
            let (k, l) = pairs[0];
            panel.put(Role::Measured, hue, &format!("({k}, {l})"), measured);
            panel.put(Role::Formula, hue, "", computed);
            let level = [0.0, INSERTIONS as f64].map(|x| Point::exact(x, rate));
            panel.put(Role::Claim, hue, "", level.to_vec());
        }
        panels.push(panel);
    }
    Ok(panels.into())
}

/// Keys that never came, at the moment of an insertion.
fn absent(filter: &TimeLimited, before: u64, asked: usize) -> Tally {
    use lately::raw::Membership;
    let hashing = Hashing::Fast(Seed(1));
    let mut tally = Tally::default();
    for key in streams::absent(before).take(asked) {
        tally.count(filter.contains_hash(hashing.hash(&key.to_le_bytes()), moment(before)));
    }
    tally
}

fn table_2(_: Effort) -> Result<Drawn> {
    let x = Axis::log("one error in so many unseen keys, 1/ε", Unit::Count);
    let mut panel = Panel::new(x, Axis::even("bits per element", Unit::Plain).from(0.0));
    let mut sheet = Sheet::new(&["error", "paper", "pairs of the authors", "our choice", "bound"]);
    for (&(rate, pairs), (least, most)) in MENU.iter().zip(TABLE_2) {
        let taken: Vec<f64> = pairs.iter().map(|&(k, l)| settled(pair((k, l)))).collect();
        let low = taken.iter().copied().fold(f64::INFINITY, f64::min);
        let high = taken.iter().copied().fold(0.0, f64::max);
        panel.series_mut(Role::Measured, 0, "largest pair").push(Point::exact(1.0 / rate, high));
        panel.series_mut(Role::Measured, 0, "smallest pair").push(Point::exact(1.0 / rate, low));
        let rate_asked = ErrorRate::new(rate)?;
        // Told how many keys come, and not told.
        let mut ours = f64::INFINITY;
        for expected_items in [Some(WITHIN), None] {
            let goal = Goal { expected_items, ..Goal::new(Window::Within(SPAN), rate_asked) };
            let choice = TimeLimitedParameters::propose(&goal);
            ours = ours.min(settled(choice.map_err(|unfit| anyhow::anyhow!(unfit.0))?));
        }
        panel.series_mut(Role::Measured, 2, "our choice").push(Point::exact(1.0 / rate, ours));
        panel.series_mut(Role::Claim, 1, "paper, most").push(Point::exact(1.0 / rate, most.into()));
        panel
            .series_mut(Role::Claim, 1, "paper, least")
            .push(Point::exact(1.0 / rate, least.into()));
        let bound = bound::sliding_window(rate_asked, WITHIN, None);
        panel.series_mut(Role::Bound, 0, "bound").push(Point::exact(1.0 / rate, bound));
        sheet.row([
            Unit::Share.write(rate),
            format!("{least} to {most}"),
            format!("{low:.1} to {high:.1}"),
            format!("{ours:.1}"),
            format!("{bound:.1}"),
        ]);
    }
    Ok(Drawn { panels: vec![panel], sheets: vec![sheet], found: Vec::new() })
}

/// The most bits per element in the last tenth, in the worse of both filters.
fn settled(parameters: TimeLimitedParameters) -> f64 {
    let mut most = 0.0_f64;
    for first in [1_000, 10_000] {
        through(TimeLimitedParameters { expected: first, ..parameters }, |_, moment| {
            if moment.before >= INSERTIONS / 10 * 9 {
                most = most.max(moment.bits);
            }
        });
    }
    most
}

fn worst_moment(effort: Effort) -> Result<Drawn> {
    let y =
        Axis::even("false positives, over what the recurrence says", Unit::Plain).from(0.6).to(1.2);
    let mut panel = Panel::new(Axis::even("slices per key, k", Unit::Plain), y);
    for (k, classes) in HALF_FULL {
        let shape = half_full(k, classes);
        let (x, computed) = (f64::from(k), shape.false_positive_rate());
        if computed >= effort.pick(1e-3, 1e-4) {
            let tally = ask(effort.pick(3_000, 30_000), &shape);
            let point = Point::rate(x, tally).times(1.0 / computed);
            panel.series_mut(Role::Measured, 0, "measured").push(point);
        }
    }
    let level = [4.0, 17.0].map(|k| Point::exact(k, 1.0));
    panel.put(Role::Formula, 0, "recurrence", level.to_vec());
    let mut worst = (1.0, (0, 0));
    for &(_, pairs) in MENU {
        let (k, l) = pairs[0];
        let share = chance(k, l, straight) / chance(k, l, halving);
        panel.series_mut(Role::Claim, 1, "straight fills").push(Point::exact(f64::from(k), share));
        if share < worst.0 {
            worst = (share, (k, l));
        }
    }
    let (share, (k, l)) = worst;
    let found = format!(
        "Of the authors' first pairs, ({k}, {l}) is off most: {:.2e} at its worst moment, where straight fills say {:.2e}, {:.0}% less.",
        chance(k, l, halving),
        chance(k, l, straight),
        100.0 * (1.0 - share)
    );
    Ok(Drawn { panels: vec![panel], sheets: Vec::new(), found: vec![found] })
}

/// The recurrence for a pair (k, l), with these fills.
fn chance(k: u32, l: u32, fill: fn(u32, u32) -> f64) -> f64 {
    let fills: Vec<f64> = (0..k + l).map(|age| fill((age + 1).min(k), k)).collect();
    window_chance(k as usize, &fills, |_| true)
}

/// How full slices are after so many generations of k, as public code has it.
fn straight(generations: u32, k: u32) -> f64 {
    f64::from(generations) / f64::from(2 * k)
}

/// And as it is: every generation sets its share of what is not set.
fn halving(generations: u32, k: u32) -> f64 {
    1.0 - (-f64::from(generations) / f64::from(k)).exp2()
}
