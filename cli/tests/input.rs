//! Where records come from: compressed files, and files that grow.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::command::{Folder, lately, windows};

/// Two members each, as concatenated files are common.
fn compressed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (one, two) = text.split_at(text.len() / 2);
    let both = |compress: &dyn Fn(&[u8]) -> Vec<u8>| [compress(one), compress(two)].concat();
    vec![
        (
            "gzip",
            both(&|part| {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(part).unwrap();
                encoder.finish().unwrap()
            }),
        ),
        ("zstd", both(&|part| zstd::encode_all(part, 1).unwrap())),
        (
            "bzip2",
            both(&|part| {
                let mut encoder =
                    bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                encoder.write_all(part).unwrap();
                encoder.finish().unwrap()
            }),
        ),
        (
            "xz",
            both(&|part| {
                let options = lzma_rust2::XzOptions::with_preset(0);
                let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
                encoder.write_all(part).unwrap();
                encoder.finish().unwrap()
            }),
        ),
    ]
}

fn many_lines() -> String {
    (0..40_000).map(|line| format!("line {}\n", line % 30_000)).collect()
}

#[test]
fn compressed_files_are_known_by_their_content() {
    let folder = Folder::new("compressed");
    let input = many_lines();
    let expected: String = input.split_inclusive('\n').take(30_000).collect();
    for (kind, bytes) in compressed(input.as_bytes()) {
        let file = folder.file("no-extension", &bytes);
        for window in windows() {
            let dedup = [&["dedup"], &window[..]].concat();
            let from_file = lately(&[&dedup[..], &[&file]].concat(), b"").text();
            assert!(from_file == expected, "{kind}");
            assert!(lately(&dedup, &bytes).text() == expected, "{kind} from a pipe");
        }
        let plain = folder.file("plain", "line 5\nnew\n");
        let printed = lately(&["dedup", "--last", "99999", "--error", "1e-9", &file, &plain], b"");
        let printed = printed.text();
        assert!(printed == expected.clone() + "new\n", "{kind} before a plain one");
    }
}

#[test]
fn compressed_files_that_are_damaged() {
    let folder = Folder::new("compressed-damaged");
    for (kind, mut bytes) in compressed(many_lines().as_bytes()) {
        bytes.truncate(bytes.len() * 2 / 3);
        let file = folder.file("cut", &bytes);
        let (printed, complaint) = lately(&["dedup", "--last", "99999", &file], b"").ended(2);
        assert!(complaint.starts_with(&format!("lately: cannot read {file}: ")), "{complaint}");
        assert!(printed.starts_with(b"line 0\nline 1\n"), "{kind}: what could be read is printed");

        let file = folder.file("head", &bytes[..6]);
        let complaint = lately(&["dedup", "--last", "9", &file], b"").failure();
        assert!(complaint.contains("cannot read"), "{kind}: {complaint}");
    }
}

/// Letters with which compressed files begin are letters, too.
#[test]
fn text_that_begins_like_a_compressed_file() {
    for text in [
        &b"BZh\n"[..],
        b"BZhang\nBZh9\n",
        b"BZh91AY\n",
        b"BZh",
        b"\x1f\x8b text\n",
        b"\x1f\x8b\x08text\n",
        b"\x28\xb5\x2f\xfdhello\n",
        b"\xfd7zXZ\0text\n",
    ] {
        assert_eq!(lately(&["dedup", "--last", "9"], text).success(), text);
    }
    // Nothing is not text.
    let empty = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    assert_eq!(lately(&["dedup", "--last", "9"], &empty.finish().unwrap()).text(), "");
}

/// What could be read of a damaged stream is printed and remembered, and all else is an error.
#[test]
fn damaged_pipes_are_errors_and_what_came_before_is_remembered() {
    let folder = Folder::new("damaged-pipes");
    let state = folder.path("state");
    let flags = ["dedup", "--error", "1e-9", "--state", &state];
    for (kind, bytes) in compressed(many_lines().as_bytes()) {
        let _ = fs::remove_file(&state);
        let (printed, complaint) = lately(&flags, &bytes[..bytes.len() * 2 / 3]).ended(2);
        assert!(complaint.starts_with("lately: cannot read standard input: "), "{complaint}");
        assert!(printed.starts_with(b"line 0\nline 1\n"), "{kind}");
        let whole = printed.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!(lately(&flags, &printed[..whole]).text(), "", "{kind}");
    }
}

/// A file that grows, is replaced, is begun anew, and one that is not there at first.
#[test]
fn followed_files() {
    let folder = Folder::new("followed");
    let log = folder.file("log", "one\ntwo\none\nhal");
    let other = folder.path("other");
    let mut child = Command::new(env!("CARGO_BIN_EXE_lately"))
        .args(["dedup", "--last", "100", "--follow", &log, &other])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut expect = |line: &str| assert_eq!(lines.next().as_deref(), Some(line));
    let append = |path: &str, text: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    expect("one");
    expect("two");
    append(&log, "f\ntwo\nthree\n");
    expect("half");
    expect("three");
    fs::write(&other, "other\nthree\n").unwrap();
    expect("other");

    // Rotated: the last line of the old file has no end, and is a record all the same.
    append(&log, "last of the old");
    fs::rename(&log, folder.path("log.1")).unwrap();
    fs::write(&log, "one\nfirst of the new\n").unwrap();
    expect("last of the old");
    expect("first of the new");

    // Begun anew, shorter than it was.
    fs::write(&log, "anew\n").unwrap();
    expect("anew");
    append(&other, "from the other\n");
    expect("from the other");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What cannot grow is read once, and then there is nothing left to follow.
#[test]
fn following_a_pipe_ends_with_it() {
    let printed = lately(&["dedup", "--last", "100", "--follow"], b"a\na\nb").text();
    assert_eq!(printed, "a\nb");
}

#[test]
fn many_small_files() {
    let folder = Folder::new("many-small-files");
    let files: Vec<_> =
        (0..500).map(|file| folder.file(&file.to_string(), format!("{}\n", file % 100))).collect();
    let mut flags = vec!["dedup", "--last", "1000"];
    flags.extend(files.iter().map(String::as_str));
    let expected: String = (0..100).map(|line| format!("{line}\n")).collect();
    assert_eq!(lately(&flags, b"").text(), expected);
}
