//! How often: what every counter owes.

use std::collections::VecDeque;

use lately::raw::{Counting, Filter};
use lately::{Error, Time, Window};
use testkit::oracle::Counts;
use testkit::random::SplitMix64;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

use crate::membership::hash;
use crate::subjects::Subject;

/// On skewed and even streams, adding one or several at a time: no count is below the truth where
/// that is promised, the count that an addition returns is the one a look finds, thresholds agree
/// with counts, and the share of keys whose count is wrong is no more than promised.
pub fn counts_are_right(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut history = History::new(subject);
        for (step, key) in keys.take(50_000).enumerate() {
            let times = 1 + step as u64 % 3;
            history.add(key, times);
            let counter = filter.as_counting().expect("this contract is for counters");
            let count = counter.add_hash(hash(seed, key), times, Time::ZERO);
            assert_eq!(count, counter.count_hash(hash(seed, key), Time::ZERO));
            assert!(counter.reaches_hash(hash(seed, key), count, Time::ZERO));
            assert!(!counter.reaches_hash(hash(seed, key), count + 1, Time::ZERO));
            at_least(subject, &*filter, count, history.count(key));
        }
        counts_as(subject, &*filter, &history.counts, seed);
    }
}

/// At any moment it tells how many different keys it counts: never more than there are, and less only
/// where two are taken for one.
pub fn tells_how_many_differ(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut history = History::new(subject);
        for (step, key) in keys.take(20_000).enumerate() {
            let times = 1 + step as u64 % 2;
            history.add(key, times);
            let counter = filter.as_counting().expect("this contract is for counters");
            counter.add_hash(hash(seed, key), times, Time::ZERO);
            if step % 1_000 != 999 && step > 300 {
                continue;
            }
            let truth = history.counts.distinct();
            let told = filter.distinct(Time::ZERO).expect("this contract is for those that know");
            assert!(told <= truth as f64, "{}: {told} for {truth}", subject.label);
            let missed = truth - told as u64;
            assert_rate_at_most(missed, truth, subject.promise.false_positives, 1e-9 / 1e3);
        }
    }
}

/// Under minimal increase an addition raises the counters that hold a key's count and no others: the
/// key counts exactly so many more, and no other key comes to count more than both counted. There are
/// four times the keys that the filter is made for, so that most counters are shared.
pub fn raises_no_more_than_it_must(subject: &Subject) {
    let seed = 3;
    let mut filter = (subject.build)(seed);
    let watched: Vec<u64> = streams::distinct(9).take(300).map(|key| hash(seed, key)).collect();
    for (step, key) in streams::zipf(20_000, 0.8, 9).take(60_000).enumerate() {
        let key = hash(seed, key);
        let counter = filter.as_counting().expect("this contract is for counters");
        let count = |counter: &dyn Counting, key| counter.count_hash(key, Time::ZERO);
        let times = 1 + step as u64 % 2;
        if step % 20 != 0 {
            counter.add_hash(key, times, Time::ZERO);
            continue;
        }
        let before: Vec<u64> = watched.iter().map(|&other| count(counter, other)).collect();
        let own = count(counter, key) + times;
        assert_eq!(counter.add_hash(key, times, Time::ZERO), own, "{}", subject.label);
        for (&other, before) in watched.iter().zip(before) {
            let after = count(counter, other);
            assert!(after <= before.max(own), "{}: {before} became {after}", subject.label);
        }
    }
}

/// Sightings that are taken back are gone, others stay; more than there are cannot be taken back;
/// and when all are taken back, nothing is left.
pub fn takes_back(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut oracle = Counts::new();
        let mut random = SplitMix64::new(seed);
        let keys: Vec<u64> = keys.take(20_000).collect();
        for (step, &key) in keys.iter().enumerate() {
            let counter = filter.as_counting().expect("this contract is for counters");
            oracle.add(key, 2);
            counter.add_hash(hash(seed, key), 2, Time::ZERO);
            // Keys of all ages lose some or all of their sightings.
            let other = keys[random.below(step as u64 + 1) as usize];
            let held = oracle.count(other);
            let times = if step % 2 == 0 { held } else { held.min(1) };
            assert!(oracle.remove(other, times));
            let left = counter.take_back_hash(hash(seed, other), times, Time::ZERO).unwrap();
            assert_eq!(left, counter.count_hash(hash(seed, other), Time::ZERO));
            at_least(subject, &*filter, left, held - times);
        }
        counts_as(subject, &*filter, &oracle, seed);

        let before = all_counts(&*filter, seed);
        let counter = filter.as_counting().expect("this contract is for counters");
        for key in streams::absent(seed).take(200) {
            let hash = hash(seed, key);
            let found = counter.count_hash(hash, Time::ZERO);
            // Under a rule with two filters the first may count more; far more none does.
            let refused = counter.take_back_hash(hash, found + 1_000_000, Time::ZERO);
            assert!(matches!(refused, Err(Error::TooFew { .. })), "{}", subject.label);
        }
        assert!(all_counts(&*filter, seed) == before, "{}: refused, but not", subject.label);

        let removing = filter.as_removing().expect("this contract is for those that remove");
        for (key, count) in oracle.iter() {
            for _ in 0..count {
                assert!(removing.remove_hash(hash(seed, key)), "{}", subject.label);
            }
        }
        let left = all_counts(&*filter, seed).into_iter().filter(|&count| count > 0);
        assert_eq!(left.count(), 0, "{}: something is left of nothing", subject.label);
    }
}

/// A counter that cannot take back says so, and changes nothing.
pub fn refuses_to_take_back(subject: &Subject) {
    let mut filter = (subject.build)(1);
    add_all(&mut *filter, 1);
    assert!(filter.as_removing().is_none());
    let before = all_counts(&*filter, 1);
    let counter = filter.as_counting().expect("this contract is for counters");
    for key in streams::uniform(5_000, 6).take(100) {
        let refused = counter.take_back_hash(hash(1, key), 1, Time::ZERO);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{}", subject.label);
    }
    assert!(all_counts(&*filter, 1) == before, "{}: refused, but not", subject.label);
}

/// Two filters that saw two parts of a stream and are merged count like one that saw it all; where
/// sightings can be taken back from counters of fixed number, exactly like it. Multiplied, they count
/// pairs.
pub fn merges_and_multiplies(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let keys: Vec<u64> = keys.take(20_000).collect();
        let [mut ours, mut theirs, mut whole, mut product] = [0; 4].map(|_| (subject.build)(seed));
        let (mut first, mut second, mut both) = (Counts::new(), Counts::new(), Counts::new());
        for (step, &key) in keys.iter().enumerate() {
            let add = |filter: &mut dyn Filter| {
                filter.as_counting().unwrap().add_hash(hash(seed, key), 1, Time::ZERO);
            };
            add(&mut *whole);
            both.add(key, 1);
            if step < keys.len() / 3 {
                add(&mut *ours);
                add(&mut *product);
                first.add(key, 1);
            } else {
                add(&mut *theirs);
                second.add(key, 1);
            }
        }
        ours.as_counting().unwrap().merge(&*theirs).unwrap();
        // Where counters are added up, and none is made for what comes.
        if ours.as_removing().is_some() && ours.blueprint().promised_items().is_some() {
            assert!(all_counts(&*ours, seed) == all_counts(&*whole, seed), "{}", subject.label);
        }
        counts_as(subject, &*ours, &both, seed);

        product.as_counting().unwrap().multiply(&*theirs).unwrap();
        let counter = product.counting().unwrap();
        let pairs = |key| first.count(key) * second.count(key);
        let mut wrong = 0;
        for (key, _) in both.iter() {
            let count = counter.count_hash(hash(seed, key), Time::ZERO);
            at_least(subject, &*product, count, pairs(key));
            wrong += u64::from(count != pairs(key));
        }
        let rate = subject.promise.false_positives;
        assert_rate_at_most(wrong, both.distinct(), rate, 1e-9);
        assert!(product.as_removing().is_none(), "a product cannot be taken back from");
    }
}

/// Filters that were not built alike, or cannot be combined, say so and stay as they are.
pub fn refuses_to_combine(subject: &Subject) {
    let mut ours = (subject.build)(1);
    let mut theirs = (subject.stranger)(1);
    add_all(&mut *ours, 1);
    add_all(&mut *theirs, 1);
    let before = all_counts(&*ours, 1);
    let counter = ours.as_counting().expect("this contract is for counters");
    for refused in [counter.merge(&*theirs), counter.multiply(&*theirs)] {
        let error = refused.unwrap_err();
        let expected = matches!(error, Error::Different { .. } | Error::Unsupported { .. });
        assert!(expected, "{}: {error}", subject.label);
    }
    assert!(all_counts(&*ours, 1) == before, "{}: refused, but not", subject.label);
}

/// What a counter should hold: all sightings, or those in its window.
struct History {
    counts: Counts,
    window: Option<u64>,
    /// The keys in the window, oldest first.
    recent: VecDeque<u64>,
}

impl History {
    fn new(subject: &Subject) -> Self {
        let window = match subject.promise.window {
            Window::Last(window) => Some(window),
            // Time stands still in these contracts.
            Window::Within(_) | Window::Ever => None,
        };
        Self { counts: Counts::new(), window, recent: VecDeque::new() }
    }

    fn add(&mut self, key: u64, times: u64) {
        self.counts.add(key, times);
        let Some(window) = self.window else { return };
        for _ in 0..times {
            self.recent.push_back(key);
            if self.recent.len() as u64 > window {
                let oldest = self.recent.pop_front().unwrap();
                assert!(self.counts.remove(oldest, 1));
            }
        }
    }

    fn count(&self, key: u64) -> u64 {
        self.counts.count(key)
    }
}

/// Streams of at most 5,000 different keys.
fn some_keys() -> [streams::Keys; 2] {
    [Box::new(streams::zipf(5_000, 1.0, 6)), Box::new(streams::uniform(5_000, 6))]
}

/// Adds a few keys.
fn add_all(filter: &mut dyn Filter, seed: u64) {
    let counter = filter.as_counting().expect("this contract is for counters");
    for key in streams::uniform(5_000, 6).take(1_000) {
        counter.add_hash(hash(seed, key), 1, Time::ZERO);
    }
}

/// The counts of the keys of [`some_keys`] and of as many others.
fn all_counts(filter: &dyn Filter, seed: u64) -> Vec<u64> {
    let counter = filter.counting().expect("this contract is for counters");
    let keys = some_keys().into_iter().flat_map(|keys| keys.take(3_000));
    let keys = keys.chain(streams::absent(seed).take(3_000));
    keys.map(|key| counter.count_hash(hash(seed, key), Time::ZERO)).collect()
}

/// A count that is too small is an error where the counter promises that there are none.
fn at_least(subject: &Subject, filter: &dyn Filter, count: u64, truth: u64) {
    let counter = filter.counting().expect("this contract is for counters");
    let owed = if counter.never_undercounts() { truth.min(counter.largest_count()) } else { 0 };
    assert!(count >= owed, "{}: {count} is less than {truth}", subject.label);
}

/// No count is too small, none of a key that is in is nothing, and few are wrong.
fn counts_as(subject: &Subject, filter: &dyn Filter, oracle: &Counts, seed: u64) {
    let counter = filter.counting().expect("this contract is for counters");
    let mut wrong = 0;
    for (key, truth) in oracle.iter() {
        let hash = hash(seed, key);
        let count = counter.count_hash(hash, Time::ZERO);
        at_least(subject, filter, count, truth);
        assert!(filter.contains_hash(hash, Time::ZERO), "{}: lost a key", subject.label);
        wrong += u64::from(count != truth.min(counter.largest_count()));
    }
    assert_rate_at_most(wrong, oracle.distinct(), subject.promise.false_positives, 1e-9);
}
