//! What is printed besides records: marks, counts, figures, progress, exit codes; and settings from
//! the environment.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Command;

use crate::command::{Folder, lately, run, start, windows};
use serde_json::Value;

#[test]
fn duplicates_are_what_unique_records_leave() {
    for window in windows() {
        let flags = [&["dedup", "--duplicates"], &window[..]].concat();
        assert_eq!(lately(&flags, b"a\nb\na\nc\na\nb").text(), "a\na\nb");
    }
}

#[test]
fn marks() {
    let input = "{\"id\":1}\n{\"id\":1,\"x\":{}}\nno\n{}\n{ \"id\" : 2 }\r\n{\"id\":1}";
    let marked = "{\"id\":1,\"seen\":\"new\"}\n{\"id\":1,\"x\":{},\"seen\":\"duplicate\"}\nno\n\
                  {\"seen\":\"missing\"}\n{ \"id\" : 2,\"seen\":\"new\"}\r\n\
                  {\"id\":1,\"seen\":\"duplicate\"}";
    for window in windows() {
        let flags = [&["dedup", "-k", "id", "--mark", "seen"], &window[..]].concat();
        assert_eq!(lately(&flags, input.as_bytes()).text(), marked);
    }
}

#[test]
fn counts() {
    for window in windows() {
        let count = |flags: &[&str]| {
            let flags = [&["dedup", "--count"], &window[..], flags].concat();
            lately(&flags, b"a\nb\na\n\na\n").text()
        };
        assert_eq!(count(&[]), "3\n");
        assert_eq!(count(&["--duplicates"]), "2\n");
    }
}

#[test]
fn figures_for_people_and_programs() {
    let folder = Folder::new("figures");
    let json = folder.path("stats.json");
    let input = "{\"id\":1}\n{\"id\":1}\n{}\nx\n{\"id\":2}\n";
    for window in windows() {
        let flags = ["dedup", "-k", "id", "--stats", "--stats-json", &json];
        let run = lately(&[&flags[..], &window[..]].concat(), input.as_bytes());
        let (_, text) = run.ended(0);
        for line in ["records     5", "unique      2 (66.67%)", "duplicates  1 (33.33%)"] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.contains("missing     2 (no key: 1, not JSON: 1)"), "{text}");
        assert!(text.contains("filter      "), "{text}");
        assert!(text.contains("error       ") && text.contains(" at most, "), "{text}");

        let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        for (name, figure) in [
            ("records", 5),
            ("unique", 2),
            ("duplicates", 1),
            ("missing", 2),
            ("no_key", 1),
            ("malformed", 1),
            ("late", 0),
            ("bytes", input.len() as u64),
        ] {
            assert_eq!(figures[name], figure, "{name}: {figures}");
        }
        for name in ["seconds", "records_per_second", "bytes_per_second", "filter_bytes"] {
            assert!(figures[name].as_f64().unwrap() > 0.0, "{name}: {figures}");
        }
        let predicted = figures["predicted_false_positive_rate"].as_f64().unwrap();
        let estimated = figures["estimated_false_positive_rate"].as_f64().unwrap();
        assert!(estimated <= predicted && predicted <= 0.001, "{figures}");
        assert!(text.contains(figures["structure"].as_str().unwrap()));
    }
    let printed = lately(&["dedup", "--last", "9", "--stats-json", "-"], b"a\n").text();
    assert!(printed.starts_with("a\n{\n"), "{printed}");
    let nowhere = folder.path("missing/stats.json");
    let complaint = lately(&["dedup", "--last", "9", "--stats-json", &nowhere], b"").failure();
    assert!(complaint.contains(&format!("cannot write {nowhere}")), "{complaint}");
}

#[test]
fn exit_codes() {
    let folder = Folder::new("exit-codes");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "9", "--state", &state, "--exit-status"];
    assert_eq!(lately(&flags, b"a\n").ended(0).0, b"a\n");
    assert_eq!(lately(&flags, b"a\na\n").ended(1).0, b"");
    assert_eq!(lately(&flags, b"").ended(1).0, b"");
    assert_eq!(lately(&flags[..5], b"a\n").ended(0).0, b"");
}

#[test]
fn line_buffered_output_comes_at_once() {
    let flags = ["dedup", "--last", "9", "--line-buffered"];
    let mut child = start(Command::new(env!("CARGO_BIN_EXE_lately")).args(flags));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in ["a\n", "b\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        let mut printed = String::new();
        stdout.read_line(&mut printed).unwrap();
        assert_eq!(printed, line);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(lately(&flags, b"a\nb\na\nc").text(), "a\nb\nc");
}

#[test]
fn settings_from_the_environment() {
    let with = |variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lately"));
        let command = command.arg("dedup").args(flags).envs(variables.iter().copied());
        run(command, b"a\nb\na\n")
    };
    let last = ("LATELY_LAST", "100");
    assert_eq!(with(&[last], &[]).text(), "a\nb\n");
    assert_eq!(with(&[last, ("LATELY_DUPLICATES", "1")], &[]).text(), "a\n");
    assert_eq!(with(&[last, ("LATELY_DUPLICATES", "false")], &[]).text(), "a\nb\n");
    assert_eq!(with(&[last, ("LATELY_DUPLICATES", "")], &[]).text(), "a\nb\n");
    assert_eq!(
        with(&[last, ("LATELY_STATS_JSON", "-")], &["--count"]).text().lines().next(),
        Some("2")
    );

    // The command line wins, also over what it excludes.
    assert_eq!(with(&[("LATELY_LAST", "0")], &["--last", "100"]).text(), "a\nb\n");
    assert_eq!(with(&[("LATELY_WITHIN", "nonsense")], &["--last", "100"]).text(), "a\nb\n");
    assert_eq!(with(&[last, ("LATELY_MEMORY", "1")], &["--error", "1%"]).text(), "a\nb\n");
    let opposite = with(&[last, ("LATELY_NO_REFRESH", "1")], &["--refresh"]);
    assert_eq!(opposite.text(), "a\nb\n");

    let complaint = with(&[("LATELY_LAST", "none")], &[]).failure();
    assert!(complaint.contains("number of items is none"), "{complaint}");
    let complaint = with(&[last, ("LATELY_WITHIN", "1h")], &[]).failure();
    assert!(complaint.contains("cannot be used with"), "{complaint}");
}

#[cfg(target_os = "linux")]
mod terminal {
    use std::fs::{File, OpenOptions};
    use std::io::Read;
    use std::process::Stdio;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// Runs with a terminal as standard error, and says what was drawn on it. `stdout` too if
    /// `both`.
    fn drawn(flags: &[&str], both: bool) -> String {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let side = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        let size = rustix::termios::Winsize { ws_row: 25, ws_col: 90, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
            .args(flags)
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stderr(side())
            .stdout(if both { side() } else { Stdio::null() })
            .spawn()
            .unwrap();
        assert!(child.wait().unwrap().success());
        let mut text = Vec::new();
        let mut terminal = File::from(terminal);
        let mut bytes = [0; 4096];
        // Reading fails when everything was read and the other side is closed.
        while let Ok(read @ 1..) = terminal.read(&mut bytes) {
            text.extend_from_slice(&bytes[..read]);
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn progress_is_for_people_who_wait() {
        let folder = Folder::new("progress");
        let text: String = (0..400_000).map(|line| format!("{line}\n")).collect();
        let file = folder.file("lines", text);
        let dedup = ["dedup", "--last", "1M", "--error", "1e-9", &file];
        let bar = drawn(&dedup, false);
        for part in ["MiB", "/s", "left"] {
            assert!(bar.contains(part), "{part}: {bar:?}");
        }
        assert!(bar.trim_end().ends_with("\u{1b}[2K"), "it is cleared at the end: {bar:?}");
        assert_eq!(drawn(&[&dedup[..], &["--no-progress"]].concat(), false), "");
        let counted = drawn(&[&dedup[..], &["--count"]].concat(), true);
        assert!(counted.contains("left") && counted.ends_with("400000\r\n"), "{counted:?}");
        let small = folder.file("small", "a\n");
        assert_eq!(drawn(&["dedup", "--last", "9", &small], true), "a\r\n", "nothing in between");
    }
}
