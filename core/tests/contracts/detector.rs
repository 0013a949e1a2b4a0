//! Seen or not, by those that may forget: what every detector owes.

use lately::Time;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

use super::membership::hash;
use super::subjects::Subject;

/// On the stream of which the promise speaks, fresh keys and repeats spread evenly over the window,
/// both kinds of errors are in the long run no more than promised. The laws behind the promise are
/// approximations: 5% and two in a thousand are theirs; beyond that an assertion fails by luck once
/// in 1e9.
pub fn errs_as_promised(subject: &Subject) {
    let (window, _) = subject.window_and_slack();
    let distances: Vec<u64> = (0..64).map(|i| 1 + (2 * i + 1) * window / 128).collect();
    let distances: Vec<u64> = distances.into_iter().filter(|&d| d <= window).collect();
    let settled = 20 * window as usize + 3_000;
    let (mut fresh, mut reported, mut repeats, mut missed) = (0, 0, 0, 0);
    for seed in 1..=3 {
        let mut filter = (subject.build)(seed);
        let steps = streams::repeats_at(&distances, seed).enumerate();
        for (step, streams::Step { key, repeat_of }) in steps.take(settled + 40_000) {
            let new = filter.insert_hash(hash(seed, key), Time::ZERO);
            match repeat_of {
                _ if step < settled => {}
                Some(_) => (repeats, missed) = (repeats + 1, missed + u64::from(new)),
                None => (fresh, reported) = (fresh + 1, reported + u64::from(!new)),
            }
        }
    }
    let allowed = |promised: f64| (1.05 * promised + 0.002).min(1.0);
    assert_rate_at_most(reported, fresh, allowed(subject.promise.false_positives), 1e-9);
    assert_rate_at_most(missed, repeats, allowed(subject.promise.false_negatives), 1e-9);
}

/// A key that comes again and again, and must not be refreshed, passes again and again: what is
/// reported as seen leaves no new trace.
pub fn repeats_pass_again(subject: &Subject) {
    for seed in 1..=3 {
        let mut filter = (subject.build)(seed);
        let watched = hash(seed, streams::absent(seed).next().unwrap());
        let mut passed = 0;
        for key in streams::distinct(seed).take(200_000) {
            passed += u32::from(filter.insert_new_hash(watched, Time::ZERO));
            if passed == 3 {
                break;
            }
            filter.insert_new_hash(hash(seed, key), Time::ZERO);
        }
        assert_eq!(passed, 3, "{}: a repeat was refreshed", subject.label);
    }
}
