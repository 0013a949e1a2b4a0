//! Keys that are seen many times at once.

use crate::random::{SplitMix64, derive};

/// Small numbers below `keys`, each with how often it is seen at once: once, a few times or not at all, some hundred
/// times, or up to twice as often as a window is long.
pub fn sightings(
    keys: u64,
    window: u64,
    seed: u64,
) -> impl Iterator<Item = (u64, u64)> + Clone + Send {
    let mut random = SplitMix64::new(derive(seed, "sightings"));
    std::iter::repeat_with(move || {
        let key = random.below(keys);
        let times = match random.below(4) {
            0 => random.below(3),
            1 => random.below(500),
            2 => random.below(2 * window),
            _ => 1,
        };
        (key, times)
    })
}
