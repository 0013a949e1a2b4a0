//! One small filter of every structure, filled the same way forever: what golden files hold and
//! what hostile tests damage.

use std::fs;
use std::path::PathBuf;

use lately::catalog::Row;
use lately::growing::GrowingParameters;
use lately::plan::Goal;
use lately::raw::{Blueprint, Filter, codec};
use lately::spectral::{Rows, Rule, SpectralParameters, Storage};
use lately::timed::{ShorteningWindowParameters, TimedWindowParameters};
use lately::{ErrorRate, Hashing, Memory, Seed, Span, Time, Window};
use lately_papers::CATALOG;
use lately_papers::TimeLimitedParameters;

/// How the keys of all samples are hashed.
pub const HASHING: Hashing = Hashing::Fast(Seed(42));

/// Insertions into every sample; two windows go by.
pub const KEYS: u64 = 300;

/// The sample of every row.
pub fn samples() -> Vec<(&'static Row, Box<dyn Filter>)> {
    CATALOG.iter().map(|row| (row, sample(row))).collect()
}

/// The sample of one row. Its parameters are those of its golden file, so that planning better
/// tomorrow does not seem to change the format; a row without one is planned.
pub fn sample(row: &Row) -> Box<dyn Filter> {
    match fs::read(golden_file(row.name, codec::VERSION)) {
        Ok(golden) => filled(codec::open_of(CATALOG, &golden).unwrap().0.blueprint()),
        Err(_) => filled(&*blueprint(row)),
    }
}

/// Where the golden file of a structure lies.
pub fn golden_file(name: &str, version: u16) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-v{version}.bin"))
}

/// Compares a text with the file in `golden/` that keeps it, or writes that where this is wanted.
pub fn compare_with_kept(file: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("LATELY_WRITE_GOLDEN").is_some() {
        fs::write(&path, found).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let changed = found.lines().zip(kept.lines()).find(|(new, old)| new != old);
    assert!(
        found == kept,
        "{}: something else was found, first of all in\n{changed:#?}\n`cargo xtask golden` writes it again",
        path.display()
    );
}

/// A filter with these parameters, filled.
pub fn filled(blueprint: &dyn Blueprint) -> Box<dyn Filter> {
    let mut filter = blueprint.build(HASHING.structure_seed()).unwrap();
    for i in 0..KEYS {
        filter.insert_hash(key_hash(i), moment(i));
    }
    filter
}

/// Filters that differ from the sample of their row in what their snapshots hold or how they are
/// stored.
pub fn variants() -> Vec<Box<dyn Filter>> {
    let planned = small_counters();
    let rule = Rule::MarkedRecurringMinimum { second_width: 10 };
    let storages = [Storage::StringArray, Storage::Serial, Storage::Fixed8];
    let storages = storages.map(|storage| SpectralParameters { storage, ..planned });
    let rules = [SpectralParameters { rule, ..planned }];
    let counters = storages.into_iter().chain(rules).map(|parameters| filled(&parameters));
    let stated = [stated(0, 0), stated(2, 160)].map(|parameters| filled(&parameters));
    counters.chain([filled(&single_bits())]).chain(stated).collect()
}

/// Counters so few that they meet. Written out: planning better tomorrow must not change them.
pub fn small_counters() -> SpectralParameters {
    let rows = Rows { width: 34, hashes: 2 };
    let (rule, storage) = (Rule::MinimumSelection, Storage::Bytes);
    SpectralParameters { items: 20, rows, rule, storage }
}

/// Slices by time of which a key sets one bit each, as the paper has them: no planner asks for them.
pub fn single_bits() -> TimeLimitedParameters {
    TimeLimitedParameters {
        span: Span::from_millis(1_000),
        slices_per_key: 5,
        turns: 7,
        bits_per_slice: 1,
        slice_chance: 0.5,
        expected: 100,
    }
}

/// A growing filter that was told how much to expect, in tiny segments. Those of the first releases had no bins
/// of their own for that, and the same remainders everywhere.
pub fn stated(stated_bins: u8, wider: u8) -> GrowingParameters {
    let remainder_bits =
        core::array::from_fn(|depth| [8, 7, 6, 5, 4].get(depth).copied().unwrap_or(9));
    let (expected_items, bins) = (900, 1);
    GrowingParameters { expected_items, removing: false, bins, remainder_bits, stated_bins, wider }
}

/// A window that shortens, in so little memory that the keys of a sample are too many for it.
pub fn short() -> ShorteningWindowParameters {
    let segments = TimedWindowParameters {
        span: Span::from_millis(10_000),
        generations: 7,
        groups: 8,
        remainder_bits: 31,
        entries: 16,
        expected: 0,
        most_bytes: 8_192,
        payload_bits: 0,
    };
    ShorteningWindowParameters { segments, keys: 100 }
}

/// The hash of the i-th key of a sample; every third repeats the one 50 before it.
pub fn key_hash(i: u64) -> u64 {
    let i = if i.is_multiple_of(3) { i.saturating_sub(50) } else { i };
    HASHING.hash(format!("key {i}").as_bytes())
}

/// When the i-th key of a sample comes.
pub fn moment(i: u64) -> Time {
    Time::from_millis(1_700_000_000_000 + 10 * i)
}

/// The parameters of a row's sample: for the first of these goals that the row accepts.
fn blueprint(row: &Row) -> Box<dyn Blueprint> {
    let rate = ErrorRate::new(0.01).unwrap();
    let counted = Goal::new(Window::Last(100), rate);
    let timed = Goal::new(Window::Within(Span::from_millis(1_000)), rate);
    let growing = Goal::new(Window::Ever, rate);
    let counting = Goal { counting: true, expected_items: Some(200), ..growing };
    let counted_often = Goal { counting: true, ..counted };
    let small = Goal::new(Window::Last(100), Memory::from_bytes(120));
    let few = Goal::new(Window::Last(50), rate);
    let goals = [counted, timed, growing, counting, counted_often, small, few];
    let short = || -> Option<Box<dyn Blueprint>> {
        (row.name == "shortening").then(|| Box::new(short()) as _)
    };
    goals.iter().find_map(|goal| (row.propose)(goal).ok()).or_else(short).unwrap_or_else(|| {
        panic!("{} accepts no goal of `core/tests/samples/mod.rs`: add one", row.name)
    })
}
