//! Whether what came out is what must come out.
//!
//! Answers are judged in every row, whoever it belongs to: errors against the contender's own
//! promise, and the counted heap against what it says it uses. Rates are judged by a bound that a
//! kept promise breaks once in 10^9. Figures are judged at full size only.

use testkit::stats::rate_is_at_most;

use crate::experiment::Figure;
use crate::race::Operation;
use crate::record::{Errors, Promised, Row, Tally, Timing};
use crate::report::{count, percent};
use crate::summary::Summary;

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What must hold.
    pub claim: String,
    /// Whether it does.
    pub passed: bool,
    /// The numbers behind the verdict.
    pub evidence: String,
}

/// Chance that a kept promise is called broken.
const ALARM: f64 = 1e-9;

/// Bytes that counted and reported heap may differ by, beside one percent: the structure itself
/// and its box lie on the heap too when it is chosen at run time.
const BOXES: u64 = 1024;

/// Judges the answers in a row; nothing if it was skipped.
pub fn answers(row: &Row) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(promise) = &row.promise {
        checks.extend(row.errors.iter().flat_map(|errors| errors_kept(errors, promise)));
        checks.extend(row.timing.iter().flat_map(|timing| race_answers(timing, promise)));
    }
    if let Some((counted, reported)) = row.heap_bytes.zip(row.reported_bytes) {
        checks.push(Check {
            claim: "the heap is what it reports".into(),
            passed: counted.abs_diff(reported) <= reported / 100 + BOXES,
            evidence: format!("{} counted, {} reported", count(counted), count(reported)),
        });
    }
    checks
}

/// Judges the figures of an experiment in the rows of one cell. Ratios are against the first rival.
pub fn figures(figures: &[Figure], cell: &[Row]) -> Vec<Check> {
    figures.iter().filter_map(|figure| judge(figure, cell)).collect()
}

fn errors_kept(errors: &Errors, promise: &Promised) -> [Check; 3] {
    let steady = rate_check("unseen keys", errors.steady(), promise.false_positives);
    let alarm = ALARM / errors.moments.len().max(1) as f64;
    let mut moments = errors.moments.iter();
    let always = moments.all(|m| is_at_most(m.unseen, promise.false_positives, alarm));
    let worst = percent(errors.worst().rate());
    [
        Check {
            passed: steady.passed && always,
            evidence: format!("{}, {worst} at the worst moment", steady.evidence),
            ..steady
        },
        rate_check("forgotten and new keys", errors.outside, promise.false_positives),
        forgetting_check(errors.inside, promise.false_negatives),
    ]
}

fn race_answers(timing: &Timing, promise: &Promised) -> Vec<Check> {
    let seen = |operation: Operation| timing.operation(operation.name()).map(|timing| timing.seen);
    let absent = [Operation::Absent, Operation::AbsentBatch].into_iter().filter_map(seen);
    let present = seen(Operation::Present)
        .map(|seen| Tally { hits: seen.trials - seen.hits, trials: seen.trials });
    absent
        .map(|seen| rate_check("unseen keys", seen, promise.false_positives))
        .chain(present.map(|missed| forgetting_check(missed, promise.false_negatives)))
        .collect()
}

fn rate_check(keys: &str, tally: Tally, at_most: f64) -> Check {
    Check {
        claim: format!("{keys}: at most {} reported as seen", percent(at_most)),
        passed: is_at_most(tally, at_most, ALARM),
        evidence: evidence(tally),
    }
}

fn forgetting_check(tally: Tally, at_most: f64) -> Check {
    let claim = if at_most == 0.0 {
        "keys of the window: none forgotten".to_owned()
    } else {
        format!("keys of the window: at most {} forgotten", percent(at_most))
    };
    Check { claim, passed: is_at_most(tally, at_most, ALARM), evidence: evidence(tally) }
}

fn is_at_most(tally: Tally, bound: f64, alarm: f64) -> bool {
    tally.trials == 0 || rate_is_at_most(tally.hits, tally.trials, bound, alarm)
}

fn evidence(tally: Tally) -> String {
    format!("{} ({} of {})", percent(tally.rate()), count(tally.hits), count(tally.trials))
}

/// `None` if the contender was skipped or left out, or there is nothing to compare it with.
fn judge(figure: &Figure, cell: &[Row]) -> Option<Check> {
    let row = |name: &str| cell.iter().find(|row| row.contender == name);
    let (claim, found, at_most) = match *figure {
        Figure::Space { contender, at_most } => {
            let row = row(contender)?;
            let found = row.bits_per_item()? / row.lower_bound_bits_per_item?;
            (
                format!("{contender}: bits per item at most {at_most} × the lower bound"),
                found,
                at_most,
            )
        }
        Figure::Memory { contender, at_most } => {
            let rival = reference(cell)?;
            let found = row(contender)?.heap_bytes? as f64 / rival.heap_bytes? as f64;
            let claim =
                format!("{contender}: heap at most {at_most} × that of {}", rival.contender);
            (claim, found, at_most)
        }
        Figure::Speed { contender, operation, at_most } => {
            let rival = reference(cell)?;
            let found = ratio(row(contender)?, rival, operation)?.median;
            let claim = format!(
                "{contender}: {} in at most {at_most} × the time of {}",
                operation.name(),
                rival.contender
            );
            (claim, found, at_most)
        }
    };
    Some(Check { claim, passed: found <= at_most, evidence: format!("{found:.2}") })
}

/// The row that ratios are taken against: the first rival's.
pub fn reference(cell: &[Row]) -> Option<&Row> {
    cell.iter().find(|row| !row.ours && row.skipped.is_none())
}

/// The time of an operation over that of a rival, round by round. A rival without batches is
/// compared by what its users do instead.
pub fn ratio(row: &Row, rival: &Row, operation: Operation) -> Option<Summary> {
    let own = row.timing.as_ref()?.operation(operation.name())?;
    let theirs = rival.timing.as_ref()?;
    let theirs = theirs
        .operation(operation.name())
        .or_else(|| theirs.operation(operation.one_by_one().name()))?;
    Summary::of_ratios(&own.nanos_per_key, &theirs.nanos_per_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::{Effort, Outcome, measure};
    use crate::cell::row_of;
    use crate::contender::{Built, Contender, Profile, Rival, Subject};
    use crate::experiment::{Allowance, last};
    use crate::record::tests::row;
    use crate::stream::{BORDERS, DISTINCT, Stream};
    use lately::plan::Goal;
    use lately::{Seed, Time};

    fn failures(row: &Row) -> Vec<String> {
        answers(row).into_iter().filter(|check| !check.passed).map(|check| check.claim).collect()
    }

    #[test]
    fn a_sound_row_passes() {
        assert_eq!(answers(&row()).len(), 4);
        assert_eq!(failures(&row()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        let broken = |fault: fn(&mut Row)| {
            let mut row = row();
            fault(&mut row);
            failures(&row)
        };
        let forgets = broken(|row| row.errors.as_mut().unwrap().inside.hits = 1);
        assert_eq!(forgets, ["keys of the window: none forgotten"]);
        let lies = broken(|row| row.errors.as_mut().unwrap().moments[1].unseen.hits = 12_000);
        assert_eq!(lies, ["unseen keys: at most 1% reported as seen"]);
        let clings = broken(|row| row.errors.as_mut().unwrap().outside.hits = 12_000);
        assert_eq!(clings, ["forgotten and new keys: at most 1% reported as seen"]);
        let hides = broken(|row| row.heap_bytes = Some(5000));
        assert_eq!(hides, ["the heap is what it reports"]);
    }

    #[test]
    fn figures_compare_with_the_bound_and_the_first_rival() {
        let mut rival = row();
        (rival.ours, rival.contender) = (false, "rival".into());
        rival.timing.as_mut().unwrap().operations[0].nanos_per_key = vec![21.0, 20.5, 2.0 / 3.0];
        let cell = [row(), rival];
        let verdict = |figure| figures(&[figure], &cell).iter().map(|check| check.passed).next();
        let speed = |contender, at_most| {
            verdict(Figure::Speed { contender, operation: Operation::Insert, at_most })
        };
        assert_eq!(speed("double-buffer", 0.5), Some(true));
        assert_eq!(speed("double-buffer", 0.49), Some(false));
        assert_eq!(speed("left-out", 0.5), None);
        let space = |at_most| verdict(Figure::Space { contender: "double-buffer", at_most });
        assert_eq!(space(20.0 / 9.4 + 0.01), Some(true));
        assert_eq!(space(20.0 / 9.4 - 0.01), Some(false));
    }

    /// A rotating filter that drops every thousandth key, or reports every fiftieth unseen one:
    /// planted faults that an experiment must find.
    struct Faulty {
        inner: Box<dyn Subject>,
        drops: bool,
        invents: bool,
    }

    impl Subject for Faulty {
        fn profile(&self) -> Profile {
            self.inner.profile()
        }

        fn insert(&mut self, key: u64, now: Time) -> bool {
            if self.drops && key.is_multiple_of(1000) {
                return !self.inner.contains(key, now);
            }
            self.inner.insert(key, now)
        }

        fn contains(&self, key: u64, now: Time) -> bool {
            self.inner.contains(key, now) || (self.invents && key.is_multiple_of(50))
        }
    }

    fn faulty(goal: &Goal, seed: Seed, drops: bool, invents: bool) -> Built {
        let inner = (crate::rivals::ROTATING_FASTBLOOM.build)(goal, seed)?;
        Ok(Box::new(Faulty { inner, drops, invents }))
    }

    fn failures_of(rival: &'static Rival, stream: &Stream) -> Vec<String> {
        let goal = last(1000, Allowance::Error(0.01).limit(1000).unwrap());
        let contender = Contender::Rival(rival);
        let outcome = measure(contender, &goal, stream, 7, Effort::VERIFY).unwrap();
        assert!(matches!(outcome, Outcome::Measured(_)));
        failures(&row_of(contender, &goal, 1000, outcome))
    }

    #[test]
    fn a_contender_that_forgets_is_caught() {
        static FORGETFUL: Rival =
            Rival { name: "forgetful", build: |goal, seed| faulty(goal, seed, true, false) };
        for stream in [&DISTINCT, &BORDERS] {
            let found = failures_of(&FORGETFUL, stream);
            assert_eq!(found, ["keys of the window: none forgotten"], "{}", stream.name);
        }
    }

    #[test]
    fn a_contender_that_invents_is_caught() {
        static INVENTIVE: Rival =
            Rival { name: "inventive", build: |goal, seed| faulty(goal, seed, false, true) };
        assert!(!failures_of(&INVENTIVE, &DISTINCT).is_empty());
    }

    #[test]
    fn a_sound_contender_is_not_accused() {
        static SOUND: Rival =
            Rival { name: "sound", build: |goal, seed| faulty(goal, seed, false, false) };
        assert_eq!(failures_of(&SOUND, &BORDERS), Vec::<String>::new());
    }
}
