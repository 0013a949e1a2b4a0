//! Two at the door, taking turns.

use std::hint::black_box;

use super::{Doorkeeper, Part, Texts};
use crate::clock::Clock;
use crate::race::Operation;
use crate::record::Tally;

/// What was measured of one operation, round by round: both sides.
#[derive(Debug, Default, Clone)]
pub struct Lap {
    /// Nanoseconds per key of each side.
    pub nanos: [Vec<f64>; 2],
    /// Answers "seen" of each side.
    pub seen: [Tally; 2],
}

/// Keys of a timed piece, as a share of the window: ten rounds are a turn of filters that rotate, and
/// what those take depends on how far their turn is.
const PIECE: u64 = 10;

/// Lets both live through two and a half windows of texts, then times insertions, lookups of absent and
/// of present keys, in this order.
pub fn race(
    mut sides: [&mut dyn Doorkeeper; 2],
    items: u64,
    rounds: u64,
    clock: &impl Clock,
) -> [Lap; 3] {
    let piece = (items / PIECE).max(1);
    let mut inserted = items * 5 / 2;
    for number in (0..inserted).step_by(piece as usize) {
        let texts = Texts::of(Part::Stream, number..(number + piece).min(inserted));
        for side in &mut sides {
            side.insert_each(&texts.all());
        }
    }
    let mut laps: [Lap; 3] = Default::default();
    let warm_up = Texts::of(Part::WarmUp, 0..items / 4);
    let warm_up = warm_up.all();
    for round in 0..rounds {
        let next = inserted + piece;
        // Any of the last n, each as often as any other.
        let some = (0..piece).map(|i| next - 1 - (i * 7_919_017 + round * 31) % items);
        let texts = [
            Texts::of(Part::Stream, inserted..next),
            Texts::of(Part::Absent, inserted..next),
            Texts::of(Part::Stream, some),
        ];
        inserted = next;
        for (operation, (texts, lap)) in OPERATIONS.into_iter().zip(texts.iter().zip(&mut laps)) {
            let keys = texts.all();
            for turn in 0..2 {
                let side = ((round + turn) % 2) as usize;
                black_box(sides[side].contains_each(&warm_up));
                let start = clock.nanos();
                let seen = match operation {
                    Operation::Insert => sides[side].insert_each(&keys),
                    _ => sides[side].contains_each(&keys),
                };
                let nanos = clock.nanos() - start;
                lap.nanos[side].push(nanos as f64 / piece as f64);
                lap.seen[side].add(Tally { hits: seen, trials: piece });
            }
        }
    }
    laps
}

/// What is timed, in this order.
pub const OPERATIONS: [Operation; 3] = [Operation::Insert, Operation::Absent, Operation::Present];
