//! The sliding filter beside what people build by hand: memory, error and speed.

use crate::experiment::{Allowance, Entrant, Experiment, Figure, Kind, last};
use crate::race::Operation;
use crate::rivals::ROTATING_FASTBLOOM;
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
        figures: &[Figure::Space { contender: "sliding", at_most: 1.57 }],
    },
    Experiment {
        name: "sliding-speed",
        question: "Is the sliding filter faster than two rotating Bloom filters?",
        kind: Kind::Race,
        entrants: ENTRANTS,
        goal: last,
        stream: &DISTINCT,
        sizes: &[1_000_000],
        limits: ERRORS,
        seed: 12,
        figures: &[
            // 1.5 times as fast to insert and check, 2.5 times to look up what is absent.
            speed(Operation::Insert, 1.0 / 1.5),
            speed(Operation::Absent, 1.0 / 2.5),
        ],
    },
    Experiment {
        name: "sliding-speed-large",
        question: "Is it still when the table is larger than the nearer caches?",
        kind: Kind::Race,
        entrants: ENTRANTS,
        goal: last,
        stream: &DISTINCT,
        sizes: &[10_000_000],
        limits: ERRORS,
        seed: 13,
        figures: &[
            speed(Operation::Insert, 1.0 / 1.3),
            speed(Operation::InsertBatch, 1.0 / 2.5),
            speed(Operation::Absent, 1.0 / 2.0),
        ],
    },
];

const ENTRANTS: &[Entrant] = &[Entrant::Ours("sliding"), Entrant::Rival(&ROTATING_FASTBLOOM)];

const ERRORS: &[Allowance] =
    &[Allowance::Error(0.01), Allowance::Error(0.001), Allowance::Error(0.0001)];

const fn speed(operation: Operation, at_most: f64) -> Figure {
    Figure::Speed { contender: "sliding", operation, at_most }
}
