//! `verify`: every contender of every experiment gives right answers, at a small size, and whatever is kept
//! can be had again.

use std::io::Write;

use anyhow::Result;

use crate::accuracy::Effort;
use crate::cell::Cell;
use crate::expectation::{Check, answers};
use crate::experiment::Experiment;
use crate::experiments;
use crate::records::{Places, faults};

/// Items in the window or set.
const SIZE: u64 = 4000;

/// Prints one line per check; says whether all passed.
pub fn verify(out: &mut impl Write) -> Result<bool> {
    verify_all(experiments::all(), &Places::kept(), out)
}

/// The same for these experiments and records.
fn verify_all<'a>(
    experiments: impl Iterator<Item = &'a Experiment>,
    places: &Places,
    out: &mut impl Write,
) -> Result<bool> {
    let mut tally = Tally::default();
    for experiment in experiments {
        for allowance in experiment.limits {
            let goal = (experiment.goal)(SIZE, allowance.limit(SIZE)?);
            let contenders = experiment.contenders(&goal)?;
            let cell = Cell { experiment, size: SIZE, goal, contenders };
            for row in cell.accuracy(Effort::VERIFY)? {
                let place = format!("{} {} {}", experiment.name, row.limit, row.contender);
                if let Some(why) = &row.skipped {
                    tally.fails(&place, &format!("not measured, {why}"), out)?;
                }
                for check in answers(&row) {
                    tally.count(&place, &check, out)?;
                }
            }
        }
    }
    for fault in faults(places)? {
        tally.fails("records", &fault, out)?;
    }
    writeln!(out, "{} passed, {} failed", tally.passed, tally.failed)?;
    Ok(tally.failed == 0)
}

/// How checks went.
#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    fn count(&mut self, place: &str, check: &Check, out: &mut impl Write) -> Result<()> {
        let told = format!("{}: {}", check.claim, check.evidence);
        if !check.passed {
            return self.fails(place, &told, out);
        }
        self.passed += 1;
        Ok(writeln!(out, "ok    {place:<50}  {told}")?)
    }

    fn fails(&mut self, place: &str, why: &str, out: &mut impl Write) -> Result<()> {
        self.failed += 1;
        Ok(writeln!(out, "FAIL  {place:<50}  {why}")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::{Built, Contender, Profile, Rival, Subject};
    use crate::experiment::{Allowance, Entrant, Kind, last};
    use crate::stream::DISTINCT;
    use lately::plan::Goal;
    use lately::raw::Unfit;
    use lately::{Seed, Time};
    use lately_papers::CATALOG;

    /// Our own structure with a fault in it: it forgets one key in a hundred, or takes one new key in twenty
    /// for an old one, or neither.
    struct Wrong {
        sliding: Box<dyn Subject>,
        forgets: bool,
        invents: bool,
    }

    impl Subject for Wrong {
        fn profile(&self) -> Profile {
            self.sliding.profile()
        }

        fn insert(&mut self, key: u64, now: Time) -> bool {
            if self.forgets && key.is_multiple_of(100) {
                return !self.sliding.contains(key, now);
            }
            self.sliding.insert(key, now)
        }

        fn contains(&self, key: u64, now: Time) -> bool {
            self.sliding.contains(key, now) || (self.invents && key.is_multiple_of(20))
        }
    }

    fn wrong(goal: &Goal, Seed(seed): Seed, forgets: bool, invents: bool) -> Built {
        let row = CATALOG.row("sliding").ok_or(Unfit("is not in the catalog"))?;
        let sliding =
            Contender::Row(row).fresh(goal, seed).map_err(|_| Unfit("cannot be built"))?;
        Ok(Box::new(Wrong { sliding, forgets, invents }))
    }

    static SOUND: Rival =
        Rival { name: "sound", build: |goal, seed| wrong(goal, seed, false, false) };
    static FORGETS: Rival =
        Rival { name: "forgets", build: |goal, seed| wrong(goal, seed, true, false) };
    static INVENTS: Rival =
        Rival { name: "invents", build: |goal, seed| wrong(goal, seed, false, true) };

    static RIGHT: [Entrant; 1] = [Entrant::Rival(&SOUND)];
    static FORGETFUL: [Entrant; 2] = [Entrant::Rival(&SOUND), Entrant::Rival(&FORGETS)];
    static INVENTIVE: [Entrant; 1] = [Entrant::Rival(&INVENTS)];

    fn experiment(entrants: &'static [Entrant]) -> Experiment {
        Experiment {
            name: "planted",
            question: "Is a fault found?",
            kind: Kind::Accuracy,
            entrants,
            goal: last,
            stream: &DISTINCT,
            sizes: &[SIZE],
            limits: &[Allowance::Error(0.01)],
            seed: 7,
            figures: &[],
        }
    }

    fn verdict(entrants: &'static [Entrant]) -> (bool, String) {
        let mut out = Vec::new();
        let all = [experiment(entrants)];
        let passed = verify_all(all.iter(), &Places::kept(), &mut out).unwrap();
        (passed, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_structure_made_wrong_on_purpose_fails_and_the_same_without_the_fault_does_not() {
        // The heap is another test's: others allocate meanwhile in this process.
        let failures = |told: &str| -> Vec<String> {
            let failed = told.lines().filter(|line| line.starts_with("FAIL"));
            failed.filter(|line| !line.contains("the heap is")).map(str::to_owned).collect()
        };
        let (_, told) = verdict(&RIGHT);
        assert_eq!(failures(&told), [""; 0]);
        let (passed, told) = verdict(&FORGETFUL);
        assert!(
            !passed && failures(&told).iter().all(|line| line.contains("none forgotten")),
            "{told}"
        );
        let (passed, told) = verdict(&INVENTIVE);
        assert!(!passed && told.contains("FAIL  planted 1% invents"), "{told}");
    }
}
