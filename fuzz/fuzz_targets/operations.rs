//! Any operations against a memory too simple to be wrong.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_bodies::operations(data));
