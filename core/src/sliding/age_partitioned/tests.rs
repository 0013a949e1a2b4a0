//! What the slices by age owe beyond the contracts.

use alloc::vec::Vec;

use super::*;
use crate::hash::remix;
use crate::sliding::slices::BlockShape;
use testkit::stats::assert_rate_within;

fn shape(k: u32, slots: u32, bits: u32, words: u32) -> AgePartitionedParameters {
    AgePartitionedParameters {
        generation: 100,
        slices_per_key: k,
        slices_per_class: slots,
        block: BlockShape { words, bits },
        blocks: 1,
    }
}

#[test]
fn the_example_of_the_documentation() {
    let parameters = AgePartitionedParameters { generation: 1, blocks: 8, ..shape(1, 4, 4, 2) };
    let mut filter = AgePartitioned::new(parameters);
    let key = |name: u8| remix(name.into(), 0);
    for name in *b"abcde" {
        assert!(filter.insert_hash(key(name), Time::ZERO));
    }
    assert!(!filter.contains_hash(key(b'a'), Time::ZERO));
    assert!(filter.contains_hash(key(b'b'), Time::ZERO));
}

/// The last insertion of a generation is the first that may be forgotten: it is known at distance
/// l g, and gone, but for collisions, at distance l g + 1. The first of a generation stays longest,
/// and after k g - 1 more its traces are gone too.
#[test]
fn the_window_is_l_generations_and_not_one_insertion_more() {
    for (k, slots) in [(1, 2), (1, 6), (2, 4), (3, 4), (4, 2), (5, 3), (10, 2), (2, 64)] {
        let parameters =
            AgePartitionedParameters { generation: 7, blocks: 900, ..shape(k, slots, 4, 2) };
        let (window, slack) = (parameters.window(), parameters.slack());
        assert_eq!((window, slack), (7 * u64::from(k * (slots - 1)), 7 * u64::from(k) - 1));
        let known = |offset: u64, distance: u64| {
            let mut filter = AgePartitioned::new(parameters);
            let start = 7 * 400 + offset;
            for i in 0..start + distance {
                filter.insert_hash(remix(i, 9), Time::ZERO);
            }
            // What the insertion at this distance answers.
            !filter.insert_hash(remix(start, 9), Time::ZERO)
        };
        assert!((0..7).all(|offset| known(offset, window)), "({k}, {slots})");
        assert!(!known(6, window + 1), "({k}, {slots})");
        assert!(known(0, window + 6), "({k}, {slots})");
        assert!((0..7).all(|offset| !known(offset, window + slack + 1)), "({k}, {slots})");
    }
}

/// At the worst moment, over all kinds of shapes: measured to 2% of the recurrence. Each assertion
/// fails by luck once in 1e9; small filters, many of them, because one differs from the next.
#[test]
fn the_worst_moment_errs_as_computed() {
    for (k, slots, bits, words, blocks) in [
        (1, 4, 5, 2, 30),
        (2, 4, 3, 2, 30),
        (3, 4, 2, 2, 20),
        (4, 2, 1, 1, 9),
        (5, 3, 1, 1, 12),
        (2, 3, 8, 8, 40),
        (2, 8, 4, 1, 100),
        (3, 3, 5, 4, 20),
    ] {
        let parameters = AgePartitionedParameters { blocks, ..shape(k, slots, bits, words) };
        let (mut hits, mut trials) = (0, 0);
        for seed in 0..150 {
            let mut filter = AgePartitioned::new(parameters);
            for i in 0..2 * 100 * u64::from(k * slots) {
                filter.insert_hash(remix(i, seed), Time::ZERO);
            }
            for i in 0..20_000 {
                hits += u64::from(filter.contains_hash(remix(1 << 40 | i, seed), Time::ZERO));
                trials += 1;
            }
        }
        assert_rate_within(hits, trials, parameters.false_positive_rate(), 0.02, 1e-9);
    }
}

#[test]
fn choices_keep_the_rate_and_none_beats_another() {
    for (window, rate) in
        [(1, 0.1), (500, 0.01), (100_000, 1e-3), (1_000_000, 1e-5), (1 << 40, 1e-9)]
    {
        let choices: Vec<_> = choices(window, rate, u64::MAX).iter().copied().collect();
        assert!(!choices.is_empty());
        for choice in &choices {
            assert!(choice.false_positive_rate() <= rate && choice.window() >= window);
        }
        for pair in choices.windows(2) {
            assert!(pair[0].heap_bytes() < pair[1].heap_bytes());
            assert!(pair[0].lines_touched() > pair[1].lines_touched());
        }
    }
}

#[test]
fn a_little_slack_is_kept_to() {
    for (window, slack) in [(1_000, 50), (100_000, 5_000), (1_000_000, 20_000), (5, 3)] {
        let chosen = choices(window, 0.01, slack).pick(1.1).unwrap();
        assert!(chosen.window() >= window && chosen.window() + chosen.slack() <= window + slack);
    }
    assert_eq!(choices(1_000, 0.01, 3).pick(1.1), None);
}

#[test]
fn memory_is_used_and_not_exceeded() {
    for bytes in [200, 1_000, 100_000] {
        let chosen = with_memory(1_000, bytes, u64::MAX).unwrap();
        assert!(chosen.heap_bytes() <= bytes && chosen.heap_bytes() >= bytes / 2);
    }
    assert_eq!(with_memory(1_000, 60, u64::MAX), None);
}
