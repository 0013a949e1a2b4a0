//! A picture as data: panels with axes, and series of points with their spread.
//!
//! Pictures are drawn, compared and written into the report from this alone, so whatever is seen in one
//! stands in its record.

use serde::{Deserialize, Serialize};
use testkit::stats::{lower_confidence, upper_confidence};

use crate::record::Tally;
use crate::summary::Summary;

/// One coordinate system of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What it shows; empty if the picture has only one.
    pub title: String,
    /// Along the bottom.
    pub x: Axis,
    /// Along the left.
    pub y: Axis,
    /// What is drawn in it.
    pub series: Vec<Series>,
    /// Places on the x axis that mean something, such as the size of a cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// A line along which values lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// How its numbers are written.
    pub unit: Unit,
    /// How they are spread.
    pub scale: Scale,
    /// Where it begins, if not at the least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Where it ends, if not at the largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
}

/// How numbers are written on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// As they are.
    Plain,
    /// With thousands as `k` and millions as `M`.
    Count,
    /// Shares of one as percentages.
    Share,
    /// With `kB` and `MB`.
    Bytes,
    /// Nanoseconds, with `µs` and `ms`.
    Nanos,
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    /// Equal steps are equal differences.
    Even,
    /// Equal steps are equal ratios.
    Log,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Whose; written at the end of the line. Nothing is written for an empty name.
    pub name: String,
    /// What kind of values these are.
    pub role: Role,
    /// Series of one hue belong together: what is measured, its formula, what is claimed of it.
    pub hue: usize,
    /// From left to right.
    pub points: Vec<Point>,
}

/// What kind of values a series has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Measured here.
    Measured,
    /// What our formula says.
    Formula,
    /// What the paper says, or what others claim.
    Claim,
    /// What nothing can pass.
    Bound,
}

/// One value, and how far it may lie from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// What.
    pub y: f64,
    /// At least, as far as luck and noise allow to tell.
    pub low: f64,
    /// At most.
    pub high: f64,
}

/// A place on the x axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub at: f64,
    /// What is there.
    pub label: String,
}

/// How often a rate that is right lies outside of its spread, in the whole report: hardly ever.
const DOUBT: f64 = 1e-7;

impl Panel {
    /// An empty one without a title.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, series: Vec::new(), marks: Vec::new() }
    }

    /// The same with a title.
    pub fn titled(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }

    /// Adds points.
    pub fn put(&mut self, role: Role, hue: usize, name: &str, points: Vec<Point>) {
        self.series.push(Series { name: name.to_owned(), role, hue, points });
    }

    /// Adds a place of the x axis.
    pub fn mark(&mut self, at: f64, label: &str) {
        self.marks.push(Mark { at, label: label.to_owned() });
    }

    /// The first series of a role with this name, made if there is none yet: for points that come one by one.
    pub fn series_mut(&mut self, role: Role, hue: usize, name: &str) -> &mut Vec<Point> {
        let is_it =
            |series: &Series| series.role == role && series.name == name && series.hue == hue;
        let at = self.series.iter().position(is_it).unwrap_or_else(|| {
            self.put(role, hue, name, Vec::new());
            self.series.len() - 1
        });
        &mut self.series[at].points
    }
}

impl Axis {
    /// Equal steps are equal differences.
    pub fn even(label: &str, unit: Unit) -> Self {
        Self { label: label.to_owned(), unit, scale: Scale::Even, from: None, to: None }
    }

    /// Equal steps are equal ratios.
    pub fn log(label: &str, unit: Unit) -> Self {
        Self { scale: Scale::Log, ..Self::even(label, unit) }
    }

    /// Beginning here.
    pub fn from(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }

    /// Ending here.
    pub fn to(self, to: f64) -> Self {
        Self { to: Some(to), ..self }
    }
}

impl Point {
    /// A value without any luck in it.
    pub fn exact(x: f64, y: f64) -> Self {
        let y = rounded(y);
        Self { x: rounded(x), y, low: y, high: y }
    }

    /// A rate that was counted.
    pub fn rate(x: f64, tally: Tally) -> Self {
        let Tally { hits, trials } = tally;
        let [low, high] = [lower_confidence, upper_confidence]
            .map(|end| rounded(end(hits, trials.max(1), DOUBT)));
        Self { x: rounded(x), y: rounded(tally.rate()), low, high }
    }

    /// The median of samples, with the least and the most.
    pub fn samples(x: f64, samples: &[f64]) -> Option<Self> {
        let Summary { median, least, most } = Summary::of(samples)?;
        let [y, low, high] = [median, least, most].map(rounded);
        Some(Self { x: rounded(x), y, low, high })
    }

    /// A value that may be off by this share of itself either way.
    pub fn about(x: f64, y: f64, share: f64) -> Self {
        let [low, high] = [1.0 - share, 1.0 + share].map(|factor| rounded(y * factor));
        Self { x: rounded(x), y: rounded(y), low, high }
    }

    /// The same in another unit.
    pub fn times(self, factor: f64) -> Self {
        let [y, low, high] = [self.y, self.low, self.high].map(|value| rounded(value * factor));
        Self { y, low, high, ..self }
    }

    /// Another with the same x is within the spread of both.
    pub fn agrees(&self, other: &Self) -> bool {
        // Numbers are kept with five digits.
        let least = self.low.min(other.low).abs().max(self.y.abs()) * 2e-5;
        self.low <= other.high + least && other.low <= self.high + least
    }
}

/// With five digits: what is kept is read by people, and compared.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { 0.0 } else { value };
    }
    format!("{value:.4e}").parse().unwrap_or(value)
}

impl Unit {
    /// A value as people write it.
    pub fn write(self, value: f64) -> String {
        let scaled = |value: f64, steps: &[(f64, &str)]| {
            let step = steps.iter().rev().find(|(size, _)| value.abs() >= 0.9999 * size);
            let (size, suffix) = step.copied().unwrap_or((1.0, steps[0].1));
            format!("{}{suffix}", plain(value / size))
        };
        match self {
            Unit::Plain => plain(value),
            Unit::Count => scaled(value, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")]),
            Unit::Share => format!("{}%", plain(value * 100.0)),
            Unit::Bytes => scaled(value, &[(1.0, " B"), (1e3, " kB"), (1e6, " MB"), (1e9, " GB")]),
            Unit::Nanos => scaled(value, &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms")]),
        }
    }
}

/// At most three digits, without zeros at the end.
fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() < 1e-4 {
        return format!("{value:.0e}");
    }
    let decimals = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_people_do() {
        assert_eq!([1.0, 1_500.0, 2e6].map(|value| Unit::Count.write(value)), ["1", "1.5k", "2M"]);
        assert_eq!([0.01, 0.5, 1e-4].map(|value| Unit::Share.write(value)), ["1%", "50%", "0.01%"]);
        assert_eq!([12.5, 0.0].map(|value| Unit::Plain.write(value)), ["12.5", "0"]);
        assert_eq!([3.0, 4e4].map(|value| Unit::Nanos.write(value)), ["3 ns", "40 µs"]);
        assert_eq!(Unit::Bytes.write(1.25e6), "1.25 MB");
    }

    #[test]
    fn points_agree_within_the_spread_of_both() {
        let rate = |hits, trials| Point::rate(1.0, Tally { hits, trials });
        assert!(rate(100, 10_000).agrees(&rate(1_020, 100_000)));
        assert!(!rate(1_000, 100_000).agrees(&rate(2_000, 100_000)));
        assert!(Point::exact(1.0, 3.25).agrees(&Point::exact(1.0, 3.25)));
        assert!(!Point::exact(1.0, 3.25).agrees(&Point::exact(1.0, 3.26)));
        assert!(Point::about(1.0, 100.0, 0.1).agrees(&Point::about(1.0, 115.0, 0.1)));
    }
}
