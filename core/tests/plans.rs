//! What is planned for a grid of goals, as it was when somebody last looked.
//!
//! `golden/plans.txt` has every structure's answer to every goal: its parameters, what it promises, takes and
//! costs, and why others have none. Users feel a change of any of these, so none comes unnoticed. Where it is wanted,
//! `cargo xtask golden` writes the file again, and the difference is there to be read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::samples::{compare_with_kept, stated};
use lately::growing::GrowingParameters;
use lately::plan::{Goal, Limit};
use lately::raw::{Blueprint, Unfit};
use lately::{ErrorRate, Memory, Slack, Span, Window};
use lately_papers::CATALOG;

fn error(rate: f64) -> Limit {
    ErrorRate::new(rate).unwrap().into()
}

fn memory(bytes: u64) -> Limit {
    Memory::from_bytes(bytes).into()
}

/// From a few items to many, each kind of wish at least once.
fn goals() -> Vec<Goal> {
    let hour = Window::Within(Span::from_millis(3_600_000));
    let mut goals = Vec::new();
    for (window, limit) in [
        (Window::Last(1), error(0.01)),
        (Window::Last(3), error(1e-9)),
        (Window::Last(100), error(0.3)),
        (Window::Last(5_000), error(0.001)),
        (Window::Last(1_000_000), error(0.01)),
        (Window::Last(1_000_000), error(1e-9)),
        (Window::Last(30_000_000), error(1e-4)),
        (Window::Last(1 << 40), error(0.001)),
        (Window::Last(10), memory(64)),
        (Window::Last(2_000), memory(3_000)),
        (Window::Last(1_000_000), memory(1_000_000)),
        (hour, error(0.01)),
        (hour, memory(1_000_000)),
        (Window::Ever, error(0.01)),
        (Window::Ever, error(1e-6)),
    ] {
        goals.push(Goal::new(window, limit));
    }
    let last = Goal::new(Window::Last(100_000), error(0.001));
    for slack in [0, 100, 20_000] {
        goals.push(Goal { slack: Slack::Items(slack), ..last });
    }
    let within = Goal::new(hour, error(0.001));
    goals.push(Goal { slack: Slack::Time(Span::from_millis(60_000)), ..within });
    goals.push(Goal { shortening: Some(Memory::from_bytes(100_000)), ..within });
    for (goal, expected) in [
        (last, 500),
        (within, 100_000),
        (Goal { limit: memory(500_000), ..within }, 100_000),
        (Goal::new(Window::Ever, error(0.01)), 1_000),
        (Goal::new(Window::Ever, error(0.01)), 50_000_000),
        (Goal::new(Window::Ever, error(1e-4)), 1_000_000),
        (Goal::new(Window::Ever, memory(1_000_000)), 500_000),
        (Goal::new(Window::Ever, memory(1_000)), 500),
    ] {
        let goal = Goal { expected_items: Some(expected), ..goal };
        goals.extend([goal, Goal { removing: true, ..goal }, Goal { counting: true, ..goal }]);
    }
    goals.push(Goal { alphabet: Some(3_000), ..Goal::new(Window::Last(2_000), memory(1_000)) });
    goals.extend(impossible());
    goals
}

/// Goals that nothing reaches, so that the planner says what to change.
fn impossible() -> Vec<Goal> {
    let exactly = Goal { slack: Slack::Items(0), ..Goal::new(Window::Last(1_000), error(0.01)) };
    let hour = Window::Within(Span::from_millis(3_600_000));
    let little = Goal { expected_items: Some(1_000_000), ..Goal::new(Window::Ever, memory(64)) };
    let both = Goal { counting: true, removing: true, ..Goal::new(Window::Ever, error(0.01)) };
    vec![
        Goal::new(Window::Last(1 << 47), error(1e-9)),
        Goal::new(Window::Last(1_000), memory(3)),
        Goal { removing: true, ..exactly },
        Goal { removing: true, limit: memory(2_000), ..exactly },
        Goal { expected_items: Some(1 << 46), ..Goal::new(hour, error(1e-9)) },
        Goal { expected_items: Some(1 << 46), counting: true, ..Goal::new(hour, error(1e-9)) },
        Goal {
            expected_items: Some(1 << 46),
            removing: true,
            ..Goal::new(Window::Ever, error(1e-9))
        },
        Goal { removing: true, ..Goal::new(Window::Last(1 << 47), error(1e-9)) },
        Goal { counting: true, ..Goal::new(Window::Last(1 << 47), error(1e-9)) },
        Goal { counting: true, limit: memory(200), ..exactly },
        Goal { shortening: Some(Memory::from_bytes(100)), ..Goal::new(hour, error(0.01)) },
        Goal { removing: true, ..Goal::new(hour, memory(1_000)) },
        Goal { counting: true, ..Goal::new(hour, memory(1_000)) },
        Goal::new(Window::Ever, memory(1_000)),
        little,
        Goal { removing: true, ..little },
        Goal { counting: true, ..little },
        both,
        Goal { expected_items: Some(100), ..both },
    ]
}

/// The goal in words.
fn name(goal: &Goal) -> String {
    let mut name = match goal.limit {
        Limit::Error(rate) => format!("{}, error {rate}", goal.window),
        Limit::Memory(memory) => format!("{}, {memory}", goal.window),
    };
    let hints = [("expected", goal.expected_items), ("alphabet", goal.alphabet)];
    for (hint, number) in hints {
        number.inspect(|number| write!(name, ", {hint} {number}").unwrap());
    }
    if let Some(memory) = goal.shortening {
        write!(name, ", shortening at {memory}").unwrap();
    }
    if goal.slack != Slack::Unlimited {
        write!(name, ", slack {}", goal.slack).unwrap();
    }
    for (word, wanted) in [("counting", goal.counting), ("removing", goal.removing)] {
        name += &if wanted { format!(", {word}") } else { String::new() };
    }
    name
}

/// All that is known of a structure before it is built.
fn told(blueprint: &dyn Blueprint, goal: &Goal) -> String {
    let promise = blueprint.promise();
    let mistakes = blueprint.expected_mistakes(goal.alphabet);
    let fields: Vec<_> =
        blueprint.fields().iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut told = format!(
        "{} | {} bytes, {:.4} lines, {:.5e} wrong | slack {}",
        fields.join(", "),
        blueprint.heap_bytes(),
        blueprint.lines_touched(),
        promise.false_positives,
        promise.slack,
    );
    let others = [
        ("forgets", promise.false_negatives),
        ("expected wrong", mistakes.false_positives),
        ("expected to forget", mistakes.false_negatives),
        ("scans", blueprint.items_scanned()),
        ("promised items", blueprint.promised_items().unwrap_or(0) as f64),
    ];
    for (what, number) in others.into_iter().filter(|&(_, number)| number > 0.0) {
        write!(told, ", {what} {number:.5e}").unwrap();
    }
    for (what, holds) in [
        ("adapts", blueprint.adapts()),
        ("lean", blueprint.is_lean()),
        ("for even streams", blueprint.needs_even_stream()),
    ] {
        told += &if holds { format!(", {what}") } else { String::new() };
    }
    told
}

fn all() -> String {
    let mut all = String::new();
    for goal in goals() {
        writeln!(all, "\n{}", name(&goal)).unwrap();
        let plans = match goal.plans_of(CATALOG) {
            Ok(plans) => plans,
            Err(why) => {
                writeln!(all, "  {why}").unwrap();
                continue;
            }
        };
        for plan in &plans {
            writeln!(all, "  {} | {}", plan.row.name, told(&*plan.blueprint, &goal)).unwrap();
        }
        if let Ok(best) = goal.best_plan() {
            let least = best.lower_bound_bits_per_item.unwrap_or(0.0);
            let (name, reason) = (best.row.name, best.reason);
            writeln!(all, "  picks {name}, the least {least:.4} bits: {reason}").unwrap();
        }
        let mut unfit = BTreeMap::<_, Vec<_>>::new();
        for row in CATALOG.iter() {
            if let Err(Unfit(why)) = (row.propose)(&goal) {
                unfit.entry(why).or_default().push(row.name);
            }
            let floor = (row.floor)(&goal);
            if floor.bytes > 0 && floor.bytes < u64::MAX {
                let (name, price) = (row.name, floor.price);
                writeln!(all, "  {name} at least {} bytes, {price:.5e}", floor.bytes).unwrap();
            }
        }
        for (why, names) in unfit {
            writeln!(all, "  {why}: {}", names.join(", ")).unwrap();
        }
    }
    all + &stated_numbers() + &of_older_releases()
}

/// Growing filters for numbers that somebody stated.
fn stated_numbers() -> String {
    let mut all = "\nstated numbers\n".to_owned();
    for rate in [0.01, 1e-3, 1e-4, 1e-6] {
        let goal = Goal::new(Window::Ever, error(rate));
        for items in [
            1,
            50,
            800,
            1_500,
            3_000,
            20_000,
            70_000,
            300_000,
            1_000_000,
            3_000_000,
            20_000_000,
            1 << 34,
        ] {
            match GrowingParameters::with_stated_items(rate, items) {
                Ok(stated) => writeln!(all, "  {}", told(&stated, &goal)).unwrap(),
                Err(Unfit(why)) => writeln!(all, "  {items}: {why}").unwrap(),
            }
        }
    }
    all
}

/// Parameters that nobody plans any more, and that snapshots have.
fn of_older_releases() -> String {
    let mut all = "\nof older releases\n".to_owned();
    let goal = Goal::new(Window::Ever, error(0.01));
    for bins in [1, 3, 22] {
        for expected_items in [10, 900, 7_000, 8_000, 11_000, 100_000, 10_000_000, 1 << 40] {
            for (stated_bins, wider) in [(0, 0), (bins as u8 + 1, 0), (2 * bins as u8, 160)] {
                let stated =
                    GrowingParameters { bins, expected_items, ..stated(stated_bins, wider) };
                writeln!(all, "  {}", told(&stated, &goal)).unwrap();
            }
        }
    }
    all
}

#[test]
fn plans_are_as_they_were() {
    compare_with_kept("plans.txt", &all());
}
