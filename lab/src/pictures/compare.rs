//! Whether a figure that was measured again is the one that was kept, within the spread of both.

use super::figure::Drawn;
use super::picture::{Panel, Point, Role, Series};

/// Times of a busy machine, or of another day, differ by less than this factor.
const TIMES: f64 = 5.0;

/// How far values may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// Their spread.
    Spread,
    /// Their spread, widened for times.
    Times,
}

/// Every difference, in words; nothing if there is none.
pub fn differences(kept: &Drawn, again: &Drawn, within: Within) -> Vec<String> {
    let mut faults = Vec::new();
    if kept.panels.len() != again.panels.len() {
        return vec![format!("{} panels were {}", again.panels.len(), kept.panels.len())];
    }
    for (kept, again) in kept.panels.iter().zip(&again.panels) {
        faults.extend(of_panels(kept, again, within));
    }
    faults
}

fn of_panels(kept: &Panel, again: &Panel, within: Within) -> Vec<String> {
    let mut faults = Vec::new();
    for series in &kept.series {
        let is_it = |other: &&Series| {
            (&other.name, other.role, other.hue) == (&series.name, series.role, series.hue)
        };
        let place = format!("{} {} ({:?})", kept.title, series.name, series.role);
        let Some(other) = again.series.iter().find(is_it) else {
            faults.push(format!("{place}: is not measured any more"));
            continue;
        };
        let mut compared = 0;
        for point in &series.points {
            let same = |other: &&Point| (other.x - point.x).abs() <= 1e-9 * point.x.abs();
            let Some(found) = other.points.iter().find(same) else { continue };
            compared += 1;
            // A formula has no luck in it.
            let agrees = match (within, series.role) {
                (Within::Times, Role::Measured) => widened(point).agrees(&widened(found)),
                _ => point.agrees(found),
            };
            if !agrees {
                faults.push(format!(
                    "{place} at {}: {} ({} to {}), and was {} ({} to {})",
                    point.x, found.y, found.low, found.high, point.y, point.low, point.high
                ));
            }
        }
        if compared == 0 && within == Within::Spread {
            faults.push(format!("{place}: no point was measured again"));
        }
    }
    faults
}

fn widened(point: &Point) -> Point {
    Point { low: point.low / TIMES, high: point.high * TIMES, ..*point }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::picture::{Axis, Unit};
    use crate::record::Tally;

    fn drawn(hits: u64, formula: f64) -> Drawn {
        let mut panel = Panel::new(Axis::even("x", Unit::Plain), Axis::even("y", Unit::Share));
        panel.put(
            Role::Measured,
            0,
            "filter",
            vec![Point::rate(1.0, Tally { hits, trials: 1_000_000 })],
        );
        panel.put(Role::Formula, 0, "", vec![Point::exact(1.0, formula)]);
        vec![panel].into()
    }

    #[test]
    fn what_luck_explains_is_the_same_and_what_it_does_not_is_named() {
        let kept = drawn(10_000, 0.01);
        assert_eq!(differences(&kept, &drawn(10_200, 0.01), Within::Spread), [""; 0]);
        assert_eq!(differences(&kept, &drawn(12_000, 0.01), Within::Spread).len(), 1);
        assert_eq!(differences(&kept, &drawn(12_000, 0.01), Within::Times), [""; 0]);
        assert_eq!(differences(&kept, &drawn(10_000, 0.0101), Within::Spread).len(), 1);
        assert_eq!(differences(&kept, &Drawn::default(), Within::Spread).len(), 1);
        let mut other = kept.clone();
        other.panels[0].series.remove(0);
        assert_eq!(differences(&kept, &other, Within::Spread).len(), 1);
    }
}
