//! Measures one cell of an experiment: all contenders at one size and limit.

use anyhow::Result;
use lately::Window;
use lately::plan::Goal;

use crate::accuracy::{self, Measured, Outcome, too_slow};
use crate::clock::Clock;
use crate::contender::{Contender, Profile};
use crate::course::Course;
use crate::experiment::{Experiment, limit_name};
use crate::race::{self, Lane, race};
use crate::record::{Promised, Row, Timing};
use crate::worst_insert::{Stretch, worst_insert};

/// One size and one limit of an experiment.
pub struct Cell<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Items in the window or set.
    pub size: u64,
    /// What is asked.
    pub goal: Goal,
    /// Who takes part.
    pub contenders: Vec<Contender>,
}

/// Whoever reads more cache lines per operation than this is not raced: a scan of 16 KiB takes a
/// microsecond, and a race a million operations.
const SLOW_LINES: f64 = 256.0;

impl Cell<'_> {
    /// Counts wrong answers, one contender after the other.
    pub fn accuracy(&self, effort: accuracy::Effort) -> Result<Vec<Row>> {
        let Experiment { stream, seed, .. } = *self.experiment;
        let row = |&contender: &Contender| {
            let outcome = accuracy::measure(contender, &self.goal, stream, seed, effort)?;
            Ok(row_of(contender, &self.goal, self.size, outcome))
        };
        self.contenders.iter().map(row).collect()
    }

    /// Times everybody who is fast enough.
    pub fn race(&self, effort: race::Effort, clock: &impl Clock) -> Result<Vec<Row>> {
        let Experiment { stream, seed, .. } = *self.experiment;
        let mut rows = Vec::new();
        let mut lanes = Vec::new();
        for &contender in &self.contenders {
            let fresh = move || contender.fresh(&self.goal, seed);
            let lane = Lane::new(Box::new(fresh))?;
            let mut row = self.row(contender);
            match lane.subject.profile().lines_touched {
                Some(lines) if lines > SLOW_LINES => {
                    row.skipped = Some(too_slow(lines));
                    rows.push((row, None));
                }
                _ => {
                    rows.push((row, Some((lanes.len(), contender))));
                    lanes.push(lane);
                }
            }
        }
        let mut course = Course::new(stream, &self.goal, seed);
        race(&mut lanes, &mut course, &self.goal, effort, clock)?;
        // The worst insertion is looked for when nobody else's memory is in the way.
        let results: Vec<_> = lanes
            .into_iter()
            .map(|lane| (lane.subject.profile(), lane.meter.bytes(), lane.timings))
            .collect();
        let open = || (stream.open)(&self.goal, seed);
        let mut finished = Vec::new();
        for (mut row, lane) in rows {
            if let Some((lane, contender)) = lane {
                let (profile, heap_bytes, operations) = &results[lane];
                let fresh = || contender.fresh(&self.goal, seed);
                let worst_insert_ns =
                    worst_insert(&fresh, &open, self.stretch(), effort.passes, clock)?;
                describe(&mut row, profile, *heap_bytes);
                row.timing = Some(Timing { operations: operations.clone(), worst_insert_ns });
            }
            finished.push(row);
        }
        Ok(finished)
    }

    /// A window is looked at for its whole length once it is in its steady state; a set from its
    /// first item on, because growing is what costs.
    fn stretch(&self) -> Stretch {
        match self.goal.window {
            Window::Ever => Stretch { skipped: 0, timed: self.size },
            _ => Stretch { skipped: 2 * self.size, timed: self.size },
        }
    }

    fn row(&self, contender: Contender) -> Row {
        empty_row(contender, &self.goal, self.size)
    }
}

/// The row of a contender whose answers were counted.
pub fn row_of(contender: Contender, goal: &Goal, size: u64, outcome: Outcome) -> Row {
    let mut row = empty_row(contender, goal, size);
    match outcome {
        Outcome::Skipped(why) => row.skipped = Some(why),
        Outcome::Measured(measured) => {
            let Measured { errors, heap_bytes, profile } = *measured;
            describe(&mut row, &profile, heap_bytes);
            row.errors = Some(errors);
        }
    }
    row
}

fn empty_row(contender: Contender, goal: &Goal, size: u64) -> Row {
    Row {
        size,
        limit: limit_name(goal.limit),
        contender: contender.name().to_owned(),
        ours: contender.is_ours(),
        skipped: None,
        parameters: Vec::new(),
        promise: None,
        lines_touched: None,
        lower_bound_bits_per_item: contender.lower_bound(goal),
        heap_bytes: None,
        reported_bytes: None,
        timing: None,
        errors: None,
    }
}

fn describe(row: &mut Row, profile: &Profile, heap_bytes: u64) {
    let promise = &profile.promise;
    let named = |(name, value): &(&'static str, String)| ((*name).to_owned(), value.clone());
    row.parameters = profile.parameters.iter().map(named).collect();
    row.promise = Some(Promised {
        window: promise.window.to_string(),
        slack: promise.slack.to_string(),
        false_positives: promise.false_positives,
        false_negatives: promise.false_negatives,
    });
    row.lines_touched = profile.lines_touched;
    row.heap_bytes = Some(heap_bytes);
    row.reported_bytes = profile.reported_bytes;
}
