//! `lately plan`: which structures reach a goal, best first, at what price.

use std::fmt::Write;

use lately::Memory;
use lately::plan::{Goal, Limit, Plan};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args;
use crate::output;
use crate::stats::percent;

pub(crate) fn run(request: &args::Plan) -> anyhow::Result<()> {
    let (goal, plans) = request.plans()?;
    let text = if request.json { json(&plans)? } else { table(&goal, &plans) };
    output::print(&text)
}

/// For programs: an array with one object per plan.
fn json(plans: &[Plan]) -> anyhow::Result<String> {
    let rows: Vec<_> = plans.iter().map(Shown::of).collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}

/// One plan in JSON. What is not known is `null`.
#[derive(Serialize)]
struct Shown<'a> {
    structure: &'a str,
    parameters: Map<String, Value>,
    bytes: u64,
    bits_per_item: Option<f64>,
    lower_bound_bits_per_item: Option<f64>,
    ratio: Option<f64>,
    false_positive_rate: f64,
    false_negative_rate: f64,
    promise: String,
    reason: &'a str,
}

impl<'a> Shown<'a> {
    fn of(plan: &'a Plan) -> Self {
        Self {
            structure: plan.row.name,
            parameters: plan.blueprint.fields().into_iter().map(parameter).collect(),
            bytes: plan.bytes,
            bits_per_item: plan.bits_per_item,
            lower_bound_bits_per_item: plan.lower_bound_bits_per_item,
            ratio: plan.ratio,
            false_positive_rate: plan.promise.false_positives,
            false_negative_rate: plan.promise.false_negatives,
            promise: plan.promise.to_string(),
            reason: &plan.reason,
        }
    }
}

/// A parameter with a name like the other keys; numbers as numbers.
pub(crate) fn parameter((name, value): (&str, String)) -> (String, Value) {
    let value = value.parse::<u64>().map_or_else(|_| Value::String(value), Value::from);
    (name.replace(' ', "_"), value)
}

/// For people: a line of numbers per plan, and below it what it promises and why to choose it.
fn table(goal: &Goal, plans: &[Plan]) -> String {
    let limit = match goal.limit {
        Limit::Error(rate) => format!("with an error of at most {rate}"),
        Limit::Memory(memory) => format!("in at most {memory}"),
    };
    let limit = match goal.shortening {
        Some(memory) => {
            format!("{limit} in at most {memory}, or less of it while more come than fit")
        }
        None => limit,
    };
    let expected = goal
        .expected_items
        .map_or_else(String::new, |keys| format!(", some {keys} different ones expected,"));
    let mut text = format!("To remember {}{expected} {limit}, best first:\n\n", goal.window);
    let widest = plans.iter().map(|plan| plan.row.name.len()).max().unwrap_or(0);
    let mut line =
        |structure: &str, [memory, bits, least, ratio, error]: [String; 5], bar: &str| {
            let row = format!(
                "{structure:<widest$}{memory:>11}{bits:>11}{least:>13}{ratio:>10}{error:>11}  {bar}"
            );
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", row.trim_end());
        };
    let names = ["memory", "bits/item", "lower bound", "times it", "error"].map(str::to_owned);
    let longest = plans.iter().filter_map(|plan| plan.ratio).fold(0.0, f64::max);
    line("", names, if longest > 0.0 { "█ least possible ░ used beyond it" } else { "" });
    for plan in plans {
        line(
            plan.row.name,
            numbers(plan),
            &plan.ratio.map_or_else(String::new, |r| bar(r, longest)),
        );
    }
    for plan in plans {
        let _ = write!(text, "\n{}: {}\n  {}\n", plan.row.name, plan.reason, plan.promise);
    }
    text
}

fn numbers(plan: &Plan) -> [String; 5] {
    let known = |number: Option<f64>, digits| match number {
        Some(number) => format!("{number:.digits$}"),
        None => "-".to_owned(),
    };
    [
        Memory::from_bytes(plan.bytes).to_string(),
        known(plan.bits_per_item, 1),
        known(plan.lower_bound_bits_per_item, 1),
        known(plan.ratio, 2),
        percent(plan.promise.false_positives + plan.promise.false_negatives),
    ]
}

/// A bar for so many times the least possible, where the longest is for `longest` times.
fn bar(ratio: f64, longest: f64) -> String {
    const WIDTH: f64 = 32.0;
    let cells = |ratio: f64| (WIDTH * ratio / longest.max(1.0)).round() as usize;
    let least = cells(ratio.min(1.0));
    "█".repeat(least) + &"░".repeat(cells(ratio) - least)
}
