//! The counter against a plain map, with parameters so small that digits, used-up signatures, other codes
//! and splits happen all the time.

use std::collections::HashMap;

use super::super::parameters::GrowingParameters;
use super::union::Combine;
use super::{GrowingCounts, GrowingCountsParameters};
use crate::codec::{Reader, Writer};
use crate::filter::{Counting, Filter, Membership};
use crate::hash::remix;
use crate::window::Time;

fn parameters(most_remainder_bits: u8) -> GrowingCountsParameters {
    let lengths = GrowingParameters::with_error(1e-9, 1_000, false).unwrap();
    let remainder_bits = lengths.remainder_bits.map(|bits| bits.min(most_remainder_bits));
    GrowingCountsParameters { lengths: GrowingParameters { bins: 1, remainder_bits, ..lengths } }
}

fn reopened(filter: &GrowingCounts) -> GrowingCounts {
    let mut payload = Writer::new();
    filter.write_payload(&mut payload);
    let payload = payload.into_bytes();
    let opened = super::state::read(filter.parameters, &mut Reader::new(&payload));
    let opened = opened.expect("what is written is sound");
    let mut again = Writer::new();
    opened.write_payload(&mut again);
    assert!(again.into_bytes() == payload);
    opened
}

/// Sightings by one and by the million, taken back in part and in full, through snapshots.
#[test]
fn no_count_is_ever_too_low() {
    for (round, bits) in [(1, 3), (2, 5), (3, 30)] {
        let mut filter = GrowingCounts::new(parameters(bits));
        let mut plain: HashMap<u64, u64> = HashMap::new();
        for step in 0..40_000 {
            let key = remix(remix(step, round) % (1 + step / 3), 7);
            let held = plain.get(&key).copied().unwrap_or(0);
            match remix(step, 11) % 8 {
                0 => {
                    let times = 1 << (remix(step, 12) % 30);
                    *plain.entry(key).or_default() += times;
                    filter.add_hash(key, times, Time::ZERO);
                }
                1 | 2 => {
                    let times = if step % 2 == 0 { held } else { held / 2 };
                    let left = filter.take_back_hash(key, times, Time::ZERO).unwrap();
                    assert!(left >= held - times);
                    plain.insert(key, held - times);
                }
                _ => {
                    *plain.entry(key).or_default() += 1;
                    filter.add_hash(key, 1, Time::ZERO);
                }
            }
            let count = filter.count_hash(key, Time::ZERO);
            assert!(count >= plain.get(&key).copied().unwrap_or(0), "{bits} bits, step {step}");
            if step % 5_000 == 0 {
                filter = reopened(&filter);
            }
        }
        assert_eq!(filter.lost(), 0);
        assert!(filter.segments() > 20, "{}", filter.segments());
        plain.retain(|_, count| *count > 0);
        let mut wrong = 0;
        for (&key, &truth) in &plain {
            let count = filter.count_hash(key, Time::ZERO);
            assert!(count >= truth);
            wrong += usize::from(count != truth);
        }
        // Long signatures confuse no two of so few.
        assert!(bits < 30 || wrong == 0 && filter.items() == plain.len() as u64);
        for (&key, &count) in &plain {
            filter.take_back_hash(key, count, Time::ZERO).unwrap();
        }
        assert!(bits < 30 || filter.items() == 0 && filter.segments() == 1);
    }
}

/// Each part counts some of the stream, of other lengths: united they count all of it.
#[test]
fn united_counters_count_both() {
    for (ours, theirs, bits) in [(3_000, 100, 30), (100, 3_000, 30), (5_000, 5_000, 4), (0, 9, 3)] {
        let [mut filter, mut other] = [0; 2].map(|_| GrowingCounts::new(parameters(bits)));
        let mut plain: HashMap<u64, u64> = HashMap::new();
        for step in 0..ours + theirs {
            let (key, times) = (remix(remix(step, 1) % 6_000, 2), 1 + remix(step, 3) % 50);
            *plain.entry(key).or_default() += times;
            let part = if step < ours { &mut filter } else { &mut other };
            part.add_hash(key, times, Time::ZERO);
        }
        filter.merge(&other).unwrap();
        let filter = reopened(&filter);
        assert_eq!(filter.lost(), 0);
        assert!(bits < 30 || filter.items() == plain.len() as u64);
        for (&key, &truth) in &plain {
            let count = filter.count_hash(key, Time::ZERO);
            assert!(count == truth || bits < 30 && count > truth, "{count} {truth}");
        }
    }
}

/// Multiplied, they count pairs of the keys that both have.
#[test]
fn a_product_counts_pairs() {
    for (ours, theirs, bits) in [(3_000, 100, 30), (100, 3_000, 30), (5_000, 5_000, 4)] {
        let [mut filter, mut other] = [0; 2].map(|_| GrowingCounts::new(parameters(bits)));
        let mut plain: HashMap<u64, [u64; 2]> = HashMap::new();
        for step in 0..ours + theirs {
            let (key, times) = (remix(remix(step, 1) % 4_000, 2), 1 + remix(step, 3) % 50);
            let which = usize::from(step >= ours);
            plain.entry(key).or_default()[which] += times;
            [&mut filter, &mut other][which].add_hash(key, times, Time::ZERO);
        }
        filter.multiply(&other).unwrap();
        let mut filter = reopened(&filter);
        for (&key, &[one, other]) in &plain {
            let (count, truth) = (filter.count_hash(key, Time::ZERO), one * other);
            assert!(count == truth || bits < 30 && count > truth, "{count} {truth}");
        }
        assert!(filter.as_removing().is_none());
        assert!(filter.take_back_hash(1, 1, Time::ZERO).is_err());
    }
}

/// Hashes that all begin alike cannot be told apart by any directory: their segment gives up, and says
/// that it does not know.
#[test]
fn what_has_no_room_is_unknown_and_never_nothing() {
    let mut filter = GrowingCounts::new(parameters(30));
    for key in 0..20_000 {
        filter.insert_hash(remix(key, 1) >> 20 | 1 << 60, Time::ZERO);
    }
    assert!(filter.lost() > 0);
    assert_eq!(filter.count_hash(1 << 60, Time::ZERO), u64::MAX);
    assert_eq!(filter.distinct(Time::ZERO), None);
    assert_eq!(filter.add_hash(u64::MAX, 5, Time::ZERO), 5);
    let filter = reopened(&filter);
    assert_eq!(filter.count_hash(1 << 60, Time::ZERO), u64::MAX);
}

/// What one of two counters knows nothing of, both together know nothing of; of all else they know what they knew.
#[test]
fn what_has_no_room_in_one_is_unknown_in_both() {
    let mut crowded = GrowingCounts::new(parameters(30));
    for key in 0..20_000 {
        crowded.insert_hash(remix(key, 1) >> 20 | 1 << 60, Time::ZERO);
    }
    let (depth, segment) = crowded.directory.segment(1 << 60);
    assert!(segment.is_blind() && depth > 0);
    let mut plain = GrowingCounts::new(parameters(30));
    (0..20_000).for_each(|key| _ = plain.insert_hash(remix(key, 2), Time::ZERO));
    let is_near = |key: &u64| remix(*key, 2) >> (64 - depth) == 1 << 60 >> (64 - depth);
    let near = (0..20_000).filter(is_near).count() as u64;
    assert!(near > 0 && near < 20_000);
    for by in [Combine::Sum, Combine::Product] {
        let mut both = plain.clone();
        both.combine(&crowded, by);
        for key in 0..20_000 {
            let count = both.count_hash(remix(key, 2), Time::ZERO);
            assert_eq!(count == u64::MAX, is_near(&key), "{key}: {count}");
        }
        assert_eq!(both.lost(), crowded.lost() + near);
        // The other way round the segment here is the one that knows nothing.
        let mut both = crowded.clone();
        both.combine(&plain, by);
        assert_eq!(both.count_hash(1 << 60, Time::ZERO), u64::MAX);
        assert!(both.lost() >= crowded.lost());
    }
    let mut twice = crowded.clone();
    twice.combine(&crowded, Combine::Sum);
    assert_eq!(twice.lost(), 2 * crowded.lost());
}

/// Counters that are not built alike are refused before anything is done.
#[test]
fn counters_of_different_lengths_are_not_merged() {
    let mut one = GrowingCounts::new(parameters(30));
    let (alike, other) = (GrowingCounts::new(parameters(30)), GrowingCounts::new(parameters(5)));
    assert!(one.check_mergeable(&alike).is_ok() && one.merge(&alike).is_ok());
    assert!(one.check_mergeable(&other).is_err() && one.merge(&other).is_err());
}

/// A key that comes ever more often, among others, up to the largest count there is.
#[test]
fn a_count_can_be_as_large_as_can_be() {
    for bits in [3, 10, 40] {
        let mut filter = GrowingCounts::new(parameters(bits));
        let hot = remix(0, 1);
        let mut sum = 0_u64;
        for step in 0..63 {
            sum = sum.saturating_add(1 << step).min(u64::MAX >> 1);
            assert_eq!(filter.add_hash(hot, 1 << step, Time::ZERO), sum);
            filter.add_hash(remix(step + 1, 1), 1, Time::ZERO);
        }
        assert_eq!(filter.add_hash(hot, u64::MAX, Time::ZERO), filter.largest_count());
        let filter = reopened(&filter);
        assert_eq!(filter.count_hash(hot, Time::ZERO), u64::MAX >> 1);
    }
}

/// Those that were counted are there, and hardly any other.
#[test]
fn what_was_never_counted_is_not_there() {
    let mut filter = GrowingCounts::new(parameters(30));
    for key in 0..1_000 {
        assert!(filter.insert_new_hash(remix(key, 1), Time::ZERO));
        assert!(!filter.insert_new_hash(remix(key, 1), Time::ZERO));
    }
    assert!((0..1_000).all(|key| filter.contains_hash(remix(key, 1), Time::ZERO)));
    assert!((0..1_000).all(|key| !filter.contains_hash(remix(key, 2), Time::ZERO)));
}
