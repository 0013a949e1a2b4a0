//! Every stream of the testkit by name, fitted to a window, for contracts to walk.
//!
//! ```
//! use testkit::{oracle::Last, streams::named};
//!
//! for (name, keys) in named::counted(100, 25, 7) {
//!     let mut last = Last::new(100);
//!     for key in keys.take(1000) {
//!         last.insert(key);
//!     }
//!     assert!(last.distinct() >= 1, "{name}");
//! }
//! ```
//!
//! Take at least ten windows of counted steps, lest some streams never reach their point. Timed ones
//! need about 100,000 items: the swinging clocks spend 48,000 on one period of high rate, and more if
//! the span exceeds half a minute (1500 for each of its seconds).
//!
//! What a name stands for never changes; a better stream gets a new name.

use super::{
    Keys, TimedKeys, bit_reversed, bursts, clocks, constant, cyclic, distinct, extremes, mixture,
    one_bit_apart, phases, repeats_at, repeats_at_ages, sequential, shared_high_bits,
    shared_low_bits, uniform, with_repeats, zipf,
};
use crate::random::permute;

/// All streams for a window of so many items, behind which a slack of so many may or may not be
/// remembered: [`mixed`], then [`structured`].
///
/// # Panics
///
/// If the window is 0, or window and slack exceed `2^56`.
pub fn counted(window: u64, slack: u64, seed: u64) -> Vec<(&'static str, Keys)> {
    let mut streams = mixed(window, slack, seed);
    streams.extend(structured(window, slack, seed));
    streams
}

/// The streams whose keys are well mixed and may stand in for hashes. None emits a key of
/// [`absent`](super::absent) of the same seed.
///
/// # Panics
///
/// Like [`counted`].
pub fn mixed(window: u64, slack: u64, seed: u64) -> Vec<(&'static str, Keys)> {
    check(window, slack);
    let many = 10 * window;
    let letters = many.min(1_000_000);
    let one = permute(seed, 0);
    vec![
        ("uniform-half-a-window", Box::new(uniform(window.div_ceil(2), seed))),
        ("uniform-one-window", Box::new(uniform(window, seed))),
        ("uniform-ten-windows", Box::new(uniform(many, seed))),
        ("distinct", Box::new(distinct(seed))),
        ("constant", Box::new(constant(one))),
        ("zipf-0.8", Box::new(zipf(letters, 0.8, seed))),
        ("zipf-1.0", Box::new(zipf(letters, 1.0, seed))),
        ("zipf-1.5", Box::new(zipf(letters, 1.5, seed))),
        ("bursts-short", Box::new(bursts(3, 5, seed))),
        ("bursts-window", Box::new(bursts(window + 1, window, seed))),
        ("cyclic-window", Box::new(cyclic(window, seed))),
        ("cyclic-window-plus-1", Box::new(cyclic(window + 1, seed))),
        ("cyclic-slack", Box::new(cyclic(window + slack, seed))),
        ("cyclic-slack-plus-1", Box::new(cyclic(window + slack + 1, seed))),
        ("repeats-at-borders", border_repeats(distinct(seed), window, slack, seed)),
        ("repeats-nearby", Box::new(repeats_at(&[1, 2, 3], seed).map(|step| step.key))),
        (
            "mixture",
            Box::new(mixture(
                vec![
                    (4, Box::new(distinct(seed))),
                    (3, Box::new(zipf(letters, 1.0, seed))),
                    (2, Box::new(uniform(window, seed))),
                    (1, Box::new(constant(one))),
                ],
                seed,
            )),
        ),
        (
            "phases",
            Box::new(phases(
                vec![
                    Box::new(distinct(seed)),
                    Box::new(constant(one)),
                    Box::new(uniform(window, seed)),
                ],
                2 * window,
            )),
        ),
    ]
}

/// The streams whose keys have a pattern: hash them before use. All repeat at the borders of the
/// window.
///
/// # Panics
///
/// Like [`counted`].
pub fn structured(window: u64, slack: u64, seed: u64) -> Vec<(&'static str, Keys)> {
    check(window, slack);
    vec![
        ("sequential", border_repeats(sequential(0), window, slack, seed)),
        ("bit-reversed", border_repeats(bit_reversed(0), window, slack, seed)),
        ("shared-low-bits", border_repeats(shared_low_bits(32, seed), window, slack, seed)),
        ("shared-high-bits", border_repeats(shared_high_bits(32, seed), window, slack, seed)),
        ("one-bit-apart", border_repeats(one_bit_apart(seed), window, slack, seed)),
        ("extremes", Box::new(extremes())),
    ]
}

/// All streams for a window of so many milliseconds, behind which a slack of so many may or may not
/// be remembered. A steady rate is about 1000 items per span, at least one per second. Keys are well
/// mixed and none is [`absent`](super::absent).
///
/// # Panics
///
/// If the span is 0, or span and slack exceed `2^40` (35 years).
pub fn timed(span_ms: u64, slack_ms: u64, seed: u64) -> Vec<(&'static str, TimedKeys)> {
    assert!(span_ms > 0, "no window");
    assert!(span_ms.saturating_add(slack_ms) <= 1 << 40, "the window exceeds 35 years");

    let per_second = (1_000_000 / span_ms).max(1);
    let steady = clocks::steady(per_second);
    let now = clocks::starting_at(NOW_MS, steady.clone());
    // From a thirtieth of the steady rate to thirty times it; a period is longer than a span.
    let period_ms = span_ms + span_ms.div_ceil(2);
    let low_per_second = (per_second / 32).max(1000_u64.div_ceil(period_ms));
    let swings = clocks::starting_at(
        NOW_MS,
        clocks::rate_swings(low_per_second, 1000 * low_per_second, period_ms),
    );
    let gaps_ms = [span_ms - 1, span_ms, span_ms + 1, span_ms + slack_ms + 1, 100 * span_ms];
    let idle = clocks::starting_at(NOW_MS, clocks::idle_gaps(per_second, span_ms, &gaps_ms));
    let crowds = clocks::same_millisecond_bursts(100, span_ms.div_ceil(10));
    let jitter = clocks::time_going_back(now.clone(), span_ms.div_ceil(10), seed);
    let leaps = clocks::time_going_back(now.clone(), 2 * (span_ms + slack_ms), seed);
    let swinging_jitter = clocks::time_going_back(swings.clone(), span_ms.div_ceil(10), seed);

    // Rare, since nothing comes after the end of all time.
    let wild = clocks::wild_moments(now.clone(), 5_000, seed);

    let at_borders = Borders { span_ms, slack_ms, seed };
    vec![
        ("steady", at_borders.repeat(now.clone())),
        ("steady-from-zero", at_borders.repeat(steady)),
        ("steady-uniform", Box::new(uniform(1000, seed).zip(now.clone()))),
        ("steady-zipf", Box::new(zipf(10_000, 1.0, seed).zip(now.clone()))),
        ("steady-distinct", Box::new(distinct(seed).zip(now.clone()))),
        ("steady-constant", Box::new(constant(permute(seed, 0)).zip(now))),
        ("rate-swings", at_borders.repeat(swings.clone())),
        ("rate-swings-distinct", Box::new(distinct(seed).zip(swings))),
        ("idle-gaps", at_borders.repeat(idle.clone())),
        ("idle-gaps-uniform", Box::new(uniform(1000, seed).zip(idle))),
        ("same-millisecond-bursts", at_borders.repeat(clocks::starting_at(NOW_MS, crowds))),
        ("time-going-back", at_borders.repeat(jitter)),
        ("time-leaping-back", at_borders.repeat(leaps)),
        ("rate-swings-going-back", at_borders.repeat(swinging_jitter)),
        ("frozen-time", at_borders.repeat(clocks::frozen_time(NOW_MS))),
        ("frozen-time-zero", at_borders.repeat(clocks::frozen_time(0))),
        ("wild-moments", at_borders.repeat(wild)),
    ]
}

/// Where clocks start that do not start at 0: November 2023 since 1970, past 40 bits, as real ones.
const NOW_MS: u64 = 1_700_000_000_000;

/// The last distances inside and the first outside, of the window and of its slack.
fn borders(window: u64, slack: u64) -> Vec<u64> {
    let mut borders = vec![window - 1, window, window + 1, window + slack, window + slack + 1];
    // With little slack, some coincide.
    borders.sort_unstable();
    borders.dedup();
    borders
}

fn border_repeats<I>(fresh: I, window: u64, slack: u64, seed: u64) -> Keys
where
    I: Iterator<Item = u64> + Send + 'static,
{
    let mut distances = borders(window, slack);
    distances.retain(|&distance| distance > 0);
    Box::new(with_repeats(fresh, &distances, seed).map(|step| step.key))
}

/// Repeats at the borders of a time window.
struct Borders {
    span_ms: u64,
    slack_ms: u64,
    seed: u64,
}

impl Borders {
    fn repeat(&self, clock: impl Iterator<Item = u64> + Send + 'static) -> TimedKeys {
        let ages_ms = borders(self.span_ms, self.slack_ms);
        Box::new(repeats_at_ages(clock, &ages_ms, self.seed))
    }
}

fn check(window: u64, slack: u64) {
    assert!(window > 0, "no window");
    assert!(window.saturating_add(slack) <= 1 << 56, "the window exceeds all memory");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Ever, Last, Within};
    use crate::random::mix;
    use crate::streams::absent;
    use std::collections::HashSet;

    const WINDOW: u64 = 100;
    const SLACK: u64 = 25;

    /// What the streams emit for this window and seed 1, for ever.
    const COUNTED: &[(&str, u64)] = &[
        ("uniform-half-a-window", 0x63df_a8c1_c30b_0edd),
        ("uniform-one-window", 0x83c2_2ada_ba8f_de57),
        ("uniform-ten-windows", 0x8f57_d06c_d6dc_f569),
        ("distinct", 0xaeb9_8d54_be2a_1452),
        ("constant", 0x3421_51ea_f572_a9f5),
        ("zipf-0.8", 0x0bae_3ea1_d34f_ba21),
        ("zipf-1.0", 0x5fa3_b06e_6209_9ec1),
        ("zipf-1.5", 0xb549_7570_a65f_84e2),
        ("bursts-short", 0x815c_2751_e3bf_33c0),
        ("bursts-window", 0xcdd6_9be5_a8c2_812c),
        ("cyclic-window", 0x14ec_7d1f_0f3c_3c51),
        ("cyclic-window-plus-1", 0x6f91_7afe_5455_798b),
        ("cyclic-slack", 0x95ce_9dba_296c_5983),
        ("cyclic-slack-plus-1", 0xaa5e_e49c_654a_5970),
        ("repeats-at-borders", 0x0fab_da3e_6e81_50df),
        ("repeats-nearby", 0x3310_97a8_01e2_6134),
        ("mixture", 0xea05_3f2b_c6f9_d056),
        ("phases", 0x4565_0214_aaea_9466),
        ("sequential", 0x44ee_fe11_f257_d542),
        ("bit-reversed", 0x7b15_f61b_882a_a293),
        ("shared-low-bits", 0x9a8f_5d9b_db00_974a),
        ("shared-high-bits", 0x19a8_af0b_5619_9a1e),
        ("one-bit-apart", 0x1b26_6d00_38b4_e4a4),
        ("extremes", 0x9846_a0c1_09de_008b),
    ];
    const TIMED: &[(&str, u64)] = &[
        ("steady", 0x42d2_1eb4_b011_fa71),
        ("steady-from-zero", 0x9fa8_3c58_4ab1_b65d),
        ("steady-uniform", 0x6066_c25e_7113_1897),
        ("steady-zipf", 0xb7f2_ae40_27f5_892b),
        ("steady-distinct", 0x1b18_0beb_80e3_ff24),
        ("steady-constant", 0x207f_e0b8_6c29_1cf9),
        ("rate-swings", 0x1eab_c525_c2fc_fb30),
        ("rate-swings-distinct", 0x0cd7_d4cd_8e92_5130),
        ("idle-gaps", 0xb33c_eda7_e3c5_9a18),
        ("idle-gaps-uniform", 0x0c02_6b27_f5da_8947),
        ("same-millisecond-bursts", 0x5ed4_9987_a560_51a4),
        ("time-going-back", 0x3d1a_6410_4aa8_0b32),
        ("time-leaping-back", 0x886f_6902_8b16_5f40),
        ("rate-swings-going-back", 0xc26d_60e5_694d_2e76),
        ("frozen-time", 0xe574_dac5_a445_3f99),
        ("frozen-time-zero", 0xac3e_2084_8434_8a81),
        ("wild-moments", 0x36e2_96a2_569f_1d32),
    ];

    fn digest(words: impl Iterator<Item = u64>) -> u64 {
        words.take(20_000).fold(0, |digest, word| mix(digest.rotate_left(1) ^ word))
    }

    #[test]
    fn streams_never_change() {
        let counted: Vec<_> = counted(WINDOW, SLACK, 1)
            .into_iter()
            .map(|(name, keys)| (name, digest(keys)))
            .collect();
        assert_eq!(counted, COUNTED, "{counted:#x?}");
        let timed: Vec<_> = timed(WINDOW, SLACK, 1)
            .into_iter()
            .map(|(name, items)| (name, digest(items.flat_map(|(key, now_ms)| [key, now_ms]))))
            .collect();
        assert_eq!(timed, TIMED, "{timed:#x?}");
    }

    #[test]
    fn streams_depend_on_the_seed() {
        let unseeded = ["extremes"];
        for ((name, ours), (_, theirs)) in
            counted(WINDOW, SLACK, 1).into_iter().zip(counted(WINDOW, SLACK, 2))
        {
            assert_eq!(digest(ours) == digest(theirs), unseeded.contains(&name), "{name}");
        }
        for ((name, ours), (_, theirs)) in
            timed(WINDOW, SLACK, 1).into_iter().zip(timed(WINDOW, SLACK, 2))
        {
            let keys = |items: TimedKeys| digest(items.map(|(key, _)| key));
            assert_ne!(keys(ours), keys(theirs), "{name}");
        }
    }

    #[test]
    fn names_are_unique() {
        let counted = counted(WINDOW, SLACK, 1);
        let timed = timed(WINDOW, SLACK, 1);
        let names: HashSet<_> =
            counted.iter().map(|s| s.0).chain(timed.iter().map(|s| s.0)).collect();
        assert_eq!(names.len(), counted.len() + timed.len());
    }

    #[test]
    fn streams_are_endless_for_the_smallest_and_odd_windows() {
        for (window, slack) in [(1, 0), (1, 1), (2, 0), (3, 7), (1000, 0)] {
            for (name, keys) in counted(window, slack, 1) {
                assert_eq!(keys.take(3000).count(), 3000, "{name} {window} {slack}");
            }
            for (name, items) in timed(window, slack, 1) {
                assert_eq!(items.take(3000).count(), 3000, "{name} {window} {slack}");
            }
        }
        let year_ms = 365 * 24 * 3600 * 1000;
        for (name, items) in timed(year_ms, year_ms, 1) {
            assert_eq!(items.take(3000).count(), 3000, "{name}");
        }
    }

    #[test]
    fn absent_keys_are_absent() {
        let mut ever = Ever::new();
        for (_, keys) in mixed(WINDOW, SLACK, 1) {
            keys.take(5000).for_each(|key| {
                ever.insert(key);
            });
        }
        for (_, items) in timed(WINDOW, SLACK, 1) {
            items.take(5000).for_each(|(key, _)| {
                ever.insert(key);
            });
        }
        assert!(absent(1).take(20_000).all(|key| !ever.contains(key)));
    }

    #[test]
    fn together_they_visit_every_border() {
        let mut distances = HashSet::new();
        for (_, keys) in counted(WINDOW, SLACK, 1) {
            let mut last = Last::new(WINDOW);
            for key in keys.take(10_000) {
                distances.extend(last.distance(key));
                last.insert(key);
            }
        }
        assert!(borders(WINDOW, SLACK).iter().all(|border| distances.contains(border)));

        for (name, items) in timed(WINDOW, SLACK, 1) {
            let mut ages = HashSet::new();
            let mut within = Within::new(WINDOW);
            for (key, now_ms) in items.take(100_000) {
                ages.extend(within.age(key, now_ms));
                within.insert(key, now_ms);
            }
            if ["steady", "rate-swings", "time-going-back"].contains(&name) {
                assert!(borders(WINDOW, SLACK).iter().all(|age| ages.contains(age)), "{name}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "no window")]
    fn an_empty_window_is_refused() {
        let _ = counted(0, 0, 1);
    }
}
