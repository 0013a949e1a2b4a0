//! The picture of memory over error: one line for each row of the catalog, and the least possible.

use lately::catalog::CATALOG;
use lately::plan::{Goal, Limit, bound};
use lately::{Error, ErrorRate, Slack, Window};
use serde_json::{Value, json};

use crate::answer::Point;
use crate::asked::Asked;

/// Errors of the picture: two points a decade.
const DECADES: i32 = 6;
const PER_DECADE: i32 = 2;

fn errors() -> impl Iterator<Item = ErrorRate> {
    // From a third down: at a half nothing needs to be stored.
    let powers = (1..=DECADES * PER_DECADE).map(|step| f64::from(step) / f64::from(PER_DECADE));
    powers.filter_map(|power| ErrorRate::new(10_f64.powf(-power)).ok())
}

/// Bits per item of one structure at every error; where it cannot, nothing.
pub fn of(asked: &Asked, structure: &str) -> Result<Value, Error> {
    let row = CATALOG.row_named(structure)?;
    let items = items(&asked.goal);
    let bits = |rate| {
        let goal = Goal { limit: Limit::Error(rate), expected_items: Some(items), ..asked.goal };
        // What forgets keys is no answer to an error; only plans that reach it are drawn.
        (row.propose)(&goal).ok().map(|found| found.heap_bytes() as f64 * 8.0 / items as f64)
    };
    Ok(json!(errors().map(|rate| Point(rate.get(), bits(rate))).collect::<Vec<_>>()))
}

/// The least bits per item at every error, even for a structure not invented yet.
pub fn least(asked: &Asked) -> Value {
    let items = items(&asked.goal);
    let bits = |rate| match (asked.goal.window, asked.goal.slack) {
        (Window::Ever, _) => bound::growing_set(rate, items),
        (_, Slack::Items(slack)) => bound::sliding_window(rate, items, Some(slack)),
        _ => bound::sliding_window(rate, items, None),
    };
    json!(errors().map(|rate| Point(rate.get(), Some(bits(rate)))).collect::<Vec<_>>())
}

/// A picture needs a number; one that nobody said is a million.
fn items(goal: &Goal) -> u64 {
    goal.items().unwrap_or(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_the_planner_says_and_above_the_bound() {
        let asked = Asked::read("last 100k\nerror 1%").unwrap();
        let line = of(&asked, "sliding").unwrap();
        let bound = least(&asked);
        let number = |value: &Value, at: usize, of: usize| value[at][of].as_f64().unwrap();
        for at in 0..12 {
            assert!(number(&line, at, 1) > number(&bound, at, 1), "{line} {bound}");
        }
        // The fourth point is one percent.
        assert!((number(&line, 3, 0) - 0.01).abs() < 1e-9);
        let plan = asked.goal.plan_with(CATALOG.row("sliding").unwrap()).unwrap();
        assert!((number(&line, 3, 1) - plan.bits_per_item.unwrap()).abs() < 0.1);
        assert!(of(&asked, "growing").unwrap()[3][1].is_null());
    }
}
