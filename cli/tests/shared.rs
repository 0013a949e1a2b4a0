//! The build with a client for servers, before it has met one.
#![cfg(feature = "redis")]

use crate::command::lately;

#[test]
fn an_address_that_makes_no_sense_is_refused_without_its_password() {
    for address in ["redis://user:secret@host", "http://user:secret@host/seen", "user:secret@host"]
    {
        let complaint = lately(&["dedup", "--ever", "--redis", address], b"").failure();
        assert!(complaint.contains("redis://[user:password@]host"), "{complaint}");
        assert!(!complaint.contains("secret"), "{complaint}");
    }
}
