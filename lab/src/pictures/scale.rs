//! Where values lie on an axis, and which of them are written beside it.
//!
//! An axis of ratios is an even axis of logarithms, so that one kind serves both.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::picture::{Axis, Panel, Point, Scale, Unit};

/// An axis with its ends and ticks.
#[derive(Debug, Clone)]
pub struct Ruler {
    scale: Scale,
    unit: Unit,
    /// Ends, or their logarithms.
    from: f64,
    to: f64,
    /// Values that are written, or their logarithms.
    ticks: Vec<f64>,
}

impl Ruler {
    /// For the x axis of a panel.
    pub fn of_x(panel: &Panel) -> Self {
        let points = panel.series.iter().flat_map(|series| &series.points);
        Self::new(
            &panel.x,
            points.map(|point| point.x).chain(panel.marks.iter().map(|mark| mark.at)),
        )
    }

    /// For its y axis, with room for what may be larger by luck.
    pub fn of_y(panel: &Panel) -> Self {
        let points = panel.series.iter().flat_map(|series| &series.points);
        Self::new(&panel.y, points.flat_map(|&Point { y, high, .. }| [y, high.min(2.0 * y)]))
    }

    fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let drawable =
            |value: &f64| value.is_finite() && (axis.scale == Scale::Even || *value > 0.0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(drawable) {
            (least, most) = (least.min(value), most.max(value));
        }
        let (least, most) = if least > most { (1.0, 2.0) } else { (least, most) };
        let (from, to) = (axis.from.unwrap_or(least), axis.to.unwrap_or(most));
        match axis.scale {
            Scale::Even => Self::even(axis.unit, from, to, axis),
            Scale::Log => Self::log(axis.unit, from.log10(), to.log10(), axis),
        }
    }

    fn even(unit: Unit, from: f64, to: f64, axis: &Axis) -> Self {
        let room = if to > from { to - from } else { to.abs().max(1.0) };
        let step = step(room / 5.0);
        // An axis that nobody ended ends at a tick.
        let from = if axis.from.is_some() { from } else { (from / step).floor() * step };
        let to = if axis.to.is_some() { to } else { (to / step).ceil() * step };
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|tick| tick as f64 * step).collect();
        Self { scale: Scale::Even, unit, from, to: to.max(from + step), ticks }
    }

    fn log(unit: Unit, from: f64, to: f64, axis: &Axis) -> Self {
        let from = if axis.from.is_some() { from } else { (10.0 * from).floor() / 10.0 };
        let to = if axis.to.is_some() { to } else { (10.0 * to).ceil() / 10.0 };
        let to = to.max(from + 0.2);
        let decades = (to - from).ceil() as i64;
        // Few decades have room for more, and many for fewer.
        let parts: &[f64] = match decades {
            ..=1 => &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
            2 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = (decades / 7 + 1) as usize;
        let tens = (from.floor() as i64..=to.ceil() as i64).step_by(every);
        let ticks = tens.flat_map(|ten| parts.iter().map(move |part| ten as f64 + part.log10()));
        let inside = |tick: &f64| (from - 1e-9..=to + 1e-9).contains(tick);
        Self { scale: Scale::Log, unit, from, to, ticks: ticks.filter(inside).collect() }
    }

    /// The ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.value(self.from), self.value(self.to))
    }

    /// Values that are written.
    pub fn ticks(&self) -> Vec<f64> {
        self.ticks.iter().map(|&tick| self.value(tick)).collect()
    }

    /// Whether a value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        (self.from - 1e-9..=self.to + 1e-9).contains(&self.place(value))
    }

    /// The share of the axis that lies between two values.
    pub fn share(&self, low: f64, high: f64) -> f64 {
        let [low, high] = [low, high].map(|value| self.place(value).clamp(self.from, self.to));
        (high - low) / (self.to - self.from)
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Even => value,
            Scale::Log => value.log10(),
        }
    }

    fn value(&self, place: f64) -> f64 {
        match self.scale {
            Scale::Even => place,
            Scale::Log => 10_f64.powf(place),
        }
    }
}

/// What is beyond an end is drawn there.
impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (f64::from(last - first) * self.share(self.ends().0, *value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks() }
    }

    fn range(&self) -> Range<f64> {
        let (from, to) = self.ends();
        from..to
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.unit.write(*value)
    }
}

/// The round number next to this one: 1, 2 or 5 times a power of ten.
fn step(about: f64) -> f64 {
    let ten = 10_f64.powf(about.log10().floor());
    let part = about / ten;
    let round = match part {
        ..1.5 => 1.0,
        ..3.5 => 2.0,
        ..7.5 => 5.0,
        _ => 10.0,
    };
    round * ten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let even = Ruler::new(&Axis::even("x", Unit::Plain), [3.0, 97.0].into_iter());
        assert_eq!(even.ends(), (0.0, 100.0));
        assert_eq!(even.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let log = Ruler::new(&Axis::log("x", Unit::Share), [1e-5, 1.0].into_iter());
        let written: Vec<String> = log.ticks().iter().map(|tick| log.format_ext(tick)).collect();
        assert_eq!(written, ["0.001%", "0.01%", "0.1%", "1%", "10%", "100%"]);
    }

    #[test]
    fn what_is_nothing_lies_at_the_floor_of_ratios() {
        let log = Ruler::new(&Axis::log("x", Unit::Plain).from(1e-3), [1.0].into_iter());
        assert_eq!(log.map(&0.0, (900, 100)), 900);
        assert_eq!(log.map(&1.0, (900, 100)), 100);
        assert!(!log.holds(0.0) && log.holds(0.5));
    }
}
