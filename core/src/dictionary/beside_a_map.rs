//! The dictionary beside a plain map of places and tags.

use std::collections::BTreeMap;

use super::tools::CacheLines;
use super::*;
use crate::bits::Scalar;
use crate::hash::remix;

const TAGS: Tags = Tags { now: 1, due: 0 };

fn filled(shape: Shape, hashes: impl Iterator<Item = u64>) -> (Dictionary, BTreeMap<Place, u64>) {
    let mut dictionary = Dictionary::new(shape, 10);
    let mut plain = BTreeMap::new();
    for (number, hash) in hashes.enumerate() {
        let place = dictionary.place(hash);
        let tags = Tags { now: number as u64 % 3, due: 3 };
        let seen = dictionary.insert(Scalar, place, tags, Repeat::Keep);
        assert_eq!(seen != Seen::No, plain.contains_key(&place));
        plain.entry(place).or_insert(tags.now);
    }
    (dictionary, plain)
}

/// Exiles included, each with its bucket, wherever it lies.
#[test]
fn entries_are_those_of_a_map() {
    for (bins, sheds, close) in [(1, 1, 0), (40, 7, 0), (300, 2, 4)] {
        let shape = Shape { bins, buckets: 89, remainder_bits: 9, tag_bits: 2, sheds };
        // Where they are close together, more than the bins there hold.
        let keys = (if close > 0 { 66 } else { 48 }) * bins as u64;
        let hashes = (0..keys >> close).map(|key| !(remix(key, 1) >> close));
        let (dictionary, plain) =
            filled(shape, hashes.chain((0..70).map(|key| remix(key, 2) >> 10)));
        assert_eq!(dictionary.frame().lost, 0);
        let mut entries: Vec<_> = dictionary.entries().collect();
        entries.sort_unstable();
        // Thousands of them: a list would say less.
        assert!(entries.into_iter().eq(plain), "{bins} bins");

        let stats = dictionary.stats();
        let residents = (0..bins).map(|bin| dictionary.bins.get(bin).head().count()).sum::<u32>();
        assert_eq!(stats.exiles + stats.stashed + u64::from(residents), dictionary.frame().len);
        assert!(stats.exiles > 0 && stats.overflowing_bins > 0, "{stats:?}");
        assert!(stats.overflowing_bins < bins || bins == 1, "{stats:?}");
        let fullest = u64::from(stats.fullest_shed);
        assert!(fullest * sheds as u64 >= stats.exiles && fullest <= stats.exiles, "{stats:?}");
    }
    let shape = Shape { bins: 3, buckets: 89, remainder_bits: 9, tag_bits: 2, sheds: 1 };
    let nothing = Stats { exiles: 0, stashed: 0, fullest_shed: 0, overflowing_bins: 0 };
    assert_eq!(Dictionary::new(shape, 10).stats(), nothing);
}

/// An entry fits a word with its home, and the stash has room for the number of every bin.
#[test]
fn every_home_can_be_told() {
    let shape = |bins, sheds| Shape { bins, buckets: 57, remainder_bits: 32, tag_bits: 16, sheds };
    assert!(shape(512, 512).is_valid() && !shape(513, 513).is_valid());
    assert!(shape(256, 1).is_valid() && !shape(257, 1).is_valid());
    assert!(!shape(1 << 20, 1).is_valid());
}

/// A count that does not agree with the entries is found.
#[test]
fn a_wrong_count_is_noticed() {
    let shape = Shape { bins: 40, buckets: 89, remainder_bits: 9, tag_bits: 2, sheds: 7 };
    let (mut dictionary, _) = filled(shape, (0..2_000).map(|key| remix(key, 1)));
    let due = |_| TAGS.due;
    let counted = dictionary.clone().counted(4, due).unwrap();
    assert_eq!(counted.validate(4, due), Ok(()));
    dictionary.frame_mut().due = counted.frame().due;
    dictionary.frame_mut().len += 1;
    assert_eq!(dictionary.validate(4, due), Err(Fault::Count));
}

/// A threshold that is no bucket's, and an exile below it, are found where they are.
#[test]
fn wrong_thresholds_are_noticed() {
    let shape = Shape { bins: 40, buckets: 89, remainder_bits: 9, tag_bits: 2, sheds: 7 };
    let (dictionary, _) = filled(shape, (0..2_400).map(|key| remix(key, 1)));
    let counted = |bin: usize, threshold| {
        let mut forged = dictionary.clone();
        let head = forged.bins.get(bin).head();
        forged.bins.get_mut(bin).set_head(head::Head { threshold, ..head });
        forged.count(4, |_| 3)
    };
    let threshold = |bin: &usize| dictionary.bins.get(*bin).head().threshold;
    let full: Vec<usize> = (0..40).filter(|bin| threshold(bin) != bins::NOBODY).collect();
    assert!(full.iter().any(|&bin| bin > 7));
    for bin in full {
        assert!(counted(bin, threshold(&bin)).is_ok());
        assert_eq!(counted(bin, bins::NOBODY), Err(Fault::Shed(bin % 7)));
        assert_eq!(counted(bin, shape.buckets), Err(Fault::Bin(bin)));
    }
}

/// Lines of both levels are told apart, and each counts once.
#[test]
fn lines_count_once_for_each_level() {
    use super::tools::{Tier, Tools};
    let mut lines = CacheLines::default();
    let tools = lines.of(Scalar);
    for part in [Tier::Bins, Tier::Backyard, Tier::Bins] {
        tools.touch(part, 60, 8);
        tools.touch(part, 64, 64);
        tools.touch(part, 127, 1);
    }
    assert_eq!(lines.count(), 4);
}
