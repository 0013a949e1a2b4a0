//! Filters over the last *t*, told the time or with a clock.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{KEYS, Set, alike, ask, at, hash, keys, minute};
use lately::raw::{Age, Untyped};
use lately::{Clocked, Lately, NoClock, Timed};

/// The structure of a window by time beside one at the door; keys come every 20 ms.
fn timed_pair() -> (Lately<Timed>, Untyped) {
    let seen = Lately::within(minute()).checked_by(NoClock).seed(3).build().unwrap();
    let behind = seen.clone().into_untyped();
    (seen, behind)
}

#[test]
fn timed() {
    let (mut seen, mut behind) = timed_pair();
    let (hashing, mut batch, keys) = (behind.hashing(), seen.clone(), keys());
    alike(
        (50, 1_000),
        |keys, turn, new| {
            let told = match turn.refreshes {
                true => batch.insert_all_at(keys, turn.now, new),
                false => batch.insert_new_all_at(keys, turn.now, new),
            };
            told.unwrap();
        },
        |key, turn| {
            let was_seen = seen.contains_at(key, turn.now);
            let new = match turn.refreshes {
                true => seen.insert_at(key, turn.now),
                false => seen.insert_new_at(key, turn.now),
            };
            assert_eq!(seen.latest(), Some(turn.now));
            [was_seen, new.unwrap()]
        },
        |key, turn| ask(behind.filter_mut(), hash(hashing, key), turn),
    );
    assert_eq!((seen.save(), batch.save()), (behind.save(), behind.save()));
    let mut found = vec![false; KEYS];
    seen.contains_all_at(&keys, at(70_000), &mut found);
    assert!(keys.iter().zip(found).all(|(key, found)| seen.contains_at(key, at(70_000)) == found));
    let mut near = Lately::open_within(&seen.save()).unwrap().believing(minute(), NoClock);
    assert!(near.insert_at(1, at(999_000)).is_err());
    seen.turn_back(at(30_000));
    behind.filter_mut().turn_back(at(30_000));
    assert_eq!(seen.save(), behind.save());
    while !seen.expire_at(at(85_000)).unwrap() {}
    while !behind.filter_mut().expire(at(85_000), 16) {}
    assert_eq!(seen.save(), behind.save());
}

#[test]
fn ages_and_deadlines() {
    let (mut seen, mut behind) = timed_pair();
    for (step, key) in keys().into_iter().enumerate() {
        let (now, hash) = (at(20 * step as u64), hash(behind.hashing(), key));
        let deadline = at(now.millis() + key % 60_000);
        let expected =
            behind.filter_mut().as_deadlines().unwrap().insert_until_hash(hash, now, deadline);
        assert_eq!(seen.insert_until(key, now, deadline).unwrap(), expected);
    }
    assert_eq!(seen.save(), behind.save());
    let now = at(61_000);
    assert_eq!(seen.distinct_at(now).ok(), behind.filter().distinct(now));
    for key in keys() {
        let expected = behind.filter().aging().unwrap().age_hash(hash(behind.hashing(), key), now);
        let found = seen.age_at(key, now).unwrap();
        assert_eq!(
            found.map(|age| Age::Time((*age.start()).into()..=(*age.end()).into())),
            expected
        );
    }
}

#[test]
fn clocked() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let (seen, mut behind) = timed_pair();
    let mut seen: Lately<Clocked> = seen.with_clock(&CLOCK).unwrap();
    let (hashing, mut batch, keys) = (behind.hashing(), seen.clone(), keys());
    alike(
        (50, 1_000),
        |keys, turn, new| {
            CLOCK.0.store(turn.now.millis(), Ordering::Relaxed);
            match turn.refreshes {
                true => batch.insert_all(keys, new),
                false => batch.insert_new_all(keys, new),
            }
        },
        |key, turn| {
            let was_seen = seen.contains(key);
            [was_seen, if turn.refreshes { seen.insert(key) } else { seen.insert_new(key) }]
        },
        |key, turn| ask(behind.filter_mut(), hash(hashing, key), turn),
    );
    assert_eq!((seen.save(), batch.save()), (behind.save(), behind.save()));
    let now = at(70_000);
    CLOCK.0.store(now.millis(), Ordering::Relaxed);
    assert_eq!(seen.distinct().ok(), behind.filter().distinct(now));
    let mut found = vec![false; KEYS];
    seen.contains_all(&keys, &mut found);
    for (&key, found) in keys.iter().zip(found) {
        let expected = behind.filter().aging().unwrap().age_hash(hash(hashing, key), now);
        assert_eq!(
            (seen.age(key).unwrap().is_some(), found),
            (expected.is_some(), expected.is_some())
        );
    }
    while !seen.expire() {}
    while !behind.filter_mut().expire(now, 16) {}
    assert_eq!(seen.save(), behind.save());
}

/// Far more keys than fit into its memory, and long after them.
#[test]
fn shortening() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let builder = Lately::within(minute()).checked_by(NoClock).error(0.01).shortening_at(100_000);
    let mut seen = builder.build().unwrap();
    let mut behind = seen.clone().into_untyped();
    let hashing = behind.hashing();
    for key in 0..200_000_u64 {
        let now = at(key / 100);
        seen.insert_at(key, now).unwrap();
        behind.filter_mut().insert_hash(hash(hashing, key), now);
    }
    let mut clocked = seen.clone().with_clock(&CLOCK).unwrap();
    for now in [2_000, 30_000, 200_000].map(at) {
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        clocked.insert(1_u64);
        let reach = behind.filter().reach(now).unwrap();
        assert_eq!(seen.remembers_at(now), reach.now.into());
        assert_eq!(seen.remembered_least(), reach.least.into());
        assert_eq!(clocked.remembers(), clocked.remembers_at(now));
    }
    assert!(seen.remembers_at(at(2_000)) < minute() / 10);
    assert_eq!(seen.remembers_at(at(200_000)), minute());
    assert!(seen.remembered_least() < minute() / 10);
}
