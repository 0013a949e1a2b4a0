//! Snapshots written by every release, byte for byte.
//!
//! `golden/NAME-vVERSION.bin` holds the sample of each structure as the release that introduced the
//! format version wrote it. All of them must open; those of the current version must also be what
//! we write today. `cargo xtask golden` writes the files that are missing, and never changes one.

use std::fs;

use crate::samples::{
    HASHING, KEYS, filled, golden_file, key_hash, moment, sample, samples, single_bits,
    small_counters, stated,
};
use lately::Time;
use lately::raw::codec;
use lately::spectral::{Rule, SpectralParameters};
use lately_papers::CATALOG;

#[test]
fn we_write_what_we_always_wrote() {
    for (row, filter) in samples() {
        let path = golden_file(row.name, codec::VERSION);
        let bytes = codec::save(&*filter, HASHING);
        if !path.exists() && std::env::var_os("LATELY_WRITE_GOLDEN").is_some() {
            fs::write(&path, &bytes).unwrap();
        }
        let golden = fs::read(&path).unwrap_or_else(|error| {
            panic!("{}: {error}; `cargo xtask golden` writes it", path.display())
        });
        assert!(golden == bytes, "{} is no longer written as in {}", row.name, path.display());
    }
}

/// What no sample of a row has: a second filter and its marker, slices of single bits, and a stated number of
/// items, as it was first and with remainders that differ by a bit.
#[test]
fn variants_are_written_as_always() {
    let rule = Rule::MarkedRecurringMinimum { second_width: 10 };
    let marked = SpectralParameters { rule, ..small_counters() };
    for (name, filter) in [
        ("spectral-marked", filled(&marked)),
        ("time-limited-bits", filled(&single_bits())),
        ("growing-stated", filled(&stated(0, 0))),
        ("growing-stated-wider", filled(&stated(2, 160))),
    ] {
        let path = golden_file(name, codec::VERSION);
        let bytes = codec::save(&*filter, HASHING);
        if !path.exists() && std::env::var_os("LATELY_WRITE_GOLDEN").is_some() {
            fs::write(&path, &bytes).unwrap();
        }
        assert!(fs::read(&path).unwrap() == bytes, "no longer as in {}", path.display());
        let (opened, _) = codec::open_of(CATALOG, &bytes).unwrap();
        assert!(codec::save(&*opened, HASHING) == bytes);
    }
}

/// What it tells of its window is part of what is kept.
#[test]
fn the_sample_of_a_window_that_shortens_is_short() {
    let short = sample(CATALOG.row("shortening").unwrap());
    let reach = short.reach(moment(KEYS)).unwrap();
    assert!(reach.now.millis() < 3_000 && reach.least <= reach.now, "{reach:?}");
}

#[test]
fn we_read_all_that_was_ever_written() {
    for row in CATALOG.iter() {
        for version in 1..=codec::VERSION {
            let path = golden_file(row.name, version);
            let Ok(golden) = fs::read(&path) else { continue };
            let (mut opened, hashing) = codec::open_of(CATALOG, &golden).unwrap();
            assert_eq!(hashing, HASHING);
            let mut fresh = sample(row);
            let now = moment(KEYS);
            for i in 0..KEYS {
                let (hash, name) = (key_hash(i), row.name);
                assert_eq!(
                    opened.contains_hash(hash, now),
                    fresh.contains_hash(hash, now),
                    "{name}"
                );
            }
            for i in KEYS / 2..2 * KEYS {
                let later = Time::from_millis(now.millis() + i);
                let (a, b) = (key_hash(i), later);
                assert_eq!(opened.insert_hash(a, b), fresh.insert_hash(a, b), "{}", row.name);
            }
        }
    }
}
