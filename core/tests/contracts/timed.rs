//! Seen in the last t, or not: what every window by time owes.

use std::collections::HashSet;

use lately::{Slack, Time, Window};
use testkit::oracle::Within;
use testkit::stats::assert_rate_at_most;
use testkit::streams::{self, named};

use crate::membership::hash;
use crate::subjects::Subject;

/// Items taken of every timed stream: enough for its clock to swing through all its rates.
const ITEMS: usize = 120_000;

/// On every timed stream of the testkit: what was inserted within the span is reported, always;
/// what was not inserted within span and slack is reported no more often than promised. Time that
/// goes back is taken as standing still, by the oracle as by the filter.
pub fn keeps_its_span(subject: &Subject) {
    let (span, slack) = span_and_slack(subject);
    let (mut hits, mut trials) = (0, 0);
    for (seed, (name, items)) in (1..).zip(named::timed(span, slack, 1)) {
        let mut filter = (subject.build)(seed);
        let mut oracle = Within::new(span);
        let mut returned = HashSet::new();
        for (step, (key, now)) in items.take(ITEMS).enumerate() {
            let age = oracle.age(key, now);
            oracle.insert(key, now);
            let seen = !filter.insert_hash(hash(seed, key), Time::from_millis(now));
            match age {
                Some(age) if age <= span => assert!(
                    seen,
                    "{}: {name}: forgot at step {step} a key seen {age} ms before",
                    subject.label
                ),
                Some(age) if age <= span + slack => {}
                // The same collision may come back with its key: only its first return is a trial.
                _ => {
                    if returned.insert((key, age.is_some())) {
                        hits += u64::from(seen);
                        trials += 1;
                    }
                }
            }
        }
    }
    assert_rate_at_most(hits, trials, subject.promise.false_positives, 1e-9);
}

/// When nothing comes for longer than span and slack, every old key is forgotten, with no
/// insertion to trigger it; and until then none is.
pub fn forgets_when_idle(subject: &Subject) {
    let (span, slack) = span_and_slack(subject);
    let (mut hits, mut trials) = (0, 0);
    for seed in 0..20 {
        let mut filter = (subject.build)(seed);
        let start = 1_700_000_000_000;
        let keys: Vec<u64> = streams::distinct(seed).take(500).collect();
        for &key in &keys {
            filter.insert_hash(hash(seed, key), Time::from_millis(start));
        }
        let at_border = Time::from_millis(start + span);
        let afterwards = Time::from_millis(start + span + slack + 1);
        for &key in &keys {
            let kept = filter.contains_hash(hash(seed, key), at_border);
            assert!(kept, "{}: forgot a key exactly as old as the span", subject.label);
            hits += u64::from(filter.contains_hash(hash(seed, key), afterwards));
            trials += 1;
        }
    }
    assert_rate_at_most(hits, trials, subject.promise.false_positives, 1e-9);
}

fn span_and_slack(subject: &Subject) -> (u64, u64) {
    let Window::Within(span) = subject.promise.window else {
        panic!("{} does not measure time", subject.label);
    };
    let Slack::Time(slack) = subject.promise.slack else {
        panic!("{} does not limit its slack", subject.label);
    };
    (span.millis(), slack.millis())
}
