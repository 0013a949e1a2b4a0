//! Any bytes as a snapshot.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_bodies::decode(data));
