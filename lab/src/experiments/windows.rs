//! Windows by count.

use crate::experiment::{Allowance, Entrant, Experiment, Figure, Kind, last};
use crate::race::Operation;
use crate::rivals::{DOUBLE_BUFFER, EXACT_WINDOW, ROTATING_FASTBLOOM};
use crate::stream::{BORDERS, DISTINCT};

/// The experiments of this area.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "window-speed",
        question: "How fast is the double buffer beside what people build by hand?",
        kind: Kind::Race,
        entrants: &[
            Entrant::Ours("double-buffer"),
            Entrant::Rival(&ROTATING_FASTBLOOM),
            Entrant::Rival(&EXACT_WINDOW),
        ],
        goal: last,
        stream: &DISTINCT,
        sizes: &[100_000, 1_000_000, 10_000_000],
        limits: ERRORS,
        seed: 1,
        figures: &[Figure::Speed {
            contender: "double-buffer",
            operation: Operation::Insert,
            at_most: 1.0,
        }],
    },
    Experiment {
        name: "window-interleaved",
        question: "Is the interleaved queue as fast as the double buffer, in less memory?",
        kind: Kind::Race,
        entrants: &[Entrant::Ours("interleaved"), Entrant::Rival(&DOUBLE_BUFFER)],
        goal: last,
        stream: &DISTINCT,
        sizes: &[1_000_000, 10_000_000],
        limits: ERRORS,
        seed: 5,
        figures: &[
            Figure::Speed { contender: "interleaved", operation: Operation::Insert, at_most: 1.0 },
            Figure::Memory { contender: "interleaved", at_most: 0.85 },
        ],
    },
    Experiment {
        name: "window-memory",
        question: "How many bits per item does each structure take, beside the least possible?",
        kind: Kind::Accuracy,
        entrants: &[
            Entrant::Catalog,
            Entrant::Rival(&ROTATING_FASTBLOOM),
            Entrant::Rival(&EXACT_WINDOW),
        ],
        goal: last,
        stream: &DISTINCT,
        sizes: &[10_000, 100_000, 1_000_000],
        limits: ERRORS,
        seed: 2,
        figures: &[Figure::Space { contender: "double-buffer", at_most: 4.0 }],
    },
    Experiment {
        name: "window-accuracy",
        question: "Are promises kept when keys return at the borders of the window?",
        kind: Kind::Accuracy,
        entrants: &[Entrant::Catalog],
        goal: last,
        stream: &BORDERS,
        sizes: &[10_000, 100_000],
        limits: ERRORS,
        seed: 3,
        figures: &[],
    },
    Experiment {
        name: "window-budget",
        question: "Given memory instead of an error, is the error that follows kept?",
        kind: Kind::Accuracy,
        entrants: &[Entrant::Catalog],
        goal: last,
        stream: &DISTINCT,
        sizes: &[10_000, 100_000],
        limits: &[Allowance::BitsPerItem(20.0), Allowance::BitsPerItem(32.0)],
        seed: 4,
        figures: &[],
    },
];

const ERRORS: &[Allowance] =
    &[Allowance::Error(0.01), Allowance::Error(0.001), Allowance::Error(0.0001)];
