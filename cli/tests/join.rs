//! `lately join`, against an exact join.

use std::collections::BTreeMap;

use crate::command::{Folder, lately};
use serde_json::Value;
use testkit::streams;

fn rows(keys: &[u64]) -> String {
    let row = |(number, key): (usize, &u64)| {
        format!("{{\"number\":{number},\"user\":\"user-{key:x}\",\"text\":\"{:090}\"}}\n", number)
    };
    keys.iter().enumerate().map(row).collect()
}

fn counts(keys: &[u64]) -> BTreeMap<u64, u64> {
    keys.iter().fold(BTreeMap::new(), |mut counts, &key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

/// Whatever the threshold and the error, the result is the exact one, and the figures are true.
#[test]
fn the_result_is_exact() {
    let folder = Folder::new("join-exact");
    let here: Vec<u64> = streams::uniform(5_000, 1).take(20_000).collect();
    let common = streams::uniform(5_000, 1).skip(50_000).take(500);
    let there: Vec<u64> = common.chain(streams::distinct(9).take(15_000)).collect();
    let one = folder.file("one", rows(&here));
    let two = folder.file("two", rows(&there));
    let smaller = rows(&there).len() as u64;
    let (ours, theirs) = (counts(&here), counts(&there));
    let figures = folder.path("figures");
    for having in [1, 5, 12, 1_000] {
        for error in ["30%", "1%", "0.001%"] {
            let text = lately(
                &[
                    "join",
                    "--key",
                    "/user",
                    "--having",
                    &having.to_string(),
                    "--error",
                    error,
                    "--stats-json",
                    &figures,
                    &one,
                    &two,
                ],
                b"",
            )
            .text();
            let mut expected: Vec<(u64, String)> = ours
                .iter()
                .map(|(key, rows)| (rows * theirs.get(key).unwrap_or(&0), format!("user-{key:x}")))
                .filter(|&(pairs, _)| pairs >= having)
                .collect();
            expected.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            let expected: String =
                expected.iter().map(|(pairs, key)| format!("{pairs}\t{key}\n")).collect();
            assert_eq!(text, expected, "{having} {error}");

            let figures: Value = serde_json::from_slice(&std::fs::read(&figures).unwrap()).unwrap();
            assert_eq!(figures["rows_here"], 20_000);
            assert_eq!(figures["rows_there"], 15_500);
            assert_eq!(figures["result_keys"], expected.lines().count());
            assert_eq!(figures["bytes_of_rows"], smaller);
            assert_eq!(figures["verified"], true);
            let number = |name: &str| figures[name].as_f64().expect(name);
            let sent = ["bytes_filter", "bytes_candidates", "bytes_counts"].map(number);
            assert_eq!(sent.iter().sum::<f64>(), number("bytes_exchanged"));
            assert!(number("candidates") >= number("result_keys"));
            if error == "1%" {
                // One in a hundred of 5000 keys: more than twice that once in 1e9 runs.
                assert!(number("false_positive_share") < 0.02, "{figures}");
                assert!(number("share_of_rows") < 0.05, "{figures}");
            }
        }
    }
}

#[test]
fn a_sketch_stands_for_a_file_elsewhere() {
    let folder = Folder::new("join-sketch");
    let here: Vec<u64> = streams::uniform(300, 1).take(2_000).collect();
    let there: Vec<u64> = streams::uniform(600, 1).skip(9_000).take(1_000).collect();
    let one = folder.file("one", rows(&here));
    let two = folder.file("two", rows(&there));
    let sketch = folder.path("sketch");
    let build =
        ["sketch", "build", "--expected", "1k", "--error", "1e-9", "--seed", "4", "-k", "user"];
    lately(&[&build[..], &["-o", &sketch, &two]].concat(), b"").success();
    for having in ["1", "20"] {
        let join = |there: &str| {
            lately(&["join", "-k", "user", "--having", having, &one, there], b"").text()
        };
        assert_eq!(join(&sketch), join(&two), "an exact sketch");
    }
    let (_, report) = lately(&["join", "-k", "user", "--stats", &one, &sketch], b"").ended(0);
    assert!(report.contains("a sketch there") && report.contains("not verified"), "{report}");
}

#[test]
fn keys_in_different_places() {
    let folder = Folder::new("join-places");
    let json = folder.file("json", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n{}\n");
    let csv = folder.file("csv", "n,who\n1,a\n2,A\n3,c\n");
    let text = folder.file("text", "a\nb\n");
    let join = |flags: &[&str]| lately(&[&["join"], flags].concat(), b"").text();
    assert_eq!(join(&["-k", "id", "--other-column", "who", &json, &csv]), "2\ta\n");
    assert_eq!(join(&["-k", "id", "--other-column", "2", "-i", &json, &csv]), "4\ta\n");
    assert_eq!(join(&["-c", "who", "--other-key", "id", &csv, &json]), "2\ta\n");
    assert_eq!(join(&[&text, &text]), "1\ta\n1\tb\n");
    assert_eq!(
        join(&["--json", "-k", "id", "--other-column", "who", &json, &csv]),
        "{\"count\":2,\"here\":2,\"key\":\"a\",\"there\":1}\n"
    );
    let flags = ["join", "-k", "id", "-k", "x", "--other-key", "id", &json, &json];
    assert!(lately(&flags, b"").failure().contains("keys of 2 and of 1 parts never meet"));
}

#[test]
fn figures_for_people_and_exit_codes() {
    let folder = Folder::new("join-figures");
    let one = folder.file("one", "a\na\nb\n");
    let two = folder.file("two", "a\nc\n");
    let (printed, report) = lately(&["join", "--stats", &one, &two], b"").ended(0);
    assert_eq!(printed, b"2\ta\n");
    for part in ["rows        3 here, 2 there", "result      1 keys, 2 rows", "estimate    2 rows"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(report.contains("exchanged   ") && report.contains("of the smaller file"), "{report}");
    assert_eq!(lately(&["join", "--having", "3", &one, &two], b"").ended(0).0, b"");
    assert_eq!(
        lately(&["join", "--having", "3", "--exit-status", &one, &two], b"").ended(1).0,
        b""
    );
    let empty = folder.file("empty", "");
    assert_eq!(lately(&["join", &one, &empty], b"").text(), "");
}

#[test]
fn bad_input_says_what_to_do() {
    let folder = Folder::new("join-bad");
    let one = folder.file("one", "a\n");
    for (flags, reason) in [
        (&["-", &one][..], "save standard input to a file first"),
        (&[&one, "-"], "save standard input to a file first"),
        (&[&one], "<B>"),
        (&[&one, "none"], "cannot open none"),
        (&["none", &one], "cannot open none"),
        (&["--having", "0", &one, &one], "number of items is 0"),
        (&["--error", "2", &one, &one], "error rate is 2"),
        (&["-k", "id", "--missing", "fail", &one, &one], "record 1 is not JSON; correct it"),
        (&["--other-key", "a", "--other-column", "b", &one, &one], "cannot be used with"),
    ] {
        let complaint = lately(&[&["join"], flags].concat(), b"").failure();
        assert!(complaint.contains(reason), "{flags:?}: {complaint}");
    }
    let damaged = folder.file("damaged", b"\x89LATLY\r\nand so on");
    let complaint = lately(&["join", &one, &damaged], b"").failure();
    assert!(complaint.contains("cannot use"), "{complaint}");
}
