//! Sets that are never emptied: the rivals a growing set will meet.

use crate::experiment::{Allowance, Entrant, Experiment, Kind, ever};
use crate::rivals::{FASTBLOOM, QFILTER, SCALABLE_CUCKOO};
use crate::stream::DISTINCT;

/// The experiments of this area.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "set-speed",
        question: "How fast are sets that are never emptied?",
        kind: Kind::Race,
        entrants: ENTRANTS,
        goal: ever,
        stream: &DISTINCT,
        sizes: &[100_000, 1_000_000],
        limits: ERRORS,
        seed: 5,
        figures: &[],
    },
    Experiment {
        name: "set-accuracy",
        question: "Do sets that are never emptied keep the error asked of them?",
        kind: Kind::Accuracy,
        entrants: ENTRANTS,
        goal: ever,
        stream: &DISTINCT,
        sizes: &[100_000, 1_000_000],
        limits: ERRORS,
        seed: 6,
        figures: &[],
    },
];

const ENTRANTS: &[Entrant] = &[
    Entrant::Catalog,
    Entrant::Rival(&FASTBLOOM),
    Entrant::Rival(&QFILTER),
    Entrant::Rival(&SCALABLE_CUCKOO),
];

const ERRORS: &[Allowance] = &[Allowance::Error(0.01), Allowance::Error(0.001)];
