//! What people try first, because other commands have taught them.

use std::process::Command;

use crate::command::{Folder, lately, run};

#[test]
fn without_a_command_it_is_dedup() {
    let folder = Folder::new("habits-dedup");
    let file = folder.file("lines", "a\nb\na\n");
    assert_eq!(lately(&[&file], b"").text(), "a\nb\n");
    assert_eq!(lately(&[], b"a\nb\na\n").text(), "a\nb\n");
    assert_eq!(lately(&["-"], b"a\nb\na\n").text(), "a\nb\n");
    assert_eq!(lately(&["--last", "1", &file], b"").text(), "a\nb\na\n");
    assert_eq!(lately(&["-D", &file], b"").text(), "a\n");
    // What is neither a file nor an option is a command that does not exist.
    let complaint = lately(&["cuont", &file], b"").failure();
    assert!(complaint.contains("'count'"), "{complaint}");
    // A file that has the name of a command is named otherwise.
    let named = folder.file("plan", "a\na\n");
    assert_eq!(lately(&[&named], b"").text(), "a\n");
    assert!(lately(&["--version"], b"").text().starts_with("lately "));
    for settings in [&["LATELY_LAST", "1"][..], &["LATELY_DUPLICATES", "0"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lately"));
        command.env(settings[0], settings[1]);
        let expected = if settings[0] == "LATELY_LAST" { "a\nb\na\n" } else { "a\nb\n" };
        assert_eq!(run(&mut command, b"a\nb\na\n").text(), expected);
    }
}

/// `uniq -c FILE` counts lines; here it would wait for rows with a column of that name.
#[test]
fn a_file_is_no_column() {
    let folder = Folder::new("habits-column");
    let file = folder.file("lines", "a\nb\na\n");
    for command in ["dedup", "count"] {
        let complaint = lately(&[command, "-c", &file], b"").failure();
        assert!(complaint.contains(&format!("`lately count {file}`")), "{complaint}");
    }
    let complaint = lately(&["-c", &file], b"").failure();
    assert!(complaint.contains(&format!("`lately dedup {file}`")), "{complaint}");
    // Whoever means a column says what to read.
    let rows = format!("{file},x\n1,2\n1,3\n");
    let printed = lately(&["dedup", "-c", &file, "-"], rows.as_bytes()).text();
    assert_eq!(printed, format!("{file},x\n1,2\n"));
}

/// The short help fits on a screen; the long one has everything.
#[test]
fn short_help_is_short() {
    let lines = |arguments: &[&str]| lately(arguments, b"").text().lines().count();
    assert!(lines(&["-h"]) < 30);
    for command in ["dedup", "count"] {
        let (short, long) = (lines(&[command, "-h"]), lines(&[command, "--help"]));
        assert!(short <= 60 && 2 * short < long, "{command}: {short} {long}");
        assert!(!lately(&[command, "-h"], b"").text().contains("queued-"));
    }
}

/// A memory in which most new lines would be lost is refused, with one that would do.
#[test]
fn too_little_memory_is_refused() {
    let input: String = (0..50_000).map(|line| format!("{line}\n")).collect();
    for window in ["40k", "1M"] {
        let flags = ["dedup", "--last", window, "--memory"];
        let complaint = lately(&[&flags[..], &["1kB"]].concat(), input.as_bytes()).failure();
        assert!(complaint.contains("of what is new would be taken for repeats"), "{complaint}");
        let (_, advice) = complaint.split_once("--memory ").expect("a memory that would do");
        let enough = advice.split_whitespace().next().unwrap();
        let printed = lately(&[&flags[..], &[enough]].concat(), input.as_bytes()).text();
        assert!(printed.lines().count() > 45_000, "{enough}");
        let insisting = [&flags[..], &["1kB", "--allow-error"]].concat();
        assert!(lately(&insisting, input.as_bytes()).text().lines().count() < 45_000, "{window}");
    }
    let count = ["count", "--expected", "40k", "--memory"];
    let complaint = lately(&[&count[..], &["1kB"]].concat(), b"").failure();
    assert!(complaint.contains("of the counts would be too high"), "{complaint}");
    let sketch = ["sketch", "build", "--expected", "40k", "-o", "-", "--memory"];
    let complaint = lately(&[&sketch[..], &["1kB"]].concat(), b"").failure();
    assert!(complaint.contains("--allow-error"), "{complaint}");
    // An error that was asked for is no surprise.
    lately(&["dedup", "--last", "1000", "--error", "30%"], b"a\n").success();
}

/// Two million different lines, and not one of them is lost unless that is asked for.
#[test]
fn nothing_is_lost_by_default() {
    let input: String = (0..2_000_000).map(|line| format!("{line}\n")).collect();
    for window in [&["--last", "2M"][..], &["--within", "1h"], &["--ever"]] {
        let count = |extra: &[&str]| {
            let flags = [&["dedup", "--count"], window, extra].concat();
            lately(&flags, input.as_bytes()).text().trim().parse::<u64>().unwrap()
        };
        // By luck one is lost in 500 runs; the seed is fixed.
        assert_eq!(count(&[]), 2_000_000, "{window:?}");
        assert!(count(&["--error", "1%"]) < 2_000_000, "{window:?}");
    }
    // What cannot err so rarely errs as rarely as it can.
    for row in lately_papers::CATALOG.iter() {
        let run = ["--last", "1k", "--structure", row.name];
        let stated = lately(&[&["dedup"], &run[..], &["--error", "0.1%"]].concat(), b"a\na\n");
        if stated.succeeded() {
            assert_eq!(lately(&[&["dedup"], &run[..]].concat(), b"a\na\n").text(), "a\n");
        }
    }
}

#[test]
fn plans_say_what_they_mean() {
    let plan = lately(&["plan", "--ever", "--expected", "1M"], b"").text();
    assert!(plan.contains("forgets nothing; "), "{plan}");
    assert!(!plan.contains("forgets everything"), "{plan}");
    assert!(plan.contains("with an error of at most 0.0000001%"), "{plan}");
}
