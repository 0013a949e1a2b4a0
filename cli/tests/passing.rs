//! `lately dedup --pass N --summary`: a few of each pass per window, and how often the others came is told.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::command::{Folder, lately};

fn dedup(flags: &[&str], input: &str) -> String {
    lately(&[&["dedup"], flags].concat(), input.as_bytes()).text()
}

#[test]
fn the_first_few_pass_and_the_rest_is_told_at_the_end() {
    let input = "a\n".repeat(5) + "b\n" + &"c\n".repeat(3);
    assert_eq!(dedup(&["--pass", "2"], &input), "a\na\nb\nc\nc\n");
    let told = "a\na\nb\nc\nc\nrepeated 3 times: a\nrepeated 1 times: c\n";
    for window in [&["--ever"][..], &["--last", "1000"], &["--within", "1h"]] {
        let flags = [&["--pass", "2", "--summary"], window].concat();
        assert_eq!(dedup(&flags, &input), told, "{window:?}");
    }
    assert_eq!(dedup(&["--summary"], "a\na\na\nb\n"), "a\nb\nrepeated 2 times: a\n");
}

/// In the last three: what was held back is told when its line passes again.
#[test]
fn windows_by_count_slide() {
    let flags = ["--last", "3", "--pass", "1", "--summary"];
    assert_eq!(
        dedup(&flags, "a\na\na\nb\nc\nd\na\nb\n"),
        "a\nb\nc\nd\nrepeated 2 times: a\na\nb\n"
    );
}

/// By the clock of the events, a window that is over is told before anything that happens later.
#[test]
fn a_window_that_is_over_is_told_in_its_place() {
    let event = |(key, second): &(&str, u64)| {
        format!("{{\"k\":\"{key}\",\"t\":{}}}\n", 1_700_000_000 + second)
    };
    let events =
        [("x", 0), ("x", 1), ("x", 2), ("y", 30), ("y", 31), ("z", 70), ("x", 71), ("z", 200)];
    let input: String = events.iter().map(event).collect();
    let flags = ["--within", "60s", "--summary", "-k", "k", "--time-key", "t"];
    let printed = dedup(&flags, &input);
    let shown: Vec<&str> = printed
        .lines()
        .map(|line| if line.contains("repeated") { line } else { &line[6..7] })
        .collect();
    let (x, y) = (r#"{"key":"x","repeated":2}"#, r#"{"key":"y","repeated":1}"#);
    assert_eq!(shown, ["x", "y", x, "z", "x", y, "z"]);
}

/// A follower prints the summary when the window is over, though nothing else comes.
#[cfg(target_os = "linux")]
#[test]
fn a_window_is_over_while_nothing_comes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--within", "500ms", "--summary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\na\na\n").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "a");
    // It would wait for ever if only input woke it.
    assert_eq!(lines.next().unwrap().unwrap(), "repeated 2 times: a");
    drop(input);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn counts_are_remembered_across_runs() {
    let folder = Folder::new("passing-state");
    let state = folder.path("state");
    let flags = ["--last", "1000", "--pass", "3", "--summary", "--state", &state];
    assert_eq!(dedup(&flags, "a\na\n"), "a\na\n");
    assert_eq!(dedup(&flags, "a\na\na\n"), "a\nrepeated 2 times: a\n");
    let other = folder.path("other");
    dedup(&["--last", "1000", "--no-refresh", "--state", &other], "a\n");
    let refused = lately(&["dedup", "--last", "1000", "--pass", "3", "--state", &other], b"a\n");
    assert!(refused.failure().contains("does not count"));
}

#[test]
fn flags_that_contradict_are_refused() {
    for flags in [&["--pass", "0"][..], &["--summary", "--column", "1"], &["--summary", "-D"]] {
        lately(&[&["dedup"], flags].concat(), b"").failure();
    }
}
