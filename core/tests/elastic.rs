//! The window by count whose memory follows the different keys: bits per different key, counted by the
//! allocator, at the worst moment; and when it is the planner's choice.

use std::collections::HashMap;

use lately::plan::Goal;
use lately::raw::{Age, Filter, remix};
use lately::{ErrorRate, Seed, Time, Window};

use crate::heap::counted;

fn goal(window: u64, rate: f64, distinct: Option<u64>) -> Goal {
    let rate = ErrorRate::new(rate).unwrap();
    Goal { expected_items: distinct, ..Goal::new(Window::Last(window), rate) }
}

fn elastic(goal: &Goal) -> Box<dyn Filter> {
    let row = lately::catalog::CATALOG.row_named("elastic").unwrap();
    goal.plan_with(row).unwrap().blueprint.build(Seed(1)).unwrap()
}

fn insert(filter: &mut dyn Filter, key: u64) -> bool {
    filter.insert_hash(remix(key, 1), Time::ZERO)
}

/// A filter, and what it holds of the heap.
struct Weighed {
    filter: Box<dyn Filter>,
    bytes: i64,
}

impl Weighed {
    fn new(goal: &Goal) -> Self {
        let (filter, taken) = counted(|| elastic(goal));
        Self { filter, bytes: taken.bytes_current }
    }

    fn insert(&mut self, key: u64) {
        self.bytes += counted(|| insert(&mut *self.filter, key)).1.bytes_current;
    }

    /// Bits on the heap for each of so many keys.
    fn bits(&self, keys: u64) -> f64 {
        self.bytes as f64 * 8.0 / keys as f64
    }
}

/// A stream that repeats 50,000 keys in a window of a million; then all its keys are new, so that as many
/// are in the window as fit; then it repeats few again, and memory comes back.
#[test]
fn memory_follows_the_different_keys() {
    const WINDOW: u64 = 1_000_000;
    for (rate, limits) in [(0.01, [18.5, 22.5]), (0.001, [22.5, 26.5]), (0.0001, [26.5, 31.0])] {
        let few = 50_000;
        let mut filter = Weighed::new(&goal(WINDOW, rate, Some(few)));
        assert!(filter.bits(1) < 8.0 * 8_192.0, "an empty one takes hardly anything");
        let mut worst = [0_f64; 2];
        for i in 0..2 * WINDOW {
            filter.insert(remix(i, 2) % few);
            if i % 20_000 == 0 && i > 10 * few {
                worst[0] = worst[0].max(filter.bits(few));
            }
        }
        for i in 0..2 * WINDOW {
            filter.insert(few + i);
            if i % 20_000 == 0 && i > WINDOW {
                worst[1] = worst[1].max(filter.bits(WINDOW));
            }
        }
        println!("{rate}: {worst:.2?} bits per different key of {few} and of {WINDOW}");
        for i in 0..2 * WINDOW {
            filter.insert(remix(i, 2) % few);
        }
        let back = filter.bits(few);
        println!("{rate}: {back:.2} when only {few} are left");
        assert!(worst[0] <= limits[0] && worst[1] <= limits[1], "{rate}: {worst:?}");
        assert!(back <= 1.3 * limits[0], "{rate}: {back}");
        assert!(filter.filter.false_positive_rate() <= rate);
    }
}

/// Ages are exact to a generation and the window to its slack, whatever it is in length.
#[test]
fn a_key_is_as_old_as_the_insertions_since() {
    for window in [1, 2, 3, 10, 1_000] {
        let mut filter = elastic(&goal(window, 1e-9, None));
        let slack = match filter.blueprint().promise().slack {
            lately::Slack::Items(slack) => slack,
            other => panic!("{other:?}"),
        };
        let mut last = HashMap::new();
        for i in 0..20 * window {
            let key = remix(i, 3) % (3 * window);
            let since = last.insert(key, i).map(|before| i - before);
            let new = insert(&mut *filter, key);
            if since.is_some_and(|since| since <= window) {
                assert!(!new, "{window}: lost after {since:?}");
            }
            if since.is_none_or(|since| since > window + slack) {
                assert!(new, "{window}: reported after {since:?}");
            }
            for (&key, &at) in &last {
                let age = filter.aging().unwrap().age_hash(remix(key, 1), Time::ZERO);
                match age {
                    Some(Age::Items(ages)) => assert!(ages.contains(&(i - at)), "{ages:?}"),
                    Some(Age::Time(_)) => panic!("a window by count"),
                    None => assert!(i - at >= window, "{window}: {} ago", i - at),
                }
            }
        }
    }
}

#[test]
fn it_is_chosen_where_keys_repeat_and_only_there() {
    let chosen = |goal: Goal| goal.best_plan().unwrap().row.name;
    assert_eq!(chosen(goal(100_000_000, 0.001, Some(1_000_000))), "elastic");
    assert_eq!(chosen(goal(100_000, 0.001, Some(1_000))), "elastic");
    for window in [1, 10, 1_000, 100_000, 10_000_000] {
        for rate in [0.1, 0.001, 1e-6] {
            assert_ne!(chosen(goal(window, rate, None)), "elastic", "{window} at {rate}");
            assert_ne!(chosen(goal(window, rate, Some(window))), "elastic", "{window} at {rate}");
        }
    }
    // What fits is paid for, not how long the window is.
    let plan = goal(100_000_000, 0.001, Some(1_000_000)).best_plan().unwrap();
    assert!(plan.bytes < 3_000_000 && plan.bits_per_item.unwrap() < 24.0, "{plan:?}");
}
