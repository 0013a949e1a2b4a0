//! `figures`: the figures of *Approaching optimal duplicate detection in a sliding window*, and the
//! grid of all rows in the same memory, as data: one line of CSV per point, measured and predicted.
//! `report` draws them.

use std::io::Write;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use lately::plan::Goal;
use lately::raw::quantity;
use lately::{Window, catalog};
use lately_papers::CATALOG;

use crate::duplicates::{ALPHABET, FIGURES, Found, MEMORY, WINDOWS, measure, of_point, of_row};
use crate::uniform::Uniform;

/// Which figure.
#[derive(Debug, Args)]
pub struct Options {
    /// 1, 2, 3, 5, 6, 7, 8, 9 as in the paper, or `grid` for all rows of the catalog
    figure: String,
    /// Insertions per point
    #[arg(long, default_value = "1e6", value_parser = quantity::items)]
    length: u64,
    /// Windows of the grid; may be repeated
    #[arg(long = "window", value_name = "W", default_values_t = WINDOWS)]
    windows: Vec<u64>,
    /// Another seed is another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints the points of a figure. The grid fails if a row is proven farther than 0.01 from its law,
/// uses more than its memory, or if the planner's first choice errs more than 5% above the least.
pub fn figures(options: &Options, out: &mut impl Write) -> Result<bool> {
    let figure = options.figure.as_str();
    if figure != "grid" && !FIGURES.contains(&figure) {
        bail!("no figure {figure:?}; choose {} or grid", FIGURES.join(", "));
    }
    writeln!(out, "figure,series,x,window,false_positives,false_negatives,law_fp,law_fn,bytes")?;
    if figure == "grid" {
        return grid(options, out);
    }
    measure(figure, options.length, options.seed, |found| write_point(figure, &found, out))?;
    Ok(true)
}

fn write_point(figure: &str, point: &Found, out: &mut impl Write) -> Result<()> {
    let Found { series, x, window, judged, law, bytes } = point;
    let found = judged.rates();
    writeln!(
        out,
        "{figure},{series},{x},{window},{:.6},{:.6},{:.6},{:.6},{bytes}",
        found.false_positives, found.false_negatives, law.false_positives, law.false_negatives,
    )?;
    Ok(out.flush()?)
}

/// All rows, and the planner's choice among them.
fn grid(options: &Options, out: &mut impl Write) -> Result<bool> {
    let mut kept = true;
    for &window in &options.windows {
        let goal = Goal { alphabet: Some(ALPHABET), ..Goal::new(Window::Last(window), MEMORY) };
        let mut totals = Vec::new();
        for row in CATALOG.iter() {
            let Some(point) = of_row(row.name, window) else { continue };
            // Scans are slow, and exact enough to be judged by less.
            let slow = point.blueprint.lines_touched() > 64.0;
            let length = if slow { options.length / 10 } else { options.length };
            let stream = Uniform { alphabet: ALPHABET, length, seed: options.seed };
            let law = point.blueprint.expected_mistakes(Some(ALPHABET));
            let cost = point.blueprint.cost();
            let found = of_point(point, law, stream)?;
            write_point("grid", &found, out)?;
            let distance = found.judged.proven_distance(law);
            if distance > 0.01 || found.bytes > MEMORY.bytes() {
                kept = false;
                writeln!(out, "# {} is {distance:.4} from its law", row.name)?;
            }
            totals.push((row.name, cost, found.judged.rates().total()));
        }
        let plan = goal.best_plan()?;
        let pick = plan.row.name;
        let of = |name| totals.iter().find(|(row, ..)| *row == name).map(|(.., total)| *total);
        let picked = of(pick).ok_or_else(|| anyhow!("{pick} was not measured"))?;
        // Papers' structures are measured, and not what it picks from.
        let ours = totals.iter().filter(|(row, ..)| catalog::CATALOG.row(row).is_some());
        let as_fast = ours.filter(|(_, cost, _)| *cost <= plan.cost);
        let least = as_fast.map(|(.., total)| *total).fold(f64::INFINITY, f64::min);
        writeln!(
            out,
            "# window {window}: the planner picks {pick}, {picked:.5}; least of the as fast {least:.5}"
        )?;
        kept &= picked <= 1.05 * least;
    }
    Ok(kept)
}
