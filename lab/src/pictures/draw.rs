//! Draws a picture as SVG.
//!
//! Axes, ticks and lines are those of plotters. Names stand at the ends of their lines, pushed apart where
//! they would cover each other, so that no legend has to be looked up.

use anyhow::{Result, anyhow};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Text};
use plotters::prelude::{Cartesian2d, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};

use super::picture::{Panel, Point, Role, Series};
use super::scale::Ruler;
use super::theme::{Paint, rules};

const WIDTH: u32 = 1600;
const FONT: &str = "system-ui, sans-serif";
/// Height of what is written, and of a line of names.
const LETTERS: u32 = 28;
const LINE: i32 = 32;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// The picture, and in words what it shows.
pub fn draw(title: &str, panels: &[Panel]) -> Result<String> {
    let mut text = String::new();
    // Names beside points need the whole width.
    let columns = if panels.len() == 1 || panels.iter().any(is_scattered) { 1 } else { 2 };
    let rows = panels.len().div_ceil(columns).max(1);
    let height = 64 + if columns == 1 { 800 } else { 700 } * rows as u32;
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&Paint::Paper.colour()).map_err(told)?;
        let (top, rest) = area.split_vertically(64);
        legend(&top, panels)?;
        for (part, panel) in rest.split_evenly((rows, columns)).iter().zip(panels) {
            draw_panel(part, panel, columns == 1)?;
        }
        area.present().map_err(told)?;
    }
    let (opening, rest) = text.split_once('\n').ok_or_else(|| anyhow!("no picture was drawn"))?;
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let rules = rules();
    Ok(format!("{opening}\n<title>{title}</title>\n<style>\n{rules}</style>\n{rest}"))
}

/// What kinds of lines there are.
fn legend(area: &Area<'_>, panels: &[Panel]) -> Result<()> {
    let kinds = [
        (Role::Measured, "measured here"),
        (Role::Formula, "our formula"),
        (Role::Claim, "what the paper or others say"),
        (Role::Bound, "the least possible"),
    ];
    let mut at = 40;
    for (role, name) in kinds {
        if !panels.iter().flat_map(|panel| &panel.series).any(|series| series.role == role) {
            continue;
        }
        let paint = Paint::Series(7, role).colour();
        let line = vec![(at, 36), (at + 70, 36)];
        let width = if role == Role::Measured { 2 } else { 4 };
        area.draw(&PathElement::new(line, paint.stroke_width(width))).map_err(told)?;
        if role == Role::Measured {
            area.draw(&Circle::new((at + 35, 36), 7, paint.filled())).map_err(told)?;
        }
        let style = letters(LETTERS, Paint::Soft, HPos::Left, VPos::Center);
        area.draw(&Text::new(name, (at + 84, 36), style)).map_err(told)?;
        at += 130 + 14 * name.len() as i32;
    }
    Ok(())
}

fn draw_panel(area: &Area<'_>, panel: &Panel, alone: bool) -> Result<()> {
    let (x, y) = (Ruler::of_x(panel), Ruler::of_y(panel));
    let longest = panel.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    // Names of single points stand beside them.
    let longest = if is_scattered(panel) { 12 } else { longest };
    let names = (24 + 13 * longest as i32).clamp(60, if alone { 480 } else { 330 });
    let above = if marks_above(panel) { 10 + LINE } else { 10 };
    let mut builder = ChartBuilder::on(area);
    builder.margin_left(16).margin_right(names).margin_top(above).margin_bottom(10);
    builder.x_label_area_size(86).y_label_area_size(120);
    if !panel.title.is_empty() {
        builder.caption(&panel.title, letters(LETTERS + 2, Paint::Ink, HPos::Left, VPos::Top));
    }
    let mut chart = builder.build_cartesian_2d(x.clone(), y.clone()).map_err(told)?;
    let small = letters(LETTERS, Paint::Soft, HPos::Center, VPos::Center);
    chart
        .configure_mesh()
        .x_labels(x.ticks().len())
        .y_labels(y.ticks().len())
        .x_desc(&panel.x.label)
        .y_desc(&panel.y.label)
        .axis_desc_style(small.clone())
        .label_style(small)
        .axis_style(Paint::Soft.colour())
        .bold_line_style(Paint::Grid.colour().stroke_width(2))
        .light_line_style(Paint::Paper.colour().mix(0.0))
        .draw()
        .map_err(told)?;
    let (floor, ceiling) = y.ends();
    for mark in &panel.marks {
        let line = vec![(mark.at, floor), (mark.at, ceiling)];
        let line = PathElement::new(line, Paint::Soft.colour().stroke_width(2));
        chart.draw_series([line]).map_err(told)?;
        let (pixel, top) = chart.backend_coord(&(mark.at, ceiling));
        let ((across, along), (right, down)) = match marks_above(panel) {
            true => ((HPos::Center, VPos::Bottom), (0, -2)),
            false => ((HPos::Left, VPos::Top), (8, 6)),
        };
        let style = letters(LETTERS - 4, Paint::Soft, across, along);
        write_at(area, &mark.label, (pixel + right, top + down), style)?;
    }
    for series in &panel.series {
        // Where a formula is drawn too, its line says more than one from dot to dot.
        let has_formula = |other: &Series| other.role == Role::Formula && other.hue == series.hue;
        let joined = if panel.series.iter().any(has_formula) { Joined::No } else { Joined::Yes };
        draw_series(&mut chart, series, joined, &x, &y)?;
    }
    match is_scattered(panel) {
        true => write_beside(area, &chart, panel),
        false => write_names(area, &chart, panel, &x, &y),
    }
}

/// Whether marks are named above the frame, where there is no title.
fn marks_above(panel: &Panel) -> bool {
    !panel.marks.is_empty() && panel.title.is_empty()
}

/// Whether most series are single points.
fn is_scattered(panel: &Panel) -> bool {
    let single = panel.series.iter().filter(|series| series.points.len() == 1).count();
    2 * single > panel.series.len()
}

/// Names beside single points, from the top down, each below what it would cover.
fn write_beside(area: &Area<'_>, chart: &Chart<'_, '_>, panel: &Panel) -> Result<()> {
    let mut names: Vec<((i32, i32), &Series)> = Vec::new();
    for series in &panel.series {
        if let [point] = series.points[..] {
            names.push((chart.backend_coord(&(point.x, point.y)), series));
        }
    }
    names.sort_by_key(|((_, height), _)| *height);
    let mut written: Vec<(i32, i32, i32)> = Vec::new();
    for ((left, wanted), series) in names {
        let right = left + 14 + 12 * series.name.chars().count() as i32;
        let mut height = wanted;
        while let Some(&(.., other)) = written.iter().find(|&&(from, to, other)| {
            from < right && left < to && (height - other).abs() < LINE - 6
        }) {
            height = other + LINE - 6;
        }
        written.push((left, right, height));
        let style =
            letters(LETTERS - 4, Paint::Series(series.hue, series.role), HPos::Left, VPos::Center);
        write_at(area, &series.name, (left + 14, height), style)?;
    }
    Ok(())
}

/// Whether dots are joined by a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Yes,
    No,
}

fn draw_series(
    chart: &mut Chart<'_, '_>,
    series: &Series,
    joined: Joined,
    x: &Ruler,
    y: &Ruler,
) -> Result<()> {
    let paint = Paint::Series(series.hue, series.role).colour();
    let place = |point: &Point| (point.x, point.y);
    let measured = series.role == Role::Measured;
    let many = series.points.len() > 60;
    let width = if measured && !many { 2 } else { 4 };
    let style: ShapeStyle = paint.stroke_width(width);
    let line: Vec<_> = series.points.iter().filter(|point| x.holds(point.x)).map(place).collect();
    if !measured || joined == Joined::Yes {
        chart.draw_series([PathElement::new(line, style)]).map_err(told)?;
    }
    if !measured || many {
        return Ok(());
    }
    for point in series.points.iter().filter(|point| x.holds(point.x)) {
        let Point { x: at, low, high, .. } = *point;
        if y.share(low, high) > 0.012 {
            let bar = PathElement::new(vec![(at, low), (at, high)], paint.stroke_width(2));
            chart.draw_series([bar]).map_err(told)?;
        }
        // What was never seen, or is beyond the axis, is an open circle at its end.
        let dot = match y.holds(point.y) {
            true => Circle::new(place(point), 7, paint.filled()),
            false => Circle::new(place(point), 7, paint.stroke_width(2)),
        };
        chart.draw_series([dot]).map_err(told)?;
    }
    Ok(())
}

/// Names at the ends of lines, none over another.
fn write_names(
    area: &Area<'_>,
    chart: &Chart<'_, '_>,
    panel: &Panel,
    x: &Ruler,
    y: &Ruler,
) -> Result<()> {
    let ((_, end), (floor, ceiling)) = (x.ends(), y.ends());
    let (right, bottom) = chart.backend_coord(&(end, floor));
    let (_, top) = chart.backend_coord(&(end, ceiling));
    let mut names: Vec<(i32, &Series)> = Vec::new();
    for series in panel.series.iter().filter(|series| !series.name.is_empty()) {
        if let Some(last) = series.points.iter().rev().find(|point| x.holds(point.x)) {
            names.push((chart.backend_coord(&(last.x, last.y)).1, series));
        }
    }
    names.sort_by_key(|(height, _)| *height);
    let wanted: Vec<i32> = names.iter().map(|(height, _)| *height).collect();
    for (height, (_, series)) in apart(&wanted, top + 8, bottom).into_iter().zip(names) {
        let paint = Paint::Series(series.hue, series.role);
        let style = letters(LETTERS, paint, HPos::Left, VPos::Center);
        write_at(area, &series.name, (right + 16, height), style)?;
    }
    Ok(())
}

/// Heights next to those wanted, in their order, a line apart from each other.
fn apart(wanted: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut heights: Vec<i32> = wanted.to_vec();
    for at in 0..heights.len() {
        let least = if at == 0 { top } else { heights[at - 1] + LINE };
        heights[at] = heights[at].max(least);
    }
    for at in (0..heights.len()).rev() {
        let most = if at + 1 == heights.len() { bottom } else { heights[at + 1] - LINE };
        heights[at] = heights[at].min(most);
    }
    heights
}

fn write_at(area: &Area<'_>, text: &str, pixel: (i32, i32), style: TextStyle<'_>) -> Result<()> {
    let (left, top) = area.get_base_pixel();
    area.draw(&Text::new(text.to_owned(), (pixel.0 - left, pixel.1 - top), style)).map_err(told)
}

fn letters<'a>(size: u32, paint: Paint, across: HPos, along: VPos) -> TextStyle<'a> {
    let style = TextStyle::from((FONT, size).into_font()).pos(Pos::new(across, along));
    TextStyle { color: paint.colour().to_backend_color(), ..style }
}

fn told(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the picture cannot be drawn: {error}")
}
