//! How often: what every counter owes.

use lately::Time;
use testkit::oracle::Counts;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

use crate::membership::hash;
use crate::subjects::Subject;

/// On skewed and even streams, adding one or several at a time: no count is below the truth, the
/// count that an addition returns is the one a look finds, and the share of keys whose count is
/// too large is no more than promised.
pub fn never_undercounts(subject: &Subject) {
    let skewed: streams::Keys = Box::new(streams::zipf(5_000, 1.0, 6));
    let even: streams::Keys = Box::new(streams::uniform(5_000, 6));
    for (seed, keys) in (1..).zip([skewed, even]) {
        let mut filter = (subject.build)(seed);
        let counter = filter.as_counting().expect("this contract is for counters");
        let mut oracle = Counts::new();
        for (step, key) in keys.take(50_000).enumerate() {
            let times = 1 + step as u64 % 3;
            oracle.add(key, times);
            let count = counter.add_hash(hash(seed, key), times, Time::ZERO);
            assert_eq!(count, counter.count_hash(hash(seed, key), Time::ZERO));
            assert!(count >= oracle.count(key), "{}: {count} is too small", subject.label);
        }
        let mut wrong = 0;
        for (key, truth) in oracle.iter() {
            let count = counter.count_hash(hash(seed, key), Time::ZERO);
            assert!(count >= truth, "{}: {count} is less than {truth}", subject.label);
            wrong += u64::from(count > truth);
        }
        let rate = subject.promise.false_positives;
        assert_rate_at_most(wrong, oracle.distinct(), rate, 1e-9);
    }
}
