//! What the fuzz targets do with bytes.
//!
//! `fuzz/fuzz_targets/` hands these functions whatever libFuzzer invents, on nightly and for hours;
//! the tests here hand them seeded random bytes, on stable and for seconds. A function panics when a
//! promise is broken.

mod decode;
mod operations;
mod subject;

pub use decode::decode;
pub use operations::{operations, roundtrip};

#[cfg(test)]
mod tests {
    use testkit::random::SplitMix64;

    /// Hands `body` so many inputs of random bytes, from none to a few thousand.
    fn feed(body: fn(&[u8]), inputs: u64) {
        let mut random = SplitMix64::new(0xf022);
        for _ in 0..inputs {
            let most = 1 << random.below(13);
            let length = random.below(most);
            let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
            body(&bytes);
        }
    }

    #[test]
    fn any_operations_keep_the_promises() {
        feed(super::operations, 20_000);
    }

    #[test]
    fn saving_and_loading_changes_no_later_answer() {
        feed(super::roundtrip, 10_000);
    }

    #[test]
    fn any_bytes_are_opened_or_refused() {
        feed(super::decode, 20_000);
    }
}
