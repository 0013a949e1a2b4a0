//! The window by time that shortens: against a map from keys to the moments of their last sightings. What is told of
//! the window holds, the error is kept by the exact sum, and memory by the allocator, at a hundred times the rate that
//! fits and beyond; the window grows back; and what was opened goes on as what was saved.

use std::collections::HashMap;

use lately::plan::Goal;
use lately::raw::{Age, Aging, Blueprint, Filter, Membership, Removing, codec, remix};
use lately::timed::{ShorteningWindow, ShorteningWindowParameters};
use lately::{
    Error, ErrorRate, Hashing, Lately, Memory, NoClock, Seed, Slack, Span, Time, Window,
};
use testkit::random::SplitMix64;

use crate::heap::counted;
use crate::timed::{forged_do_no_harm, millis, tiny};

const HASHING: Hashing = Hashing::Fast(Seed(1));

fn planned(span: u64, rate: f64, bytes: u64) -> ShorteningWindowParameters {
    let span = Span::from_millis(span);
    ShorteningWindowParameters::with_error_and_memory(span, None, rate, bytes, None).unwrap()
}

/// Segments of a few entries in so little memory that a thousand keys are too many, and remainders so long that no two
/// keys are taken for one.
fn crowded(span: u64, generations: u32) -> ShorteningWindowParameters {
    let segments = tiny(span, generations, 24);
    ShorteningWindowParameters {
        segments: lately::timed::TimedWindowParameters { most_bytes: 10_000, ..segments },
        keys: 0,
    }
}

fn remembered(filter: &dyn Filter, now: u64) -> u64 {
    filter.reach(millis(now)).unwrap().now.millis()
}

/// As many keys as fit, a hundred times as many, and as many as fit again, also all in one millisecond.
#[test]
fn memory_and_error_are_kept_at_a_hundred_times_the_rate_that_fits() {
    const SPAN: u64 = 60_000;
    /// What a segment grows by when the bound is reached.
    const BINS: i64 = 1_024;
    for (bytes, rate) in [(1 << 16, 0.01), (1 << 17, 0.001), (1 << 16, 1e-9), (1 << 20, 0.001)] {
        let parameters = planned(SPAN, rate, bytes);
        let promised = parameters.promise().false_positives;
        let fits = parameters.promised_items().unwrap();
        let (mut filter, taken) = counted(|| ShorteningWindow::new(parameters));
        let mut heap = taken.bytes_current;
        let (mut key, mut now) = (0_u64, 1_000_000_u64);
        // The first key of each moment.
        let mut firsts = vec![(now, key)];
        let (mut most, mut worst, mut work, mut shortest) = (0, 0.0_f64, 0, SPAN);
        for (times, parts) in [(1, 150), (100, 20), (1, 120), (100_000, 1), (1, 70)] {
            let began = now;
            for _ in 0..parts {
                now += SPAN / 100;
                firsts.push((now, key + 1));
                // A hundred times as many as fit are as good as any number.
                for _ in 0..fits * times.min(1_000) / 100 {
                    key += 1;
                    let before = filter.work();
                    let (_, taken) = counted(|| filter.insert_hash(remix(key, 1), millis(now)));
                    heap += taken.bytes_current;
                    most = most.max(heap);
                    work = work.max(filter.work() - before);
                    if key % 64 == 0 {
                        worst = worst.max(filter.false_positive_rate() / promised);
                    }
                }
                let told = remembered(&filter, now);
                shortest = shortest.min(told);
                let first = firsts.iter().find(|(at, _)| now - at < told);
                let first = first.map_or(key + 1, |&(_, first)| first);
                for i in 0..300.min(key + 1 - first) {
                    let one = first + remix(i, now) % (key + 1 - first);
                    assert!(
                        filter.contains_hash(remix(one, 1), millis(now)),
                        "forgot {one} of {first}..={key}, {told} told"
                    );
                }
                // As far as it can: the keys that fit, to an eighth of a generation, and to the last moment.
                let least = match times {
                    1 => SPAN.min(now - began),
                    _ => SPAN * 15 / 16 / times - SPAN / 100,
                };
                assert!(told >= least || firsts.len() == 2, "{told} of {least} at {times} times");
            }
            filter.validate().unwrap();
        }
        println!("{bytes} at {rate}: {fits} fit, {most} bytes, {worst:.2} of the error, {work} segments, {shortest} ms");
        assert!(most <= bytes as i64 + BINS, "{most} of {bytes}");
        assert!(worst <= 1.0, "{worst} of the error that is promised");
        assert!(work <= 12, "{work} segments were made or swept by one insertion");
        assert!(shortest <= SPAN / 100, "{shortest}: nothing was too much");
        assert_eq!(filter.reach(millis(now)).unwrap().least.millis(), shortest.min(0));
        assert_eq!(filter.lost(), 0);
    }
}
