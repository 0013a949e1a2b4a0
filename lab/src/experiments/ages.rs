//! Slices by age, and windows by time.

use lately::plan::{Goal, Limit};
use lately::{Span, Window};

use crate::experiment::{Allowance, Entrant, Experiment, Kind, last};
use crate::rivals::{
    DOUBLE_BUFFER, ROTATING_FASTBLOOM, ROTATING_FASTBLOOM_BY_COUNT, SLIDING_BY_COUNT,
};
use crate::slice_by_slice::SLICE_BY_SLICE;
use crate::stream::{BORDERS, DISTINCT, SWINGS};

/// The experiments of this area.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "age-speed",
        question: "How fast are slices by age, interleaved, in one piece, and beside double buffers?",
        kind: Kind::Race,
        entrants: &[
            Entrant::Ours("age-partitioned"),
            Entrant::Ours("double-buffer"),
            Entrant::Rival(&SLICE_BY_SLICE),
            Entrant::Rival(&ROTATING_FASTBLOOM),
        ],
        goal: last,
        stream: &DISTINCT,
        sizes: &[100_000, 1_000_000, 10_000_000],
        limits: ERRORS,
        seed: 11,
        figures: &[],
    },
    Experiment {
        name: "time-speed",
        question: "What does it cost not to know the rate?",
        kind: Kind::Race,
        entrants: &[
            Entrant::Ours("timed"),
            Entrant::Ours("time-limited"),
            Entrant::Rival(&SLIDING_BY_COUNT),
            Entrant::Rival(&ROTATING_FASTBLOOM_BY_COUNT),
            Entrant::Rival(&DOUBLE_BUFFER),
        ],
        goal: within,
        stream: &DISTINCT,
        sizes: &[100_000, 1_000_000, 10_000_000],
        limits: &[Allowance::Error(0.01), Allowance::Error(0.001), Allowance::Error(0.0001)],
        seed: 12,
        figures: &[],
    },
    Experiment {
        name: "time-accuracy",
        question: "Are promises kept when keys return at the borders of span and slack?",
        kind: Kind::Accuracy,
        entrants: &[Entrant::Catalog, Entrant::Rival(&DOUBLE_BUFFER)],
        goal: within,
        stream: &BORDERS,
        sizes: &[10_000, 100_000],
        limits: ERRORS,
        seed: 13,
        figures: &[],
    },
    Experiment {
        name: "time-swings",
        question: "Are promises kept when the rate swings a thousandfold?",
        kind: Kind::Accuracy,
        entrants: &[Entrant::Catalog],
        goal: within,
        stream: &SWINGS,
        sizes: &[10_000, 100_000],
        limits: ERRORS,
        seed: 14,
        figures: &[],
    },
];

const ERRORS: &[Allowance] = &[Allowance::Error(0.01), Allowance::Error(0.001)];

/// A window of 100 seconds in which `size` items are expected.
fn within(size: u64, limit: Limit) -> Goal {
    let window = Window::Within(Span::from_millis(100_000));
    Goal { expected_items: Some(size), ..Goal::new(window, limit) }
}
