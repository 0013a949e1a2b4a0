//! Bits per different key and share of wrong counts of the counter that grows, at full size, by the law
//! of the sightings. The limits are those of `docs/counting.md`.

use lately::Time;
use lately::growing::{GrowingCounts, GrowingCountsParameters};
use lately::raw::{Counting, Filter, remix};
use testkit::collections::KeyMap;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

const RATES: [f64; 3] = [0.01, 0.001, 0.0001];

/// Different keys from which on limits hold.
const FROM: usize = 10_000;

/// Counts these keys at all three rates at once; at no moment from ten thousand different ones on may they take
/// more bits each, none is counted too low, and no more than promised too high.
fn takes_at_most(limits: [f64; 3], keys: impl Iterator<Item = u64>, sightings: usize) {
    let mut filters = RATES.map(|rate| {
        GrowingCounts::new(GrowingCountsParameters::with_error(rate, 10_000_000).unwrap())
    });
    let mut plain: KeyMap<u64> = KeyMap::default();
    let mut worst = [(0.0, 0); 3];
    let bits = |filter: &GrowingCounts, keys: usize| 8.0 * filter.heap_bytes() as f64 / keys as f64;
    for (step, key) in keys.take(sightings).enumerate() {
        *plain.entry(key).or_default() += 1;
        for filter in &mut filters {
            filter.add_hash(remix(key, 1), 1, Time::ZERO);
        }
        if step % 64 == 0 && plain.len() >= FROM {
            for (filter, worst) in filters.iter().zip(&mut worst) {
                let bits = bits(filter, plain.len());
                if bits > worst.0 {
                    *worst = (bits, plain.len());
                }
            }
        }
    }
    for (((rate, limit), filter), (worst, at)) in
        RATES.into_iter().zip(limits).zip(filters).zip(worst)
    {
        let (mut wrong, mut too_high) = (0, 0);
        for (&key, &truth) in &plain {
            let count = filter.count_hash(remix(key, 1), Time::ZERO);
            assert!(count >= truth, "{count} of {truth}");
            (wrong, too_high) = (wrong + u64::from(count > truth), too_high + count - truth);
        }
        let (last, distinct) = (bits(&filter, plain.len()), plain.len() as u64);
        eprintln!(
            "{rate}: {last:.2} bits, {worst:.2} at {at}; {:.4}% wrong, {:.4} too high on average",
            100.0 * wrong as f64 / distinct as f64,
            too_high as f64 / distinct as f64
        );
        assert_rate_at_most(wrong, distinct, rate, 1e-9);
        assert!(worst <= limit, "{worst} bits at {at} keys, {limit} were allowed");
    }
}

fn zipf(skew: f64) -> impl Iterator<Item = u64> {
    streams::zipf(1_000_000, skew, 1)
}

#[test]
fn ten_million_sightings_by_zipfs_law() {
    takes_at_most([21.0, 25.0, 28.5], zipf(1.0), 10_000_000);
}

#[test]
fn a_flatter_law() {
    takes_at_most([22.0, 26.0, 30.0], zipf(0.6), 10_000_000);
}

#[test]
fn a_steeper_law() {
    takes_at_most([22.0, 26.0, 30.0], zipf(1.4), 10_000_000);
}

#[test]
fn all_keys_are_new() {
    takes_at_most([17.5, 21.5, 25.0], streams::distinct(1), 3_000_000);
}
