//! `lately count`, against exact counts.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::process::Command;

use crate::command::{Folder, lately, run, start};
use serde_json::Value;
use testkit::streams;

fn zipf(keys: u64, skew: f64, count: usize) -> Vec<u64> {
    streams::zipf(keys, skew, 3).take(count).collect()
}

fn lines(keys: &[u64]) -> Vec<u8> {
    keys.iter().flat_map(|key| format!("{key:x}\n").into_bytes()).collect()
}

fn counts(keys: &[u64]) -> HashMap<u64, u64> {
    keys.iter().fold(HashMap::new(), |mut counts, &key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

/// Keys and counts as printed; the most frequent must be first.
#[track_caller]
fn printed(flags: &[&str], input: &[u8]) -> Vec<(u64, u64)> {
    let text = lately(&[&["count"], flags].concat(), input).text();
    let row = |line: &str| {
        let (count, key) = line.split_once('\t').expect("a tab");
        (u64::from_str_radix(key, 16).unwrap(), count.parse().unwrap())
    };
    let rows: Vec<(u64, u64)> = text.lines().map(row).collect();
    assert!(rows.is_sorted_by_key(|&(_, count)| std::cmp::Reverse(count)));
    rows
}

/// So exact that no mistake is expected in any test.
const EXACT: [&str; 2] = ["--error", "1e-9"];

#[test]
fn everything_is_counted_exactly() {
    // More keys than the first layer holds, and than was expected.
    let keys = zipf(100_000, 0.6, 250_000);
    let truth = counts(&keys);
    assert!(truth.len() > 1 << 16);
    for flags in [&EXACT[..], &["--error", "1e-9", "--expected", "100"]] {
        let found: HashMap<u64, u64> = printed(flags, &lines(&keys)).into_iter().collect();
        assert_eq!(found, truth);
    }
}

/// With a large error, no count is below the truth, no key is missed at any threshold, and no more
/// counts are wrong than stated (0.1% of 100 000 keys: more than 200 once in 1e15 runs).
#[test]
fn no_count_is_too_low() {
    let keys = zipf(100_000, 0.6, 250_000);
    let truth = counts(&keys);
    let found: HashMap<u64, u64> = printed(&[], &lines(&keys)).into_iter().collect();
    assert_eq!(found.len(), truth.len());
    assert!(truth.iter().all(|(key, count)| found[key] >= *count));
    let wrong = truth.iter().filter(|(key, count)| found[key] > **count).count();
    assert!(wrong < 200, "{wrong}");
    for above in ["2", "10", "1k"] {
        let least = above.replace('k', "000").parse().unwrap();
        let found: HashMap<u64, u64> =
            printed(&["--error", "30%", "--above", above], &lines(&keys)).into_iter().collect();
        assert!(found.values().all(|&count| count >= least));
        assert!(truth.iter().all(|(key, count)| *count < least || found[key] >= *count));
    }
}

#[test]
fn the_most_frequent() {
    let keys = zipf(5_000, 1.1, 50_000);
    let mut truth: Vec<(u64, u64)> = counts(&keys).into_iter().collect();
    truth.sort_by(|a, b| b.1.cmp(&a.1).then(format!("{:x}", a.0).cmp(&format!("{:x}", b.0))));
    for top in ["1", "10", "300"] {
        // Also with little room for keys.
        for room in ["1M", "1k"] {
            let flags = [&EXACT[..], &["--top", top, "--room", room]].concat();
            let found = printed(&flags, &lines(&keys));
            let expected = &truth[..top.parse().unwrap()];
            assert!(
                found.iter().map(|&(_, count)| count).eq(expected.iter().map(|&(_, count)| count))
            );
            // Of those that came as often as the last one, any may be listed.
            let last = expected[expected.len() - 1].1;
            let sure = expected.partition_point(|&(_, count)| count > last);
            assert_eq!(found[..sure], expected[..sure]);
            assert!(found.iter().all(|known| truth.contains(known)));
        }
    }
    let flags = [&EXACT[..], &["--top", "2", "--above", "1M"]].concat();
    assert_eq!(printed(&flags, &lines(&keys)), []);
}

#[test]
fn windows_by_count() {
    let keys = zipf(2_000, 0.8, 20_000);
    for window in [1, 100, 7_000, 30_000] {
        let recent = counts(&keys[keys.len().saturating_sub(window)..]);
        for above in [1, 3] {
            let flags = ["--last", &window.to_string(), "--above", &above.to_string()];
            let found: HashMap<u64, u64> =
                printed(&[&EXACT[..], &flags].concat(), &lines(&keys)).into_iter().collect();
            let expected: HashMap<u64, u64> =
                recent.iter().map(|(&key, &count)| (key, count)).filter(|e| e.1 >= above).collect();
            assert_eq!(found, expected);
        }
    }
}

/// The most frequent of a span are right whatever left it: those of the last second were rare before.
#[test]
fn the_most_frequent_of_a_span() {
    // In every second other keys come often; the last ones of all came in its first half only.
    let keys = |second: u64| (0..400_u64).map(move |at| second * 100 + (at * at) % 40 % 17);
    let input: String = (0..50_u64)
        .flat_map(|second| keys(second).enumerate().map(move |(at, key)| (second, at, key)))
        .map(|(second, at, key)| {
            let time = 1_600_000_000_000 + 1_000 * second + at as u64;
            format!("{{\"k\":{key},\"t\":{time}}}\n")
        })
        .collect();
    let mut truth: Vec<(u64, u64)> = Vec::new();
    for key in keys(49) {
        match truth.iter_mut().find(|(counted, _)| *counted == key) {
            Some((_, count)) => *count += 1,
            None => truth.push((key, 1)),
        }
    }
    truth.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key.to_string()));
    let flags = ["count", "--within", "500ms", "-k", "k", "--time-key", "t", "--error", "1e-9"];
    for top in [1, 3, 5] {
        let most = top.to_string();
        let top_flags = [&flags[..], &["--top", &most]].concat();
        let text = lately(&top_flags, input.as_bytes()).text();
        let expected: String =
            truth[..top].iter().map(|(key, count)| format!("{count}\t{key}\n")).collect();
        assert_eq!(text, expected);
    }
}

/// By the clock of the events, some of them late: those are taken to happen with the latest.
#[test]
fn windows_by_time() {
    let keys = zipf(1_000, 0.7, 20_000);
    let moment =
        |at: usize| 1_700_000_000_000 + at as u64 * 10 - if at.is_multiple_of(7) { 300 } else { 0 };
    let event = |(at, key): (usize, &u64)| {
        format!("{{\"k\":\"{key:x}\",\"at\":{}}}\n", moment(at)).into_bytes()
    };
    let input: Vec<u8> = keys.iter().enumerate().flat_map(event).collect();
    let mut latest = 0;
    let clocks: Vec<u64> = (0..keys.len())
        .map(|at| {
            latest = latest.max(moment(at));
            latest
        })
        .collect();
    for (span, millis) in [("1s", 1_000), ("30s", 30_000), ("1h", 3_600_000)] {
        // What left a sixtieth of the span ago may be counted, but only of keys that came since.
        let recent = |millis| {
            let recent = clocks.iter().filter(|&&clock| latest - clock <= millis).count();
            counts(&keys[keys.len() - recent..])
        };
        let (least, most) = (recent(millis), recent(millis + millis.div_ceil(60)));
        let flags = ["--within", span, "--key", "k", "--time-key", "at"];
        let found: HashMap<u64, u64> =
            printed(&[&EXACT[..], &flags].concat(), &input).into_iter().collect();
        assert_eq!(found.len(), least.len());
        assert!(least.iter().all(|(key, least)| (*least..=most[key]).contains(&found[key])));
    }
    let flags = ["count", "--within", "1s", "-k", "k", "--time-key", "at", "--stats-json", "-"];
    let text = lately(&flags, &input).text();
    let figures = &text[text.find("{\n").unwrap()..];
    let figures: Value = serde_json::from_str(figures).unwrap();
    assert_eq!(figures["records"], 20_000);
    assert_eq!(figures["late"], keys.len().div_ceil(7) - 1);
}

#[test]
fn keys_of_all_kinds() {
    let json =
        "{\"u\":\"a\",\"n\":1}\n{\"u\":\"b\",\"n\":1}\n{\"n\":1,\"u\":\"a\"}\n{\"n\":2}\nx\n";
    let count = |flags: &[&str], input: &str| {
        lately(&[&["count"], flags].concat(), input.as_bytes()).text()
    };
    assert_eq!(count(&["-k", "u"], json), "2\ta\n1\tb\n");
    assert_eq!(count(&["-k", "/u", "-k", "/n"], json), "2\ta\t1\n1\tb\t1\n");
    assert_eq!(
        count(&["-k", "/u", "-k", "/n", "--json"], json),
        "{\"count\":2,\"key\":[\"a\",\"1\"]}\n{\"count\":1,\"key\":[\"b\",\"1\"]}\n"
    );
    let csv = "name,mail\nAnn,\"a,b\"\nBob,\"a,b\"\nCid,c\nDot,\n";
    assert_eq!(count(&["-c", "mail"], csv), "2\ta,b\n1\tc\n");
    assert_eq!(count(&["-c", "2", "--header"], csv), "2\ta,b\n1\tc\n");
    assert_eq!(
        count(&["-c", "mail", "--json"], csv).lines().next(),
        Some(r#"{"count":2,"key":"a,b"}"#)
    );
    assert_eq!(count(&["-i", "--trim"], "A\n a\nb\n"), "2\ta\n1\tb\n");
    assert_eq!(count(&["-z"], "a\nb\0a\nb\0c"), "2\ta\nb\x001\tc\0");
    assert_eq!(count(&["--json"], "\"\n\"\n"), "{\"count\":2,\"key\":\"\\\"\"}\n");
    assert_eq!(count(&[], ""), "");
    assert_eq!(count(&[], "\n\n"), "2\t\n");
}

#[test]
fn many_files_and_standard_input_are_one_stream() {
    let folder = Folder::new("count-files");
    let one = folder.file("one", "a\nb");
    let two = folder.file("two", "a\n");
    assert_eq!(lately(&["count", &one, "-", &two], b"b\nb\n").text(), "3\tb\n2\ta\n");
}

#[test]
fn figures_and_exit_codes() {
    let folder = Folder::new("count-figures");
    let figures = folder.path("figures");
    let flags = ["count", "-k", "id", "--stats", "--stats-json", &figures];
    let (printed, text) = lately(&flags, b"{\"id\":1}\n{\"id\":1}\n{}\n").ended(0);
    assert_eq!(printed, b"2\t1\n");
    assert!(text.contains("missing     1 (no key: 1)"), "{text}");
    let figures: Value = serde_json::from_slice(&std::fs::read(&figures).unwrap()).unwrap();
    assert_eq!((&figures["records"], &figures["unique"]), (&3.into(), &1.into()));
    assert_eq!(figures["structure"], "growing-counts");
    assert!(figures["filter_bytes"].as_u64().unwrap() > 0);

    assert_eq!(lately(&["count", "--above", "2"], b"a\n").ended(0).0, b"");
    assert_eq!(lately(&["count", "--above", "2", "--exit-status"], b"a\n").ended(1).0, b"");
    assert_eq!(lately(&["count", "--exit-status"], b"a\n").ended(0).0, b"1\ta\n");
}

/// More keys than there is room for: what is surely complete is printed, the rest is told.
#[test]
fn too_little_room_is_told() {
    let input = b"a\nb\nc\nd\na\nb\nc\nd\nd\ne\n";
    let (printed, complaint) = lately(&["count", "--room", "3"], input).ended(2);
    assert_eq!(printed, b"3\td\n", "{complaint}");
    assert!(complaint.contains("ask for --above 3, or give more --room"), "{complaint}");
    assert_eq!(lately(&["count", "--room", "3", "--above", "3"], input).text(), "3\td\n");
    assert_eq!(lately(&["count", "--room", "3", "--top", "1"], input).text(), "3\td\n");
}

#[test]
fn bad_flags_say_what_to_do() {
    for (flags, reason) in [
        (&["--memory", "1MiB"][..], "add --expected N"),
        (&["--above", "0"], "number of items is 0"),
        (&["--top", "-1"], "number of items is -1"),
        (&["--last", "5", "--ever"], "cannot be used with"),
        (&["--last", "5", "--expected", "5"], "cannot be used with"),
        (&["--time-key", "t"], "--within"),
        (&["--missing", "pass"], "possible values: skip, fail"),
        (&["-k", "id", "-c", "1"], "cannot be used with"),
        (&["none"], "cannot open none"),
        (&["--last", "9", "--memory", "9B"], "nothing reaches this goal"),
    ] {
        let complaint = lately(&[&["count"], flags].concat(), b"").failure();
        assert!(complaint.contains(reason), "{flags:?}: {complaint}");
    }
    let complaint = lately(&["count", "-k", "id", "--missing", "fail"], b"{}\n").failure();
    assert!(complaint.contains("standard input: record 1 has no key; correct it"), "{complaint}");
}

#[test]
fn memory_is_a_limit() {
    let keys = zipf(20_000, 0.5, 60_000);
    let wrong = |memory| {
        let flags = ["--memory", memory, "--expected", "20k", "--allow-error"];
        let found: HashMap<u64, u64> = printed(&flags, &lines(&keys)).into_iter().collect();
        let truth = counts(&keys);
        assert!(truth.iter().all(|(key, count)| found[key] >= *count));
        truth.iter().filter(|(key, count)| found[key] > **count).count()
    };
    assert!(wrong("30kB") > 10 * wrong("300kB").max(1));
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    let input = lines(&streams::distinct(1).take(200_000).collect::<Vec<_>>());
    let folder = Folder::new("count-pipe");
    let file = folder.file("many", input);
    let mut child =
        start(Command::new(env!("CARGO_BIN_EXE_lately")).args(["count", "--error", "1e-9", &file]));
    let mut first = [0; 2];
    BufReader::new(child.stdout.take().unwrap()).read_exact(&mut first).unwrap();
    assert_eq!(&first, b"1\t");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn settings_from_the_environment() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lately"));
    let command = command.arg("count").envs([("LATELY_TOP", "1"), ("LATELY_KEY", "/k")]);
    assert_eq!(run(command, b"{\"k\":1}\n{\"k\":2}\n{\"k\":2}\n").text(), "2\t2\n");
}

/// Only keys of the window are listed, with counts that are not too low.
#[test]
fn keys_that_left_the_window_are_not_listed() {
    let keys = |printed: String| {
        let listed = printed.lines().map(|line| {
            let (count, key) = line.split_once('\t').unwrap();
            assert!(count.parse::<u64>().unwrap() >= 1);
            key.parse::<u64>().unwrap()
        });
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable();
        listed
    };
    // By default one count in a thousand is too high, and so would be those of keys that left.
    let input: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    let listed = keys(lately(&["count", "--last", "10"], input.as_bytes()).text());
    assert_eq!(listed, (199_990..200_000).collect::<Vec<_>>());

    // Ten records in each second, and those of the last second.
    let times: String = (0..200_000_u64)
        .map(|event| format!("{{\"k\":{event},\"t\":{}}}\n", 1_600_000_000_000 + 100 * event))
        .collect();
    let within = ["count", "--within", "1s", "-k", "k", "--time-key", "t"];
    let listed = keys(lately(&within, times.as_bytes()).text());
    assert_eq!(listed, (199_989..200_000).collect::<Vec<_>>());
}

/// With so many different lines that few can be kept, the most frequent are found all the same, and if
/// none is, as many as were asked for.
#[test]
fn the_most_frequent_of_many() {
    let often: String = (0..10).map(|line| format!("often {line}\n").repeat(10 + line)).collect();
    let once: String = (0..300_000).map(|line| format!("{line}\n")).collect();
    let input = [once.as_str(), &often, &once[..1_000_000]].concat();
    let flags = ["count", "--top", "10", "--error", "1e-9"];
    let text = lately(&flags, input.as_bytes()).text();
    let expected: String =
        (0..10).rev().map(|line| format!("{}\toften {line}\n", 10 + line)).collect();
    assert_eq!(text, expected);
    let text = lately(&flags, once.as_bytes()).text();
    assert!(
        text.lines().count() == 10 && text.lines().all(|line| line.starts_with("1\t")),
        "{text}"
    );
}

/// Keys of 400 MB pass a window of 2 MB, in less memory than they would need.
#[cfg(target_os = "linux")]
#[test]
fn memory_follows_the_window() {
    let script = "seq 200000 | awk '{ printf \"%02000d\\n\", $1 }' |
        (ulimit -v 400000; exec \"$0\" count --last 1000)";
    let mut command = Command::new("sh");
    let listed = run(command.args(["-c", script, env!("CARGO_BIN_EXE_lately")]), b"").text();
    assert_eq!(listed.lines().count(), 1000);
}

/// Files that are followed never end by themselves: asked to end, it prints what it counted, and
/// then it dies of the signal.
#[cfg(target_os = "linux")]
#[test]
fn a_followed_file_is_counted_until_asked_to_end() {
    let folder = Folder::new("count-follow");
    let path = folder.file("log", "a\nb\n");
    let figures = folder.path("figures");
    let flags = ["count", "--follow", "--stats-json", &figures, &path];
    let child = start(Command::new(env!("CARGO_BIN_EXE_lately")).args(flags));
    let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(b"b\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let died_of = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(died_of, Some(rustix::process::Signal::TERM.as_raw()));
    assert_eq!(output.stdout, b"2\tb\n1\ta\n");
}
