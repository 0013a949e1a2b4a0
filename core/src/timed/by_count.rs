//! Windows by count made of a window by time: the clock is the number of the sighting.

use super::filter::TimedWindow;
use super::parameters::TimedWindowParameters;
use super::state;
use crate::codec::Reader;
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::window::Window;

/// Growth up to which nothing is longer than in a calm time: see `level`.
const CALM_GROWTH: f64 = 1.5;

/// Bits that every entry of a segment costs more that was split just now: one that says how long it is, and the
/// emptier bins of a small segment.
const HALVED: f64 = 1.5;

/// The number of entries to be made for, so that a window by count is at its calm size from the first sighting
/// on, and how many bits that costs every entry when the window is full: segments that are less deep than what
/// it is made for have longer remainders, and those that are deeper were split and say how long theirs are.
pub(super) fn best_floor(made: &TimedWindowParameters, keys: u64) -> (u64, f64) {
    let full = keys as f64 * (1.0 + 1.0 / f64::from(made.generations));
    let entries = f64::from(made.entries);
    let least = (full / CALM_GROWTH / entries).max(1.0).log2().ceil();
    let cost = |floor: f64| {
        let extra = (0..16).map(|sixteenth| {
            // Larger prefixes split later.
            let most = entries * (1.0 + (f64::from(sixteenth) / 16.0).min(0.75));
            let depth = (full / most).max(1.0).log2().ceil();
            (floor - depth).max(if depth > floor { HALVED } else { 0.0 })
        });
        extra.sum::<f64>() / 16.0
    };
    let floor = if cost(least) <= cost(least + 1.0) { least } else { least + 1.0 };
    (((entries * floor.exp2()) as u64).min(Window::LONGEST), cost(floor))
}

/// Reads how many sightings there were, and the segments, whose clock is not ahead of that.
pub(super) fn read(
    parameters: TimedWindowParameters,
    payload: &mut Reader<'_>,
) -> Result<(u64, TimedWindow), Error> {
    let sightings = payload.u64("sightings")?;
    let segments = state::read(parameters, payload)?;
    if segments.clock.is_some_and(|clock| clock > sightings) {
        let expected = "as many as the clock has seen";
        return Err(Error::Field { field: "sightings", found: sightings, expected });
    }
    Ok((sightings, segments))
}
