//! The command from outside: what it prints, what it keeps, how it ends.

use std::process::{Command, Output, Stdio};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lately-lab")).args(arguments).output().expect("the lab starts")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn list_names_every_experiment_once() {
    let output = lab(&["list"]);
    assert!(output.status.success());
    for name in ["window-speed", "window-memory", "window-accuracy", "set-accuracy"] {
        let lines = text(&output).lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(lines, 1, "{name}");
    }
}

#[test]
fn an_unknown_experiment_is_refused_with_those_there_are() {
    let output = lab(&["run", "nonsense"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("nonsense") && message.contains("window-speed"), "{message}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lately-lab"))
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the lab starts");
    drop(lab.stdout.take());
    let output = lab.wait_with_output().expect("the lab ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Two figures that take no time, measured again, are those that are kept.
#[test]
fn kept_pictures_regenerate_within_their_spread() {
    let output =
        lab(&["report", "--quick", "--again", "--only", "slices-1", "--only", "window-slack"]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    assert_eq!(printed.matches("as it is kept, within its spread").count(), 2, "{printed}");
}

/// The heap is judged here too: in a process of its own nobody else allocates.
#[test]
fn accuracy_is_measured_judged_and_recorded() {
    let output = lab(&[
        "run",
        "window-accuracy",
        "--quick",
        "--size",
        "1000",
        "--error",
        "1%",
        "--only",
        "double",
    ]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    let record = record(&printed);
    let row = last_row(&record);
    assert_eq!(record["seed"], 3);
    assert_eq!((&row["contender"], &row["size"]), (&"double-buffer".into(), &1000.into()));
    assert_eq!(row["errors"]["inside"]["hits"], 0);
    assert!(row["heap_bytes"].as_u64() > row["reported_bytes"].as_u64());
}

#[test]
fn a_race_keeps_every_sample() {
    let output = lab(&[
        "run",
        "window-speed",
        "--quick",
        "--size",
        "1000",
        "--error",
        "0.1%",
        "--only",
        "double",
    ]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("worst insert"), "{printed}");
    let record = record(&printed);
    let operations = last_row(&record)["timing"]["operations"].as_array().expect("operations");
    assert_eq!(operations.len(), 5);
    for operation in operations {
        let samples = operation["nanos_per_key"].as_array().expect("samples");
        assert_eq!(samples.len(), 9);
        assert!(samples.iter().all(|sample| sample.as_f64() > Some(0.0)));
    }
}

/// The record that the last line names.
fn record(printed: &str) -> serde_json::Value {
    let path = printed.trim().rsplit_once("record: ").expect("a record is named").1;
    let text = std::fs::read_to_string(path).expect("the record is there");
    serde_json::from_str(&text).expect("the record is JSON")
}

/// The row measured last.
fn last_row(record: &serde_json::Value) -> &serde_json::Value {
    record["rows"].as_array().and_then(|rows| rows.last()).expect("a row")
}
