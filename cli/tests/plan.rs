//! `lately plan`: the numbers, for people and for programs.

use std::collections::BTreeSet;
use std::path::Path;

use crate::command::lately;
use lately::plan::Goal;
use lately::{ErrorRate, Memory, Window};
use lately_papers::ROWS;
use serde_json::Value;

#[test]
fn json_says_what_the_planner_says() {
    let plans = json(&["--last", "1000000", "--error", "0.01"]);
    let goal = Goal::new(Window::Last(1_000_000), ErrorRate::new(0.01).unwrap());
    let expected = goal.plans().unwrap();
    assert_eq!(plans.len(), expected.len());
    for (plan, expected) in plans.iter().zip(&expected) {
        assert_eq!(plan["structure"], expected.row.name);
        assert_eq!(plan["bytes"], expected.bytes);
        assert_near(&plan["bits_per_item"], expected.bits_per_item.unwrap());
        assert_near(
            &plan["lower_bound_bits_per_item"],
            expected.lower_bound_bits_per_item.unwrap(),
        );
        assert_near(&plan["ratio"], expected.ratio.unwrap());
        assert_eq!(plan["promise"], expected.promise.to_string());
        assert_eq!(plan["reason"], expected.reason);
        assert_near(&plan["false_positive_rate"], expected.promise.false_positives);
        assert_near(&plan["false_negative_rate"], expected.promise.false_negatives);
        let parameters = plan["parameters"].as_object().unwrap();
        assert_eq!(parameters.len(), expected.blueprint.fields().len());
        for (name, value) in expected.blueprint.fields() {
            let found = &parameters[&name.replace(' ', "_")];
            assert_eq!(found.to_string().trim_matches('"'), value, "{name}");
        }
    }
}

#[test]
fn memory_is_a_limit() {
    for size in ["1kB", "64KiB", "1.5M"] {
        let most = size.parse::<Memory>().unwrap().bytes();
        for plan in json(&["--last", "1000", "--memory", size]) {
            assert!(plan["bytes"].as_u64().unwrap() <= most, "{plan}");
        }
    }
}

#[test]
fn keys_that_repeat_are_planned_for() {
    let flags = ["--last", "100M", "--error", "0.1%", "--expected", "1M"];
    let best = &json(&flags)[0];
    assert_eq!(best["structure"], "elastic");
    assert!(best["bytes"].as_u64().unwrap() < 3_000_000, "{best}");
    let text = lately(&[&["plan"], &flags[..]].concat(), b"").text();
    let first = text.lines().next().unwrap();
    assert!(first.contains("some 1000000 different ones expected"), "{first}");
}

#[test]
fn counting_is_planned_for() {
    let names = |flags: &[&str]| -> Vec<String> {
        let plans = json(&[&["--counting"], flags].concat());
        plans.iter().map(|plan| plan["structure"].as_str().unwrap().to_owned()).collect()
    };
    let ever = ["growing-counts", "spectral", "spectral-blocked", "spectral-recurring"];
    assert_eq!(names(&["--ever", "--expected", "1M"]), ever);
    assert_eq!(names(&["--ever"]), ["growing-counts"]);
    let exactly = ["quotient-short-hash", "short-hash", "spectral-window", "exact-window"];
    assert_eq!(names(&["--last", "1k", "--slack", "0"]), exactly);
    assert_eq!(names(&["--last", "1k"]), [&["window-counts"], &exactly[..]].concat());
    assert_eq!(names(&["--within", "1h"]), ["window-counts"]);
    let memory = ["plan", "--counting", "--ever", "--memory", "1MB"];
    let complaint = lately(&memory, b"").failure();
    assert!(complaint.contains("say how many keys to expect"), "{complaint}");
}

/// What is there to be compared with is shown to those who ask, and its snapshots open.
#[test]
fn papers_are_shown_beside_ours() {
    let names = |flags: &[&str]| -> BTreeSet<String> {
        let plans = json(flags);
        plans.iter().map(|plan| plan["structure"].as_str().unwrap().to_owned()).collect()
    };
    let mut shown = BTreeSet::new();
    let percent = ["--error", "1%"];
    for goal in [
        &["--last", "1000", "--memory", "2kB"][..],
        &[&["--within", "1h"], &percent[..]].concat(),
        &[&["--ever"], &percent[..]].concat(),
    ] {
        let ours = names(goal);
        let all = names(&[goal, &["--all"]].concat());
        assert!(ours.is_subset(&all), "{ours:?} {all:?}");
        shown.extend(all.difference(&ours).cloned());
    }
    assert_eq!(shown, ROWS.iter().map(|row| row.name.to_owned()).collect());
    for row in ROWS {
        let golden = format!("../core/tests/golden/{}-v1.bin", row.name);
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(golden);
        let told = text(lately(&["inspect", golden.to_str().unwrap()], b"").success());
        assert!(told.contains(row.name), "{told}");
    }
}

#[test]
fn slack_is_a_limit() {
    let any = json(&["--last", "1000"]);
    let none = json(&["--last", "1000", "--slack", "0"]);
    assert!(none.len() < any.len());
    assert!(none.iter().any(|plan| plan["structure"] == "compact-short-hash"));
    assert!(none.iter().all(|plan| plan["structure"] != "double-buffer"));
    let all = json(&["--last", "1000", "--slack", "1k"]);
    assert!(all.iter().any(|plan| plan["structure"] == "double-buffer"));
}

#[test]
fn the_table_shows_every_plan() {
    let table = text(lately(&["plan", "--last", "1M", "--error", "1%"], b"").success());
    assert!(table.starts_with("To remember the last 1000000 items with an error of at most 1%"));
    for column in ["memory", "bits/item", "lower bound", "times it", "error"] {
        assert!(table.contains(column), "{table}");
    }
    let goal = Goal::new(Window::Last(1_000_000), ErrorRate::new(0.01).unwrap());
    for plan in goal.plans().unwrap() {
        let row = table.lines().find(|line| line.starts_with(&format!("{} ", plan.row.name)));
        let row = row.expect(plan.row.name);
        assert!(row.contains(&Memory::from_bytes(plan.bytes).to_string()), "{row}");
        let ratio = plan.ratio.unwrap();
        assert!(row.contains(&format!("{ratio:.2}")), "{row}");
        let cells = |cell| row.chars().filter(|&found| found == cell).count() as f64;
        // Bars are drawn in whole cells, and few of them beside a rival many times as large.
        let rounding = (ratio / cells('█')).max(0.3);
        assert!((cells('░') / cells('█') - (ratio - 1.0)).abs() < rounding, "{row}");
        assert!(table.contains(&plan.reason), "{table}");
        assert!(table.contains(&plan.promise.to_string()), "{table}");
    }
}

#[test]
fn the_best_plan_is_the_one_that_dedup_carries_out() {
    // The best one for a small window without slack is told from the others by its exact window.
    let flags = ["--last", "2", "--slack", "0", "--error", "1e-6"];
    let best = json(&flags).swap_remove(0);
    let dedup = |extra: &[&str]| {
        lately(&[&["dedup"], &flags[..], extra].concat(), b"a\nb\nc\na\nc\nb\n").success()
    };
    assert_eq!(dedup(&[]), b"a\nb\nc\na\nb\n");
    assert_eq!(dedup(&[]), dedup(&["--structure", best["structure"].as_str().unwrap()]));
}

#[test]
fn goals_out_of_reach_are_refused_with_a_reason() {
    for (flags, reason) in [
        (&["--last", "100", "--memory", "8B"][..], "nothing reaches this goal: allow "),
        (&["--last", "100", "--slack", "10s"], "--slack: number of items is 10s"),
        (&["--within", "10m", "--slack", "10"], "--slack: span of time is 10"),
        (&["--ever", "--slack", "10"], "cannot be used with"),
        (&["--slack", "10"], "--slack needs --last or --within"),
        (&["--last", "0"], "number of items is 0"),
        (&["--last", "1e17"], "from 1 to 2^48"),
        (&["--error", "2"], "error rate is 2"),
        (&["--memory", "much"], "memory is much"),
        (&["--within", "10"], "span of time is 10"),
        (&["--last", "10", "--ever"], "cannot be used with"),
        (&["--last", "10", "--within", "1h"], "cannot be used with"),
        (&["--last", "10", "--error", "1%", "--memory", "1M"], "cannot be used with"),
    ] {
        let complaint = lately(&[&["plan"], flags].concat(), b"").failure();
        assert!(complaint.contains(reason), "{flags:?}: {complaint}");
    }
}

/// Either something in the catalog remembers everything, or the complaint says what to do.
#[test]
fn without_a_window_everything_is_remembered() {
    let unstated = lately(&["plan"], b"");
    let goal = Goal::new(Window::Ever, ErrorRate::DEFAULT);
    if goal.plans().is_ok() {
        assert!(text(unstated.success()).starts_with("To remember everything"));
    } else {
        assert!(unstated.failure().contains("try --last N"));
    }
}

/// The JSON reader may err in the last digit.
#[track_caller]
fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - expected).abs() <= expected * 1e-12, "{found} is not {expected}");
}

fn json(flags: &[&str]) -> Vec<Value> {
    let printed = lately(&[&["plan", "--json"], flags].concat(), b"").success();
    serde_json::from_slice(&printed).expect("an array")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
