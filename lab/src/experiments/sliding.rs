//! The sliding filters beside what people build by hand, and beside each other: memory, error, and the time
//! of the compact one. `cargo lab door` has the speed of the door.

use lately::Slack;
use lately::plan::{Goal, Limit};

use crate::experiment::{Allowance, Entrant, Experiment, Figure, Kind, last};
use crate::race::Operation;
use crate::rivals::{ROTATING_FASTBLOOM, SLIDING};
use crate::stream::DISTINCT;

/// The experiments of this area.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "sliding-memory",
        question: "Is the sliding filter within 1.57 times the least possible, at its promised error?",
        kind: Kind::Accuracy,
        entrants: ENTRANTS,
        goal: last,
        stream: &DISTINCT,
        sizes: &[1_000_000, 10_000_000],
        limits: ERRORS,
        seed: 11,
        figures: &[
            Figure::Space { contender: "sliding", at_most: 1.57 },
            Figure::Space { contender: COMPACT, at_most: 1.485 },
        ],
    },
    beside("sliding-compact-percent", &[Allowance::Error(0.01)], &PERCENT),
    beside("sliding-compact-permille", &[Allowance::Error(0.001)], &PERMILLE),
    beside("sliding-compact-fine", &[Allowance::Error(0.0001)], &FINE),
    Experiment {
        name: "sliding-compact-large",
        question: "Out of the caches, does the compact filter take no more time than the other?",
        sizes: &[10_000_000],
        figures: &[
            speed(Operation::Insert, 1.0),
            speed(Operation::Absent, 1.0),
            speed(Operation::InsertBatch, 1.0),
            speed(Operation::AbsentBatch, 1.0),
        ],
        ..beside("", ERRORS, &[])
    },
];

const COMPACT: &str = "sliding-compact";

const ENTRANTS: &[Entrant] =
    &[Entrant::Ours("sliding"), Entrant::Ours(COMPACT), Entrant::Rival(&ROTATING_FASTBLOOM)];

const ERRORS: &[Allowance] =
    &[Allowance::Error(0.01), Allowance::Error(0.001), Allowance::Error(0.0001)];

/// What the compact filter may take at a hundredth, ...
static PERCENT: [Figure; 5] = figures(1.2, 1.12, 1.15);
/// ... at a thousandth ...
static PERMILLE: [Figure; 5] = figures(1.2, 1.05, 0.9);
/// ... and at a ten-thousandth.
static FINE: [Figure; 5] = figures(1.1, 1.1, 0.95);

const fn figures(insert: f64, absent: f64, present: f64) -> [Figure; 5] {
    [
        speed(Operation::Insert, insert),
        speed(Operation::Absent, absent),
        speed(Operation::Present, present),
        speed(Operation::InsertBatch, 1.0),
        speed(Operation::AbsentBatch, 1.0),
    ]
}

const fn speed(operation: Operation, at_most: f64) -> Figure {
    Figure::Speed { contender: COMPACT, operation, at_most }
}

/// A window with a slack of a seventh, and a little more, which seven generations of the other need.
fn seventh(size: u64, limit: Limit) -> Goal {
    Goal { slack: Slack::Items(size / 7 + 8), ..last(size, limit) }
}

/// A race of the compact filter beside the other, taking turns.
const fn beside(
    name: &'static str,
    limits: &'static [Allowance],
    figures: &'static [Figure],
) -> Experiment {
    const ENTRANTS: &[Entrant] = &[Entrant::Ours(COMPACT), Entrant::Rival(&SLIDING)];
    Experiment {
        name,
        question: "What does the compact filter take beside the one with a backyard?",
        kind: Kind::Race,
        entrants: ENTRANTS,
        goal: seventh,
        stream: &DISTINCT,
        sizes: &[1_000_000],
        limits,
        seed: 13,
        figures,
    }
}
