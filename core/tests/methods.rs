//! Every method of the door beside the structure behind it: the same stream goes through both, the door in
//! keys, the structure in hashes. A table says which check holds for which methods; it is compared with
//! the public list, so that none is forgotten.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lately::raw::codec::Bundle;
use lately::raw::{Age, Filter, Shards, Untyped};
use lately::{
    Clock, Clocked, Counter, Hashing, Lately, NoClock, Seed, Shared, Time, Timed, Window,
};
use testkit::streams;

/// Which check holds for which methods of which type.
macro_rules! table {
    ($($check:ident: $owner:literal [$($method:ident)+])+) => {
        const TABLE: &[(&str, &str, &[&str])] =
            &[$((stringify!($check), $owner, &[$(stringify!($method)),+])),+];
    };
}

table! {
    builder: "Builder<D>" [error memory expected_items removing alphabet seed keyed structure plan build]
    builder: "Builder<Lately<T>>" [build_shared]
    builder: "Builder<Lately>" [slack counting]
    builder: "Builder<Lately<Timed>>" [slack max_ahead checked_by clock]
    builder: "Lately" [within]
    untimed: "Lately" [last insert insert_new contains insert_all insert_new_all contains_all open]
    what_few_structures_know: "Lately" [ever age distinct]
    any: "Lately<T>" [save forget clear promise error_now heap_bytes structure hashing into_untyped]
    any: "Lately<T>" [exceeds_promise]
    timed: "Lately" [open_within]
    timed: "Lately<Timed>" [believing]
    clocked: "Lately<Timed>" [with_clock]
    timed: "Lately<T>" [insert_at insert_new_at insert_all_at insert_new_all_at contains_at]
    timed: "Lately<T>" [contains_all_at latest turn_back expire_at]
    ages_and_deadlines: "Lately<T>" [insert_until age_at distinct_at]
    clocked: "Lately<Clocked>" [insert insert_new contains insert_all insert_new_all contains_all]
    clocked: "Lately<Clocked>" [age distinct expire]
    counter: "Counter" [open save add add_times count reaches take_back merge multiply empty_alike]
    counter: "Counter" [clear promise error_now structure heap_bytes hashing from_untyped]
    counter: "Counter" [into_untyped counting counting_mut distinct]
    shared: "Shared" [open insert insert_new contains insert_all insert_new_all contains_all distinct]
    shared: "Shared<T>" [save forget clear promise error_now structure heap_bytes hashing]
    shared_by_time: "Shared" [open_within]
    shared_by_time: "Shared<T>" [insert_at insert_new_at insert_until insert_all_at]
    shared_by_time: "Shared<T>" [insert_new_all_at contains_at contains_all_at age_at distinct_at]
    shared_by_time: "Shared<T>" [expire_at latest turn_back]
    shared_by_clock: "Shared" [open_clocked]
    shared_by_clock: "Shared<Clocked>" [insert insert_new contains insert_all insert_new_all]
    shared_by_clock: "Shared<Clocked>" [contains_all age distinct expire]
}

/// `Type::method` of every line of the public list that is a method of the door.
fn public_methods() -> BTreeSet<String> {
    let lines = include_str!("../public.txt").lines();
    let lines = lines.filter(|line| line.starts_with("lately/") && line.contains(" pub fn "));
    lines
        .map(|line| {
            let (owner, rest) = line.split_once(" pub fn ").unwrap();
            let owner = owner.split_once("impl").unwrap().1;
            // Past the parameters of the impl, if it has any.
            let owner = if owner.starts_with('<') { &owner[closed(owner)..] } else { owner };
            let name = rest.split(['(', '<']).next().unwrap();
            format!("{}::{name}", owner.trim())
        })
        .collect()
}

/// Where the brackets that a text begins with are closed again.
fn closed(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[test]
fn no_method_is_forgotten() {
    let rows = TABLE.iter().flat_map(|(_, owner, methods)| {
        methods.iter().map(move |method| format!("{owner}::{method}"))
    });
    let checked: BTreeSet<String> = rows.collect();
    let public = public_methods();
    assert!(public.len() > 100);
    let missing: Vec<_> = public.difference(&checked).collect();
    assert!(missing.is_empty(), "without a check: {missing:?}");
    let gone: Vec<_> = checked.difference(&public).collect();
    assert!(gone.is_empty(), "in the table, but not public: {gone:?}");
}

/// A check must call what the table says it does.
#[test]
fn the_table_tells_the_truth() {
    let text = include_str!("methods.rs");
    for (check, owner, methods) in TABLE {
        let body = text.split(&format!("\nfn {check}() {{")).nth(1).expect(check);
        let body = body.split("\n}\n").next().unwrap();
        for method in *methods {
            let called = [format!(".{method}("), format!("::{method}(")];
            let called = called.iter().any(|call| body.contains(call));
            assert!(called, "{check} does not call {owner}::{method}");
        }
    }
}

/// Every method has an example, and it runs.
#[test]
fn every_method_has_an_example() {
    const DOOR: [&str; 11] = [
        include_str!("../src/lately/builder.rs"),
        include_str!("../src/lately/clocked.rs"),
        include_str!("../src/lately/counter.rs"),
        include_str!("../src/lately/mod.rs"),
        include_str!("../src/lately/opened.rs"),
        include_str!("../src/lately/shared.rs"),
        include_str!("../src/lately/shared/clocked.rs"),
        include_str!("../src/lately/shared/timed.rs"),
        include_str!("../src/lately/shared/untimed.rs"),
        include_str!("../src/lately/timed.rs"),
        include_str!("../src/lately/untimed.rs"),
    ];
    let mut seen = 0;
    for text in DOOR {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in
            lines.iter().enumerate().filter(|(_, line)| line.starts_with("    pub fn "))
        {
            let above = lines[..at].iter().rev().map(|line| line.trim());
            let above: Vec<_> = above.take_while(|line| line.starts_with(['/', '#'])).collect();
            assert!(above.contains(&"/// ```"), "no example that runs: {line}");
            seen += 1;
        }
    }
    assert_eq!(seen, include_str!("../public.txt").lines().filter(is_method).count());
}

fn is_method(line: &&str) -> bool {
    line.starts_with("lately/") && line.contains(" pub fn ")
}

const KEYS: usize = 3_000;

fn keys() -> Vec<u64> {
    streams::uniform(1_500, 5).take(KEYS).collect()
}

/// The hash of a number as a key.
fn hash(hashing: Hashing, key: u64) -> u64 {
    hashing.hash(&key.to_le_bytes())
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn minute() -> Duration {
    Duration::from_secs(60)
}

#[test]
fn builder() {
    let last = || Lately::last(1_000);
    let plan = last().error(0.01).plan().unwrap();
    let built = last().error(0.01).build().unwrap();
    assert_eq!((plan.promise, plan.bytes), (built.promise(), built.heap_bytes()));
    assert!(built.promise().false_positives <= 0.01);
    assert!(last().memory(1_500).build().unwrap().heap_bytes() <= 1_500);
    assert!(last().alphabet(5_000).memory(1_000).plan().unwrap().bytes <= 1_000);
    let few = Lately::ever().expected_items(1_000).plan().unwrap();
    assert!(few.bytes < Lately::ever().expected_items(9_000_000).plan().unwrap().bytes);
    assert!(
        Lately::ever()
            .removing()
            .build()
            .unwrap()
            .into_untyped()
            .filter_mut()
            .as_removing()
            .is_some()
    );
    assert_eq!(last().seed(7).build().unwrap().hashing(), Hashing::Fast(Seed(7)));
    assert_eq!(last().keyed([7; 16]).build().unwrap().hashing(), Hashing::Keyed([7; 16]));
    assert_eq!(last().structure("short-hash").build().unwrap().structure(), "short-hash");
    assert!(last().structure("no such").build().is_err());
    assert_eq!(last().slack(0).build().unwrap().promise().slack, lately::Slack::Items(0));
    assert!(last().counting().build().unwrap().into_untyped().filter().counting().is_some());
    assert_eq!(last().build_shared().unwrap().promise().window, Window::Last(1_000));
    let slack = lately::Slack::Time(minute().into());
    let hour = Lately::within(60 * minute()).slack(minute()).build().unwrap();
    assert!(
        matches!((hour.promise().slack, slack), (lately::Slack::Time(a), lately::Slack::Time(b)) if a <= b)
    );
    let mut near =
        Lately::within(minute()).max_ahead(minute()).checked_by(NoClock).build().unwrap();
    assert!(near.insert_at(1, at(5)).is_ok() && near.insert_at(2, at(99_000)).is_err());
    assert!(Lately::within(minute()).clock(NoClock).build().is_err());
}

#[test]
fn untimed() {
    let one = Lately::last(1_000).seed(3).build().unwrap();
    let mut behind = one.clone().into_untyped();
    let hashing = behind.hashing();
    let (mut single, mut batch) = (one.clone(), one.clone());
    let keys = keys();
    for (turn, keys) in keys.chunks(100).enumerate() {
        let mut new = vec![false; keys.len()];
        if turn % 2 == 0 {
            batch.insert_all(keys, &mut new)
        } else {
            batch.insert_new_all(keys, &mut new)
        }
        for (&key, new) in keys.iter().zip(new) {
            let (hash, filter) = (hash(hashing, key), behind.filter_mut());
            assert_eq!(filter.contains_hash(hash, Time::ZERO), single.contains(key));
            let (expected, found) = if turn % 2 == 0 {
                (filter.insert_hash(hash, Time::ZERO), single.insert(key))
            } else {
                (filter.insert_new_hash(hash, Time::ZERO), single.insert_new(key))
            };
            assert_eq!((expected, expected), (found, new));
        }
    }
    assert_eq!((single.save(), batch.save()), (behind.save(), behind.save()));
    let mut seen = vec![false; KEYS];
    Lately::open(&batch.save()).unwrap().contains_all(&keys, &mut seen);
    assert!(keys.iter().zip(seen).all(|(key, seen)| single.contains(key) == seen));
}

#[test]
fn what_few_structures_know() {
    let mut seen = Lately::last(1_000).structure("sliding").build().unwrap();
    seen.extend(keys());
    let behind = seen.clone().into_untyped();
    assert_eq!(seen.distinct().ok(), behind.filter().distinct(Time::ZERO));
    for key in keys() {
        let hash = hash(behind.hashing(), key);
        let expected = behind.filter().aging().unwrap().age_hash(hash, Time::ZERO);
        assert_eq!(seen.age(key).unwrap().map(Age::Items), expected);
    }
    assert!(Lately::last(1_000).structure("interleaved").build().unwrap().age(5).is_err());
    let collected: Lately = keys().into_iter().collect();
    let mut ever = Lately::ever().build().unwrap();
    ever.extend(keys());
    assert_eq!(collected.save(), ever.save());
}

#[test]
fn any() {
    let mut seen = Lately::ever().removing().seed(5).build().unwrap();
    seen.extend(keys());
    let mut behind = seen.clone().into_untyped();
    let filter = behind.filter();
    assert_eq!(seen.promise(), filter.blueprint().promise());
    assert_eq!(seen.structure(), filter.blueprint().structure());
    assert_eq!(
        (seen.heap_bytes(), seen.error_now()),
        (filter.heap_bytes(), filter.false_positive_rate())
    );
    assert_eq!((seen.save(), seen.hashing()), (behind.save(), Hashing::Fast(Seed(5))));
    let exceeds = behind.filter().false_positive_rate() > behind.promise().false_positives;
    assert_eq!(seen.exceeds_promise(), exceeds);
    for key in keys() {
        let hash = hash(behind.hashing(), key);
        let expected = behind.filter_mut().as_removing().unwrap().remove_hash(hash);
        assert_eq!(seen.forget(key).unwrap(), expected);
    }
    assert_eq!(seen.save(), behind.save());
    seen.clear().unwrap();
    assert_eq!(seen.save(), behind.empty_alike().unwrap().save());
}

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
    for (turn, keys) in keys.chunks(50).enumerate() {
        let now = at(1_000 * turn as u64);
        let mut new = vec![false; keys.len()];
        let told = match turn % 2 {
            0 => batch.insert_all_at(keys, now, &mut new),
            _ => batch.insert_new_all_at(keys, now, &mut new),
        };
        told.unwrap();
        for (&key, new) in keys.iter().zip(new) {
            let (hash, filter) = (hash(hashing, key), behind.filter_mut());
            assert_eq!(filter.contains_hash(hash, now), seen.contains_at(key, now));
            let (expected, found) = match turn % 2 {
                0 => (filter.insert_hash(hash, now), seen.insert_at(key, now)),
                _ => (filter.insert_new_hash(hash, now), seen.insert_new_at(key, now)),
            };
            assert_eq!((expected, expected), (found.unwrap(), new));
        }
        assert_eq!(seen.latest(), behind.filter().clock());
    }
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

/// A clock that tests set.
#[derive(Debug)]
struct Set(AtomicU64);

impl Clock for &'static Set {
    fn now(&self) -> Option<Time> {
        Some(at(self.0.load(Ordering::Relaxed)))
    }
}

#[test]
fn clocked() {
    static CLOCK: Set = Set(AtomicU64::new(0));
    let (seen, mut behind) = timed_pair();
    let mut seen: Lately<Clocked> = seen.with_clock(&CLOCK).unwrap();
    let (hashing, mut batch, keys) = (behind.hashing(), seen.clone(), keys());
    for (turn, keys) in keys.chunks(50).enumerate() {
        let now = at(1_000 * turn as u64);
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        let mut new = vec![false; keys.len()];
        if turn % 2 == 0 {
            batch.insert_all(keys, &mut new)
        } else {
            batch.insert_new_all(keys, &mut new)
        }
        for (&key, new) in keys.iter().zip(new) {
            let (hash, filter) = (hash(hashing, key), behind.filter_mut());
            assert_eq!(filter.contains_hash(hash, now), seen.contains(key));
            let (expected, found) = if turn % 2 == 0 {
                (filter.insert_hash(hash, now), seen.insert(key))
            } else {
                (filter.insert_new_hash(hash, now), seen.insert_new(key))
            };
            assert_eq!((expected, expected), (found, new));
        }
    }
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
    for (turn, keys) in keys.chunks(1_500).enumerate() {
        let mut new = vec![false; keys.len()];
        if turn % 2 == 0 {
            batch.insert_all(keys, &mut new)
        } else {
            batch.insert_new_all(keys, &mut new)
        }
        for (&key, new) in keys.iter().zip(new) {
            let (filter, hash) = behind.part(key);
            assert_eq!(filter.contains_hash(hash, Time::ZERO), seen.contains(key));
            let (expected, found) = if turn % 2 == 0 {
                (filter.insert_hash(hash, Time::ZERO), seen.insert(key))
            } else {
                (filter.insert_new_hash(hash, Time::ZERO), seen.insert_new(key))
            };
            assert_eq!((expected, expected), (found, new));
        }
    }
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
    for (turn, keys) in keys.chunks(500).enumerate() {
        let now = at(5_000 * turn as u64);
        let mut new = vec![false; keys.len()];
        let told = match turn % 2 {
            0 => batch.insert_all_at(keys, now, &mut new),
            _ => batch.insert_new_all_at(keys, now, &mut new),
        };
        told.unwrap();
        for (&key, new) in keys.iter().zip(new) {
            let (filter, hash) = behind.part(key);
            assert_eq!(filter.contains_hash(hash, now), seen.contains_at(key, now));
            let (expected, found) = match turn % 2 {
                0 => (filter.insert_hash(hash, now), seen.insert_at(key, now)),
                _ => (filter.insert_new_hash(hash, now), seen.insert_new_at(key, now)),
            };
            assert_eq!((expected, expected), (found.unwrap(), new));
        }
        assert_eq!(seen.latest(), Some(now));
    }
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
    for (turn, keys) in keys.chunks(500).enumerate() {
        let now = at(5_000 * turn as u64);
        CLOCK.0.store(now.millis(), Ordering::Relaxed);
        let mut new = vec![false; keys.len()];
        if turn % 2 == 0 {
            batch.insert_all(keys, &mut new)
        } else {
            batch.insert_new_all(keys, &mut new)
        }
        for (&key, new) in keys.iter().zip(new) {
            let (filter, hash) = behind.part(key);
            assert_eq!(filter.contains_hash(hash, now), seen.contains(key));
            let (expected, found) = if turn % 2 == 0 {
                (filter.insert_hash(hash, now), seen.insert(key))
            } else {
                (filter.insert_new_hash(hash, now), seen.insert_new(key))
            };
            assert_eq!((expected, expected), (found, new));
        }
    }
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
