//! The sliding filter beside what people build by hand: memory and error. `cargo lab door` has the speed.

use crate::experiment::{Allowance, Entrant, Experiment, Figure, Kind, last};
use crate::rivals::ROTATING_FASTBLOOM;
use crate::stream::DISTINCT;

/// The experiments of this area.
pub static EXPERIMENTS: &[Experiment] = &[Experiment {
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
}];

const ENTRANTS: &[Entrant] = &[Entrant::Ours("sliding"), Entrant::Rival(&ROTATING_FASTBLOOM)];

const ERRORS: &[Allowance] =
    &[Allowance::Error(0.01), Allowance::Error(0.001), Allowance::Error(0.0001)];
