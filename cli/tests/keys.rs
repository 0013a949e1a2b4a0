//! What makes a record the same as another: JSON values, columns, folding; and records without it.

use crate::command::{Folder, lately, windows};

/// Deduplicates with these flags, under every kind of window.
#[track_caller]
fn assert_dedup(flags: &[&str], input: &str, expected: &str) {
    for window in windows() {
        let run = lately(&[&["dedup"], &window[..], flags].concat(), input.as_bytes());
        assert_eq!(run.text(), expected, "{window:?} {flags:?}");
    }
}

#[test]
fn json_values() {
    let input = r#"{"id":"a","user":{"id":1}}
{"user":{"id":1},"id":"b"}
 {"x":[{"id":"z"}], "id" : "a" }
{"id":"\u0061","user":{"id":2}}
{"id":"c","user":{"name":"id","id":1}}
"#;
    let lines: Vec<_> = input.split_inclusive('\n').collect();
    let pick = |numbers: &[usize]| numbers.iter().map(|&number| lines[number]).collect::<String>();
    assert_dedup(&["--key", "/id"], input, &pick(&[0, 1, 4]));
    assert_dedup(&["--key", "id"], input, &pick(&[0, 1, 4]));
    assert_dedup(&["--key", "/user/id"], input, &pick(&[0, 2, 3]));
    assert_dedup(&["-k", ".user.id", "-k", "id"], input, &pick(&[0, 1, 2, 3, 4]));
    assert_dedup(&["-k", "/x/0/id", "--missing", "pass"], input, input);
    assert_dedup(&["-k", "$.x[0].id", "--missing", "pass"], input, input);
}

/// The same key, whatever it came in.
#[test]
fn spellings_of_one_value() {
    let input =
        "{\"k\":\"1\"}\n{\"k\":1}\n{\"k\":{\"a\":1,\"b\":[ ]}}\n{\"k\":{ \"b\":[],\"a\":1}}\n";
    assert_dedup(&["-k", "k"], input, "{\"k\":\"1\"}\n{\"k\":{\"a\":1,\"b\":[ ]}}\n");
}

#[test]
fn records_without_a_key() {
    let input =
        "{\"id\":1}\n{\"no\":1}\n{\"id\":1}\nnot json\n{\"id\":null}\n{\"no\":1}\n\n{\"id\":2}\n";
    let keyless = "{\"no\":1}\nnot json\n{\"id\":null}\n{\"no\":1}\n\n";
    let pass = format!("{{\"id\":1}}\n{keyless}{{\"id\":2}}\n");
    let (printed, word) = lately(&["dedup", "-k", "id"], input.as_bytes()).ended(0);
    assert_eq!(String::from_utf8(printed).unwrap(), pass);
    assert_eq!(
        word,
        "lately: 5 of 8 records had no key (/id): record 2 of standard input has no key, only no; \
         --missing says what to do with them\n"
    );
    assert_dedup(&["-k", "id", "--missing", "pass"], input, &pass);
    let few = "{\"id\":1}\n{\"id\":1}\n{\"id\":2}\n{\"no\":1}\nnot json\n{\"id\":2}\n";
    assert_dedup(&["-k", "id"], few, "{\"id\":1}\n{\"id\":2}\n{\"no\":1}\nnot json\n");
    assert_dedup(&["-k", "id", "--missing", "drop"], few, "{\"id\":1}\n{\"id\":2}\n");
    assert_dedup(&["-k", "id", "--duplicates"], few, "{\"id\":1}\n{\"id\":2}\n");
    // Of a key of two parts, both must be there.
    let (printed, word) =
        lately(&["dedup", "-k", "id", "-k", "no", "--missing", "drop"], input.as_bytes()).ended(2);
    assert_eq!(printed, b"");
    assert!(word.starts_with("lately: none of 8 records had a key (/id + /no): "), "{word}");

    for window in windows() {
        let flags = [&["dedup", "-k", "id", "--missing", "fail"], &window[..]].concat();
        let (printed, complaint) = lately(&flags, input.as_bytes()).ended(2);
        assert_eq!(printed, b"{\"id\":1}\n", "what came before is printed");
        assert!(
            complaint.starts_with("lately: standard input: record 2 has no key; "),
            "{complaint}"
        );
        let (_, complaint) = lately(&flags, b"{\"id\":1}\nnot json\n").ended(2);
        assert!(complaint.contains("record 2 is not JSON; "), "{complaint}");
    }
}

/// A key that no record has is a wrong key: all pass, but not without a word.
#[test]
fn keys_that_nothing_has() {
    let zeek = "{\"ts\":1,\"id.orig_h\":\"10.0.0.1\"}\n{\"ts\":2,\"id.orig_h\":\"10.0.0.1\"}\n";
    assert_dedup(&["--key", "id.orig_h"], zeek, "{\"ts\":1,\"id.orig_h\":\"10.0.0.1\"}\n");
    let array = "[{\"id\":1},{\"id\":1}]\n";
    let rows = "a,b\n1,2\n1,2\n";
    for (flags, input, reason) in [
        (
            &["-k", "id.orig"][..],
            zeek,
            "(/id/orig): record 1 of standard input has no key, only id.",
        ),
        (&["-k", "$.id.orig_h"], zeek, "has no key, only id.orig_h, ts"),
        (&["-k", "id"], array, "it is an array; `jq -c '.[]'`"),
        (&["-k", "id"], "[\n{\"id\":1}\n]\n[\n", "it is an array; `jq -c '.[]'`"),
        (&["-k", "id"], "no\nJSON\n", "record 1 of standard input is not JSON"),
        (&["-c", "9"], rows, "none of 3 records had a key (column 9)"),
        (&["--within", "1h", "-k", "ts", "--time-key", "t"], zeek, "had a time that can be read"),
    ] {
        for flags in [flags.to_vec(), [flags, &["--missing", "drop"]].concat()] {
            let (_, complaint) = lately(&[&["dedup"], &flags[..]].concat(), input.as_bytes())
                .ended(if input.starts_with("[\n") { 0 } else { 2 });
            assert!(complaint.contains(reason), "{flags:?}: {complaint}");
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
        let said = [&["dedup"], flags, &["--missing", "pass"]].concat();
        assert_eq!(lately(&said, input.as_bytes()).text(), input, "{flags:?}");
        if !flags.contains(&"--within") && !input.starts_with("[\n") {
            let (printed, _) = lately(&[&["count"], flags].concat(), input.as_bytes()).ended(2);
            assert_eq!(printed, b"");
        }
    }
    // Nothing at all is no reason to complain.
    assert_dedup(&["-k", "id"], "", "");
    assert_dedup(&["-c", "id"], "id\n", "id\n");
}

#[test]
fn columns_by_name_and_number() {
    let input =
        "name,e-mail,age\nAnn,a@x.org,3\n\"Bob, jr\",b@x.org,4\nCid,a@x.org,5\nBob,\"b@x.org\",6\n";
    let expected = "name,e-mail,age\nAnn,a@x.org,3\n\"Bob, jr\",b@x.org,4\n";
    assert_dedup(&["--column", "e-mail"], input, expected);
    assert_dedup(&["--column", "2"], input, expected);
    assert_dedup(&["-c", "2", "--header"], input, expected);
    assert_dedup(
        &["-c", "2", "--duplicates", "--header"],
        input,
        "name,e-mail,age\nCid,a@x.org,5\nBob,\"b@x.org\",6\n",
    );
    assert_dedup(&["-c", "e-mail", "-c", "name"], input, input);
    assert_dedup(&["-c", "e-mail", "--count"], input, "2\n");
}

#[test]
fn rows_with_quotes_line_ends_and_without_a_key() {
    // Line ends inside quotes, both kinds of them, empty rows, empty fields, too few fields.
    let input =
        "id,text\r\n1,\"a\nb\"\"c\"\r\n2,\"a\nb\"\"c\"\r\n\r\n,x\n3\n1,\"x\r\n,\"\n5,\"end\"";
    assert_dedup(
        &["-c", "id"],
        input,
        "id,text\r\n1,\"a\nb\"\"c\"\r\n2,\"a\nb\"\"c\"\r\n\r\n,x\n3\n5,\"end\"",
    );
    assert_dedup(
        &["-c", "text", "--missing", "drop"],
        input,
        "id,text\r\n1,\"a\nb\"\"c\"\r\n,x\n1,\"x\r\n,\"\n5,\"end\"",
    );
    assert_dedup(&["-c", "1", "-d", "tab"], "a\t1\na\t2\na,b\t3\n", "a\t1\na,b\t3\n");
    assert_dedup(&["-c", "1", "-d", ";"], "a;1\na;2\n", "a;1\n");
    assert_dedup(&["-c", "x"], "\u{feff}x,y\n1,2\n1,3\n", "\u{feff}x,y\n1,2\n");
}

/// Rows of all files go under one header, so that it must be the header of all. What came before is
/// printed and remembered.
#[test]
fn files_with_other_headers_are_refused() {
    let folder = Folder::new("headers");
    let one = folder.file("one", "id,x\n1,a\n2,b\n");
    let quoted = folder.file("quoted", "\"id\",\"x\"\r\n2,c\r\n3,d\r\n");
    let two = folder.file("two", "\nx,id\nc,2\nd,3\n");
    let state = folder.path("state");
    let dedup = ["dedup", "-c", "id", "--state", &state];
    let (printed, complaint) = lately(&[&dedup[..], &[&one, &quoted, &two]].concat(), b"").ended(2);
    assert_eq!(String::from_utf8(printed).unwrap(), "id,x\n1,a\n2,b\n3,d\r\n\n");
    let expected =
        format!("lately: {two}: line 2: the columns are x, id, but those of {one} are id, x, ");
    assert!(complaint.starts_with(&expected), "{complaint}");
    assert_eq!(lately(&[&dedup[..], &[&one]].concat(), b"").text(), "id,x\n");
    // By number, too, where the rows are known to have a header.
    let numbered = ["dedup", "-c", "1", "--header", &one, &two];
    assert!(lately(&numbered, b"").ended(2).1.contains("line 2: the columns are"));

    // Where only keys are looked at, every file may have its own.
    let counted = lately(&["count", "-c", "id", &one, &two], b"").text();
    assert_eq!(counted, "2\t2\n1\t1\n1\t3\n");
    let complaint = lately(&["dedup", "--last", "9", "-c", "name", &one], b"").failure();
    let expected = format!("{one}: line 1: there is no column \"name\" in the first row, id, x");
    assert!(complaint.contains(&expected), "{complaint}");
}

/// A quote that is never closed makes the rest of the file one row. It is refused, with the line
/// where it begins, and all before it is printed and remembered.
#[test]
fn quotes_that_are_never_closed_are_refused() {
    let folder = Folder::new("open-quote");
    let rows: String = (0..50_000).map(|row| format!("{row},\"a\nb\"\n")).collect();
    let state = folder.path("state");
    let flags = ["dedup", "-c", "1", "--error", "1e-9", "--state", &state];
    for (rest, line) in [("x,\"open\ny,z\n", 100_001), ("x,y\n\"z\"\"", 100_002)] {
        let _ = std::fs::remove_file(&state);
        let file = folder.file("file.csv", format!("{rows}{rest}"));
        let (printed, complaint) = lately(&[&flags[..], &[&file]].concat(), b"").ended(2);
        let expected = format!("lately: {file}: line {line}: a quote is opened in this row");
        assert!(complaint.starts_with(&expected), "{complaint}");
        let before = if rest.starts_with("x,y") { "x,y\n" } else { "" };
        assert!(printed == format!("{rows}{before}").into_bytes());
        assert_eq!(lately(&flags, rows.as_bytes()).text(), "");
        lately(&["count", "-c", "1", &file], b"").failure();
    }
}

/// A row longer than any buffer, in reads of all sizes.
#[test]
fn long_rows() {
    let long = "x\n\"\",".repeat(200_000);
    let input = format!("1,\"{long}\"\n2,b\n1,c\n\"3\",\"{long}\"\n3,d\n");
    let expected = format!("1,\"{long}\"\n2,b\n\"3\",\"{long}\"\n");
    assert!(lately(&["dedup", "--last", "9", "-c", "1"], input.as_bytes()).text() == expected);
}

#[test]
fn folding() {
    assert_dedup(&["-i"], "Ab\naB\nÉ\né\n", "Ab\nÉ\n");
    assert_dedup(&["--trim"], "a\n a\t\na\r\nb", "a\nb");
    assert_dedup(
        &["-i", "--trim", "-k", "k"],
        "{\"k\":\" A\"}\n{\"k\":\"a\"}\n",
        "{\"k\":\" A\"}\n",
    );
    assert_dedup(&["-i", "-c", "1"], "A,1\na,2\n", "A,1\n");
}

#[test]
fn records_that_end_with_zero() {
    assert_dedup(&["-z"], "a\nb\0a\0a\nb\0a", "a\nb\0a\0");
    assert_dedup(
        &["-z", "-k", "id"],
        "{\"id\":\n1}\0{\"id\":1}\0{\"id\":2}",
        "{\"id\":\n1}\0{\"id\":2}",
    );
}

#[test]
fn flags_that_contradict_each_other() {
    for (flags, reason) in [
        (&["-k", "id", "-c", "1"][..], "cannot be used with"),
        (&["-c", "1", "-z"], "cannot be used with"),
        (&["-d", ";"], "--column"),
        (&["-c", "1", "-d", "ab"], "no single character"),
        (&["-c", "1", "-d", "\""], "no single character"),
        (&["-k", "a..b"], "is no path to one value; write /user/id or user.id"),
        (&["-k", "a[*].b"], "/users/0/id for the first of an array"),
        (&["--missing", "maybe"], "possible values: pass, drop, fail"),
        (&["--time-key", "t"], "cannot be used with '--time-key"),
        (&["--time-column", "t"], "cannot be used with '--time-column"),
        (&["--mark", "x", "--duplicates"], "cannot be used with"),
        (&["--mark", "x", "-c", "1"], "cannot be used with"),
    ] {
        let complaint = lately(&[&["dedup", "--last", "9"], flags].concat(), b"").failure();
        assert!(complaint.contains(reason), "{flags:?}: {complaint}");
    }
}
