//! Filters that need no time, and what all filters can.

use super::{KEYS, alike, ask, hash, keys};
use lately::raw::Age;
use lately::{Hashing, Lately, Seed, Time};

#[test]
fn untimed() {
    let one = Lately::last(1_000).seed(3).build().unwrap();
    let mut behind = one.clone().into_untyped();
    let hashing = behind.hashing();
    let (mut single, mut batch) = (one.clone(), one.clone());
    alike(
        (100, 0),
        |keys, turn, new| match turn.refreshes {
            true => batch.insert_all(keys, new),
            false => batch.insert_new_all(keys, new),
        },
        |key, turn| {
            let seen = single.contains(key);
            [seen, if turn.refreshes { single.insert(key) } else { single.insert_new(key) }]
        },
        |key, turn| ask(behind.filter_mut(), hash(hashing, key), turn),
    );
    let keys = keys();
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

#[test]
fn merged() {
    let (ours, theirs) = (0..3_000, 2_000..9_000);
    let alike = || Lately::ever().error(0.01).seed(3);
    let (mut one, mut other) = (alike().build().unwrap(), alike().build().unwrap());
    one.extend(ours);
    other.extend(theirs);
    let mut behind = one.clone().into_untyped();
    let sum = one.error_now() + other.error_now();
    behind.filter_mut().unite(other.clone().into_untyped().filter()).unwrap();
    one.merge(&other).unwrap();
    assert_eq!(one.save(), behind.save());
    assert!((0..9_000).all(|key| one.contains(key)) && one.error_now() <= 1.02 * sum);
    // What cannot be is refused, and nothing is changed.
    let before = one.save();
    for (other, told) in [
        (
            alike().seed(4),
            "the filters differ in seed (3 and 4); only filters built alike can be combined",
        ),
        (alike().error(0.001), "the filters differ in "),
        (alike().keyed([7; 16]), "the filters differ in hashing (one is keyed)"),
        (Lately::last(1_000).seed(3), "the filters differ in structure ("),
    ] {
        let error = one.merge(&other.build().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    }
    assert_eq!(one.save(), before);
    for builder in [Lately::last(1_000), alike().removing()] {
        let error = builder.build().unwrap().merge(&builder.build().unwrap()).unwrap_err();
        assert!(error.to_string().contains("ask both"), "{error}");
    }
}
