//! Counters.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Set, at, hash, keys, minute};
use lately::{Counter, Lately, NoClock, Time};

#[test]
fn counter() {
    let builder = Lately::ever().counting().removing().expected_items(2_000).seed(3);
    let mut counts = builder.build().unwrap();
    let mut behind = counts.clone().into_untyped();
    let hashing = behind.hashing();
    for (step, key) in keys().into_iter().enumerate() {
        let (hash, times) = (hash(hashing, key), 1 + step as u64 % 3);
        let counting = behind.filter_mut().as_counting().unwrap();
        let expected = counting.add_hash(hash, times, Time::ZERO);
        let found = if times == 1 { counts.add(key) } else { counts.add_times(key, times) };
        assert_eq!((found, counts.count(key)), (expected, counting.count_hash(hash, Time::ZERO)));
        assert!(counts.reaches(key, expected) && !counts.reaches(key, expected + 1));
        if step % 5 == 0 {
            let expected = counting.take_back_hash(hash, 1, Time::ZERO).unwrap();
            assert_eq!(counts.take_back(key, 1).unwrap(), expected);
        }
    }
    assert_eq!(counts.save(), behind.save());
    let filter = behind.filter();
    assert_eq!(counts.promise(), filter.blueprint().promise());
    assert_eq!(counts.structure(), filter.blueprint().structure());
    assert_eq!(
        (counts.heap_bytes(), counts.error_now()),
        (filter.heap_bytes(), filter.false_positive_rate())
    );
    assert_eq!((counts.hashing(), counts.distinct().ok()), (hashing, filter.distinct(Time::ZERO)));
    let same = Counter::from_untyped(behind.clone()).unwrap();
    assert_eq!(Counter::open(&counts.save()).unwrap().count(7), same.count(7));
    let plain = Lately::ever().counting().expected_items(2_000).build().unwrap();
    let (mut ours, mut theirs) = (plain.clone(), plain.empty_alike().unwrap());
    ours.add_times(7, 3);
    theirs.add_times(7, 2);
    let mut product = ours.clone();
    product.multiply(&theirs).unwrap();
    ours.merge(&theirs).unwrap();
    assert_eq!((ours.count(7), product.count(7)), (5, 6));
    ours.clear().unwrap();
    assert_eq!(ours.save(), plain.save());
    assert_eq!(
        ours.counting_mut().add_hash(9, 4, Time::ZERO),
        ours.counting().count_hash(9, Time::ZERO)
    );
}

#[test]
fn limits() {
    let mut counts = Lately::last(1_000).counting().seed(3).build().unwrap();
    let mut behind = counts.clone().into_untyped();
    let hashing = behind.hashing();
    for (step, key) in keys().into_iter().enumerate() {
        let (hash, times) = (hash(hashing, key), 1 + step as u64 % 2);
        let counting = behind.filter_mut().as_counting().unwrap();
        let expected = counting.admit_hash(hash, times, 3, Time::ZERO);
        let found =
            if times == 1 { counts.admit(key, 3) } else { counts.admit_times(key, times, 3) };
        assert_eq!(found, expected);
        assert_eq!(counts.estimate(key), counting.estimate_hash(hash, Time::ZERO));
    }
    assert_eq!(counts.save(), behind.save());
}

#[test]
fn counter_by_time() {
    let builder = Lately::within(minute()).checked_by(NoClock).seed(3).counting();
    let mut counts = builder.build().unwrap();
    let mut behind = counts.clone().into_untyped();
    let hashing = behind.hashing();
    for (step, key) in keys().into_iter().enumerate() {
        let (now, hash) = (at(50 * step as u64), hash(hashing, key));
        let counting = behind.filter_mut().as_counting().unwrap();
        match step % 4 {
            0 => assert_eq!(counts.add_at(key, now).unwrap(), counting.add_hash(hash, 1, now)),
            1 => {
                assert_eq!(
                    counts.add_times_at(key, 5, now).unwrap(),
                    counting.add_hash(hash, 5, now)
                );
                let left = counts.take_back_at(key, 2, now).unwrap();
                assert_eq!(left, counting.take_back_hash(hash, 2, now).unwrap());
            }
            2 => {
                let found = counts.admit_at(key, 4, now).unwrap();
                assert_eq!(found, counting.admit_hash(hash, 1, 4, now));
            }
            _ => {
                let found = counts.admit_times_at(key, 2, 9, now).unwrap();
                assert_eq!(found, counting.admit_hash(hash, 2, 9, now));
            }
        }
        assert_eq!(counts.count_at(key, now), counting.count_hash(hash, now));
        assert_eq!(counts.estimate_at(key, now), counting.estimate_hash(hash, now));
        assert_eq!(counts.latest(), behind.filter().clock());
    }
    let now = at(200_000);
    assert_eq!(counts.distinct_at(now).ok(), behind.filter().distinct(now));
    let same = Counter::open_within(&counts.save()).unwrap();
    assert_eq!((same.save(), counts.save()), (behind.save(), behind.save()));
    counts.turn_back(at(100_000));
    behind.filter_mut().turn_back(at(100_000));
    assert_eq!(counts.save(), behind.save());
    while !counts.expire_at(now).unwrap() {}
    while !behind.filter_mut().expire(now, 16) {}
    assert_eq!(counts.save(), behind.save());
}

#[test]
fn counter_by_clock() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let builder = Lately::within(minute()).seed(3).counting().clock(&CLOCK);
    let mut counts = builder.build().unwrap();
    let mut behind = counts.clone().into_untyped();
    let hashing = behind.hashing();
    for (step, key) in keys().into_iter().enumerate() {
        let (now, hash) = (at(50 * step as u64), hash(hashing, key));
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        let counting = behind.filter_mut().as_counting().unwrap();
        match step % 3 {
            0 => assert_eq!(counts.add(key), counting.add_hash(hash, 1, now)),
            1 => {
                assert_eq!(counts.add_times(key, 5), counting.add_hash(hash, 5, now));
                let left = counting.take_back_hash(hash, 2, now).unwrap();
                assert_eq!(counts.take_back(key, 2).unwrap(), left);
            }
            _ => assert_eq!(counts.admit(key, 4), counting.admit_hash(hash, 1, 4, now)),
        }
        assert_eq!(counts.count(key), counting.count_hash(hash, now));
    }
    assert_eq!(counts.save(), behind.save());
}

/// Parts err about other keys than the whole, so that the error is chosen too small to be met.
#[test]
fn shared_counter() {
    let builder = Lately::ever().counting().error(1e-9).seed(3);
    let (mut plain, shared) = (builder.build().unwrap(), builder.build_shared().unwrap());
    for (step, key) in keys().into_iter().enumerate() {
        match step % 2 {
            0 => assert_eq!(shared.add(key), plain.add(key)),
            _ => assert_eq!(shared.admit(key, 2), plain.admit(key, 2)),
        }
        assert_eq!(shared.count(key), plain.count(key));
    }
    assert!(shared.promise().false_positives <= 1e-9);
    assert!(shared.heap_bytes() >= plain.heap_bytes());
}

/// Of whatever window, told the time or with a clock: the first ones count as their counter says, and nobody
/// else more.
#[test]
fn top() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let within = Lately::within(minute()).error(1e-9).checked_by(NoClock).seed(3).counting();
    let clocked = Lately::within(minute()).error(1e-9).seed(3).counting().clock(&CLOCK);
    let (mut told, mut clocked) = (within.build_top(5).unwrap(), clocked.build_top(5).unwrap());
    let last = Lately::last(300).error(1e-9).counting();
    let (mut last, mut ever) =
        (last.build_top(5).unwrap(), Lately::ever().error(1e-9).counting().build_top(5).unwrap());
    for (step, key) in keys().into_iter().enumerate() {
        let (now, bytes) = (at(1_000_000 + 100 * step as u64), key.to_le_bytes());
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        let expected = told.add_at(bytes, now).unwrap();
        assert_eq!(clocked.add(bytes), expected);
        assert_eq!(clocked.list(), told.list_at(now));
        last.add(bytes);
        ever.add(bytes);
        let first = told.list_at(now);
        let counts: Vec<u64> =
            first.iter().map(|(key, _)| told.counter().count_at(key, now)).collect();
        assert!(first.iter().map(|&(_, count)| count).eq(counts.iter().copied()));
        for (list, counter) in [(last.list(), last.counter()), (ever.list(), ever.counter())] {
            assert!(list.iter().all(|(key, count)| counter.count(key) == *count));
            let is_first = list.iter().any(|&(first, _)| first == bytes);
            assert!(is_first || counter.count(&bytes[..]) <= list[4].1);
        }
    }
    assert!(told.held() < 400 && told.heap_bytes() > told.counter().heap_bytes());
}

#[test]
fn shared_counter_by_time() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let builder = Lately::within(minute()).error(1e-9).checked_by(NoClock).seed(3).counting();
    let (mut plain, told) = (builder.build().unwrap(), builder.build_shared().unwrap());
    let clocked = Lately::within(minute()).error(1e-9).seed(3).counting().clock(&CLOCK);
    let clocked = clocked.build_shared().unwrap();
    for (step, key) in keys().into_iter().enumerate() {
        // Of one generation, so that it does not matter where those of a part begin.
        let now = at(1_000_000 + step as u64);
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        match step % 2 {
            0 => {
                let expected = plain.add_at(key, now).unwrap();
                assert_eq!(
                    (told.add_at(key, now).unwrap(), clocked.add(key)),
                    (expected, expected)
                );
            }
            _ => {
                let expected = plain.admit_at(key, 2, now).unwrap().allowed;
                let found = told.admit_at(key, 2, now).unwrap().allowed;
                assert_eq!((found, clocked.admit(key, 2).allowed), (expected, expected));
            }
        }
        let expected = plain.count_at(key, now);
        assert_eq!((told.count_at(key, now), clocked.count(key)), (expected, expected));
    }
    while !told.expire_at(at(2_000_000)).unwrap() {}
    assert!(keys().into_iter().all(|key| told.count_at(key, at(2_000_000)) == 0));
}
