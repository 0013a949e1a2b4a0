//! The door as a newcomer tries it: one-liners, misuse, and each method beside the structure behind it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use lately::key::{Hashed, Structural};
use lately::{Clock, Counter, Error, Lately, NoClock, Shared, SystemClock, Time, Window};
use testkit::streams;

/// What a user of other filters types first.
#[test]
fn one_liners() -> Result<(), Error> {
    let mut seen = Lately::last(1000).error(0.01).build()?;
    assert!(seen.insert(42_u64));
    assert!(seen.insert("text"));
    assert!(seen.insert(String::from("owned")));
    assert!(seen.insert(vec![1_u8, 2, 3]));
    assert!(seen.insert(("tenant", 7)));
    assert!(seen.insert(Structural(&[Some(1.5_f64.to_bits())])));
    assert!(seen.insert(Hashed(0x0123_4567_89ab_cdef)));
    assert!(seen.contains(42) && !seen.contains(43));
    let copy = seen.clone();
    seen.clear()?;
    assert!(copy.contains("text") && !seen.contains("text"));
    seen.extend(["a", "b"]);
    seen.extend(0..10);
    let mut ever = Lately::ever().removing().build()?;
    assert!(ever.insert("a") && ever.forget("a")? && !ever.contains("a"));
    let mut hour = Lately::within(Duration::from_secs(3600)).build()?;
    assert!(hour.insert_at("a", SystemTime::now())?);
    let mut minute = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    assert!(minute.insert("a") && minute.contains("a"));
    let mut counts = Lately::ever().counting().expected_items(1000).build()?;
    assert_eq!((counts.add("a"), counts.add_times("a", 4), counts.count("a")), (1, 5, 5));
    assert!(format!("{seen:?}").contains("never forgets the last "), "{seen:?}");
    Ok(())
}

#[test]
fn what_cannot_be_is_told_and_nothing_is_built() {
    let told = |error: Error| error.to_string();
    let error = told(Lately::last(9).error(1.5).build().unwrap_err());
    assert_eq!(
        error,
        "error rate is 1.5; it must be a number from 1e-9 up to but below 1, such as 0.001 or 0.1%"
    );
    assert!(told(Lately::last(0).build().unwrap_err()).contains("from 1 to 2^48 items"));
    assert!(Lately::within(Duration::ZERO).build().is_err());
    assert!(Lately::within(Duration::from_secs(1)).clock(NoClock).build().is_err());
    let error = told(Lately::last(9).build().unwrap().forget("a").unwrap_err());
    assert_eq!(error, "this filter cannot forget a key; build it with `removing()`");
    let hour = Lately::within(Duration::from_secs(3600)).build().unwrap().save();
    assert!(told(Lately::open(&hour).unwrap_err()).contains("open_within"));
    let last = Lately::last(9).build().unwrap().save();
    assert!(told(Lately::open_within(&last).unwrap_err()).contains("`open`"));
    assert!(told(Counter::open(&last).unwrap_err()).contains("counting()"));
    for refused in [Shared::open(&last).map(|_| ()), Shared::open(&[]).map(|_| ())] {
        assert!(refused.is_err());
    }
}

/// A clock that tests set.
#[derive(Debug, Default)]
struct Set(AtomicU64);

impl Clock for &'static Set {
    fn now(&self) -> Option<Time> {
        Some(Time::from_millis(self.0.load(Ordering::Relaxed)))
    }
}

#[test]
fn a_clock_moves_the_window_and_is_believed_when_it_is_right_again() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let (set, hour) = (|millis| CLOCK.0.store(millis, Ordering::Relaxed), 3_600_000);
    let start = 1_700_000_000_000;
    set(start);
    let mut seen = Lately::within(Duration::from_millis(hour)).clock(&CLOCK).build().unwrap();
    assert!(seen.insert("a"));
    set(start + hour);
    assert!(seen.contains("a") && !seen.insert_new("a"));
    set(start + 3 * hour);
    assert!(!seen.contains("a"));
    // It goes wrong by a century and comes back: keys expire as before.
    set(start + 876_000 * hour);
    assert!(seen.insert("b"));
    set(start + 3 * hour);
    assert!(!seen.insert("b"));
    set(start + 6 * hour);
    assert!(!seen.contains("b"), "for ever");
    // Events tell their own time, but not from the future.
    assert!(seen.insert_at("c", Time::from_millis(start + 5 * hour)).unwrap());
    assert!(seen.insert_at("d", Time::from_millis(start + 500 * hour)).is_err());
}

/// Batches answer like single calls, and all like the structure behind the door.
#[test]
fn every_way_in_leads_to_the_same_structure() {
    let keys: Vec<u64> = streams::uniform(2_000, 5).take(5_000).collect();
    let one = Lately::last(1_000).seed(3).build().unwrap();
    let mut behind = one.clone().into_untyped();
    let (mut single, mut batch) = (one.clone(), one.clone());
    let mut new = vec![false; keys.len()];
    batch.insert_all(&keys, &mut new);
    for (key, new) in keys.iter().zip(new) {
        let hash = behind.hashing().hash(&key.to_le_bytes());
        assert_eq!(behind.filter_mut().insert_hash(hash, Time::ZERO), new);
        assert_eq!(single.insert(key), new);
    }
    assert_eq!(single.save(), batch.save());
    assert_eq!(single.save(), behind.save());
    let mut seen = vec![false; keys.len()];
    batch.contains_all(&keys, &mut seen);
    assert!(keys.iter().zip(seen).all(|(key, seen)| single.contains(key) == seen));
}

#[test]
fn a_shared_filter_keeps_the_promise_of_the_whole() {
    let window = 100_000;
    let shared = Lately::last(window).error(0.01).build_shared().unwrap();
    let promise = shared.promise();
    assert_eq!(promise.window, Window::Last(window));
    for key in 0..3 * window {
        assert!(shared.insert(key) || key > 0);
    }
    assert!(
        (2 * window..3 * window).all(|key| shared.contains(key)),
        "forgotten inside the window"
    );
    let again = Shared::open(&shared.save()).unwrap();
    assert_eq!(again.promise(), promise);
    assert!((2 * window..3 * window).all(|key| again.contains(key)));
    let wrong = (0..100_000).filter(|key| shared.contains(("absent", *key))).count();
    testkit::stats::assert_rate_at_most(wrong as u64, 100_000, promise.false_positives, 1e-9);
}

/// Threads insert overlapping keys: of each key exactly one insertion is told that it is new, but for
/// those that collide with another, of which none is.
#[test]
fn of_many_threads_exactly_one_is_told_new() {
    let shared = Lately::last(1_000_000).error(1e-9).build_shared().unwrap();
    let keys = 50_000_u64;
    let told: Vec<HashSet<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let shared = shared.clone();
                scope.spawn(move || {
                    let order = (0..keys).map(|i| (i * 7_919 + thread * 13) % keys);
                    order.filter(|key| shared.insert(key)).collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: HashSet<_> = told.iter().flatten().collect();
    assert_eq!(told.iter().map(HashSet::len).sum::<usize>(), all.len(), "a key was new twice");
    // Two of 50,000 keys collide by luck with a chance below 1e-4 at this error; seeds are fixed.
    assert_eq!(all.len() as u64, keys);
}
