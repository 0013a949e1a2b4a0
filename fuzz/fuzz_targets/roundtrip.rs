//! Saving and loading at any moment changes no later answer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_bodies::roundtrip(data));
