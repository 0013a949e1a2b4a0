//! `lately sketch`: built on many machines, added, multiplied, asked.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use crate::command::{Folder, lately, run};
use serde_json::Value;
use testkit::streams;

fn lines(keys: &[u64]) -> Vec<u8> {
    keys.iter().flat_map(|key| format!("{key:x}\n").into_bytes()).collect()
}

/// So exact that no mistake is expected in any test.
const EXACT: [&str; 4] = ["--expected", "5k", "--error", "1e-9"];

/// A sketch of these lines.
fn build(folder: &Folder, name: &str, flags: &[&str], input: &[u8]) -> String {
    let path = folder.path(name);
    let command = ["sketch", "build", "-o", &path];
    assert_eq!(lately(&[&command, flags].concat(), input).text(), "");
    path
}

/// The counts of these keys, in order.
fn ask(sketch: &str, keys: &[u64]) -> Vec<u64> {
    let text = lately(&["sketch", "query", sketch], &lines(keys)).text();
    let count = |(line, key): (&str, &u64)| {
        let (count, found) = line.split_once('\t').unwrap();
        assert_eq!(found, format!("{key:x}"));
        count.parse().unwrap()
    };
    assert_eq!(text.lines().count(), keys.len());
    text.lines().zip(keys).map(count).collect()
}

fn count_of(keys: &[u64], key: u64) -> u64 {
    keys.iter().filter(|&&found| found == key).count() as u64
}

#[test]
fn sums_and_products_count_exactly() {
    for structure in ["spectral", "spectral-blocked"] {
        let folder = Folder::new(&format!("sketch-{structure}"));
        let keys: Vec<u64> = streams::zipf(800, 0.8, 5).take(6_000).collect();
        let (left, right) = keys.split_at(2_000);
        let flags = [&EXACT[..], &["--structure", structure]].concat();
        let flags = if structure == "spectral" { &flags[..] } else { &flags[..2] };
        let [one, two] = [("one", left), ("two", right)]
            .map(|(name, keys)| build(&folder, name, flags, &lines(keys)));
        let sum = folder.path("sum");
        lately(&["sketch", "merge", "--output", &sum, &one, &two], b"").success();
        let product = folder.path("product");
        lately(&["sketch", "multiply", "--output", &product, &one, &two], b"").success();
        let mut asked: Vec<u64> = keys.clone();
        asked.sort_unstable();
        asked.dedup();
        asked.extend(streams::absent(5).take(100));
        let expected = |of: fn(u64, u64) -> u64| -> Vec<u64> {
            asked.iter().map(|&key| of(count_of(left, key), count_of(right, key))).collect()
        };
        let close = |found: Vec<u64>, expected: Vec<u64>| {
            assert!(found.iter().zip(&expected).all(|(found, truth)| found >= truth));
            let wrong = found.iter().zip(&expected).filter(|(found, truth)| found > truth).count();
            // One line per key errs more often; 0.1% of 900 keys are not 20 once in 1e18 runs.
            assert!(wrong < if structure == "spectral" { 1 } else { 20 }, "{wrong}");
        };
        close(ask(&one, &asked), expected(|left, _| left));
        close(ask(&sum, &asked), expected(|left, right| left + right));
        close(ask(&product, &asked), expected(|left, right| left * right));

        // The library reads what the command wrote.
        let opened = lately::Counter::open(&fs::read(&sum).unwrap()).unwrap();
        assert!(opened.count(format!("{:x}", keys[0])) >= count_of(&keys, keys[0]));
    }
}

#[test]
fn questions_of_all_kinds() {
    let folder = Folder::new("sketch-questions");
    let json = "{\"u\":\"a\",\"n\":1}\n{\"u\":\"b\",\"n\":2}\n{\"u\":\"a\",\"n\":1}\nx\n";
    let users = build(&folder, "users", &["--expected", "10", "-k", "u"], json.as_bytes());
    let query = |flags: &[&str], input: &str| {
        lately(&[&["sketch", "query"], flags].concat(), input.as_bytes()).text()
    };
    // The same key from a line, from JSON, from a row.
    assert_eq!(query(&[&users], "b\na\nc\nb\n"), "1\tb\n2\ta\n0\tc\n1\tb\n");
    assert_eq!(query(&[&users, "-"], "a"), "2\ta\n");
    assert_eq!(query(&["-k", "u", &users], json), "2\ta\n1\tb\n2\ta\n");
    assert_eq!(query(&["-c", "user", &users], "id,user\n1,\"a\"\n"), "2\ta\n");
    assert_eq!(query(&["--above", "2", &users], "b\na\nc\n"), "2\ta\n");
    assert_eq!(query(&["--json", &users], "a\n"), "{\"count\":2,\"key\":\"a\"}\n");
    assert_eq!(
        query(&["--sum", &users], "b\na\nc\nb\n"),
        "keys     4\nseen     3\nsum      4\nmean     1.000\nleast    0\nlargest  2\n"
    );
    let sums: Value = serde_json::from_str(&query(&["--sum", "--json", &users], "a\nb\n")).unwrap();
    assert_eq!((&sums["sum"], &sums["mean"]), (&3.into(), &1.5.into()));
    let none: Value = serde_json::from_str(&query(&["--sum", "--json", &users], "")).unwrap();
    assert_eq!((&none["keys"], &none["mean"]), (&0.into(), &Value::Null));

    let both = build(&folder, "both", &["--expected", "10", "-k", "u", "-k", "n"], json.as_bytes());
    assert_eq!(query(&["-k", "u", "-k", "n", &both], json).lines().next(), Some("2\ta\t1"));
}

#[test]
fn what_is_told_of_a_sketch() {
    let folder = Folder::new("sketch-info");
    let flags = ["--expected", "1000", "--error", "1%", "--seed", "9", "--removable"];
    let sketch = build(&folder, "one", &flags, b"a\nb\na\n");
    let text = lately(&["sketch", "info", &sketch], b"").text();
    for part in ["spectral", "minimum-selection", "1000", "9 (fast hashing)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = lately(&["sketch", "info", "--json", &sketch], b"").success();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["parameters"]["items"], 1000);
    assert_eq!(json["file_bytes"], fs::metadata(&sketch).unwrap().len());
    // What the command made can be taken back from by a program.
    let mut opened = lately::Counter::open(&fs::read(&sketch).unwrap()).unwrap();
    assert_eq!(opened.take_back("a", 1).unwrap(), 1);
}

#[test]
fn sketches_that_do_not_fit_are_refused() {
    let folder = Folder::new("sketch-different");
    let one = build(&folder, "one", &["--expected", "100"], b"a\n");
    let before = fs::read(&one).unwrap();
    for (name, flags, difference) in [
        ("seed", &["--expected", "100", "--seed", "5"][..], "seed (0 and 5)"),
        ("items", &["--expected", "200"], "items (100 and 200)"),
        (
            "rule",
            &["--expected", "100", "--removable"],
            "rule (minimal-increase and minimum-selection)",
        ),
        (
            "structure",
            &["--expected", "100", "--structure", "spectral-blocked"],
            "structure (spectral and spectral-blocked)",
        ),
    ] {
        let other = build(&folder, name, flags, b"a\n");
        for deed in ["merge", "multiply"] {
            let complaint = lately(&["sketch", deed, "-o", &one, &one, &other], b"").failure();
            assert!(complaint.contains(difference), "{complaint}");
            assert!(complaint.contains("make both with the same options"), "{complaint}");
            assert_eq!(fs::read(&one).unwrap(), before, "nothing is lost");
        }
    }
    let complaint = lately(&["sketch", "build", "-o", &one], b"a\n").failure();
    assert!(complaint.contains("--expected 1M"), "{complaint}");
    let complaint = lately(&["sketch", "query", &folder.file("text", "hello")], b"").failure();
    assert!(complaint.contains("not a lately snapshot"), "{complaint}");
    let state = folder.path("state");
    lately(&["dedup", "--last", "9", "--state", &state], b"a\n").success();
    let complaint = lately(&["sketch", "info", &state], b"").failure();
    assert!(complaint.contains("does not count"), "{complaint}");
    let complaint = lately(&["sketch", "merge", "-o", &one], b"").failure();
    assert!(complaint.contains("<SKETCHES>"), "{complaint}");
}

/// An output that cannot be written leaves what was there, and nothing half-written beside it.
#[test]
fn files_are_replaced_whole_or_not_at_all() {
    let folder = Folder::new("sketch-whole");
    let sketch = build(&folder, "one", &["--expected", "100"], b"a\n");
    let before = fs::read(&sketch).unwrap();
    let flags = ["sketch", "build", "--expected", "100", "-o", &sketch];
    let complaint = lately(&[&flags[..], &["-k", "id", "--missing", "fail"]].concat(), b"{}\n");
    assert!(complaint.failure().contains("record 1 has no key"));
    let complaint = lately(&[&flags[..], &[&folder.path("none")]].concat(), b"").failure();
    assert!(complaint.contains("cannot open"), "{complaint}");
    assert_eq!(fs::read(&sketch).unwrap(), before);
    let nowhere = folder.path("nowhere/one");
    let complaint =
        lately(&["sketch", "build", "--expected", "9", "-o", &nowhere], b"a\n").failure();
    assert!(complaint.contains("cannot save"), "{complaint}");
    assert!(!fs::exists(folder.path("one.tmp")).unwrap());

    // Itself and another: what is there is added to.
    lately(&["sketch", "merge", "-o", &sketch, &sketch, &sketch], b"").success();
    assert_eq!(lately(&["sketch", "query", &sketch], b"a\n").text(), "2\ta\n");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written_to() {
    let flags = ["sketch", "build", "--expected", "100", "-o"];
    let sketch = lately(&[&flags[..], &["-"]].concat(), b"a\na\n").success();
    assert_eq!(lately::Counter::open(&sketch).unwrap().count("a"), 2);
    assert_eq!(lately(&[&flags[..], &["/dev/null"]].concat(), b"a\n").success(), b"");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let folder = Folder::new("sketch-link");
    let file = folder.file("file", "");
    std::os::unix::fs::symlink(&file, folder.path("link")).unwrap();
    lately(&[&flags[..], &[&folder.path("link")]].concat(), b"a\n").success();
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert!(fs::metadata(file).unwrap().len() > 0);
}

#[test]
fn settings_from_the_environment() {
    let folder = Folder::new("sketch-environment");
    let path = folder.path("one");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lately"));
    let command = command.args(["sketch", "build", "-o", &path]);
    run(command.envs([("LATELY_EXPECTED", "77"), ("LATELY_SEED", "3")]), b"a\n").success();
    let json = lately(&["sketch", "info", "--json", &path], b"").success();
    let json: HashMap<String, Value> = serde_json::from_slice(&json).unwrap();
    assert_eq!((&json["seed"], &json["parameters"]["items"]), (&3.into(), &77.into()));
}
