//! `lately dedup` against exact oracles: what it prints, what it drops, byte for byte.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::lately;
use lately::plan::Goal;
use lately::{ErrorRate, Promise, Slack, Span, Window};
use lately_papers::CATALOG;
use testkit::oracle::Last;
use testkit::random::SplitMix64;
use testkit::{stats, streams};

#[test]
fn two_million_lines_agree_with_the_oracle() {
    let keys = repeats_at_all_distances(100_000, 2_000_000, 1);
    let file = scratch("two_million_lines");
    fs::write(&file, lines(&keys)).unwrap();
    let printed = lately(&["dedup", "--last", "100000", file.to_str().unwrap()], b"").success();
    fs::remove_file(file).unwrap();

    let goal = Goal::new(Window::Last(100_000), ErrorRate::DEFAULT);
    assert_kept(goal.plans().unwrap()[0].promise, &keys, &printed);
}

#[test]
fn every_structure_agrees_with_the_oracle() {
    for (window, count) in [(1, 2_000), (300, 50_000), (20_000, 400_000)] {
        let keys = repeats_at_all_distances(window, count, window);
        let goal = Goal::new(Window::Last(window), ErrorRate::new(0.01).unwrap());
        for row in CATALOG.iter() {
            let Ok(plan) = goal.plan_with(row) else { continue };
            // Linear in the window: small ones say as much in less time.
            if plan.blueprint.lines_touched() > 256.0 {
                continue;
            }
            let last = window.to_string();
            let flags = ["dedup", "--last", &last, "--error", "1%", "--structure", row.name];
            let printed = lately(&flags, &lines(&keys)).success();
            assert_kept(plan.promise, &keys, &printed);
        }
    }
}

/// Never a line within the window of its last sighting; at most the promised share of those beyond
/// window and slack, or never seen, is missing. Lines in the slack may go either way.
#[track_caller]
fn assert_kept(promise: Promise, keys: &[u64], printed: &[u8]) {
    let Window::Last(window) = promise.window else { panic!("not a window by count") };
    let Slack::Items(slack) = promise.slack else { panic!("not a slack by count") };
    let mut oracle = Last::new(window);
    let (mut repeats, mut forgotten, mut unseen, mut dropped) = (0, 0, 0, 0);
    for (&key, printed) in keys.iter().zip(verdicts(keys, printed)) {
        match oracle.distance(key) {
            Some(distance) if distance <= window => {
                repeats += 1;
                forgotten += u64::from(printed);
            }
            Some(distance) if distance <= window + slack => {}
            _ => {
                unseen += 1;
                dropped += u64::from(!printed);
            }
        }
        oracle.insert(key);
    }
    assert!(repeats > 0 && unseen > 0, "the stream tests nothing");
    if promise.false_negatives == 0.0 {
        assert_eq!(forgotten, 0, "of {repeats} repeats");
    } else {
        stats::assert_rate_at_most(forgotten, repeats, promise.false_negatives, 1e-9);
    }
    stats::assert_rate_at_most(dropped, unseen, promise.false_positives, 1e-9);
}

#[test]
fn without_refresh_a_line_passes_once_per_window() {
    const WINDOW: u64 = 1_000;
    // A fresh line, always printed, after every other one: it tells which of two repeats passed.
    let pairs = streams::uniform(700, 3).zip(streams::distinct(3)).take(50_000);
    let keys: Vec<u64> = pairs.flat_map(|(repeated, fresh)| [repeated, fresh]).collect();
    // So rare that no mistake is expected in ten thousand such tests.
    let goal = Goal::new(Window::Last(WINDOW), ErrorRate::new(1e-9).unwrap());
    for row in CATALOG.iter() {
        let Ok(plan) = goal.plan_with(row) else { continue };
        let Slack::Items(slack) = plan.promise.slack else { continue };
        let flags = ["--last", "1000", "--error", "1e-9", "--no-refresh", "--structure", row.name];
        let printed = lately(&[&["dedup"], &flags[..]].concat(), &lines(&keys)).success();
        let mut passed: HashMap<u64, u64> = HashMap::new();
        for ((position, &key), printed) in (0..).zip(&keys).zip(verdicts(&keys, &printed)) {
            let distance = passed.get(&key).map(|passed| position - passed);
            match distance {
                Some(distance) if distance <= WINDOW => assert!(!printed, "{}", row.name),
                Some(distance) if distance <= WINDOW + slack => {}
                _ => assert!(printed, "{}", row.name),
            }
            if printed {
                passed.insert(key, position);
            }
        }
    }
}

#[test]
fn with_refresh_a_line_passes_only_after_a_pause() {
    let input = b"a\na\nb\na\nc\na\n";
    let flags = ["dedup", "--last", "2", "--structure", "compact-short-hash"];
    assert_eq!(lately(&flags, input).success(), b"a\nb\nc\n");
    let flags = [&flags[..], &["--no-refresh"]].concat();
    assert_eq!(lately(&flags, input).success(), b"a\nb\na\nc\n");
}

/// Lengths around the sizes of reads and batches, in every alignment, from a pipe and from a file.
#[test]
fn lines_of_all_lengths_come_out_byte_for_byte() {
    let mut random = SplitMix64::new(4);
    let mut input = Vec::new();
    let mut expected = Vec::new();
    let mut seen = HashSet::new();
    for round in 0..6_000 {
        let length = match round % 100 {
            0 => random.below(700_000),
            1..50 => 0,
            _ => random.below(300),
        };
        let mut line: Vec<u8> = (0..length).map(|_| random.next_u64() as u8 & 0xf3).collect();
        line.retain(|&byte| byte != b'\n');
        line.push(b'\n');
        for _ in 0..1 + random.below(3) {
            input.extend_from_slice(&line);
        }
        if seen.insert(line.clone()) {
            expected.extend_from_slice(&line);
        }
    }
    let flags = ["dedup", "--last", "1M", "--error", "1e-9"];
    assert!(lately(&flags, &input).success() == expected, "from a pipe");

    let file = scratch("lines_of_all_lengths");
    fs::write(&file, &input).unwrap();
    let flags = [&flags[..], &[file.to_str().unwrap()]].concat();
    assert!(lately(&flags, b"").success() == expected, "from a file");
    fs::remove_file(file).unwrap();
}

#[test]
fn bytes_are_left_alone() {
    for (input, output) in [
        (&b""[..], &b""[..]),
        (b"\n", b"\n"),
        (b"\n\n\n", b"\n"),
        (b"a", b"a"),
        (b"a\nb", b"a\nb"),
        (b"a\na", b"a\n"),
        (b"a\r\na\r\na\n", b"a\r\na\n"),
        (b"a\0b\na\0c\na\0b\n", b"a\0b\na\0c\n"),
        (b"\xff\xfe\n\xc3\n\xff\xfe\n", b"\xff\xfe\n\xc3\n"),
        (b" a\na\na \n", b" a\na\na \n"),
    ] {
        assert_eq!(lately(&["dedup", "--last", "100"], input).success(), output);
    }
}

#[test]
fn many_files_are_one_stream() {
    let paths = ["one", "two", "three", "empty"].map(|name| scratch(&format!("stream_{name}")));
    let contents: [&[u8]; 4] = [b"a\nb", b"b\nc", b"d", b""];
    for (path, content) in paths.iter().zip(contents) {
        fs::write(path, content).unwrap();
    }
    let [one, two, three, empty] = paths.each_ref().map(|path| path.to_str().unwrap());
    let dedup = |files: &[&str]| {
        let flags = [&["dedup", "--last", "100"], files].concat();
        String::from_utf8(lately(&flags, b"c\ne\n").success()).unwrap()
    };
    assert_eq!(dedup(&[one, two, three]), "a\nb\nc\nd", "newlines between records only");
    assert_eq!(dedup(&[one, "-", three]), "a\nb\nc\ne\nd");
    assert_eq!(dedup(&[three, three, empty]), "d", "nothing follows that needs a newline");
    assert_eq!(dedup(&[empty, "-", "-"]), "c\ne\n", "standard input ends once");
    for path in paths {
        fs::remove_file(path).unwrap();
    }
}

/// Every kind of window either works or, while nothing in the catalog keeps it, says so.
#[test]
fn every_kind_of_window() {
    let goal = |window| Goal::new(window, ErrorRate::DEFAULT);
    for (flags, window) in [
        (&["--last", "10"][..], Window::Last(10)),
        (&["--within", "1h"], Window::Within(Span::from_millis(3_600_000))),
        (&["--ever"], Window::Ever),
        (&[], Window::Ever),
    ] {
        let run = lately(&[&["dedup"], flags].concat(), b"a\nb\na\n");
        if goal(window).plans().is_ok() {
            assert_eq!(run.success(), b"a\nb\n", "{flags:?}");
        } else {
            assert!(run.failure().contains("nothing reaches this goal: "), "{flags:?}");
        }
    }
}

/// The clock on the wall: what is older than span and slack passes again. However slow the machine,
/// it sleeps long enough, and lines that arrive together are of the same moment.
#[test]
fn a_line_passes_again_after_its_span() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--within", "100ms", "--slack", "100ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\nb\na\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    input.write_all(b"a\nc\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"a\nb\na\nc\n");
}

/// A burst, then silence: the memory of the window comes back before the next line, and the file that tells
/// of it is written at the end.
#[test]
fn memory_comes_back_while_the_input_is_idle() {
    let bytes = |within| {
        let figures = scratch(&format!("idle_{within}"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
            .args(["dedup", "--within", within, "--stats-json", figures.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let burst = lines(&streams::distinct(5).take(100_000).collect::<Vec<_>>());
        input.write_all(&burst).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(4));
        drop(input);
        assert!(child.wait().unwrap().success());
        let told = fs::read_to_string(&figures).unwrap();
        fs::remove_file(figures).unwrap();
        let (_, bytes) = told.split_once("\"filter_bytes\":").unwrap();
        bytes.split([',', '}']).next().unwrap().trim().parse::<u64>().unwrap()
    };
    let (full, idle) = (bytes("1h"), bytes("500ms"));
    assert!(full > 200_000 && idle < full / 10, "{full} {idle}");
}

#[test]
fn lines_pass_while_the_input_is_still_open() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--last", "100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in ["first\n", "second\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        let mut passed = String::new();
        stdout.read_line(&mut passed).unwrap();
        assert_eq!(passed, line);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_seed_decides_which_mistakes_are_made() {
    let input = lines(&streams::distinct(5).take(2_000).collect::<Vec<_>>());
    let dedup = |seed| {
        lately(&["dedup", "--last", "1000", "--error", "30%", "--seed", seed], &input).success()
    };
    assert_eq!(dedup("1"), dedup("1"));
    assert_ne!(dedup("1"), dedup("2"));
}

#[test]
fn a_structure_that_cannot_do_it_says_why() {
    let flags = ["dedup", "--last", "100", "--slack", "0", "--structure", "double-buffer"];
    let complaint = lately(&flags, b"a\n").failure();
    assert!(complaint.contains("needs a slack as long as the window"), "{complaint}");
}

#[test]
fn memory_buys_accuracy() {
    let keys: Vec<u64> = streams::distinct(6).take(20_000).collect();
    let dropped = |memory| {
        let flags = ["dedup", "--last", "10k", "--memory", memory];
        let printed = lately(&flags, &lines(&keys)).success();
        verdicts(&keys, &printed).into_iter().filter(|printed| !printed).count()
    };
    assert!(dropped("16KiB") > 10 * dropped("48KiB"));
}

/// Fresh keys, and repeats at distances that cover the window, its borders and what lies beyond.
fn repeats_at_all_distances(window: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    // Often, as a window that is slightly too short shows only there.
    let borders = [window, window + 1, 2 * window, 2 * window + 1, 3 * window];
    let borders = borders.into_iter().cycle().take(500);
    // Evenly in the exponent, so that near and far are equally frequent.
    let anywhere = (0..2_000).map(|_| (5.0 * window as f64).powf(random.unit()) as u64);
    let distances: Vec<u64> = borders.chain(anywhere).collect();
    streams::repeats_at(&distances, seed).take(count).map(|step| step.key).collect()
}

fn lines(keys: &[u64]) -> Vec<u8> {
    keys.iter().flat_map(|key| format!("{key:016x}\n").into_bytes()).collect()
}

/// For each key, whether its line was printed. What was printed must be a part of what was read,
/// in the same order.
#[track_caller]
fn verdicts(keys: &[u64], printed: &[u8]) -> Vec<bool> {
    let printed = std::str::from_utf8(printed).unwrap().lines();
    let mut printed = printed.map(|line| u64::from_str_radix(line, 16).unwrap()).peekable();
    let verdicts = keys.iter().map(|key| printed.next_if_eq(key).is_some()).collect();
    assert_eq!(printed.next(), None, "a line that is not in the input, or out of order");
    verdicts
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
