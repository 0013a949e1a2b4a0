//! Seen or not: what every filter owes.

use lately::raw::Filter;
use lately::{Hashing, Seed, Time};
use testkit::collections::{KeyMap, KeySet};
use testkit::oracle::Last;
use testkit::stats::{assert_rate_at_most, assert_rate_within};
use testkit::streams::{self, named};

use super::subjects::Subject;

/// How often a true claim may fail by luck, per assertion. Seeds are fixed, so a run that passed
/// once passes again.
const ALARM: f64 = 1e-9;

/// On every stream of the testkit: what was seen within the window is reported, always; what was
/// not seen within window and slack is reported no more often than promised.
pub fn keeps_its_window(subject: &Subject) {
    let (window, slack) = subject.window_and_slack();
    let mut errors = Errors::default();
    for (seed, (name, keys)) in (1..).zip(named::counted(window, slack.unwrap_or(window), 1)) {
        let mut filter = (subject.build)(seed);
        let mut oracle = Last::new(window);
        let mut returned = KeySet::default();
        for (step, key) in keys.take(subject.steps()).enumerate() {
            let distance = oracle.distance(key);
            oracle.insert(key);
            let seen = !filter.insert_hash(hash(seed, key), Time::ZERO);
            match distance {
                Some(distance) if distance <= window => assert!(
                    seen,
                    "{}: {name}: forgot at step {step} a key seen {distance} steps before",
                    subject.label
                ),
                None => errors.count(seen),
                // The same collision may come back with its key: only its first return is a trial.
                Some(distance) if slack.is_some_and(|slack| distance > window + slack) => {
                    if returned.insert(key) {
                        errors.count(seen);
                    }
                }
                Some(_) => {}
            }
        }
    }
    assert_rate_at_most(errors.hits, errors.trials, subject.promise.false_positives, ALARM);
}

/// After the same number of all-distinct insertions, for eight phases of a window: unseen keys are
/// reported no more often than promised. Small filters differ from seed to seed, so many are asked.
pub fn errs_no_more_often_at_any_phase(subject: &Subject) {
    let (window, slack) = subject.window_and_slack();
    let slack = slack.unwrap_or(window);
    let filters = (subject.steps() as u64 / (4 * (window + slack))).clamp(3, 3_000);
    let queries = 40_000 / filters;
    let cycle = (window + slack).max(8);
    let mut errors: [Errors; 8] = Default::default();
    for seed in 0..filters {
        let mut filter = (subject.build)(seed);
        let mut keys = streams::distinct(seed);
        let mut absent = streams::absent(seed);
        insert(&mut *filter, keys.by_ref().take(2 * cycle as usize), seed);
        for errors in &mut errors {
            insert(&mut *filter, keys.by_ref().take(cycle as usize / 8), seed);
            for key in absent.by_ref().take(queries as usize) {
                errors.count(filter.contains_hash(hash(seed, key), Time::ZERO));
            }
        }
    }
    for errors in errors {
        assert_rate_at_most(errors.hits, errors.trials, subject.promise.false_positives, ALARM);
    }
}

/// A key that must not be refreshed passes at most once per window, and passes again afterwards.
pub fn passes_once_per_window(subject: &Subject) {
    let (window, slack) = subject.window_and_slack();
    let mut errors = Errors::default();
    for (seed, (name, keys)) in (1..).zip(named::counted(window, slack.unwrap_or(window), 2)) {
        let mut filter = (subject.build)(seed);
        // Where each key last passed, by the filter's own answer: what it let pass, it owes.
        let mut passed: KeyMap<usize> = KeyMap::default();
        // Of keys that never passed, and of those that did.
        let mut returned = [KeySet::default(), KeySet::default()];
        for (step, key) in keys.take(subject.steps()).enumerate() {
            let new = filter.insert_new_hash(hash(seed, key), Time::ZERO);
            let distance = passed.get(&key).map(|before| (step - before) as u64);
            match distance {
                Some(distance) if distance <= window => assert!(
                    !new,
                    "{}: {name}: let pass at step {step} a key that passed {distance} before",
                    subject.label
                ),
                Some(distance) if slack.is_none_or(|slack| distance <= window + slack) => {}
                _ => {
                    if returned[usize::from(distance.is_some())].insert(key) {
                        errors.count(!new);
                    }
                }
            }
            if new {
                passed.insert(key, step);
            }
        }
    }
    assert_rate_at_most(errors.hits, errors.trials, subject.promise.false_positives, ALARM);
}

/// Asking before inserting gives the opposite of the insertion's answer, and leaves no trace.
pub fn looking_is_free_and_true(subject: &Subject) {
    for (seed, (name, keys)) in (1..).zip(some_streams()) {
        let mut asked = (subject.build)(seed);
        let mut unasked = (subject.build)(seed);
        for key in keys.take(subject.few_steps()) {
            let hash = hash(seed, key);
            let seen = asked.contains_hash(hash, Time::ZERO);
            let new = asked.insert_hash(hash, Time::ZERO);
            assert_eq!(new, unasked.insert_hash(hash, Time::ZERO), "{}: {name}", subject.label);
            // An insertion moves the window by one before it answers, so a key may have just left.
            assert!(seen || new, "{}: {name}: not found, but not new", subject.label);
        }
        assert_eq!(
            lately::raw::codec::save(&*asked, HASHING),
            lately::raw::codec::save(&*unasked, HASHING)
        );
    }
}

/// Batches of every size answer like single calls, for inserting and for looking.
pub fn batches_equal_singles(subject: &Subject) {
    for (seed, (name, keys)) in (1..).zip(some_streams()) {
        let hashes: Vec<u64> = keys.take(subject.few_steps()).map(|key| hash(seed, key)).collect();
        let mut singly = (subject.build)(seed);
        let mut batched = (subject.build)(seed);
        let mut rest = &hashes[..];
        for size in [0, 1, 2, 31, 32, 33, 100].into_iter().cycle() {
            let (batch, later) = rest.split_at(size.min(rest.len()));
            rest = later;
            let mut seen = vec![false; batch.len()];
            batched.contains_hashes(batch, Time::ZERO, &mut seen);
            for (&hash, seen) in batch.iter().zip(seen) {
                assert_eq!(seen, singly.contains_hash(hash, Time::ZERO), "{}", subject.label);
            }
            let mut new = vec![false; batch.len()];
            batched.insert_hashes(batch, Time::ZERO, &mut new);
            for (&hash, new) in batch.iter().zip(new) {
                assert_eq!(new, singly.insert_hash(hash, Time::ZERO), "{}: {name}", subject.label);
            }
            let mut new = vec![false; batch.len()];
            batched.insert_new_hashes(batch, Time::ZERO, &mut new);
            for (&hash, new) in batch.iter().zip(new) {
                assert_eq!(new, singly.insert_new_hash(hash, Time::ZERO), "{}", subject.label);
            }
            if rest.is_empty() {
                break;
            }
        }
    }
}

/// Times that stand still, jump or go back change no answer of a window by count.
pub fn ignores_time(subject: &Subject) {
    for (seed, (name, keys)) in (1..).zip(some_streams()) {
        let mut timeless = (subject.build)(seed);
        let mut timed = (subject.build)(seed);
        for (step, key) in keys.take(subject.few_steps()).enumerate() {
            let hash = hash(seed, key);
            let now = Time::from_millis([0, u64::MAX, 17, 1 << 41][step % 4]);
            let new = timeless.insert_hash(hash, Time::ZERO);
            assert_eq!(new, timed.insert_hash(hash, now), "{}: {name}", subject.label);
        }
    }
}

/// The heap of a structure of fixed size is what its blueprint says, before and after use. Whether
/// the allocator agrees is for `tests/heap.rs`.
pub fn heap_is_as_planned(subject: &Subject) {
    let Some(planned) = subject.planned_bytes else { return };
    let mut filter = (subject.build)(3);
    assert_eq!(filter.heap_bytes(), planned, "{}", subject.label);
    insert(&mut *filter, streams::distinct(3).take(subject.few_steps()), 3);
    assert_eq!(filter.heap_bytes(), planned, "{}", subject.label);
}

/// The error that a filter estimates from its content is the error that unseen keys meet, to 15%
/// where so many errors occur that this can be told.
pub fn estimates_its_error(subject: &Subject) {
    let mut filter = (subject.build)(4);
    insert(&mut *filter, streams::distinct(4).take(subject.few_steps()), 4);
    let estimate = filter.false_positive_rate();
    let queries = 20_000;
    let hits = streams::absent(4)
        .take(queries as usize)
        .filter(|key| filter.contains_hash(hash(4, *key), Time::ZERO))
        .count();
    assert_rate_within(hits as u64, queries, estimate, 0.15, ALARM);
}

/// The hash under which a filter of this seed sees a key.
pub fn hash(seed: u64, key: u64) -> u64 {
    Hashing::Fast(Seed(seed)).hash(&key.to_le_bytes())
}

/// For snapshots whose hashing does not matter.
pub const HASHING: Hashing = Hashing::Fast(Seed(0));

/// A few streams that repeat at various distances, for contracts that compare two filters.
pub fn some_streams() -> Vec<(&'static str, streams::Keys)> {
    vec![
        ("distinct", Box::new(streams::distinct(5))),
        ("uniform", Box::new(streams::uniform(400, 5))),
        ("repeats", Box::new(streams::repeats_at(&[1, 63, 64, 65, 200, 500], 5).map(|s| s.key))),
    ]
}

fn insert(filter: &mut dyn Filter, keys: impl Iterator<Item = u64>, seed: u64) {
    for key in keys {
        filter.insert_hash(hash(seed, key), Time::ZERO);
    }
}

#[derive(Default)]
struct Errors {
    hits: u64,
    trials: u64,
}

impl Errors {
    fn count(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.trials += 1;
    }
}
