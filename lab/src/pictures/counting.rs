//! Counting: the figures of Cohen and Matias on the rules of spectral Bloom filters, and their encodings.

use anyhow::Result;

use super::figure::{Chapter, Drawn, Effort, Figure, Sheet};
use super::picture::{Axis, Panel, Point, Role, Unit};
use crate::counting::Errors;
use crate::counting::rules::{BASE, LOADS, Setting, measure, one_recurring};
use crate::counting::storage::bits_per_counter;
use crate::counting::taken_back::{self, SKEWS, Way};
use crate::record::Tally;

/// The figures of this paper.
pub const CHAPTER: Chapter = Chapter {
    title: "Counting",
    says: "Cohen and Matias, *Spectral Bloom Filters*: a thousand keys by Zipf's law, a hundred sightings each, five counters a \
           key and a load nk/m of 0.7, unless said otherwise. Recurring minimum has the same memory as the others in all. \
           [More](counting.md).",
    figures: &[
        Figure {
            name: "counting-load",
            title: "The rules as memory shrinks",
            says: "Minimum selection errs as a Bloom filter does (line), minimal increase less, as the paper says. It also says that recurring \
                   minimum errs less often than selection in the same memory; it errs more often (left), and by less only with a marker \
                   and where memory is plenty (right).",
            timed: false,
            seconds: 10,
            measure: loads,
        },
        Figure {
            name: "counting-hashes",
            title: "The rules as counters per key grow",
            says: "With one counter selection and increase are the same. Every further one helps minimal increase most.",
            timed: false,
            seconds: 10,
            measure: hashes,
        },
        Figure {
            name: "counting-skew",
            title: "The rules as keys become uneven",
            says: "Minimal increase hardly notices the skew, as the paper says.",
            timed: false,
            seconds: 8,
            measure: skews,
        },
        Figure {
            name: "counting-recurring",
            title: "Table 1: what recurring minimum was expected to gain",
            says: "The paper computes the error of recurring minimum from the share of keys whose minimum recurs (dashed). It is \
                   measured many times larger: a key that moves to the second filter late takes its wrong count along. Minimum \
                   selection with the memory of both filters errs less than either form.",
            timed: false,
            seconds: 8,
            measure: recurring,
        },
        Figure {
            name: "counting-taken-back",
            title: "Taking back: removals and a window over the stream",
            says: "Forced to take back, minimal increase makes counts too low, which the others hardly do: that is why it refuses here. \
                   The paper says that recurring minimum has no counts too low; without a marker it has (right), for about one key in ten.",
            timed: false,
            seconds: 8,
            measure: removals,
        },
        Figure {
            name: "counting-storage",
            title: "Encodings: bits per counter as counts grow",
            says: "The paper's string array with its index stays within 1.3 times the lengths of all counters and 3.5 bits (dashed). \
                   Snapshots, which need no access, take less.",
            timed: false,
            seconds: 20,
            measure: storage,
        },
    ],
};

const RULES: [&str; 4] =
    ["minimum selection", "minimal increase", "recurring", "recurring, marked"];

/// Both errors of all rules, over one thing that varies.
fn rules(
    x: &Axis,
    effort: Effort,
    settings: impl IntoIterator<Item = (f64, Setting)>,
) -> Vec<Panel> {
    let y = Axis::log("keys with a wrong count", Unit::Share);
    let mut shares = Panel::new(x.clone(), y).titled("error ratio");
    let y = Axis::log("root of the mean square, sightings", Unit::Plain);
    let mut sizes = Panel::new(x.clone(), y).titled("additive error");
    for (at, setting) in settings {
        let measured = measure(&setting, effort.pick(8, 100));
        for (hue, name) in RULES.iter().enumerate() {
            shares.series_mut(Role::Measured, hue, name).push(share(at, measured.errors[hue]));
            let lives = Point::samples(at, &measured.lives[hue]);
            sizes.series_mut(Role::Measured, hue, name).extend(lives);
        }
        // It is the mean over as many different keys as came in these lives.
        let bloom = Point::about(at, measured.bloom, 0.03);
        shares.series_mut(Role::Formula, 0, "").push(bloom);
    }
    vec![shares, sizes]
}

fn share(x: f64, errors: Errors) -> Point {
    Point::rate(x, Tally { hits: errors.above + errors.below, trials: errors.keys })
}

fn loads(effort: Effort) -> Result<Drawn> {
    let x = Axis::even("load γ = nk/m", Unit::Plain);
    let settings =
        [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2].map(|load| (load, Setting { load, ..BASE }));
    Ok(rules(&x, effort, settings).into())
}

fn hashes(effort: Effort) -> Result<Drawn> {
    let x = Axis::even("counters per key, k", Unit::Plain);
    let settings = (1..=8).map(|hashes| (f64::from(hashes), Setting { hashes, ..BASE }));
    Ok(rules(&x, effort, settings).into())
}

fn skews(effort: Effort) -> Result<Drawn> {
    let x = Axis::even("skew of Zipf's law", Unit::Plain);
    let settings = SKEWS.map(|skew| (skew, Setting { skew, ..BASE }));
    Ok(rules(&x, effort, settings).into())
}

fn recurring(effort: Effort) -> Result<Drawn> {
    let y = Axis::log("keys with a wrong count", Unit::Share);
    let mut panel = Panel::new(Axis::even("load γ of the first filter", Unit::Plain), y);
    let mut sheet = Sheet::new(&[
        "load",
        "Bloom error",
        "minimum recurs",
        "paper's formula",
        "measured",
        "with a marker",
    ]);
    for load in LOADS.into_iter().rev() {
        let setting = Setting { load, ..BASE };
        let line = one_recurring(&setting, effort.pick(10, 100));
        let [plain, marked, larger] = line.errors;
        panel.series_mut(Role::Measured, 0, "recurring").push(share(load, plain));
        panel.series_mut(Role::Measured, 3, "with a marker").push(share(load, marked));
        panel.series_mut(Role::Measured, 2, "selection, same memory").push(share(load, larger));
        let formula = Point::about(load, line.formula, 0.5);
        panel.series_mut(Role::Claim, 0, "paper's formula").push(formula);
        sheet.row([
            load.to_string(),
            format!("{:.2}%", 100.0 * line.bloom),
            format!("{:.0}%", 100.0 * line.recurs),
            format!("{:.3}%", 100.0 * line.formula),
            format!("{:.2}%", 100.0 * plain.ratio()),
            format!("{:.2}%", 100.0 * marked.ratio()),
        ]);
    }
    Ok(Drawn { panels: vec![panel], sheets: vec![sheet], found: Vec::new() })
}

fn removals(effort: Effort) -> Result<Drawn> {
    let mut panels = Vec::new();
    for (way, title) in [(Way::Removals, "removals"), (Way::Window, "a window of a fifth")] {
        let x = Axis::even("skew of Zipf's law", Unit::Plain);
        let y = Axis::log("keys with a wrong count", Unit::Share).from(1e-4);
        let mut wrong = Panel::new(x.clone(), y).titled(&format!("{title}: wrong"));
        let y = Axis::log("keys with a count too low", Unit::Share).from(1e-4);
        let mut low = Panel::new(x, y).titled(&format!("{title}: too low"));
        for skew in SKEWS {
            let errors = taken_back::measure(way, skew, effort.pick(4, 20));
            for (hue, (name, errors)) in RULES.iter().zip(errors).enumerate() {
                wrong.series_mut(Role::Measured, hue, name).push(share(skew, errors));
                let tally = Tally { hits: errors.below, trials: errors.keys };
                low.series_mut(Role::Measured, hue, name).push(Point::rate(skew, tally));
            }
        }
        panels.extend([wrong, low]);
    }
    Ok(panels.into())
}

fn storage(effort: Effort) -> Result<Drawn> {
    let mut panels = Vec::new();
    let frequencies: &[u64] = effort.pick(&[1, 3, 10, 30, 100], &[1, 3, 10, 30, 100, 300, 1_000]);
    for (skew, title) in [(0.0, "even keys"), (1.0, "skew 1")] {
        let x = Axis::log("sightings of a key, on average", Unit::Count);
        let y = Axis::even("bits per counter", Unit::Plain).from(0.0).to(24.0);
        let mut panel = Panel::new(x, y).titled(title);
        for &frequency in frequencies {
            let at = frequency as f64;
            let keys = 20_000;
            let found = bits_per_counter(keys, frequency, skew);
            let [(_, lengths), ..] = found;
            for (hue, (name, bits)) in found.into_iter().enumerate().skip(1) {
                panel.series_mut(Role::Measured, hue - 1, name).push(Point::exact(at, bits));
            }
            let allowed = 1.3 * lengths + 3.5;
            panel.series_mut(Role::Claim, 0, "").push(Point::exact(at, allowed));
            panel.series_mut(Role::Bound, 0, "sum of lengths").push(Point::exact(at, lengths));
        }
        panels.push(panel);
    }
    Ok(panels.into())
}
