//! Which forged snapshots are refused, and why, as it was when somebody last looked.
//!
//! `golden/refused.txt` has, for every structure, how many of its snapshots with one forged bit or word are accepted,
//! and how many are refused for what. A check that is lost, or one too many, changes a number there. Where that is wanted,
//! `cargo xtask golden` writes the file again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::hostile::forge;
use crate::samples::{HASHING, KEYS, compare_with_kept, filled, key_hash, samples, variants};
use lately::growing::{GrowingCountsParameters, GrowingParameters};
use lately::plan::Goal;
use lately::raw::codec::{self, CHECKSUM_BYTES, HEADER_BYTES};
use lately::raw::{Filter, remix};
use lately::{Error, ErrorRate, Seed, Time, Window};
use lately_papers::CATALOG;

/// Forged words of each snapshot, beside all of its bits.
const WORDS: u64 = 1_000;

/// Filters with what no sample has: notes of origins, segments that were emptied, long counts, products, exiles and
/// what found no room.
fn more() -> Vec<(&'static str, Box<dyn Filter>)> {
    let small = || {
        let parameters = GrowingParameters::with_error(0.01, 1_000, true).unwrap();
        let remainder_bits = parameters.remainder_bits.map(|bits| bits.min(4));
        GrowingParameters { bins: 1, remainder_bits, ..parameters }
    };
    let [mut with_notes, mut emptied] = [small(), small()].map(|small| filled(&small));
    for key in 0..KEYS - 10 {
        if key % 2 == 0 {
            with_notes.as_removing().unwrap().remove_hash(key_hash(key));
        }
        emptied.as_removing().unwrap().remove_hash(key_hash(key));
    }

    let counts = GrowingCountsParameters::with_error(0.01, 1_000).unwrap();
    let [mut often, mut product] = [&counts, &counts].map(|counts| filled(counts));
    let counting = often.as_counting().unwrap();
    for key in 0..64 {
        counting.add_hash(key_hash(key), 1 << (key % 40), Time::ZERO);
    }
    product.as_counting().unwrap().multiply(&*often).unwrap();

    let goal = Goal::new(Window::Last(300), ErrorRate::new(0.01).unwrap());
    let crowded = |within: u32| {
        let plan = goal.plan_with(CATALOG.row("sliding").unwrap()).unwrap();
        let mut filter = plan.blueprint.allocate(Seed(0));
        for key in 0..KEYS {
            filter.insert_hash(key_hash(key) >> within, Time::ZERO);
        }
        filter
    };
    vec![
        ("growing with notes", with_notes),
        ("growing, mostly taken back", emptied),
        ("growing-counts of long counts", often),
        ("growing-counts, a product", product),
        ("sliding with exiles", crowded(1)),
        ("sliding without room", crowded(4)),
    ]
}

/// What becomes of a snapshot, in words that do not depend on how it was forged.
fn outcome(forged: &[u8]) -> String {
    match codec::open_of(CATALOG, forged) {
        Ok(_) => "accepted".into(),
        Err(Error::Field { field, expected, .. }) => format!("{field} must be {expected}"),
        Err(Error::Truncated { field, .. }) => format!("cut short at {field}"),
        Err(Error::OutOfMemory { .. }) => "needs too much memory".into(),
        Err(error) => format!("{error:?}").split([' ', '(', '{']).next().unwrap_or_default().into(),
    }
}

fn all() -> String {
    let mut all = String::new();
    let samples = samples().into_iter().map(|(row, filter)| (row.name, filter));
    let variants = variants().into_iter().map(|filter| (filter.blueprint().structure(), filter));
    for (name, filter) in samples.chain(variants).chain(more()) {
        let bytes = codec::save(&*filter, HASHING);
        let end = bytes.len() - CHECKSUM_BYTES;
        let mut outcomes = BTreeMap::<_, [u32; 2]>::new();
        for bit in 8 * HEADER_BYTES..8 * end {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            outcomes.entry(outcome(&forge(forged))).or_default()[0] += 1;
        }
        for round in 0..WORDS {
            let mut forged = bytes.clone();
            let room = (end - 8 - HEADER_BYTES + 1) as u64;
            let at = HEADER_BYTES + (remix(round, 1) % room) as usize;
            let small = remix(round, 2) >> (remix(round, 3) % 64);
            forged[at..at + 8].copy_from_slice(&small.to_le_bytes());
            outcomes.entry(outcome(&forge(forged))).or_default()[1] += 1;
        }
        writeln!(all, "\n{name}").unwrap();
        for (outcome, [bits, words]) in outcomes {
            writeln!(all, "  {bits:6} bits, {words:4} words: {outcome}").unwrap();
        }
    }
    all
}

#[test]
fn what_was_refused_still_is() {
    compare_with_kept("refused.txt", &all());
}
