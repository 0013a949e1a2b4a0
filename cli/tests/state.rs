//! `--state`: what is remembered across runs, crashes, full disks and signals.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::command::{Folder, lately, run, start, windows};
use serde_json::Value;

#[test]
fn a_later_run_remembers() {
    for window in windows() {
        let folder = Folder::new(&format!("state-remembers{}", window[0]));
        let state = folder.path("state");
        let flags = [&["dedup", "--state", &state], &window[..]].concat();
        assert_eq!(lately(&flags, b"a\nb\na\n").text(), "a\nb\n");
        assert_eq!(lately(&flags, b"b\nc\n").text(), "c\n");
        assert_eq!(lately(&flags, b"").text(), "");
        assert_eq!(lately(&flags, b"a\nb\nc\nd\n").text(), "d\n");
        let left: Vec<_> = fs::read_dir(Path::new(&state).parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 2, "the state and its lock: {left:?}");
    }
}

/// States are older than the default: who states no error goes on with the one of the state.
#[test]
fn an_error_that_nobody_states_is_that_of_the_state() {
    let folder = Folder::new("state-error");
    for error in ["0.1%", "1%", "1e-9"] {
        let state = folder.path(error);
        let dedup = |more: &[&str], input: &[u8]| {
            lately(&[&["dedup", "--last", "1000", "--state", &state], more].concat(), input).text()
        };
        assert_eq!(dedup(&["--error", error], b"a\nb\n"), "a\nb\n");
        let before = fs::metadata(&state).unwrap().len();
        assert_eq!(dedup(&[], b"b\nc\n"), "c\n");
        assert_eq!(dedup(&["--error", error], b"c\nd\n"), "d\n");
        assert_eq!(fs::metadata(&state).unwrap().len(), before, "the same filter");
    }
}

#[test]
fn states_of_other_options_are_refused_with_the_difference() {
    let folder = Folder::new("state-differs");
    let state = folder.path("state");
    let made = ["--last", "1000", "--error", "1%", "--structure", "double-buffer"];
    let dedup = |flags: &[&str]| lately(&[&["dedup", "--state", &state], flags].concat(), b"a\n");
    assert_eq!(dedup(&made).text(), "a\n");
    let before = fs::read(&state).unwrap();
    for (flags, difference) in [
        (
            &["--last", "2000", "--error", "1%"][..],
            "window is the last 1000 items there and the last 2000 items here",
        ),
        (
            &["--last", "1000", "--error", "2%"],
            "limit is an error of 1% there and an error of 2% here",
        ),
        (&["--last", "1000", "--memory", "1M"], "and a memory of 1.0MiB here"),
        (&["--last", "1000", "--error", "1%", "--seed", "7"], "seed is 0 there and 7 here"),
        (
            &["--last", "1000", "--error", "1%", "--key", "/id"],
            "key is whole records there and /id here",
        ),
        (&["--last", "1000", "--error", "1%", "-c", "1", "-i"], "and column 1, in any case here"),
        (
            &["--last", "1000", "--error", "1%", "--no-refresh"],
            "--refresh is on there and off here",
        ),
        (
            &["--last", "1000", "--error", "1%", "--structure", "compact-short-hash"],
            "structure is double-buffer there and compact-short-hash here",
        ),
        (&["--last", "1000", "--slack", "0"], "slack is unlimited there and 0 items here"),
    ] {
        let complaint = dedup(flags).failure();
        assert!(complaint.contains("was made with other options: "), "{complaint}");
        assert!(complaint.contains(difference), "{flags:?}: {complaint}");
    }
    assert_eq!(fs::read(&state).unwrap(), before, "a refused state stays as it is");
    // It need not be named again, and would be accepted even if another were chosen today.
    assert_eq!(dedup(&made[..4]).text(), "");
}

#[test]
fn files_that_are_no_states_are_refused() {
    let folder = Folder::new("state-foreign");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "1000", "--state", &state];
    assert_eq!(lately(&flags, b"a\n").text(), "a\n");
    let whole = fs::read(&state).unwrap();
    let mut flipped = whole.clone();
    flipped[60] ^= 1;
    for (content, reason) in [
        (&b"my thesis"[..], "not a lately snapshot"),
        (b"", "cut short"),
        (&whole[..whole.len() / 2], "cut short"),
        (&flipped, "checksum"),
        (&whole[40..], "not a lately snapshot"),
    ] {
        folder.file("state", content);
        let complaint = lately(&flags, b"a\n").failure();
        assert!(complaint.contains(&format!("cannot use {state}: ")), "{complaint}");
        assert!(complaint.contains(reason), "{complaint}");
        assert_eq!(fs::read(&state).unwrap(), content, "what is refused stays as it is");
    }
    let thesis = folder.file("thesis", "my thesis");
    lately(&["dedup", "--state", &thesis], b"a\n").failure();
    assert!(!Path::new(&folder.path("thesis.lock")).exists(), "nothing is left beside it");
    let complaint = lately(&["dedup", "--state", &folder.path("no/such")], b"").failure();
    assert!(complaint.contains("cannot open"), "{complaint}");
}

#[cfg(unix)]
#[test]
fn only_files_hold_states() {
    let folder = Folder::new("state-no-file");
    let link = folder.path("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let place = Path::new(&link).parent().unwrap().to_str().unwrap();
    for path in ["/dev/null", &link, place] {
        let complaint = lately(&["dedup", "--state", path], b"a\n").failure();
        assert!(complaint.contains("is no regular file"), "{complaint}");
    }
    assert!(!Path::new("/dev/null.lock").exists());
    assert_eq!(fs::read_dir(place).unwrap().count(), 1, "nothing is left");
}

/// Snapshots made by something else do not tell what their keys were, and will do.
#[test]
fn bare_snapshots_are_states() {
    let folder = Folder::new("state-bare");
    let mut seen = lately::Lately::last(1000).build().unwrap();
    seen.insert("a");
    let state = folder.file("state", seen.save());
    let flags = ["dedup", "--last", "1000", "--state", &state];
    assert_eq!(lately(&flags, b"a\nb\n").text(), "b\n");
    assert_eq!(lately(&flags, b"a\nb\nc\n").text(), "c\n");

    let other = folder.file("other", seen.save());
    let complaint = lately(&["dedup", "--last", "2000", "--state", &other], b"").failure();
    assert!(complaint.contains("window is 1000 there and 2000 here"), "{complaint}");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("state-link");
    let (state, link) = (folder.path("state"), folder.path("link"));
    let flags = ["dedup", "--last", "1000", "--state"];
    lately(&[&flags[..], &[&state]].concat(), b"a\n").success();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&state, &link).unwrap();
    assert_eq!(lately(&[&flags[..], &[&link]].concat(), b"a\nb\n").text(), "b\n");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(lately(&[&flags[..], &[&state]].concat(), b"b\n").text(), "");
}

#[test]
fn a_second_process_is_refused() {
    let folder = Folder::new("state-locked");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "1000", "--state", &state];
    let mut first = Process::start(&flags);
    first.pass("a\n");
    let complaint = lately(&flags, b"a\n").failure();
    assert!(complaint.contains(&format!("{state} is in use by another process")), "{complaint}");
    first.end();
    assert_eq!(lately(&flags, b"a\nb\n").text(), "b\n");
}

#[test]
fn checkpoints_come_while_the_input_waits() {
    let folder = Folder::new("state-checkpoints");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "1000", "--checkpoint", "5ms", "--state", &state];
    let mut process = Process::start(&flags);
    process.pass("a\n");
    wait_until(|| records(&state) == Some(1));
    process.pass("b\n");
    wait_until(|| records(&state) == Some(2));
    process.kill();
    assert_eq!(lately(&flags, b"a\nb\nc\n").text(), "c\n");
    assert_eq!(records(&state), Some(5), "of all runs");
}

#[cfg(unix)]
#[test]
fn signals_end_the_stream_in_order_and_then_the_process() {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Pid, Signal, kill_process};
    for window in windows() {
        for (signal, name) in [(Signal::INT, "int"), (Signal::TERM, "term")] {
            let folder = Folder::new(&format!("state-signals-{name}{}", window[0]));
            let state = folder.path("state");
            let json = folder.path("stats.json");
            let flags = ["dedup", "--state", &state, "--stats-json", &json];
            let flags = [&flags[..], &window[..]].concat();
            let mut process = Process::start(&flags);
            process.pass("a\n");
            // Waiting would close it, and that would be an end of the input.
            let _open = process.child.stdin.take();
            kill_process(Pid::from_child(&process.child), signal).unwrap();
            let status = process.child.wait().unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
            assert_eq!(records(&state), Some(1));
            let stats: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
            assert_eq!(stats["unique"], 1);
        }
    }
}

/// A disk that is full, played by a limit on the size of files.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_state() {
    let folder = Folder::new("state-full-disk");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "100k", "--state", &state];
    lately(&flags, b"a\n").success();
    let before = fs::read(&state).unwrap();
    let limited = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_lately")]).args(flags);
    let (printed, complaint) = run(&mut command, b"a\nb\n").ended(2);
    assert_eq!(printed, b"b\n");
    assert!(
        complaint.contains(&format!("cannot save {state}; what it held is kept: ")),
        "{complaint}"
    );
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert_eq!(fs::read(&state).unwrap(), before);
    assert!(!Path::new(&folder.path("state.tmp")).exists());
}

/// A reader that goes away has not seen everything: what it may have missed is not remembered, and
/// whoever waits knows that not all was done.
#[cfg(unix)]
#[test]
fn records_that_nobody_took_are_not_remembered() {
    let folder = Folder::new("state-broken-pipe");
    let state = folder.path("state");
    let flags = ["dedup", "--last", "1M", "--error", "1e-9", "--state", &state];
    let input: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    let mut child = start(Command::new(env!("CARGO_BIN_EXE_lately")).args(flags));
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let status = child.wait().unwrap();
    let died_of = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(died_of, Some(rustix::process::Signal::PIPE.as_raw()), "{status}");
    assert!(lately(&flags, input.as_bytes()).text() == input);
}

/// Neither are those that found no room.
#[cfg(target_os = "linux")]
#[test]
fn records_that_were_not_printed_are_not_remembered() {
    let folder = Folder::new("state-not-printed");
    let state = folder.path("state");
    let command = |redirected: &str| {
        let mut command = Command::new("sh");
        let script = format!("exec \"$0\" dedup --ever --state \"$1\" {redirected}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_lately"), &state]);
        run(&mut command, b"a\nb\n")
    };
    for (redirected, reason) in [
        ("> /dev/full", "cannot write to standard output: No space left"),
        (">&-", "standard output is closed"),
        ("--count > /dev/full", "cannot write to standard output: No space left"),
    ] {
        let complaint = command(redirected).failure();
        assert!(complaint.contains(reason), "{complaint}");
        assert!(!Path::new(&state).exists(), "{redirected}");
    }
    // Whoever wants to print nothing may.
    command("> /dev/null").success();
    assert_eq!(records(&state), Some(2));
}

/// What is only counted is judged by the state, and leaves it alone.
#[test]
fn counting_remembers_nothing() {
    let folder = Folder::new("state-count");
    let state = folder.path("state");
    let flags = ["dedup", "--state", &state];
    let count = [&flags[..], &["--count"]].concat();
    assert_eq!(lately(&count, b"a\nb\na\n").text(), "2\n");
    assert!(!Path::new(&state).exists());
    assert_eq!(lately(&flags, b"a\n").text(), "a\n");
    let before = fs::read(&state).unwrap();
    for _ in 0..2 {
        assert_eq!(lately(&count, b"a\nb\nc\nb\n").text(), "2\n");
    }
    assert_eq!(fs::read(&state).unwrap(), before);
    assert_eq!(lately(&flags, b"a\nb\nc\n").text(), "b\nc\n");
}

/// `kill -9` at 50 moments spread over runs with checkpoints all the time. The state always loads,
/// and what it says it has seen is not printed again; nor is anything that was printed before a
/// checkpoint began that was seen to be completed.
#[test]
fn killed_at_any_moment() {
    let windows = windows();
    for round in 0..50 {
        let window = &windows[round % windows.len()];
        let folder = Folder::new(&format!("state-killed-{round}"));
        let state = folder.path("state");
        let flags = ["dedup", "--checkpoint", "1ms", "--state", &state];
        let flags = [&flags[..], &window[..]].concat();
        let mut process = Process::start(&flags);
        let mut stdin = process.child.stdin.take().unwrap();
        let feeding = std::thread::spawn(move || {
            // Until the other side is gone.
            (0_u64..).take_while(|&record| writeln!(stdin, "{record}").is_ok()).count()
        });
        let printed = Arc::new(AtomicU64::new(0));
        let reading = {
            let (printed, stdout) = (Arc::clone(&printed), process.stdout);
            std::thread::spawn(move || {
                // Whole lines: the last may be cut off.
                let lines = stdout.split(b'\n').map_while(Result::ok);
                for _ in lines {
                    printed.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        // Of two checkpoints that follow what was printed, the second began after it.
        wait_until(|| Path::new(&state).exists() && printed.load(Ordering::SeqCst) > 0);
        let acknowledged = printed.load(Ordering::SeqCst);
        for _ in 0..2 {
            let before = modified(&state);
            wait_until(|| modified(&state) != before);
        }
        std::thread::sleep(Duration::from_micros(round as u64 * 400));
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        feeding.join().unwrap();
        reading.join().unwrap();

        let remembered = records(&state).expect("the state always loads");
        assert!(remembered >= acknowledged, "printed before the last checkpoint, and forgotten");
        // A last line without an end would count as one, too.
        assert!(printed.load(Ordering::SeqCst) >= remembered, "remembered before it was printed");
        // Everything that was printed before comes again, and something new.
        let again: String = (0..remembered).map(|record| format!("{record}\n")).collect();
        let resumed = lately(&flags, format!("{again}new\n").as_bytes()).text();
        assert_eq!(resumed, "new\n", "of {remembered} records in round {round}");
    }
}

/// `lately`, waiting for input.
struct Process {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
}

impl Process {
    fn start(flags: &[&str]) -> Self {
        let mut child = start(Command::new(env!("CARGO_BIN_EXE_lately")).args(flags));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// Sends a line that is new, and waits until it is printed.
    fn pass(&mut self, line: &str) {
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let mut printed = String::new();
        self.stdout.read_line(&mut printed).unwrap();
        assert_eq!(printed, line);
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// How many records a state says it has seen; `None` if there is no state yet.
fn records(state: &str) -> Option<u64> {
    if !Path::new(state).exists() {
        return None;
    }
    let json = lately(&["inspect", "--json", state], b"").success();
    let inspected: Value = serde_json::from_slice(&json).unwrap();
    inspected["note"]["records"].as_u64()
}

fn modified(state: &str) -> SystemTime {
    fs::metadata(state).unwrap().modified().unwrap()
}

fn wait_until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never happens");
        std::thread::sleep(Duration::from_millis(1));
    }
}
