//! Signals: what was taken from a pipe is printed and remembered, and then the process dies of them.
//!
//! A replay shows only that what is remembered was printed. What was *taken* is known to the other
//! side of the pipe: all that was written to it and is not in it any more.

#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::{PipeReader, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::command::{Folder, heed_signals, lately};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A pipe to which bytes are written as fast as they are taken.
struct Busy {
    /// Shared with the process that reads; at the end it holds what is left.
    reader: PipeReader,
    ends: Arc<AtomicBool>,
    writing: JoinHandle<Vec<u8>>,
}

impl Busy {
    /// Writes pieces of a size that no record and no buffer has, so that reads end within records.
    fn start(mut next: impl FnMut() -> Vec<u8> + Send + 'static) -> Self {
        let (reader, mut writer) = pipe().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&ends);
        let writing = std::thread::spawn(move || {
            let (mut written, mut piece) = (Vec::new(), Vec::new());
            while !asked.load(Ordering::SeqCst) {
                while piece.len() < 10_007 {
                    piece.extend(next());
                }
                writer.write_all(&piece[..10_007]).unwrap();
                written.extend(piece.drain(..10_007));
            }
            written
        });
        Self { reader, ends, writing }
    }

    fn stdin(&self) -> Stdio {
        self.reader.try_clone().unwrap().into()
    }

    /// What was taken by others, when they are gone.
    fn taken(mut self) -> Vec<u8> {
        self.ends.store(true, Ordering::SeqCst);
        let mut left = Vec::new();
        self.reader.read_to_end(&mut left).unwrap();
        let mut written = self.writing.join().unwrap();
        assert!(written.ends_with(&left));
        written.truncate(written.len() - left.len());
        written
    }
}

/// What a process prints, and how much of it there is already.
struct Printed {
    bytes: Arc<AtomicUsize>,
    reading: JoinHandle<Vec<u8>>,
}

impl Printed {
    fn of(child: &mut Child) -> Self {
        let mut stdout = child.stdout.take().unwrap();
        let bytes = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&bytes);
        let reading = std::thread::spawn(move || {
            let (mut all, mut piece) = (Vec::new(), vec![0; 50_000]);
            loop {
                match stdout.read(&mut piece).unwrap() {
                    0 => return all,
                    read => all.extend(&piece[..read]),
                }
                count.store(all.len(), Ordering::SeqCst);
            }
        });
        Self { bytes, reading }
    }

    fn wait_for(&self, bytes: usize) {
        wait_until(|| self.bytes.load(Ordering::SeqCst) >= bytes);
    }

    fn all(self) -> Vec<u8> {
        self.reading.join().unwrap()
    }
}

fn spawn(flags: &[&str], stdin: Stdio) -> Child {
    heed_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lately"));
    command.args(flags).stdin(stdin).stdout(Stdio::piped()).spawn().unwrap()
}

fn wait_until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never happens");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn numbered() -> impl FnMut() -> Vec<u8> + Send + 'static {
    let mut number = 0;
    move || {
        number += 1;
        format!("{number}\n").into_bytes()
    }
}

/// Nothing that left the pipe is missing from what was printed and from what is remembered, and no
/// record is torn, neither there nor in the pipe.
#[test]
fn what_was_taken_from_a_busy_pipe_is_printed_and_remembered() {
    let windows = [&["--last", "2M"][..], &["--within", "1h"], &["--ever"]];
    for (round, window) in windows.iter().cycle().take(6).enumerate() {
        let signal = if round % 2 == 0 { Signal::TERM } else { Signal::INT };
        let folder = Folder::new(&format!("stop-busy-{round}"));
        let state = folder.path("state");
        let flags = [&["dedup", "--state", &state, "--error", "1e-9"], &window[..]].concat();
        let busy = Busy::start(numbered());
        let mut child = spawn(&flags, busy.stdin());
        let printed = Printed::of(&mut child);
        printed.wait_for(round * 100_000 + 1);
        send(&child, signal);
        let status = child.wait().unwrap();
        let (taken, printed) = (busy.taken(), printed.all());
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert!(taken.ends_with(b"\n"), "records in the pipe are whole");
        assert_eq!(printed.len(), taken.len(), "{window:?}");
        assert!(printed == taken);
        assert!(lately(&flags, &taken).success().is_empty(), "all of it is remembered");
    }
}

/// Rows with line ends inside are whole, too.
#[test]
fn rows_are_not_torn() {
    let folder = Folder::new("stop-rows");
    let flags = ["dedup", "--column", "1", "--error", "1e-9", "--state", &folder.path("state")];
    let mut number = 0;
    let busy = Busy::start(move || {
        number += 1;
        format!("{number},\"a\nb\n{}\"\n", "x\n".repeat(number % 50)).into_bytes()
    });
    let mut child = spawn(&flags, busy.stdin());
    let printed = Printed::of(&mut child);
    printed.wait_for(300_000);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    let taken = busy.taken();
    assert!(taken.ends_with(b"\"\n"));
    assert!(printed.all() == taken);
}

/// The end of a record that nobody writes is not waited for. Its beginning is printed, as nobody else
/// can have it any more, though it looks like a record that came before; and it is not remembered,
/// as it may be none.
#[test]
fn half_a_record_is_printed() {
    for missing in ["pass", "drop", "fail"] {
        let folder = Folder::new(&format!("stop-half-{missing}"));
        let flags = ["dedup", "--missing", missing, "--state", &folder.path("state")];
        let (reader, mut writer) = pipe().unwrap();
        let mut child = spawn(&flags, reader.into());
        let printed = Printed::of(&mut child);
        writer.write_all(b"one\ntwo\none\non").unwrap();
        printed.wait_for(8);
        send(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
        assert_eq!(printed.all(), b"one\ntwo\non");
        assert_eq!(lately(&flags, b"two\non\none\n").text(), "on\n");
    }
}

/// What was taken of a compressed stream is decompressed as far as it goes.
#[test]
fn compressed_pipes_are_emptied() {
    let folder = Folder::new("stop-compressed");
    let state = folder.path("state");
    let flags = ["dedup", "--state", &state, "--error", "1e-9"];
    let text: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
    let stored = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let (reader, mut writer) = pipe().unwrap();
    let mut child = spawn(&flags, reader.into());
    let printed = Printed::of(&mut child);
    writer.write_all(&stored[..stored.len() / 2]).unwrap();
    printed.wait_for(text.len() / 4);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    let printed = printed.all();
    assert!(text.as_bytes().starts_with(&printed));
    let whole = printed.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    assert!(lately(&flags, &printed[..whole]).success().is_empty());
}

/// A file is still there: the record that was read in part is left to the next run.
#[test]
fn files_are_read_again() {
    let folder = Folder::new("stop-file");
    let state = folder.path("state");
    let flags = ["dedup", "--follow", "--state", &state];
    let log = folder.file("log", "one\ntwo\nthr");
    let mut child = spawn(&[&flags[..], &[&log]].concat(), Stdio::null());
    let printed = Printed::of(&mut child);
    printed.wait_for(8);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(printed.all(), b"one\ntwo\n");
    OpenOptions::new().append(true).open(&log).unwrap().write_all(b"ee\n").unwrap();
    let again = ["dedup", "--state", &state, &log];
    assert_eq!(lately(&again, b"").text(), "three\n");
}

/// Whoever has read to the end has done everything, whatever comes while it is printed.
#[cfg(target_os = "linux")]
#[test]
fn input_at_its_end_is_success() {
    let folder = Folder::new("stop-at-the-end");
    // More than a pipe holds, and less than is read ahead: it waits to be printed.
    let text: String = (0..30_000).map(|line| format!("line {line}\n")).collect();
    let file = folder.file("file", &text);
    let flags = ["dedup", "--state", &folder.path("state"), "--error", "1e-9", &file];
    let mut child = spawn(&flags, Stdio::null());
    let stdout = child.stdout.as_ref().unwrap();
    wait_until(|| rustix::io::ioctl_fionread(stdout).unwrap() > 0);
    // At its end it is closed.
    wait_until(|| position(child.id(), &file).is_none());
    send(&child, Signal::TERM);
    let printed = Printed::of(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(printed.all() == text.as_bytes());
}

/// Signals that are ignored when it starts stay so: a script goes on in the background whatever is
/// typed.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_are_ignored() {
    let folder = Folder::new("stop-ignored");
    let state = folder.path("state");
    let (reader, mut writer) = pipe().unwrap();
    let script = "trap '' INT; exec \"$0\" dedup --state \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_lately"), &state]);
    let mut child = command.stdin(reader).stdout(Stdio::piped()).spawn().unwrap();
    drop(command);
    let printed = Printed::of(&mut child);
    writer.write_all(b"one\n").unwrap();
    printed.wait_for(4);
    send(&child, Signal::INT);
    writer.write_all(b"two\n").unwrap();
    printed.wait_for(8);
    drop(writer);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(printed.all(), b"one\ntwo\n");
}

/// A named pipe that nobody writes to cannot be opened, and need not be.
#[test]
fn waiting_for_a_writer_ends_too() {
    let folder = Folder::new("stop-fifo");
    let (state, fifo) = (folder.path("state"), folder.path("fifo"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let first = folder.file("first", "one\n");
    let mut child = spawn(&["dedup", "--state", &state, &first, &fifo], Stdio::null());
    let printed = Printed::of(&mut child);
    printed.wait_for(4);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    assert_eq!(lately(&["dedup", "--state", &state], b"one\n").text(), "");
}

/// Figures and counts are printed, and then the signal is obeyed.
#[cfg(target_os = "linux")]
#[test]
fn counts_and_figures_come_before_the_end() {
    let folder = Folder::new("stop-figures");
    let json = folder.path("figures");
    let log = folder.file("log", "a\nb\na\n");
    for (flags, expected) in [
        (&["dedup", "--count", "--stats-json", &json, "--follow", &log][..], &b"2\n"[..]),
        (&["count", "--follow", &log], b"2\ta\n1\tb\n"),
    ] {
        let mut child = spawn(flags, Stdio::null());
        let printed = Printed::of(&mut child);
        let length = fs::metadata(&log).unwrap().len();
        wait_until(|| position(child.id(), &log) == Some(length));
        send(&child, Signal::TERM);
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        assert_eq!(printed.all(), expected);
    }
    let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(figures["duplicates"], 1);
}

/// How far a process has read a file, if it has it open.
#[cfg(target_os = "linux")]
fn position(process: u32, file: &str) -> Option<u64> {
    let position = |number: &str| {
        let open = fs::read_link(format!("/proc/{process}/fd/{number}")).ok()?;
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{number}")).ok()?;
        let position = info.strip_prefix("pos:")?.lines().next()?.trim().parse().ok()?;
        (open.to_str() == Some(file)).then_some(position)
    };
    let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    open.into_iter().find_map(|entry| position(entry.file_name().to_str()?))
}
