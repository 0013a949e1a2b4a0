//! What an experiment is: data.
//!
//! An experiment names its contenders, stream, sizes and limits, and the figures it must meet.
//! Every pair of a size and a limit is a cell. Whatever the experiment, `verify` checks at a small
//! size that all contenders answer as they promise.

use anyhow::Result;
use lately::plan::{Goal, Limit};
use lately::{ErrorRate, Memory, Window};
use lately_papers::CATALOG;

use crate::contender::{Contender, Rival};
use crate::race::Operation;
use crate::stream::Stream;

/// One question, and how it is answered.
pub struct Experiment {
    /// Its name: lower case, words joined by hyphens, the area first.
    pub name: &'static str,
    /// What it asks, in one line.
    pub question: &'static str,
    /// What is measured.
    pub kind: Kind,
    /// Who takes part. Ratios are taken against the first rival.
    pub entrants: &'static [Entrant],
    /// What is asked of them, for a size and a limit: [`last`], [`ever`], or the area's own.
    pub goal: fn(u64, Limit) -> Goal,
    /// What they are fed.
    pub stream: &'static Stream,
    /// Items in the window or set.
    pub sizes: &'static [u64],
    /// Error or memory.
    pub limits: &'static [Allowance],
    /// All keys, hashes and choices follow from it.
    pub seed: u64,
    /// What must come out at full size, beside right answers.
    pub figures: &'static [Figure],
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds per operation, worst insertion, heap.
    Race,
    /// Wrong answers against the exact truth, heap.
    Accuracy,
}

/// Who takes part.
pub enum Entrant {
    /// Every structure of the catalog that fits the goal.
    Catalog,
    /// The structure of the catalog with this name.
    Ours(&'static str),
    /// Somebody else's.
    Rival(&'static Rival),
}

/// What contenders may use: errors, and memory follows; or memory, and errors follow.
#[derive(Debug, Clone, Copy)]
pub enum Allowance {
    /// At most this share of false positives.
    Error(f64),
    /// At most this memory.
    BitsPerItem(f64),
}

/// Something that must come out, in every cell of a run.
#[derive(Debug, Clone, Copy)]
pub enum Figure {
    /// Bits per item are at most so many times the lower bound.
    Space {
        /// Whose.
        contender: &'static str,
        /// How many times.
        at_most: f64,
    },
    /// The heap is at most so many times that of the first rival.
    Memory {
        /// Whose.
        contender: &'static str,
        /// How many times.
        at_most: f64,
    },
    /// The median time is at most so many times that of the first rival.
    Speed {
        /// Whose.
        contender: &'static str,
        /// Of which operation.
        operation: Operation,
        /// How many times.
        at_most: f64,
    },
}

/// A window over the last `size` items, with any slack.
pub fn last(size: u64, limit: Limit) -> Goal {
    Goal::new(Window::Last(size), limit)
}

/// A set that is never emptied, of which `size` items are expected.
pub fn ever(size: u64, limit: Limit) -> Goal {
    Goal { expected_items: Some(size), ..Goal::new(Window::Ever, limit) }
}

impl Kind {
    /// Its name in tables and records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Accuracy => "accuracy",
        }
    }
}

impl Allowance {
    /// The limit for a window or set of this size.
    pub fn limit(self, size: u64) -> Result<Limit> {
        Ok(match self {
            Allowance::Error(rate) => Limit::Error(ErrorRate::new(rate)?),
            Allowance::BitsPerItem(bits) => {
                Limit::Memory(Memory::from_bytes((size as f64 * bits / 8.0) as u64))
            }
        })
    }
}

impl Experiment {
    /// Who takes part in a cell.
    pub fn contenders(&self, goal: &Goal) -> Result<Vec<Contender>> {
        let mut contenders = Vec::new();
        for entrant in self.entrants {
            match entrant {
                Entrant::Catalog => {
                    let fitting = CATALOG.iter().filter(|row| (row.propose)(goal).is_ok());
                    contenders.extend(fitting.map(Contender::Row));
                }
                Entrant::Ours(name) => contenders.push(Contender::Row(CATALOG.row_named(name)?)),
                Entrant::Rival(rival) => contenders.push(Contender::Rival(rival)),
            }
        }
        Ok(contenders)
    }
}

/// A limit as people write it.
pub fn limit_name(limit: Limit) -> String {
    match limit {
        Limit::Error(rate) => rate.to_string(),
        Limit::Memory(memory) => memory.to_string(),
    }
}
