//! Whatever the world does, `lately` ends with exit code 0, or with 2 and one line that helps.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::lately;

#[test]
fn a_line_of_a_hundred_megabytes() {
    const LENGTH: usize = 100_000_000;
    let mut line = vec![b'x'; LENGTH];
    line.push(b'\n');
    let input = [&b"before\n"[..], &line, b"between\n", &line, b"before\nafter\n"].concat();
    let printed = lately(&["dedup", "--last", "100"], &input).success();
    assert!(printed == [&b"before\n"[..], &line, b"between\nafter\n"].concat());

    line.pop();
    assert!(lately(&["dedup", "--last", "100"], &line).success() == line, "without a newline");
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--last", "100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let written = (0..u64::MAX).try_for_each(|line| writeln!(stdin, "{line}"));
        written.expect_err("lately stops reading when nobody reads it")
    });
    let mut start = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"0\n1\n");
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

#[test]
fn bad_flags_are_told_in_one_line() {
    for (arguments, reason) in [
        (&["dedupe"][..], "'dedup'"),
        (&["dedup", "--lst", "5"], "'--last'"),
        (&["dedup", "--last"], "a value is required"),
        (&["dedup", "--last", "five"], "number of items is five"),
        (&["dedup", "--last", "-5"], "number of items is -5"),
        (&["dedup", "--last", "5", "--structure", "sieve"], "possible values: sliding"),
        (&["dedup", "--last", "5", "--seed", "x"], "--seed"),
        (&["dedup", "--last", "5\n6"], "number of items is 5 6"),
        (&["dedup", "--last", "200T"], "number of items is 200T"),
        (&["plan", "--last", "5", "file"], "unexpected argument 'file'"),
    ] {
        let complaint = lately(arguments, b"a\n").failure();
        assert!(complaint.contains(reason), "{arguments:?}: {complaint}");
        assert!(complaint.ends_with("; see --help\n"), "{arguments:?}: {complaint}");
    }
}

#[test]
fn more_memory_than_there_is() {
    // What is as large as its window from the first line on.
    let fixed = ["dedup", "--last", "200000G", "--structure", "double-buffer"];
    let complaint = lately(&fixed, b"a\n").failure();
    assert!(complaint.contains("choose a shorter window or a larger error"), "{complaint}");
    // What starts small is not refused for what it may become.
    assert_eq!(lately(&["dedup", "--last", "200000G"], b"a\na\n").success(), b"a\n");
}

#[test]
fn files_that_cannot_be_read() {
    let missing = scratch("missing");
    let complaint = dedup(&missing).failure();
    assert!(complaint.contains(&format!("cannot open {}", missing.display())), "{complaint}");

    let complaint = dedup(Path::new(env!("CARGO_TARGET_TMPDIR"))).failure();
    assert!(complaint.contains("is a directory; name the files in it"), "{complaint}");

    let complaint = dedup(&scratch("two\nlines")).failure();
    assert!(complaint.contains("two lines"), "{complaint}");
}

/// What was read before a file that fails has been judged and is printed.
#[test]
fn a_file_that_fails_does_not_undo_those_before() {
    let good = scratch("good");
    fs::write(&good, "a\na\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--last", "100"])
        .args([&good, &scratch("missing")])
        .output()
        .unwrap();
    fs::remove_file(good).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"a\n");
}

/// The examples in the help run as they stand.
#[cfg(unix)]
#[test]
fn examples_in_the_help_work() {
    let directory = scratch("examples");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("events.log"), "a\nb\na\n").unwrap();
    fs::write(directory.join("more.log"), "b\nc\n").unwrap();
    fs::write(directory.join("people.csv"), "email\na@b.c\n").unwrap();
    let event = r#"{"user":{"id":1,"email":"a@b.c"},"at":"2026-01-02T03:04:05Z"}"#;
    fs::write(directory.join("events.ndjson"), format!("{event}\n")).unwrap();
    let binaries = Path::new(env!("CARGO_BIN_EXE_lately")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    fs::write(directory.join("more.ndjson"), "{\"user\":{\"id\":1}}\n").unwrap();
    let commands = ["dedup", "count", "sketch", "join", "plan", "inspect", "completions", "man"];
    let sketches = ["build", "merge", "multiply", "query", "info"];
    let helps = std::iter::once(vec!["--help"])
        .chain(commands.map(|name| vec![name, "--help"]))
        .chain(commands.map(|name| vec![name, "-h"]))
        .chain(sketches.map(|name| vec!["sketch", name, "--help"]));
    for help in helps {
        let help = String::from_utf8(lately(&help, b"").success()).unwrap();
        let (_, examples) = help.split_once("Examples:").expect("help has examples");
        let examples = examples.split_once("More options").map_or(examples, |(before, _)| before);
        let commands = examples.lines().filter(|line| line.contains("lately "));
        assert!(commands.clone().count() >= 2, "{help}");
        // What needs a server is tested beside it.
        for command in commands.filter(|command| !command.contains("--redis")) {
            let output = Command::new("sh")
                .args(["-c", command])
                .current_dir(&directory)
                .env("PATH", &path)
                .output()
                .unwrap();
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && complaint.is_empty(), "{command}: {complaint}");
        }
    }
    assert_eq!(fs::read(directory.join("new.log")).unwrap(), b"a\nb\n");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn version_is_told() {
    let version = lately(&["--version"], b"").success();
    assert_eq!(version, format!("lately {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error() {
        for arguments in [
            &["dedup", "--last", "9", "/proc/self/cmdline"][..],
            &["count", "/proc/self/cmdline"],
            &["sketch", "build", "--expected", "9", "-o", "-", "/proc/self/cmdline"],
            &["join", "/etc/passwd", "/etc/passwd"],
            &["plan", "--last", "9"],
            &["-h"],
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_lately"))
                .args(arguments)
                .stdout(full())
                .stderr(Stdio::piped())
                .output()
                .unwrap();
            let complaint = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
            assert!(
                complaint.starts_with("lately: cannot write to standard output: No space left"),
                "{complaint}"
            );
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
    }

    #[test]
    fn complaints_that_nobody_can_read_do_not_panic() {
        let status = Command::new(env!("CARGO_BIN_EXE_lately"))
            .args(["dedup", "--last", "none"])
            .stderr(full())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(2));
    }

    #[test]
    fn a_file_that_fails_while_it_is_read() {
        // Opening the memory of a process succeeds; reading its first page does not.
        let complaint = dedup(Path::new("/proc/self/mem")).failure();
        assert!(complaint.contains("cannot read /proc/self/mem: "), "{complaint}");
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let command = "ulimit -v 300000; exec \"$0\" dedup --last 100 /dev/zero";
        let output = Command::new("sh")
            .args(["-c", command, env!("CARGO_BIN_EXE_lately")])
            .output()
            .unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains("bytes does not fit into memory"), "{complaint}");
    }

    fn full() -> File {
        OpenOptions::new().write(true).open("/dev/full").unwrap()
    }
}

fn dedup(file: &Path) -> crate::command::Run {
    lately(&["dedup", "--last", "100", file.to_str().unwrap()], b"")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
