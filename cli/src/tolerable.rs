//! How many mistakes nobody can have meant.

use anyhow::bail;
use lately::plan::{Goal, Limit};
use lately::{ErrorRate, Memory, Promise};
use lately_papers::CATALOG;

use crate::stats::percent;

/// More than this share of wrong answers, of both kinds together, is refused unless it is asked for.
const TOLERABLE: f64 = 0.1;

/// Refuses a plan that errs more often than anyone can want, and says which memory would do.
pub(crate) fn check(goal: &Goal, structure: Option<&str>, promise: &Promise) -> anyhow::Result<()> {
    if mistakes(promise) <= most(goal) {
        return Ok(());
    }
    let Promise { false_positives, false_negatives, .. } = *promise;
    let too_many = if goal.counting {
        format!("{} of the counts would be too high", percent(false_positives))
    } else {
        format!(
            "{} of what is new would be taken for repeats, and {} of the repeats for new",
            percent(false_positives),
            percent(false_negatives)
        )
    };
    let enough = match (goal.limit, enough(goal, structure)) {
        (Limit::Memory(given), Some(memory)) => {
            format!("{given} is too little, --memory {memory} would do")
        }
        _ => "another structure would do better".to_owned(),
    };
    bail!("{too_many}: {enough}; --allow-error if that is what you want")
}

fn mistakes(promise: &Promise) -> f64 {
    promise.false_positives + promise.false_negatives
}

/// What a plan may err: an error that was stated is asked for.
fn most(goal: &Goal) -> f64 {
    match goal.limit {
        Limit::Error(stated) => stated.get().max(TOLERABLE),
        Limit::Memory(_) => TOLERABLE,
    }
}

/// A memory in which the goal is reached with few enough mistakes, about the least, as it can be
/// written.
fn enough(goal: &Goal, structure: Option<&str>) -> Option<String> {
    let row = structure.map(|name| CATALOG.row_named(name)).transpose().ok()?;
    let planned = |limit| {
        let goal = Goal { limit, ..*goal };
        match row {
            Some(row) => goal.plan_with(row).ok(),
            None => goal.best_plan().ok(),
        }
    };
    let plain = ErrorRate::new(TOLERABLE).ok().and_then(|rate| planned(Limit::Error(rate)));
    let mut bytes = plain.map_or(1024, |plan| plan.bytes);
    // Enough steps from a kilobyte to any machine's memory.
    for _ in 0..400 {
        let (text, memory) = rounded_up(bytes);
        if planned(Limit::Memory(memory)).is_some_and(|plan| mistakes(&plan.promise) <= TOLERABLE) {
            return Some(text);
        }
        bytes += bytes / 10;
    }
    None
}

/// Two digits and a unit, not less than this many bytes.
fn rounded_up(bytes: u64) -> (String, Memory) {
    let mut unit = 1;
    while bytes.div_ceil(unit) >= 100 {
        unit *= 10;
    }
    let rounded = bytes.div_ceil(unit) * unit;
    let text = match rounded {
        ..10_000 => format!("{rounded}B"),
        10_000..10_000_000 => format!("{}kB", rounded.div_ceil(1_000)),
        10_000_000..10_000_000_000 => format!("{}MB", rounded.div_ceil(1_000_000)),
        _ => format!("{}GB", rounded.div_ceil(1_000_000_000)),
    };
    let memory = text.parse().unwrap_or(Memory::from_bytes(rounded));
    (text, memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_and_read_as_written() {
        for (bytes, text) in [
            (1, "1B"),
            (999, "1000B"),
            (4_567, "4600B"),
            (9_999, "10kB"),
            (123_456, "130kB"),
            (1_234_567, "1300kB"),
            (98_765_432, "99MB"),
            (12_345_678_901, "13GB"),
        ] {
            let (written, memory) = rounded_up(bytes);
            assert_eq!(written, text);
            assert!(memory.bytes() >= bytes, "{text}");
        }
    }
}
