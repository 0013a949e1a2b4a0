//! Counters.

use super::{hash, keys};
use lately::{Counter, Lately, Time};

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
