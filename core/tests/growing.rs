//! What only the growing filter promises: a bounded number of cache lines whatever its size, flat
//! memory, the same answers on every instruction set, and that it never forgets, even if hashes are
//! not random or snapshots are forged.

use std::collections::HashSet;

use crate::hostile::forge;
use lately::dictionary::tools::CacheLines;
use lately::growing::{Growing, GrowingParameters};
use lately::raw::{Filter, Membership, Removing, codec, remix};
use lately::{Error, Hashing, Seed, Time};

const HASHING: Hashing = Hashing::Fast(Seed(1));

fn growing(rate: f64) -> Growing {
    Growing::new(GrowingParameters::with_error(rate, 10_000_000, false).unwrap())
}

/// Segments of a single bin and short remainders, so that a few hundred keys split them many times
/// and use their remainders up.
fn tiny(removing: bool) -> Growing {
    let parameters = GrowingParameters::with_error(0.3, 1_000, removing).unwrap();
    let remainder_bits = parameters.remainder_bits.map(|bits| bits.min(3));
    Growing::new(GrowingParameters { bins: 1, remainder_bits, ..parameters })
}

/// The most cache lines that an insertion touches do not depend on how many came before.
#[test]
fn no_insertion_touches_more_lines_in_a_larger_filter() {
    let mut filter = growing(0.01);
    let mut most = [0; 2];
    let mut lines = CacheLines::default();
    for key in 0..400_000 {
        filter.insert_counted(remix(key, 1), &mut lines);
        let half = usize::from(key >= 100_000);
        most[half] = most[half].max(lines.count());
    }
    assert!(most[1] <= most[0], "{most:?}");
}

/// From ten thousand keys on, at most 16.5 bits per key at 1%, at every size.
#[test]
fn memory_follows_the_number_of_keys() {
    let mut filter = growing(0.01);
    for key in 1..200_000 {
        filter.insert_hash(remix(key, 2), Time::ZERO);
        let bits = 8.0 * filter.heap_bytes() as f64 / key as f64;
        assert!(key < 10_000 || bits <= 16.5, "{bits} bits for {key} keys");
    }
}

/// A stated number that is right saves a quarter, and one that is wrong costs nothing: not at ten times
/// the number, nor at twenty thousand times. And the error is kept, at the number and beyond.
#[test]
fn a_stated_number_never_costs_more_than_none() {
    const MOST: u64 = 2_000_000;
    let bytes_at = |filter: &mut Growing, from: u64, to: u64| {
        (from..to).for_each(|key| _ = filter.insert_hash(remix(key, 7), Time::ZERO));
        filter.heap_bytes() as f64
    };
    let sizes: Vec<u64> = [1, 2, 5, 10, 15, 20].map(|part| part * MOST / 20).into();
    let mut none = growing(0.01);
    let mut without = vec![];
    for (at, &size) in sizes.iter().enumerate() {
        let from = if at == 0 { 0 } else { sizes[at - 1] };
        without.push(bytes_at(&mut none, from, size));
    }
    for stated in [100, 10_000, 100_000, 500_000, 1_000_000, 2_000_000] {
        let parameters = GrowingParameters::with_stated_items(0.01, stated).unwrap();
        assert!(parameters.false_positive_rate() <= 0.01);
        let mut filter = Growing::new(parameters);
        let mut from = 0;
        for (&size, without) in sizes.iter().zip(&without) {
            let bytes = bytes_at(&mut filter, from, size);
            from = size;
            println!("{stated} stated, {size} came: {:.2} bytes each", bytes / size as f64);
            if size == stated && stated >= 100_000 {
                assert!(bytes <= 1.45 * size as f64, "{stated} stated and came: {bytes} bytes");
            }
            if size >= stated {
                assert!(bytes <= 1.005 * without, "{stated} stated, {size} came");
                let strangers = 200_000;
                let wrong = (0..strangers)
                    .filter(|&key| filter.contains_hash(remix(key, 8), Time::ZERO))
                    .count();
                testkit::stats::assert_rate_at_most(wrong as u64, strangers, 0.01, 1e-9);
            }
        }
    }
}

/// A number that is right, at sizes a seventh apart: from 30,000 on at most 1.45 bytes for each item, at every
/// one. Below, a few segments cannot differ by parts of a bit.
#[test]
fn what_a_right_number_takes_by_size() {
    let sizes = (0..61).map(|step| 3_000.0 * 1.14_f64.powi(step)).map(|items| items as u64);
    for items in sizes {
        let parameters = GrowingParameters::with_stated_items(0.01, items).unwrap();
        assert!(parameters.false_positive_rate() <= 0.01);
        let mut filter = Growing::new(parameters);
        (0..items).for_each(|key| _ = filter.insert_hash(remix(key, 7), Time::ZERO));
        let bytes = filter.heap_bytes() as f64 / items as f64;
        let told = parameters.expected_bytes() as f64 / items as f64;
        println!("{items} stated and came: {bytes:.3} bytes each, {told:.3} told before");
        let most = if items >= 30_000 { 1.45 } else { 1.6 };
        assert!(bytes <= most, "{items}: {bytes}");
        assert!((0.96 * bytes..1.04 * bytes).contains(&told), "{items}: {bytes}, {told} told");
    }
}

/// Segments whose remainders are a bit longer than those of others, while the boundary lies inside of one, in
/// snapshots, unions and on every instruction set.
#[test]
fn remainders_that_differ_by_a_bit() {
    for stated in [9_000, 55_000, 200_000] {
        let parameters = GrowingParameters::with_stated_items(0.01, stated).unwrap();
        assert!(parameters.wider > 0, "{stated}");
        let fresh = || Growing::new(parameters);
        let (mut filter, mut plain) = (fresh(), fresh().without_vectors());
        let mut copies = Vec::new();
        let held = 3 * stated;
        for key in 0..held {
            if key % (stated / 7) == 0 {
                copies.push(opened(&filter));
            }
            for filter in copies.iter_mut().chain([&mut filter, &mut plain]) {
                filter.insert_hash(remix(key, 21), Time::ZERO);
            }
            copies.truncate(3);
        }
        let saved = codec::save(&filter, HASHING);
        assert!(copies.iter().chain([&plain]).all(|copy| codec::save(copy, HASHING) == saved));
        let holds = |filter: &Growing, key| filter.contains_hash(remix(key, 21), Time::ZERO);
        assert!((0..held).all(|key| holds(&filter, key)));
        for (ours, theirs) in [(held / 40, held), (held, held / 2), (stated, stated)] {
            let made = |keys: std::ops::Range<u64>| {
                let mut filter = fresh();
                keys.for_each(|key| _ = filter.insert_hash(remix(key, 21), Time::ZERO));
                filter
            };
            let (mut one, other) = (made(0..ours), made(ours / 2..theirs));
            let sum = one.false_positive_rate() + other.false_positive_rate();
            one.unite(&other).unwrap();
            assert!((0..ours.max(theirs)).all(|key| holds(&one, key)), "{stated} {ours} {theirs}");
            assert!(one.false_positive_rate() <= 1.02 * sum, "{stated} {ours} {theirs}");
        }
        let frozen = filter.frozen(0.05);
        assert!((0..held).all(|key| holds(&frozen, key)));
        assert!(frozen.heap_bytes() < filter.heap_bytes());
    }
}

#[test]
fn every_instruction_set_gives_the_same_bytes() {
    for removing in [false, true] {
        let mut fast = tiny(removing);
        let mut plain = tiny(removing).without_vectors();
        for key in 0..3_000 {
            let hash = remix(key % 2_000, 3);
            assert_eq!(fast.insert_hash(hash, Time::ZERO), plain.insert_hash(hash, Time::ZERO));
            if removing && key % 3 == 0 {
                let old = remix(key / 2, 3);
                assert_eq!(fast.remove_hash(old), plain.remove_hash(old));
            }
        }
        assert_eq!(codec::save(&fast, HASHING), codec::save(&plain, HASHING));
    }
}

/// Entries whose remainder is used up are stored more than once; removing them leaves no key
/// behind.
#[test]
fn used_up_remainders_are_followed_and_removed() {
    let mut filter = tiny(true);
    let mut stored = HashSet::new();
    for key in 0..6_000 {
        filter.insert_hash(remix(key, 4), Time::ZERO);
        stored.insert(key);
        if key % 2 == 1 {
            let old = remix(key, 5) % key;
            if stored.remove(&old) {
                assert!(filter.remove_hash(remix(old, 4)));
            }
        }
        if key % 500 == 0 {
            assert!(stored.iter().all(|&key| filter.contains_hash(remix(key, 4), Time::ZERO)));
        }
    }
    assert!(stored.iter().all(|&key| filter.contains_hash(remix(key, 4), Time::ZERO)));
    for key in stored {
        assert!(filter.remove_hash(remix(key, 4)));
    }
    assert_eq!(filter.items(), 0);
}

/// A key that was inserted more often than is counted stays, whatever else grows meanwhile: taking
/// it back as often as it is counted must not make it vanish.
#[test]
fn uncounted_repeats_are_not_forgotten() {
    for inserted in 1..12 {
        let mut filter = tiny(true);
        let often = remix(1, 8);
        (0..inserted).for_each(|_| _ = filter.insert_hash(often, Time::ZERO));
        for key in 0..3_000 {
            filter.insert_hash(remix(key, 9), Time::ZERO);
        }
        for _ in 1..inserted {
            assert!(filter.remove_hash(often));
            assert!(filter.contains_hash(often, Time::ZERO), "{inserted} times");
        }
    }
}

/// Keys that are not hashed at all share a segment that cannot be split: it reports everything from
/// then on, and says so.
#[test]
fn hashes_that_are_not_random_are_never_forgotten() {
    for shift in [0, 20, 40] {
        let mut filter = growing(0.01);
        for key in 0..20_000_u64 {
            filter.insert_hash(key << shift, Time::ZERO);
            let few = (0..20).map(|i| key * i / 20);
            for old in few {
                assert!(filter.contains_hash(old << shift, Time::ZERO));
            }
        }
        assert_eq!(filter.lost() > 0, filter.false_positive_rate() > 0.01);
    }
}

/// A filter that was saved and opened goes on as the one that was not, byte for byte, whenever that
/// was: replicas that were copied at different moments stay equal.
#[test]
fn what_was_opened_grows_as_what_was_saved() {
    for removing in [false, true] {
        let mut filter = tiny(removing);
        let mut copies = Vec::new();
        for key in 0..12_000 {
            if key % 250 == 0 {
                copies.push(codec::open(&codec::save(&filter, HASHING)).unwrap().0);
            }
            if key % 2_000 == 1_999 {
                let bytes = codec::save(&filter, HASHING);
                for copy in copies.drain(..) {
                    assert!(codec::save(&*copy, HASHING) == bytes, "at {key}");
                    assert_eq!(copy.heap_bytes(), filter.heap_bytes());
                }
            }
            filter.insert_hash(remix(key, 9), Time::ZERO);
            for copy in &mut copies {
                copy.insert_hash(remix(key, 9), Time::ZERO);
            }
        }
    }
}

/// Every bit of a snapshot with many segments, forged: an error, or a filter that works.
#[test]
fn forged_directories_and_segments_do_no_harm() {
    let mut filter = tiny(true);
    for key in 0..900 {
        filter.insert_hash(remix(key, 6), Time::ZERO);
    }
    assert!(filter.segments() > 4);
    let bytes = codec::save(&filter, HASHING);
    let payload = bytes.len() - codec::CHECKSUM_BYTES;
    let mut opened = 0;
    for bit in 8 * codec::HEADER_BYTES..8 * payload {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let checksum = xxhash_rust::xxh3::xxh3_64(&forged[..payload]).to_le_bytes();
        forged[payload..].copy_from_slice(&checksum);
        let result: Result<_, Error> = codec::open(&forged);
        let Ok((mut forged, _)) = result else { continue };
        opened += 1;
        for key in 0..300 {
            forged.contains_hash(remix(key, 6), Time::ZERO);
            if let Some(removing) = forged.as_removing() {
                removing.remove_hash(remix(key / 2, 6));
            }
            forged.insert_hash(remix(key, 7), Time::ZERO);
        }
        forged.false_positive_rate();
        codec::open(&codec::save(&*forged, HASHING)).expect("what we save, we open");
    }
    assert!(opened > 100, "only {opened} forgeries opened: nothing was tested");
}

/// Keys taken back give their memory back: what is left takes hardly more than a filter that never
/// held anything else, and nothing of it is forgotten.
#[test]
fn memory_follows_what_is_left() {
    let fresh = || Growing::new(GrowingParameters::with_error(0.01, 1_000, true).unwrap());
    for (mut filter, keys) in [(fresh(), 60_000), (tiny(true), 10_000)] {
        let empty = filter.heap_bytes();
        (0..keys).for_each(|key| _ = filter.insert_hash(remix(key, 11), Time::ZERO));
        let (full, segments) = (filter.heap_bytes(), filter.segments());
        let mut held = keys;
        for left in [keys / 4, keys / 40, 0] {
            (left..held).for_each(|key| assert!(filter.remove_hash(remix(key, 11))));
            assert!((0..left).all(|key| filter_holds(&filter, key)), "{left} of {keys}");
            held = left;
            // Where most remainders are used up, copies of what was taken back go last.
            let most = if keys > 10_000 { 3 * full * left / keys } else { full };
            assert!(filter.heap_bytes() <= most + 2 * empty, "{} of {full}", filter.heap_bytes());
        }
        assert!(full > 10 * empty && segments > 10, "{full} {empty} {segments}");
        assert_eq!((filter.segments(), filter.heap_bytes()), (1, empty), "{segments} {full}");
    }
}

/// The filter that a snapshot of one is opened as.
fn opened(filter: &Growing) -> Growing {
    let (opened, _) = codec::open(&codec::save(filter, HASHING)).unwrap();
    let opened: Box<dyn std::any::Any> = opened;
    *opened.downcast::<Growing>().unwrap()
}

fn filter_holds(filter: &Growing, key: u64) -> bool {
    filter.contains_hash(remix(key, 11), Time::ZERO)
}

/// Growing and shrinking in turns, saved and opened at any moment: the copy goes on like the
/// original, to the byte, while segments merge and tables shrink.
#[test]
fn a_copy_shrinks_like_the_original() {
    let mut filter = tiny(true);
    let mut copies: Vec<Growing> = Vec::new();
    let mut most = 0;
    for round in 0..4 {
        let keys = 3_000 * round..3_000 * (round + 1);
        for key in keys.clone() {
            for filter in copies.iter_mut().chain([&mut filter]) {
                filter.insert_hash(remix(key, 12), Time::ZERO);
            }
        }
        most = most.max(filter.segments());
        for (step, key) in keys.enumerate() {
            for filter in copies.iter_mut().chain([&mut filter]) {
                assert!(filter.remove_hash(remix(key, 12)));
            }
            if step % 701 == 700 {
                copies = vec![opened(&filter)];
            }
        }
        let saved = codec::save(&filter, HASHING);
        assert!(copies.iter().all(|copy| codec::save(copy, HASHING) == saved), "{round}");
    }
    assert!(most > 20 && filter.segments() < 4 && filter.items() == 0, "{}", filter.segments());
}

/// While a table becomes half as long, some entries at a time: whatever is saved then goes on like the original, to the
/// byte.
#[test]
fn a_copy_halves_its_table_like_the_original() {
    const KEYS: u64 = 40_000;
    let remove = |filter: &mut Growing, key| assert!(filter.remove_hash(remix(key, 13)));
    let mut filter = tiny(true);
    (0..KEYS).for_each(|key| _ = filter.insert_hash(remix(key, 13), Time::ZERO));
    (0..KEYS * 3 / 4).for_each(|key| remove(&mut filter, key));
    // Behind the parameters are items, lost ones, the number of segments and the length of prefixes.
    const HALVING: u32 = 1 << 31;
    let behind_parameters = |saved: &[u8]| {
        codec::HEADER_BYTES + u32::from_le_bytes(saved[32..36].try_into().unwrap()) as usize
    };
    let with_made = |saved: &[u8], made: u32| {
        let (mut forged, at) = (saved.to_vec(), behind_parameters(saved) + 8 + 8 + 4 + 1);
        forged[at..at + 4].copy_from_slice(&made.to_le_bytes());
        codec::open(&forge(forged)).is_ok()
    };
    let (mut copy, mut halving) = (opened(&filter), 0);
    let saved = codec::save(&filter, HASHING);
    assert!(with_made(&saved, 0) && !with_made(&saved, HALVING | 2), "not while it is needed");
    for key in KEYS * 3 / 4..KEYS {
        remove(&mut filter, key);
        remove(&mut copy, key);
        if key % 4 > 0 {
            continue;
        }
        let saved = codec::save(&filter, HASHING);
        assert!(saved == codec::save(&copy, HASHING), "{key}");
        let at = behind_parameters(&saved) + 8 + 8 + 4 + 1;
        let made = u32::from_le_bytes(saved[at..at + 4].try_into().unwrap());
        if made >> 31 == 1 {
            let half = 1 << (saved[at - 1] - 1);
            assert!(with_made(&saved, made) && with_made(&saved, HALVING | (half - 2)));
            for wrong in [0, 1, 3, half - 1, half, half + 2] {
                assert!(!with_made(&saved, HALVING | wrong), "{wrong} of {half}");
            }
        }
        halving += made >> 31;
        // As often as it can be in the middle of it, and now and then.
        if made >> 31 == 1 || key % 100 == 0 {
            copy = opened(&filter);
        }
    }
    assert!(halving > 10, "{halving}");
}

/// More items than there are entries are forged, and count for no more than these.
#[test]
fn a_forged_number_of_items_is_not_believed() {
    let mut filter = tiny(false);
    (0..500).for_each(|key| _ = filter.insert_hash(remix(key, 15), Time::ZERO));
    let mut forged = codec::save(&filter, HASHING);
    let at = codec::HEADER_BYTES + u32::from_le_bytes(forged[32..36].try_into().unwrap()) as usize;
    forged[at..at + 8].fill(0xff);
    let (opened, _) = codec::open(&forge(forged)).unwrap();
    let items = opened.distinct(Time::ZERO).unwrap();
    assert!((filter.items() as f64..2_000.0).contains(&items), "{items}");
}

/// Keys that have been there since before the first split are in many segments. What came later is taken back, and these
/// merge all the same.
#[test]
fn segments_with_what_came_from_above_merge() {
    let mut filter = tiny(true);
    let insert = |filter: &mut Growing, key| _ = filter.insert_hash(remix(key, 14), Time::ZERO);
    (0..20).for_each(|key| insert(&mut filter, key));
    (20..4_000).for_each(|key| insert(&mut filter, key));
    let most = filter.segments();
    (20..4_000).for_each(|key| assert!(filter.remove_hash(remix(key, 14))));
    assert!((0..20).all(|key| filter.contains_hash(remix(key, 14), Time::ZERO)));
    assert_eq!(filter.items(), 20);
    assert!(filter.segments() <= most / 8, "{} of {most}", filter.segments());
}
