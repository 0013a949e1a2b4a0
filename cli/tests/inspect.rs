//! `lately inspect`, `lately completions` and `lately man`.

use std::fs;

use crate::command::{Folder, lately, windows};
use serde_json::Value;

#[test]
fn states_of_every_window() {
    for window in windows() {
        let folder = Folder::new(&format!("inspect{}", window[0]));
        let state = folder.path("state");
        let flags = ["dedup", "--seed", "7", "-k", "id", "--state", &state];
        lately(&[&flags[..], &window[..]].concat(), b"{\"id\":1}\n{\"id\":1}\n").success();
        let json = lately(&["inspect", "--json", &state], b"").success();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let text = lately(&["inspect", &state], b"").text();
        assert_eq!(json["file_bytes"], fs::metadata(&state).unwrap().len());
        assert_eq!(json["seed"], 7);
        assert_eq!(json["hashing"], "fast");
        assert_eq!(json["note"]["keys"], "/id");
        assert_eq!(json["note"]["records"], 2);
        assert!(json["filter_bytes"].as_u64().unwrap() > 0);
        let promised = json["false_positive_rate"].as_f64().unwrap();
        assert!(promised <= 0.001 && promised > 0.0, "{json}");
        assert!(json["estimated_false_positive_rate"].as_f64().unwrap() <= promised, "{json}");
        for name in ["structure", "promise"] {
            assert!(text.contains(json[name].as_str().unwrap()), "{text}");
        }
        for (name, _) in json["parameters"].as_object().unwrap() {
            let name = name.replace('_', " ");
            assert!(text.lines().any(|line| line.starts_with(&name)), "{name}: {text}");
        }
        assert!(text.contains("/id") && text.contains("7 (fast hashing)"), "{text}");
    }
}

#[test]
fn any_snapshot_and_nothing_else() {
    let folder = Folder::new("inspect-any");
    let keyed = lately::Lately::last(1000).keyed([7; 16]).build().unwrap();
    let file = folder.file("snapshot", keyed.save());
    let text = lately(&["inspect", &file], b"").text();
    assert!(text.contains("secret (keyed hashing)"), "{text}");
    let json = lately(&["inspect", "--json", &file], b"").success();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&json["seed"], &json["note"]), (&Value::Null, &Value::Null));

    let file = folder.file("text", "hello");
    let complaint = lately(&["inspect", &file], b"").failure();
    assert!(complaint.contains("not a lately snapshot"), "{complaint}");
    let complaint = lately(&["inspect", &folder.path("none")], b"").failure();
    assert!(complaint.contains("cannot open"), "{complaint}");
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lately(&["completions", shell], b"").text();
        for word in ["dedup", "last", "inspect", "no-refresh"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert!(lately(&["completions", "csh"], b"").failure().contains("possible values: bash"));
}

#[test]
fn manual_pages() {
    let page = lately(&["man"], b"").text();
    assert!(page.contains(".TH lately 1") && page.contains("dedup"), "{page}");
    let folder = Folder::new("man");
    let pages = folder.path("pages");
    assert_eq!(lately(&["man", "--folder", &pages], b"").text(), "");
    let page = fs::read_to_string(folder.path("pages/lately-dedup.1")).unwrap();
    assert!(page.contains("\\-\\-no\\-refresh") && page.contains("Examples"), "{page}");
    assert!(fs::exists(folder.path("pages/lately.1")).unwrap());
    let file = folder.file("file", "");
    assert!(lately(&["man", "--folder", &file], b"").failure().contains("cannot write to"));
}
