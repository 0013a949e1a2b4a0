//! Times that are wrong: no single record spoils a window.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::command::{Folder, lately};
use serde_json::Value;

const FLAGS: [&str; 7] = ["dedup", "--within", "10s", "-k", "k", "--time-key", "t"];

/// A thousand events of one key in a thousand windows: all of them pass. `t` is in milliseconds.
fn events() -> Vec<String> {
    (0..1_000)
        .map(|i| format!("{{\"k\":1,\"t\":{}}}\n", 1_442_018_818_000_u64 + 60_000 * i))
        .collect()
}

/// Times that are wrong, the last one by little: two hours after now.
fn wrong() -> Vec<String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let soon = now + Duration::from_secs(7_200);
    let times = ["\"2100-01-01T00:00:00Z\"", "\"9999-12-30T00:00:00Z\"", "1442018818000000"];
    let times = times.into_iter().map(str::to_owned).chain([soon.as_millis().to_string()]);
    times.map(|time| format!("{{\"k\":2,\"t\":{time}}}\n")).collect()
}

#[test]
fn one_wrong_time_spoils_nothing() {
    let folder = Folder::new("ahead-one");
    let json = folder.path("stats.json");
    let flags = [&FLAGS[..], &["--time-unit", "ms", "--stats-json", &json]].concat();
    for wrong in wrong() {
        for place in [0, 500, 1_000] {
            let mut events = events();
            events.insert(place, wrong.clone());
            let (printed, complaint) = lately(&flags, events.concat().as_bytes()).ended(0);
            assert_eq!(String::from_utf8(printed).unwrap(), events.concat(), "{wrong}");
            assert!(complaint.starts_with("lately: 1 record tells a time too far "), "{complaint}");
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
            let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
            let found = ["too_far_ahead", "missing", "no_time", "late", "duplicates"];
            assert_eq!(found.map(|name| figures[name].as_u64().unwrap()), [1, 1, 0, 0, 0]);
        }
    }
}

#[test]
fn such_records_are_like_those_without_a_time() {
    let [wrong, right] = ["t,k\n2100-01-01T00:00:00Z,a\n", "2015-09-12T00:46:58Z,a\n"];
    let rows = [wrong, right].concat();
    let flags = ["dedup", "--within", "10s", "-c", "k", "--time-column", "t", "--missing"];
    let run = |missing| lately(&[&flags[..], &[missing]].concat(), rows.as_bytes());
    let (printed, complaint) = run("pass").ended(0);
    assert_eq!(printed, rows.as_bytes());
    assert_eq!(
        complaint,
        "lately: 1 record tells a time too far ahead of this machine's clock, the first \
         2100-01-01T00:00:00Z; treated like records without a time (--missing); if it is right, allow \
         it with --max-ahead\n"
    );
    let (printed, complaint) = run("drop").ended(0);
    assert_eq!(printed, ["t,k\n", right].concat().as_bytes());
    assert!(complaint.contains("the first 2100-01-01T00:00:00Z; "), "{complaint}");
    let complaint = run("fail").failure();
    assert!(
        complaint.contains("record 2 tells 2100-01-01T00:00:00Z, too far ahead"),
        "{complaint}"
    );
}

#[test]
fn the_limit_can_be_set() {
    for wrong in wrong() {
        let twice = wrong.repeat(2);
        let flags = |most| [&FLAGS[..], &["--time-unit", "ms", "--max-ahead", most]].concat();
        assert_eq!(lately(&flags("any"), twice.as_bytes()).text(), wrong);
        // If none is believed, nothing was done of what was asked for.
        let (printed, complaint) = lately(&flags("1s"), twice.as_bytes()).ended(2);
        assert_eq!(printed, twice.as_bytes());
        assert!(complaint.contains("none of 2 records had a time that is believed"), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        let flags = [&flags("1s")[..], &["--missing", "pass"]].concat();
        let (printed, _) = lately(&flags, twice.as_bytes()).ended(0);
        assert_eq!(printed, twice.as_bytes());
    }
    let soon = wrong().pop().unwrap();
    let flags = [&FLAGS[..], &["--max-ahead", "3h"]].concat();
    assert_eq!(lately(&flags, soon.repeat(2).as_bytes()).text(), soon);
    let complaint = lately(&[&FLAGS[..], &["--max-ahead", "3"]].concat(), b"").failure();
    assert!(complaint.contains("a number with a unit"), "{complaint}");
    let complaint = lately(&["dedup", "--last", "5", "--max-ahead", "3h"], b"").failure();
    assert!(complaint.contains("cannot be used with '--max-ahead"), "{complaint}");
}

#[test]
fn counts_are_not_spoilt_either() {
    let flags = ["count", "--within", "1h", "-k", "k", "--time-key", "t"];
    let mut events: Vec<String> =
        (0..10).map(|i| format!("{{\"k\":1,\"t\":{}}}\n", 1_442_018_818 + i)).collect();
    events.insert(5, "{\"k\":1,\"t\":\"2100-01-01T00:00:00Z\"}\n".to_owned());
    let (printed, complaint) = lately(&flags, events.concat().as_bytes()).ended(0);
    assert_eq!(printed, b"10\t1\n");
    assert!(complaint.contains("the first 2100-01-01T00:00:00Z; "), "{complaint}");
}

/// A state whose clock was moved ahead says so, and its clock can be set back.
#[test]
fn a_spoilt_state_says_so_and_is_set_right() {
    let folder = Folder::new("ahead-state");
    let state = folder.path("state");
    let flags = [&FLAGS[..], &["--state", &state]].concat();
    let wrong = "{\"k\":2,\"t\":\"2100-01-01T00:00:00Z\"}\n";
    let spoil = || lately(&[&flags[..], &["--max-ahead", "any"]].concat(), wrong.as_bytes()).text();
    spoil();
    let shown = lately(&["inspect", &state], b"").text();
    assert!(shown.contains("clock  "), "{shown}");
    assert!(shown.contains("  2100-01-01T00:00:00Z, "), "{shown}");
    assert!(shown.contains("w ahead of this machine's\n"), "{shown}");
    let shown: Value =
        serde_json::from_str(&lately(&["inspect", "--json", &state], b"").text()).unwrap();
    assert_eq!(shown["clock"], "2100-01-01T00:00:00Z");

    let before = fs::read(&state).unwrap();
    let complaint = lately(&flags, events().concat().as_bytes()).failure();
    assert!(complaint.contains("its clock stands at 2100-01-01T00:00:00Z, "), "{complaint}");
    assert!(complaint.contains("(--turn-back now)"), "{complaint}");
    assert_eq!(fs::read(&state).unwrap(), before, "nothing was changed");

    // What it remembers stays, and leaves like everything else. Without a record, too.
    let start = "2015-09-12T00:46:58Z";
    let back = [&flags[..], &["--turn-back", start]].concat();
    assert_eq!(lately(&back, b"").text(), "");
    let at = |second| format!("{{\"k\":2,\"t\":\"2015-09-12T00:46:{second}Z\"}}\n");
    assert_eq!(lately(&flags, at(58).as_bytes()).text(), "");
    assert_eq!(lately(&flags, events().concat().as_bytes()).text(), events().concat());

    // Now is a moment, too, and nothing is set forward.
    spoil();
    assert_eq!(lately(&[&flags[..], &["--turn-back", "now"]].concat(), b"").text(), "");
    let shown = lately(&["inspect", &state], b"").text();
    assert!(!shown.contains("2100-") && !shown.contains("ahead of"), "{shown}");
    assert_eq!(
        lately(&[&flags[..], &["--turn-back", "2099-01-01T00:00:00Z"]].concat(), b"").text(),
        ""
    );
    let complaint = lately(&[&flags[..], &["--turn-back", "soon"]].concat(), b"").failure();
    assert!(complaint.contains("it is no moment; write `now`"), "{complaint}");
}
