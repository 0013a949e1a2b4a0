//! `--within`: windows by the time of the events, or of their arrival.

use std::fs;
use std::time::Duration;

use crate::command::{Folder, lately};
use lately::plan::Goal;
use lately::{ErrorRate, Promise, Slack, Span, Window};
use serde_json::Value;
use testkit::random::SplitMix64;
use testkit::stats;

const WINDOW: u64 = 60_000;

/// What is promised for a window of a minute; `None` while nothing in the catalog keeps one.
fn promise() -> Option<Promise> {
    let window = Window::Within(Span::from_millis(WINDOW));
    Some(Goal::new(window, ErrorRate::DEFAULT).plans().ok()?.swap_remove(0).promise)
}

#[test]
fn event_time_in_every_spelling() {
    let Some(_) = promise() else { return };
    let folder = Folder::new("time-spellings");
    // The same key at 0 s, 50 s, 100 s (50 s after the last), and far beyond any slack; one late.
    let seconds: [u64; 5] = [0, 50, 100, 4_000, 3_990];
    let moment = |second: u64| 1_442_018_818 + second;
    let spellings: [(&str, &dyn Fn(u64) -> String); 4] = [
        ("auto", &|second| moment(second).to_string()),
        ("ms", &|second| (1000 * moment(second)).to_string()),
        ("auto", &|second| (1_000_000 * moment(second)).to_string()),
        ("auto", &|second| format!("\"{}.25\"", moment(second))),
    ];
    for (unit, spell) in spellings {
        let lines: Vec<String> =
            seconds.iter().map(|&at| format!("{{\"t\":{},\"k\":1}}\n", spell(at))).collect();
        let json = folder.path("stats.json");
        let flags = ["dedup", "--within", "1m", "-k", "k", "--time-key", "/t", "--time-unit", unit];
        let flags = [&flags[..], &["--stats-json", &json]].concat();
        let printed = lately(&flags, lines.concat().as_bytes()).text();
        assert_eq!(printed, [&lines[0][..], &lines[3]].concat());
        let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(figures["late"], 1, "{figures}");
    }

    // All the same moment, but the last.
    let spelled = [
        "2018-03-24T17:15:20Z",
        "2018-03-24T17:15:20",
        "2018-03-24 17:15:20",
        "24/Mar/2018:17:15:20 +0000",
        "[24/Mar/2018:19:15:20 +0200]",
        "Sat, 24 Mar 2018 17:15:20 +0000",
        "1521911720",
        "2018-03-24 19:16:21",
    ];
    let lines: Vec<String> =
        spelled.iter().map(|time| format!("{{\"t\":\"{time}\",\"k\":1}}\n")).collect();
    let flags = ["dedup", "--within", "1h0m1s", "-k", "k", "--time-key", "/t", "--slack", "1h"];
    let printed = lately(&flags, lines.concat().as_bytes()).text();
    assert_eq!(printed, [&lines[0][..], &lines[7]].concat());

    let rows = "24.03.2018 17:15;a\n24.03.2018 17:16;a\n24.03.2018 21:16;a\n";
    let flags = ["dedup", "--within", "1h", "-c", "2", "--time-column", "1", "-d", ";"];
    let told = [&flags[..], &["--time-format", "%d.%m.%Y %H:%M"]].concat();
    let printed = lately(&told, rows.as_bytes()).text();
    assert_eq!(printed, "24.03.2018 17:15;a\n24.03.2018 21:16;a\n");
    let (_, complaint) = lately(&flags, rows.as_bytes()).ended(2);
    assert!(complaint.contains("none of 3 records had a time that can be read"), "{complaint}");
    let complaint = lately(&[&flags[..], &["--time-format", "%!"]].concat(), b"").failure();
    assert!(complaint.contains("write for example %d/%b/%Y"), "{complaint}");

    let rows = "when;what\n2015-09-12T00:46:58Z;a\n2015-09-12T00:46:59Z;a\nnever;a\n2015-09-12T10:47:00Z;a\n";
    let flags = ["dedup", "--within", "1m", "-c", "what", "--time-column", "when", "-d", ";"];
    let printed = lately(&[&flags[..], &["--missing", "drop"]].concat(), rows.as_bytes()).text();
    assert_eq!(printed, "when;what\n2015-09-12T00:46:58Z;a\n2015-09-12T10:47:00Z;a\n");
    let (_, complaint) =
        lately(&[&flags[..], &["--missing", "fail"]].concat(), rows.as_bytes()).ended(2);
    assert!(complaint.contains("record 4 does not tell its time; "), "{complaint}");
}

/// Half a million events at random moments, some late, against the exact truth.
#[test]
fn events_agree_with_the_oracle() {
    let Some(promise) = promise() else { return };
    let Slack::Time(slack) = promise.slack else { panic!("not a slack by time") };
    let mut random = SplitMix64::new(8);
    let mut now = 1_700_000_000_000_u64;
    let mut events = Vec::new();
    for _ in 0..500_000 {
        now += random.below(3);
        // Keys so many that most come again after about three windows, and some never.
        let late = if random.below(50) == 0 { random.below(10_000) } else { 0 };
        events.push((random.below(200_000), now - late));
    }
    let input: String =
        events.iter().map(|(key, time)| format!("{{\"k\":{key},\"t\":{time}}}\n")).collect();
    let flags = ["dedup", "--within", "1m", "-k", "k", "--time-key", "t", "--mark", "v"];
    let printed = lately(&flags, input.as_bytes()).text();
    let mut last = std::collections::HashMap::new();
    let (mut latest, mut repeats, mut forgotten, mut unseen, mut dropped) = (0, 0, 0, 0, 0);
    for ((key, time), line) in events.iter().zip(printed.lines()) {
        let new = line.ends_with("\"v\":\"new\"}");
        // What is late counts as if it were the latest.
        latest = latest.max(*time);
        match last.insert(*key, latest).map(|before: u64| latest - before) {
            Some(age) if age <= WINDOW => {
                repeats += 1;
                forgotten += u64::from(new);
            }
            Some(age) if age <= WINDOW + slack.millis() => {}
            _ => {
                unseen += 1;
                dropped += u64::from(!new);
            }
        }
    }
    assert!(repeats > 10_000 && unseen > 10_000, "{repeats} {unseen}");
    if promise.false_negatives == 0.0 {
        assert_eq!(forgotten, 0);
    } else {
        stats::assert_rate_at_most(forgotten, repeats, promise.false_negatives, 1e-9);
    }
    stats::assert_rate_at_most(dropped, unseen, promise.false_positives, 1e-9);
}

/// A state goes on where it was, also with the clock of its events.
#[test]
fn states_remember_the_time() {
    let Some(_) = promise() else { return };
    let folder = Folder::new("time-state");
    let state = folder.path("state");
    let json = folder.path("stats.json");
    let flags = ["dedup", "--within", "1m", "-k", "k", "--time-key", "t", "--state", &state];
    let flags = [&flags[..], &["--stats-json", &json]].concat();
    let event = |time: u64| format!("{{\"k\":1,\"t\":{time}}}\n");
    let begin = 1_700_000_000;
    assert_eq!(lately(&flags, event(begin).as_bytes()).text(), event(begin));
    assert_eq!(lately(&flags, event(begin + 30).as_bytes()).text(), "");
    assert_eq!(lately(&flags, event(begin + 20).as_bytes()).text(), "");
    let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(figures["late"], 1, "than an event of an earlier run");
    assert_eq!(lately(&flags, event(begin + 9_000).as_bytes()).text(), event(begin + 9_000));
}

/// Without a time of their own, records count from when they arrive, across runs.
#[test]
fn wall_clock() {
    let Some(_) = promise() else { return };
    let folder = Folder::new("time-wall-clock");
    let state = folder.path("state");
    let flags = ["dedup", "--within", "300ms", "--slack", "300ms", "--state", &state];
    assert_eq!(lately(&flags, b"a\na\n").text(), "a\n");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(lately(&flags, b"a\na\n").text(), "a\n");
}

/// A flood in the middle: the window becomes shorter, what comes again within it is dropped all the same, memory is
/// kept, and the command says what happened: at the end, in figures, and of the state.
#[test]
fn a_window_that_shortens_says_so() {
    let folder = Folder::new("time-shortening");
    let (state, json) = (folder.path("state.lately"), folder.path("stats.json"));
    let line =
        |key: u64, millis: u64| format!("{{\"t\":{},\"k\":{key}}}\n", 1_442_018_818_000 + millis);
    // A hundred keys in a minute, and then 100,000 in a second, each of them twice within ten milliseconds.
    let calm: String = (0..100).map(|key| line(key, 600 * key)).collect();
    let flood = |key: u64| line(1_000 + key, 60_000 + key / 100);
    let flood: String =
        (0..100_000).map(|key| flood(key) + &flood(key.saturating_sub(500))).collect();
    let flags = ["dedup", "--within", "1h", "--error", "0.1%", "--shorten-at", "100kB", "-k", "k"];
    let flags =
        [&flags[..], &["--time-key", "/t", "--time-unit", "ms", "--state", &state]].concat();
    assert_eq!(lately(&flags, calm.as_bytes()).ended(0).1, "");
    let figures = [&flags[..], &["--stats-json", &json]].concat();
    let (printed, told) = lately(&figures, flood.as_bytes()).ended(0);
    assert!(
        told.contains("more came than fits, so instead of the last 60m it remembered "),
        "{told}"
    );
    let printed = printed.iter().filter(|&&byte| byte == b'\n').count();
    // Each once, but for the error, and but for those that came when the window was first cut.
    assert!((99_800..=100_200).contains(&printed), "{printed}");
    let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let least = figures["remembered_least"].as_u64().unwrap();
    assert!(least < 1_000 && figures["filter_bytes"].as_u64().unwrap() < 101_000);
    assert!(figures["remembers"].as_u64().unwrap() >= least, "{figures}");
    let shown = lately(&["inspect", &state], b"").text();
    assert!(shown.contains("remembers") && shown.contains("shortening"), "{shown}");
    // An hour later it remembers an hour again, and is silent.
    let later = lately(&flags, line(5, 4_000_000).as_bytes()).ended(0);
    assert_eq!(later, (line(5, 4_000_000).into_bytes(), String::new()));
    let other = lately(&["dedup", "--within", "1h", "--state", &state, "-k", "k"], b"").failure();
    assert!(other.contains("window is the last 60m, shorter beyond 97.7KiB there"), "{other}");
    let planned =
        lately(&["plan", "--within", "1h", "--error", "0.1%", "--shorten-at", "1MiB"], b"");
    assert!(planned.text().contains("in at most 1.0MiB, or less of it while more come than fit"));
    let refused = lately(&["plan", "--last", "5", "--shorten-at", "1MB"], b"").failure();
    assert!(refused.contains("left out but for a window by time"), "{refused}");
}
