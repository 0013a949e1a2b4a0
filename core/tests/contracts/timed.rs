//! Seen in the last t, or not: what every window by time owes.

use lately::raw::Filter;
use lately::{Slack, Time, Window};
use testkit::collections::KeySet;
use testkit::oracle::Within;
use testkit::stats::assert_rate_at_most;
use testkit::streams::{self, named};

use super::membership::hash;
use super::subjects::Subject;

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
        let mut returned = [KeySet::default(), KeySet::default()];
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
                    if returned[usize::from(age.is_some())].insert(key) {
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

/// Set back in the middle of a stream, by a little or by all time, a filter keeps what was in its
/// window, lets everything go when a window and its slack have passed since, and errs no more
/// often than before. It is never set forward.
pub fn turns_back(subject: &Subject) {
    let (span, slack) = span_and_slack(subject);
    let (mut hits, mut trials) = (0, 0);
    let backs = [u64::MAX, 1, 0, span / 2, span, span + slack + 1, 100 * span];
    for (seed, back) in (1..).zip(backs) {
        let TurnedBack { mut filter, now, kept, .. } = TurnedBack::new(subject, seed, back);
        let gone = now.saturating_add(span + slack + 1);
        for &(key, moment) in &kept {
            let last = Time::from_millis(moment.saturating_add(span));
            let found = filter.contains_hash(hash(seed, key), last);
            assert!(found, "{}: set back by {back} ms, forgot a key", subject.label);
            hits += u64::from(filter.contains_hash(hash(seed, key), Time::from_millis(gone)));
        }
        // Nothing lives longer because something else comes, however little.
        let rare = streams::absent(seed).zip((now..gone).step_by(span.div_ceil(20) as usize));
        rare.for_each(|(key, now)| {
            filter.insert_hash(hash(seed, key), Time::from_millis(now));
        });
        for &(key, _) in &kept {
            hits += u64::from(filter.contains_hash(hash(seed, key), Time::from_millis(gone)));
        }
        trials += 2 * kept.len() as u64;
    }
    assert_rate_at_most(hits, trials, subject.promise.false_positives, 1e-9);
    let (mut hits, mut trials) = (0, 0);
    for (seed, back) in (1..).zip(backs) {
        let TurnedBack { mut filter, mut oracle, mut lost, rest, .. } =
            TurnedBack::new(subject, seed, back);
        for (key, later) in rest.take(ITEMS / 2) {
            let age = oracle.age(key, later);
            oracle.insert(key, later);
            let seen = !filter.insert_hash(hash(seed, key), Time::from_millis(later));
            match age {
                Some(age) if age <= span => assert!(
                    seen || lost.contains(&key),
                    "{}: set back by {back} ms, forgot a key seen {age} ms before",
                    subject.label
                ),
                Some(age) if age <= span + slack => {}
                _ => {
                    hits += u64::from(seen);
                    trials += 1;
                }
            }
            lost.remove(&key);
        }
    }
    assert_rate_at_most(hits, trials, subject.promise.false_positives, 1e-9);
}

/// A filter whose clock was set back in the middle of a stream.
struct TurnedBack {
    filter: Box<dyn Filter>,
    oracle: Within,
    /// What its clock was set back to.
    now: u64,
    /// What was in the window, with the moments that count now.
    kept: Vec<(u64, u64)>,
    /// What had left it.
    lost: KeySet,
    /// What is still to come, as if it had begun there.
    rest: Box<dyn Iterator<Item = (u64, u64)>>,
}

impl TurnedBack {
    fn new(subject: &Subject, seed: u64, back: u64) -> Self {
        let (span, slack) = span_and_slack(subject);
        let mut streams = named::timed(span, slack, seed);
        // Among others the one with moments that are wrong, and each with another way back.
        let (_, mut items) = streams.swap_remove(16 * seed as usize % streams.len());
        let mut filter = (subject.build)(seed);
        filter.turn_back(Time::ZERO);
        assert_eq!(filter.clock(), None, "{}: nothing was inserted", subject.label);
        let mut oracle = Within::new(span);
        let (mut latest, mut interrupted) = (0, 0);
        for (key, now) in items.by_ref().take(ITEMS / 4 + 1) {
            oracle.insert(key, now);
            filter.insert_hash(hash(seed, key), Time::from_millis(now));
            (latest, interrupted) = (latest.max(now), now);
        }
        let lost: KeySet =
            oracle.iter(latest).filter(|&(_, age)| age > span).map(|(key, _)| key).collect();
        let now = latest.saturating_sub(back);
        for (told, clock) in [(latest.saturating_add(1), latest), (now, now)] {
            filter.turn_back(Time::from_millis(told));
            assert_eq!(filter.clock(), Some(Time::from_millis(clock)), "{}", subject.label);
        }
        oracle.turn_back(now);
        let kept = oracle.iter(now).filter(|(key, _)| !lost.contains(key));
        let kept = kept.map(|(key, age)| (key, now - age)).collect();
        let moved = move |at: u64| match at.checked_sub(interrupted) {
            Some(after) => now.saturating_add(after),
            None => now.saturating_sub(interrupted - at),
        };
        let rest = Box::new(items.map(move |(key, at)| (key, moved(at))));
        Self { filter, oracle, now, kept, lost, rest }
    }
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
