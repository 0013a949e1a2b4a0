//! The build without a client for servers, which is the usual one.
#![cfg(not(feature = "redis"))]

#[allow(dead_code, reason = "others use the rest")]
mod command;

use command::lately;

#[test]
fn a_filter_in_a_server_needs_another_build() {
    for flags in [
        &["--redis", "redis://localhost/seen"][..],
        &["--shards", "4", "--redis", "redis://localhost/seen"],
        &["--patience", "1s", "--redis=rediss://user:secret@localhost/1/seen"],
    ] {
        let complaint = lately(&[&["dedup", "--ever"], flags].concat(), b"").failure();
        assert!(complaint.contains("cargo install lately-cli --features redis"), "{complaint}");
        assert!(!complaint.contains("secret"), "{complaint}");
    }
    let help = lately(&["dedup", "--help"], b"").text();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("cargo install lately-cli --features redis"), "{help}");
}
