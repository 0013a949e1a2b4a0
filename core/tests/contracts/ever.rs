//! Everything: what filters without a window owe, at every size from nothing on.

use lately::Time;
use lately::raw::Filter;
use testkit::collections::KeyMap;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

use super::membership::hash;
use super::subjects::Subject;

/// How often a true claim may fail by luck, per assertion; seeds are fixed.
const ALARM: f64 = 1e-9;

/// Insertions: past several doublings of whatever a filter starts with.
const STEPS: usize = 40_000;

/// Unseen keys that are asked for at every size.
const QUERIES: u64 = 5_000;

/// On streams with and without repeats, at sizes a fifth apart: what was inserted is reported,
/// always, and what was not, no more often than promised.
pub fn remembers_everything(subject: &Subject) {
    let distinct: streams::Keys = Box::new(streams::distinct(7));
    let uniform: streams::Keys = Box::new(streams::uniform(30_000, 7));
    let skewed: streams::Keys = Box::new(streams::zipf(100_000, 0.8, 7));
    for (seed, keys) in (1..).zip([distinct, uniform, skewed]) {
        let mut filter = (subject.build)(seed);
        let mut inserted = KeyMap::default();
        let mut absent = streams::absent(seed);
        let (mut hits, mut trials) = (0, 0);
        for (step, key) in keys.take(STEPS).enumerate() {
            if is_checkpoint(step) {
                check(subject, &*filter, &inserted, seed);
                assert_unseen(subject, &*filter, absent.by_ref().take(QUERIES as usize), seed);
            }
            let new = filter.insert_hash(hash(seed, key), Time::ZERO);
            if inserted.insert(key, 1).is_some() {
                assert!(!new, "{}: forgot a key at step {step}", subject.label);
            } else {
                hits += u64::from(!new);
                trials += 1;
            }
        }
        assert_rate_at_most(hits, trials, subject.promise.false_positives, ALARM);
    }
}

/// Keys are inserted up to three times and taken back in another order, in rounds that grow and
/// shrink the filter: what is left is reported, always, and what is not, no more often than
/// promised.
pub fn takes_back_what_was_inserted(subject: &Subject) {
    for seed in 1..3 {
        let mut filter = (subject.build)(seed);
        let mut inserted: KeyMap<u64> = KeyMap::default();
        let mut keys = streams::distinct(seed);
        for round in 0..8 {
            let count = 5_000 >> (round % 3);
            let fresh: Vec<u64> = keys.by_ref().take(count).collect();
            for (i, &key) in fresh.iter().enumerate() {
                for _ in 0..=i % 7 / 3 {
                    filter.insert_hash(hash(seed, key), Time::ZERO);
                    *inserted.entry(key).or_default() += 1;
                }
            }
            // Of old and new keys alike, about half of the insertions.
            let mut all: Vec<u64> = inserted.keys().copied().collect();
            all.sort_unstable_by_key(|key| hash(round + 100, *key));
            let removing = filter.as_removing().expect("this contract is for those that remove");
            for &key in &all[..all.len() * 2 / 3] {
                assert!(removing.remove_hash(hash(seed, key)), "{}: {key}", subject.label);
                let times = inserted.get_mut(&key).expect("all keys are inserted");
                *times -= 1;
                if *times == 0 {
                    inserted.remove(&key);
                }
            }
            check(subject, &*filter, &inserted, seed);
            let gone = all.iter().copied().filter(|key| !inserted.contains_key(key));
            assert_unseen(subject, &*filter, gone, seed);
            assert_unseen(subject, &*filter, streams::absent(round).take(10_000), seed);
        }
    }
}

/// Keys inserted as new are kept only if they are called new; of those, any can be taken back, and
/// all others stay. (A key that is called seen has no entry of its own: taking it back would take
/// another's. Nobody can tell the two apart, so this is what callers owe.)
pub fn takes_back_what_it_called_new(subject: &Subject) {
    for seed in 1..3 {
        let mut filter = (subject.build)(seed);
        let mut kept: KeyMap<u64> = KeyMap::default();
        for (step, key) in streams::distinct(seed).take(12_000).enumerate() {
            if filter.insert_new_hash(hash(seed, key), Time::ZERO) {
                kept.insert(key, 1);
            }
            if step % 3_000 == 2_999 {
                let mut all: Vec<u64> = kept.keys().copied().collect();
                all.sort_unstable_by_key(|key| hash(step as u64, *key));
                let removing = filter.as_removing().expect("this contract is for removers");
                for key in &all[..all.len() * 2 / 3] {
                    assert!(removing.remove_hash(hash(seed, *key)), "{}", subject.label);
                    kept.remove(key);
                }
                check(subject, &*filter, &kept, seed);
                let gone = all.into_iter().filter(|key| !kept.contains_key(key));
                assert_unseen(subject, &*filter, gone, seed);
            }
        }
    }
}

/// Every key that was inserted is reported.
fn check(subject: &Subject, filter: &dyn Filter, inserted: &KeyMap<u64>, seed: u64) {
    for &key in inserted.keys() {
        let seen = filter.contains_hash(hash(seed, key), Time::ZERO);
        assert!(seen, "{}: one of {} keys is gone", subject.label, inserted.len());
    }
}

/// Of these keys, which are not inserted, no more are reported than promised.
fn assert_unseen(
    subject: &Subject,
    filter: &dyn Filter,
    keys: impl Iterator<Item = u64>,
    seed: u64,
) {
    let (mut hits, mut trials) = (0, 0);
    for key in keys {
        hits += u64::from(filter.contains_hash(hash(seed, key), Time::ZERO));
        trials += 1;
    }
    assert_rate_at_most(hits, trials, subject.promise.false_positives, ALARM);
}

fn is_checkpoint(step: usize) -> bool {
    let fifth = |step: usize| ((step.max(1) as f64).ln() / 1.2f64.ln()) as u64;
    step < 4 || fifth(step) != fifth(step - 1)
}
