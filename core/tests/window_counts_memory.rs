//! Bits per sighting of the counter in windows, at full size: the last million, and a million in the last t at a
//! rate that nobody said. The limits are those of `docs/counting.md`.

use lately::plan::Goal;
use lately::raw::{Filter, remix};
use lately::{ErrorRate, Seed, Span, Time, Window};
use testkit::stats::assert_rate_at_most;
use testkit::streams;

const RATES: [f64; 3] = [0.01, 0.001, 0.0001];
const ITEMS: u64 = 1_000_000;
const SPAN: u64 = 60_000;

fn counter(window: Window, rate: f64) -> Box<dyn Filter> {
    let goal = Goal { counting: true, ..Goal::new(window, ErrorRate::new(rate).unwrap()) };
    let plan = goal.best_plan().unwrap();
    assert_eq!(plan.row.name, "window-counts");
    plan.blueprint.build(Seed(1)).unwrap()
}

/// Counts so many sightings, a millionth of a window apart, and gives the most bits per item of a window at
/// any moment from this one on.
fn worst(
    window: Window,
    rate: f64,
    keys: impl Iterator<Item = u64>,
    sightings: u64,
    from: u64,
) -> f64 {
    let mut filter = counter(window, rate);
    let mut worst = 0.0_f64;
    for (step, key) in (0..sightings).zip(keys) {
        let now = Time::from_millis(step * SPAN / ITEMS);
        let counter = filter.as_counting().unwrap();
        counter.add_hash(remix(key, 1), 1, now);
        if step % 512 == 0 && step >= from {
            worst = worst.max(8.0 * filter.heap_bytes() as f64 / ITEMS as f64);
        }
    }
    let now = Time::from_millis(sightings * SPAN / ITEMS);
    let promised = filter.blueprint().promise().false_positives;
    let counter = filter.counting().unwrap();
    let absent = (0..200_000).filter(|&key| counter.count_hash(remix(key, 99), now) > 0);
    assert_rate_at_most(absent.count() as u64, 200_000, promised, 1e-9);
    assert!(filter.false_positive_rate() <= promised);
    worst
}

fn takes_at_most(name: &str, limits: [f64; 3], worst: impl Fn(f64) -> f64) {
    for (rate, limit) in RATES.into_iter().zip(limits) {
        let bits = worst(rate);
        eprintln!("{name} at {rate}: {bits:.2} bits");
        assert!(bits <= limit, "{name} at {rate}: {bits} bits, {limit} were allowed");
    }
}

#[test]
fn the_last_million() {
    takes_at_most("all different", [18.0, 22.0, 26.5], |rate| {
        worst(Window::Last(ITEMS), rate, streams::distinct(1), 4 * ITEMS, 0)
    });
}

/// Sightings of a million keys by Zipf's law.
fn the_last_million_by_zipf(skew: f64) {
    let keys: Vec<u64> = streams::zipf(1_000_000, skew, 1).take(2 * ITEMS as usize).collect();
    takes_at_most(&format!("Zipf {skew}"), [18.0, 22.0, 26.5], |rate| {
        worst(Window::Last(ITEMS), rate, keys.iter().copied(), 2 * ITEMS, 0)
    });
}

// One test for each, so that they run beside each other.
#[test]
fn the_last_million_by_a_flat_law() {
    the_last_million_by_zipf(0.6);
}

#[test]
fn the_last_million_by_the_usual_law() {
    the_last_million_by_zipf(1.0);
}

#[test]
fn the_last_million_by_a_steep_law() {
    the_last_million_by_zipf(1.4);
}

#[test]
fn the_last_million_by_the_steepest_law() {
    the_last_million_by_zipf(2.0);
}

#[test]
fn a_million_in_a_span() {
    let window = Window::Within(Span::from_millis(SPAN));
    let distinct = || streams::distinct(1);
    takes_at_most("steady", [20.0, 24.0, 28.5], |rate| {
        worst(window, rate, distinct(), 4 * ITEMS, 5 * ITEMS / 2)
    });
    takes_at_most("from the first on", [23.0, 27.0, 31.0], |rate| {
        worst(window, rate, distinct(), 5 * ITEMS / 2, 0)
    });
}

/// Two hundred thousand subjects, far more requests than pass, at most five a window each.
#[test]
fn a_limit_for_many_subjects() {
    takes_at_most("five per span, per recorded sighting", [20.5, 24.0, 28.5], |rate| {
        let mut filter = counter(Window::Within(Span::from_millis(SPAN)), rate);
        let mut passed = std::collections::VecDeque::new();
        let mut worst = 0.0_f64;
        for step in 0..6 * ITEMS {
            let now = step * SPAN / (2 * ITEMS);
            let counter = filter.as_counting().unwrap();
            let key = remix(remix(step, 3) % 200_000, 1);
            if counter.admit_hash(key, 1, 5, Time::from_millis(now)).allowed {
                passed.push_back(now);
            }
            while passed.front().is_some_and(|&at| now - at > SPAN) {
                passed.pop_front();
            }
            if step % 512 == 0 && step > 4 * ITEMS {
                worst = worst.max(8.0 * filter.heap_bytes() as f64 / passed.len() as f64);
            }
        }
        worst
    });
}
