//! `verify`: every contender of every experiment gives right answers, at a small size.

use std::io::Write;

use anyhow::Result;

use crate::accuracy::Effort;
use crate::cell::Cell;
use crate::expectation::answers;
use crate::experiments;

/// Items in the window or set.
const SIZE: u64 = 4000;

/// Prints one line per check; says whether all passed.
pub fn verify(out: &mut impl Write) -> Result<bool> {
    let (mut passed, mut failed) = (0, 0);
    for experiment in experiments::all() {
        for allowance in experiment.limits {
            let goal = (experiment.goal)(SIZE, allowance.limit(SIZE)?);
            let contenders = experiment.contenders(&goal)?;
            let cell = Cell { experiment, size: SIZE, goal, contenders };
            for row in cell.accuracy(Effort::VERIFY)? {
                let place = format!("{} {} {}", experiment.name, row.limit, row.contender);
                if let Some(why) = &row.skipped {
                    failed += 1;
                    writeln!(out, "FAIL  {place:<50}  not measured, {why}")?;
                }
                for check in answers(&row) {
                    let verdict = if check.passed { "ok  " } else { "FAIL" };
                    writeln!(out, "{verdict}  {place:<50}  {}: {}", check.claim, check.evidence)?;
                    *if check.passed { &mut passed } else { &mut failed } += 1;
                }
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed == 0)
}
