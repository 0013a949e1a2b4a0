//! What the sliding filter owes beyond the contracts: ages, distinct counts, one-sided overflow,
//! bounded work, and the memory it is known for.

use std::collections::{HashMap, HashSet};

use lately::dictionary::Repeat;
use lately::dictionary::work::CacheLines;
use lately::raw::{Age, Aging, Filter, Membership, codec, remix};
use lately::sliding::{Sliding, SlidingParameters};
use lately::{Hashing, Seed, Time};
use testkit::random::SplitMix64;
use testkit::stats::assert_rate_at_most;

const NOW: Time = Time::ZERO;

fn hash(key: u64) -> u64 {
    remix(key, 0)
}

fn parameters(window: u64, slack: Option<u64>, rate: f64) -> SlidingParameters {
    SlidingParameters::with_error(window, slack, rate).unwrap()
}

fn saved(filter: &Sliding) -> Vec<u8> {
    codec::save(filter, Hashing::Fast(Seed(0)))
}

#[test]
fn scalar_twin_agrees() {
    for (window, rate) in [(100, 0.2), (5000, 0.01), (5000, 0.0001)] {
        let mut fast = Sliding::new(parameters(window, None, rate));
        let mut plain = fast.clone().without_vectors();
        let mut random = SplitMix64::new(5);
        for _ in 0..40_000 {
            let key = hash(random.below(window * 3));
            assert_eq!(fast.insert_hash(key, NOW), plain.insert_hash(key, NOW));
            let key = hash(random.below(window * 3));
            assert_eq!(fast.contains_hash(key, NOW), plain.contains_hash(key, NOW));
            assert_eq!(fast.age_hash(key, NOW), plain.age_hash(key, NOW));
        }
        assert!(saved(&fast) == saved(&plain));
    }
}

#[test]
fn ages_enclose_the_truth() {
    for (window, slack) in
        [(1, None), (10, None), (100, Some(3)), (1000, None), (5000, None), (5000, Some(200))]
    {
        let parameters = parameters(window, slack, 1e-6);
        let mut filter = Sliding::new(parameters);
        let mut last = HashMap::new();
        let mut random = SplitMix64::new(window);
        for now in 0..40_000u64 {
            let key = random.below(window * 2);
            filter.insert_hash(hash(key), NOW);
            last.insert(key, now);
            let asked = random.below(window * 2);
            let Some(Age::Items(age)) = filter.age_hash(hash(asked), NOW) else { continue };
            let truth = now - last[&asked];
            assert!(age.contains(&truth), "{truth} {age:?} {window}");
            assert!(age.end() - age.start() < window.div_ceil(parameters.generations));
            assert!(*age.end() <= window + parameters.slack());
        }
    }
}

#[test]
fn counts_distinct_elements() {
    for (window, keys) in [(20_000u64, u64::MAX), (20_000, 30_000), (20_000, 3000)] {
        let mut filter = Sliding::new(parameters(window, None, 0.05));
        let mut random = SplitMix64::new(3);
        let stream: Vec<u64> = (0..110_000).map(|_| random.below(keys)).collect();
        for (index, &key) in stream.iter().enumerate() {
            filter.insert_hash(hash(key), NOW);
            if index % 9973 == 0 {
                let start = (index + 1).saturating_sub(window as usize);
                let exact = stream[start..=index].iter().collect::<HashSet<_>>().len() as f64;
                let estimate = filter.distinct(NOW).unwrap();
                assert!(
                    (estimate - exact).abs() < 0.02 * exact + 5.0,
                    "{estimate} {exact} at {index}"
                );
            }
        }
    }
}

/// Keys that all fall into a few bins: room runs out, answers stay one-sided, and once the crowd
/// has left the error is back where it was (an assertion that fails by luck once in 1e9).
#[test]
fn overflow_is_told_and_one_sided() {
    let parameters = parameters(5000, None, 0.0001);
    for narrow in [6, 8, 12] {
        let mut filter = Sliding::new(parameters);
        let crowd = |key: u64| hash(key) >> narrow;
        for key in 0..30_000 {
            filter.insert_hash(crowd(key), NOW);
            if key.is_multiple_of(611) {
                for past in key.saturating_sub(parameters.window - 1)..=key {
                    assert!(filter.contains_hash(crowd(past), NOW), "{past} at {key}");
                }
                filter.validate().unwrap();
            }
        }
        assert!(filter.lost() > 0);
        let bytes = saved(&filter);
        assert!(codec::save(&*codec::open(&bytes).unwrap().0, Hashing::default()) == bytes);
        for key in 0..40_000 {
            filter.insert_hash(hash(key), NOW);
        }
        let absent = (1 << 40)..(1 << 40) + 1_000_000_u64;
        let wrong = absent.filter(|key| filter.contains_hash(hash(*key), NOW)).count();
        assert_rate_at_most(wrong as u64, 1_000_000, parameters.false_positive_rate(), 1e-9);
    }
}

/// Lookups compare a few bytes at once. A run that is longer must not be denied any of its entries, nor
/// may the one after it: a whole bin of them in two neighbouring buckets.
#[test]
fn long_runs_are_found_to_their_end() {
    for rate in [0.01, 1e-4] {
        let parameters = parameters(100_000, None, rate);
        let shape = parameters.shape;
        // Below this, a hash is of the first bin's first two buckets, whatever its rest.
        let below = u64::MAX / (shape.bins as u64 * u64::from(shape.buckets)) * 2;
        let hashes: Vec<u64> = (0..45).map(|key| hash(key) % below).collect();
        let filter = Sliding::new(parameters);
        for mut filter in [filter.clone(), filter.without_vectors()] {
            for (i, &hash) in hashes.iter().enumerate() {
                filter.insert_hash(hash, NOW);
                assert!(hashes[..=i].iter().all(|&hash| filter.contains_hash(hash, NOW)));
            }
            assert_eq!(filter.validate(), Ok(()));
            assert!(hashes.iter().all(|&hash| shape.cut().place(hash).bin == 0));
            assert!(hashes.iter().all(|&hash| shape.cut().place(hash).bucket < 2));
        }
    }
}

/// A sweep looks at sixteen exiles of a bin at most; the others must be found all the same.
#[test]
fn a_crowd_away_from_home_is_found() {
    let parameters = parameters(100_000, None, 0.001);
    let bins = parameters.shape.bins as u64;
    let crowd: Vec<u64> = (0..110).map(|key| hash(key) % (u64::MAX / bins)).collect();
    let others = (1000..).map(hash).filter(|&hash| parameters.shape.cut().place(hash).bin != 0);
    let mut filter = Sliding::new(parameters);
    for &hash in &crowd {
        filter.insert_hash(hash, NOW);
    }
    // Enough for the bin to be swept more than once, and too few for anything to leave.
    for (i, other) in others.take(60_000).enumerate() {
        filter.insert_hash(other, NOW);
        if i % 1000 == 0 {
            assert!(crowd.iter().all(|&hash| filter.contains_hash(hash, NOW)), "after {i}");
        }
    }
    assert_eq!((filter.lost(), filter.validate()), (0, Ok(())));
    assert!(filter.stats().exiles > 32, "no crowd, nothing tested");
}

/// The most cache lines that any insertion or lookup touches do not depend on the window.
#[test]
fn work_is_constant() {
    let most = |window| {
        let mut filter = Sliding::new(parameters(window, None, 0.01));
        let mut work = CacheLines::default();
        let mut most = (0, 0);
        for key in 0..3_000_000 {
            work.clear();
            filter.insert_counted(hash(key), Repeat::Refresh, &mut work);
            most.0 = most.0.max(work.count());
            work.clear();
            filter.contains_counted(hash(!key), &mut work);
            most.1 = most.1.max(work.count());
        }
        most
    };
    assert_eq!(most(100_000), most(1_000_000));
}

/// The figures that `docs/sliding.md` and the README state. The lab measures the error beside them.
#[test]
fn bits_per_item_are_as_documented() {
    for (rate, most) in [(0.01, 14.95), (0.001, 18.95), (0.0001, 23.2)] {
        for window in [1_000_000, 10_000_000] {
            let bits = parameters(window, None, rate).heap_bytes() as f64 * 8.0 / window as f64;
            assert!(bits <= most, "{bits} bits at {rate} for {window}");
        }
    }
}
