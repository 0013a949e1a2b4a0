//! Filters that threads share, each beside the structures of its parts.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{KEYS, Set, Turn, alike, ask, at, hash, keys, minute};
use lately::raw::codec::Bundle;
use lately::raw::{Filter, Shards, Untyped};
use lately::{Lately, NoClock, Shared, Time};

/// The structures behind a shared filter, as its snapshot has them.
struct Parts(Vec<Untyped>);

impl Parts {
    fn of(snapshot: &[u8]) -> Self {
        let (_, parts) = Bundle::read(snapshot).unwrap();
        Self(parts.into_iter().map(|part| Untyped::open(part).unwrap()).collect())
    }

    /// The one that a key belongs to, and its hash.
    fn part(&mut self, key: u64) -> (&mut dyn Filter, u64) {
        let hash = hash(self.0[0].hashing(), key);
        let part = Shards(self.0.len() as u32).of(hash);
        (self.0[part].filter_mut(), hash)
    }

    fn ask(&mut self, key: u64, turn: Turn) -> [bool; 2] {
        let (filter, hash) = self.part(key);
        ask(filter, hash, turn)
    }

    fn assert_same(&self, snapshot: &[u8]) {
        let (_, parts) = Bundle::read(snapshot).unwrap();
        assert!(parts.iter().zip(&self.0).all(|(part, behind)| *part == behind.save()));
    }
}

#[test]
fn shared() {
    let seen = Lately::last(20_000).structure("sliding").seed(3).build_shared().unwrap();
    let batch = Shared::open(&seen.save()).unwrap();
    let mut behind = Parts::of(&seen.save());
    assert!(behind.0.len() > 1);
    let keys = keys();
    alike(
        (1_500, 0),
        |keys, turn, new| match turn.refreshes {
            true => batch.insert_all(keys, new),
            false => batch.insert_new_all(keys, new),
        },
        |key, turn| {
            let was_seen = seen.contains(key);
            [was_seen, if turn.refreshes { seen.insert(key) } else { seen.insert_new(key) }]
        },
        |key, turn| behind.ask(key, turn),
    );
    behind.assert_same(&seen.save());
    behind.assert_same(&batch.save());
    let mut found = vec![false; KEYS];
    seen.contains_all(&keys, &mut found);
    assert!(keys.iter().zip(found).all(|(key, found)| seen.contains(key) == found));
    let distinct: f64 =
        behind.0.iter().map(|part| part.filter().distinct(Time::ZERO).unwrap()).sum();
    assert_eq!((seen.distinct().unwrap(), seen.structure()), (distinct, "sliding"));
    let rate: f64 = behind.0.iter().map(|part| part.filter().false_positive_rate()).sum();
    assert_eq!(
        (seen.error_now(), seen.hashing()),
        (rate / behind.0.len() as f64, behind.0[0].hashing())
    );
    let bytes: u64 = behind.0.iter().map(|part| part.filter().heap_bytes()).sum();
    assert!((bytes..bytes + 20_000).contains(&seen.heap_bytes()));
    assert_eq!(seen.promise().false_positives, behind.0[0].promise().false_positives);
    seen.clear().unwrap();
    assert!(!keys.iter().any(|key| seen.contains(key)));
    let ever = Lately::ever().removing().build_shared().unwrap();
    assert!(ever.insert(5) && ever.forget(5).unwrap() && !ever.forget(5).unwrap());
}

#[test]
fn shared_by_time() {
    let seen = Lately::within(minute()).checked_by(NoClock).seed(3).build_shared().unwrap();
    let batch = Lately::within(minute()).checked_by(NoClock).seed(3).build_shared().unwrap();
    let (mut behind, keys) = (Parts::of(&seen.save()), keys());
    alike(
        (500, 5_000),
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
        |key, turn| behind.ask(key, turn),
    );
    behind.assert_same(&seen.save());
    behind.assert_same(&batch.save());
    let (now, later) = (at(26_000), at(40_000));
    for key in 1_500..1_600 {
        let (filter, hash) = behind.part(key);
        let expected = filter.as_deadlines().unwrap().insert_until_hash(hash, now, later);
        assert_eq!(seen.insert_until(key, now, later).unwrap(), expected);
    }
    let mut found = vec![false; KEYS];
    Shared::open_within(&seen.save()).unwrap().contains_all_at(&keys, later, &mut found);
    for (&key, found) in keys.iter().zip(found) {
        let (filter, hash) = behind.part(key);
        let expected = filter.aging().unwrap().age_hash(hash, later).is_some();
        assert_eq!((seen.age_at(key, later).unwrap().is_some(), found), (expected, expected));
    }
    let distinct: f64 = behind.0.iter().map(|part| part.filter().distinct(later).unwrap()).sum();
    assert_eq!(seen.distinct_at(later).unwrap(), distinct);
    seen.turn_back(at(20_000));
    behind.0.iter_mut().for_each(|part| part.filter_mut().turn_back(at(20_000)));
    while !seen.expire_at(at(75_000)).unwrap() {}
    for part in &mut behind.0 {
        while !part.filter_mut().expire(at(75_000), 16) {}
    }
    behind.assert_same(&seen.save());
}

#[test]
fn shared_by_clock() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let seen = Lately::within(minute()).clock(&CLOCK).seed(3).build_shared().unwrap();
    let batch = Shared::open_clocked(&seen.save(), &CLOCK).unwrap();
    let (mut behind, keys) = (Parts::of(&seen.save()), keys());
    alike(
        (500, 5_000),
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
        |key, turn| behind.ask(key, turn),
    );
    behind.assert_same(&seen.save());
    behind.assert_same(&batch.save());
    let now = at(70_000);
    CLOCK.0.store(now.millis(), Ordering::Relaxed);
    let distinct: f64 = behind.0.iter().map(|part| part.filter().distinct(now).unwrap()).sum();
    assert_eq!(seen.distinct().unwrap(), distinct);
    let mut found = vec![false; KEYS];
    seen.contains_all(&keys, &mut found);
    for (&key, found) in keys.iter().zip(found) {
        let (filter, hash) = behind.part(key);
        let expected = filter.aging().unwrap().age_hash(hash, now).is_some();
        assert_eq!((seen.age(key).unwrap().is_some(), found), (expected, expected));
    }
    while !seen.expire() {}
    for part in &mut behind.0 {
        while !part.filter_mut().expire(now, 16) {}
    }
    behind.assert_same(&seen.save());
}

#[test]
fn shared_and_merged() {
    let alike = || Lately::ever().error(0.01).parts(3);
    let (one, other) = (alike().build_shared().unwrap(), alike().build_shared().unwrap());
    (0..3_000).for_each(|key| _ = one.insert(key));
    (2_000..9_000).for_each(|key| _ = other.insert(key));
    let (mut behind, theirs) = (Parts::of(&one.save()), Parts::of(&other.save()));
    for (ours, theirs) in behind.0.iter_mut().zip(&theirs.0) {
        ours.filter_mut().unite(theirs.filter()).unwrap();
    }
    one.merge(&other).unwrap();
    behind.assert_same(&one.save());
    assert!((0..9_000).all(|key| one.contains(key)));
    // With itself, which has the same locks.
    one.merge(&one.clone()).unwrap();
    behind.assert_same(&one.save());
    let fewer = alike().parts(2).build_shared().unwrap();
    let error = one.merge(&fewer).unwrap_err().to_string();
    assert!(error.contains("number of parts (3 and 2)"), "{error}");
}

/// As its parts: the one that remembers least.
#[test]
fn shared_and_shortening() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let builder = Lately::within(minute()).error(0.01).shortening_at(400_000).parts(2);
    let seen = builder.clock(&CLOCK).build_shared().unwrap();
    for key in 0..400_000_u64 {
        CLOCK.0.store(key / 200, Ordering::Relaxed);
        seen.insert(key);
    }
    let behind = Parts::of(&seen.save());
    for now in [2_000, 30_000, 200_000].map(at) {
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        let reaches = behind.0.iter().map(|part| part.filter().reach(now).unwrap());
        let (shortest, least) = (reaches.clone().map(|it| it.now), reaches.map(|it| it.least));
        assert_eq!(seen.remembers_at(now), shortest.min().unwrap().into());
        assert_eq!(seen.remembered_least(), least.min().unwrap().into());
        assert_eq!(seen.remembers(), seen.remembers_at(now));
    }
    assert!(seen.remembers_at(at(2_000)) < minute() / 10);
    assert_eq!(seen.remembers(), minute());
}
