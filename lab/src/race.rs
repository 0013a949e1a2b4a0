//! Times contenders against each other: in one process, on the same keys, taking turns.
//!
//! A round lets every contender perform every operation once, one operation after the other, and
//! the contender that begins moves on by one each round. So what slows the machine for a while
//! slows all alike, and nobody always runs in the caches that another left behind. Before its turn
//! a contender looks up some keys unmeasured, to have its own memory back in the caches.

use anyhow::Result;
use lately::Window;
use lately::plan::Goal;

use crate::clock::Clock;
use crate::contender::Subject;
use crate::course::{Course, Leg};
use crate::heap::Meter;
use crate::record::{OperationTiming, Tally};

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Check and insert, keys of the stream.
    Insert,
    /// The same, many keys at once.
    InsertBatch,
    /// Look up keys never inserted.
    Absent,
    /// The same, many keys at once.
    AbsentBatch,
    /// Look up keys of the window.
    Present,
}

impl Operation {
    /// All, in the order in which a round performs them.
    pub const ALL: [Operation; 5] = [
        Operation::Insert,
        Operation::InsertBatch,
        Operation::Absent,
        Operation::AbsentBatch,
        Operation::Present,
    ];

    /// Its name in tables and records.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::InsertBatch => "insert-batch",
            Operation::Absent => "absent",
            Operation::AbsentBatch => "absent-batch",
            Operation::Present => "present",
        }
    }

    /// The same on one key at a time: what users of a contender without batches do.
    pub fn one_by_one(self) -> Operation {
        match self {
            Operation::Insert | Operation::InsertBatch => Operation::Insert,
            Operation::Absent | Operation::AbsentBatch => Operation::Absent,
            Operation::Present => Operation::Present,
        }
    }

    /// Does it once with these keys, and counts those that were seen; `None` if it takes batches and
    /// the subject does not.
    pub fn perform(self, subject: &mut dyn Subject, leg: &Leg) -> Option<u64> {
        let moments = leg.moments();
        Some(match self {
            Operation::Insert => moments.map(|(now, keys)| subject.insert_each(keys, now)).sum(),
            Operation::Absent | Operation::Present => {
                moments.map(|(now, keys)| subject.contains_each(keys, now)).sum()
            }
            Operation::InsertBatch => {
                let batched = subject.as_batched()?;
                moments.map(|(now, keys)| batched.insert_batch(keys, now)).sum()
            }
            Operation::AbsentBatch => {
                let batched = subject.as_batched()?;
                moments.map(|(now, keys)| batched.contains_batch(keys, now)).sum()
            }
        })
    }

    fn inserts(self) -> bool {
        matches!(self, Operation::Insert | Operation::InsertBatch)
    }
}

/// How long a race is.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Rounds, one sample each.
    pub rounds: usize,
    /// Keys per contender, operation and round.
    pub keys: u64,
    /// How often the worst insertion is looked for.
    pub passes: usize,
}

impl Effort {
    /// For a shortened run.
    pub const QUICK: Effort = Effort { rounds: 9, keys: 20_000, passes: 2 };
    /// For figures worth keeping.
    pub const FULL: Effort = Effort { rounds: 15, keys: 200_000, passes: 3 };
}

/// Builds a subject from nothing, the same every time.
pub type Fresh<'a> = Box<dyn Fn() -> Result<Box<dyn Subject>> + 'a>;

/// One contender in the race.
pub struct Lane<'a> {
    fresh: Fresh<'a>,
    /// The subject that runs.
    pub subject: Box<dyn Subject>,
    /// What the subject keeps on the heap.
    pub meter: Meter,
    /// What was measured, for each operation that the subject has.
    pub timings: Vec<OperationTiming>,
}

impl<'a> Lane<'a> {
    /// A contender at the start.
    pub fn new(fresh: Fresh<'a>) -> Result<Self> {
        let mut meter = Meter::default();
        let subject = meter.during(&fresh)?;
        Ok(Self { fresh, subject, meter, timings: Vec::new() })
    }

    fn restart(&mut self) -> Result<()> {
        self.meter = Meter::default();
        self.subject = self.meter.during(&self.fresh)?;
        Ok(())
    }
}

/// Runs the race; the samples are then in the lanes.
///
/// Windows are filled two and a half times first: they are then in their steady state, and those
/// that take turns are in the middle of one. Sets without a window are built anew for every round
/// of insertions.
pub fn race(
    lanes: &mut [Lane<'_>],
    course: &mut Course,
    goal: &Goal,
    effort: Effort,
    clock: &impl Clock,
) -> Result<()> {
    let items = goal.items().unwrap_or(effort.keys);
    let is_set = goal.window == Window::Ever;
    if !is_set {
        fill(lanes, course, items * 5 / 2);
    }
    for round in 0..effort.rounds {
        for operation in Operation::ALL {
            let from_nothing = is_set && operation.inserts();
            if from_nothing {
                course.restart();
            }
            let leg = match operation {
                Operation::Insert | Operation::InsertBatch if is_set => course.next(items),
                Operation::Insert | Operation::InsertBatch => course.next(effort.keys),
                Operation::Absent | Operation::AbsentBatch => course.absent(effort.keys),
                Operation::Present => course.present(effort.keys),
            };
            let warm_up = course.absent((effort.keys / 4).max(items / 4));
            for turn in 0..lanes.len() {
                let lane = &mut lanes[(round + turn) % lanes.len()];
                if from_nothing {
                    lane.restart()?;
                } else {
                    warm_up.moments().for_each(|(now, keys)| {
                        std::hint::black_box(lane.subject.contains_each(keys, now));
                    });
                }
                lane.time(operation, &leg, clock);
            }
        }
    }
    Ok(())
}

fn fill(lanes: &mut [Lane<'_>], course: &mut Course, mut missing: u64) {
    const CHUNK: u64 = 1 << 16;
    while missing > 0 {
        let leg = course.next(missing.min(CHUNK));
        missing -= leg.len();
        for lane in &mut *lanes {
            lane.perform(Operation::Insert, &leg);
        }
    }
}

impl Lane<'_> {
    fn perform(&mut self, operation: Operation, leg: &Leg) -> Option<u64> {
        self.meter.during(|| operation.perform(&mut *self.subject, leg))
    }

    /// Performs an operation once and keeps the sample. A subject without batches inserts the keys
    /// of a batch unmeasured, so that all hold the same.
    fn time(&mut self, operation: Operation, leg: &Leg, clock: &impl Clock) {
        let start = clock.nanos();
        let seen = self.perform(operation, leg);
        let nanos = clock.nanos() - start;
        match seen {
            Some(seen) => self.keep(operation, leg.len(), nanos, seen),
            None if operation.inserts() => _ = self.perform(Operation::Insert, leg),
            None => {}
        }
    }

    fn keep(&mut self, operation: Operation, keys: u64, nanos: u64, seen: u64) {
        let name = operation.name();
        let index = self.timings.iter().position(|timing| timing.operation == name);
        let index = index.unwrap_or_else(|| {
            self.timings.push(OperationTiming {
                operation: name.to_owned(),
                nanos_per_key: Vec::new(),
                seen: Tally::default(),
            });
            self.timings.len() - 1
        });
        let timing = &mut self.timings[index];
        timing.nanos_per_key.push(nanos as f64 / keys as f64);
        timing.seen.add(Tally { hits: seen, trials: keys });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Actor, Stage};
    use crate::stream::DISTINCT;
    use lately::ErrorRate;

    const EFFORT: Effort = Effort { rounds: 4, keys: 8, passes: 1 };

    fn run(stage: &Stage, goal: &Goal, costs: &[u64]) -> Vec<Vec<OperationTiming>> {
        let lane = |(index, &cost): (usize, &u64)| {
            let fresh = move || -> Result<Box<dyn Subject>> {
                Ok(Box::new(Actor::new(stage.clone(), index, cost)))
            };
            Lane::new(Box::new(fresh)).unwrap()
        };
        let mut lanes: Vec<Lane<'_>> = costs.iter().enumerate().map(lane).collect();
        let mut course = Course::new(&DISTINCT, goal, 7);
        race(&mut lanes, &mut course, goal, EFFORT, stage).unwrap();
        lanes.into_iter().map(|lane| lane.timings).collect()
    }

    #[test]
    fn samples_are_the_time_of_the_operation_alone() {
        let goal = Goal::new(Window::Last(10), ErrorRate::DEFAULT);
        for timings in run(&Stage::default(), &goal, &[5, 5]) {
            let names: Vec<&str> = timings.iter().map(|timing| &*timing.operation).collect();
            assert_eq!(names, ["insert", "absent", "present"], "an actor has no batches");
            for timing in timings {
                assert_eq!(timing.nanos_per_key, [5.0; 4]);
                assert_eq!(timing.seen.trials, 4 * 8);
            }
        }
    }

    #[test]
    fn everybody_begins_equally_often_and_hears_the_same_keys() {
        let stage = Stage::default();
        let goal = Goal::new(Window::Last(10), ErrorRate::DEFAULT);
        run(&stage, &goal, &[1, 2]);
        let insertions = stage.insertions();
        let of =
            |actor| insertions.iter().filter(move |(who, _)| *who == actor).map(|(_, key)| key);
        assert!(of(0).eq(of(1)));
        // Filling aside, legs of 8 keys: A B, then (with the unmeasured batch) A B, B A, B A, ...
        let filled = 2 * 25;
        let order: Vec<usize> =
            insertions[filled..].iter().step_by(8).map(|(who, _)| *who).collect();
        assert_eq!(order, [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0]);
    }

    #[test]
    fn sets_are_built_anew_for_every_round_of_insertions() {
        let stage = Stage::default();
        let goal = Goal { expected_items: Some(20), ..Goal::new(Window::Ever, ErrorRate::DEFAULT) };
        let timings = run(&stage, &goal, &[3]);
        assert_eq!(timings[0][0].seen.trials, 4 * 20);
        // Once at the start, and before insertions and batches of each round.
        assert_eq!(stage.built(), 1 + 2 * 4);
    }
}
