//! The quick part of the contracts as one program that needs no operating system: `cargo xtask portable`
//! runs it in WebAssembly, on 32 bits and on a machine that stores numbers the other way round.
//!
//! For every structure: snapshots of other machines are read and written byte for byte, nothing in the
//! window is forgotten, and what was saved goes on as if nothing had happened.

use lately::catalog::CATALOG;
use lately::plan::{Goal, Limit};
use lately::raw::{codec, remix};
use lately::{ErrorRate, Hashing, Lately, Memory, Seed, Span, Time, Window};

/// Interpreted, a few must do.
const ITEMS: u64 = if cfg!(miri) { 20 } else { 2_000 };

const GOLDEN: [&[u8]; 4] = [
    include_bytes!("../tests/golden/sliding-v1.bin"),
    include_bytes!("../tests/golden/timed-v1.bin"),
    include_bytes!("../tests/golden/growing-v1.bin"),
    include_bytes!("../tests/golden/spectral-v1.bin"),
];

fn main() {
    for golden in GOLDEN {
        let (filter, hashing) = codec::open(golden).expect("a snapshot of another machine");
        assert_eq!(codec::save(&*filter, hashing), golden);
    }
    let windows = [Window::Last(ITEMS), Window::Within(Span::from_millis(ITEMS)), Window::Ever];
    // Interpreted, planning for every structure would take hours.
    let rows = CATALOG.iter().filter(|row| !cfg!(miri) || row.name == "sliding");
    for row in rows {
        let proposed = windows.iter().find_map(|&window| {
            let error = Limit::Error(ErrorRate::new(0.01).expect("a rate"));
            let memory = Limit::Memory(Memory::from_bytes(4 * ITEMS));
            [error, memory].into_iter().find_map(|limit| {
                let goal = Goal { expected_items: Some(ITEMS), ..Goal::new(window, limit) };
                let counting = Goal { counting: true, ..goal };
                (row.propose)(&goal).or_else(|_| (row.propose)(&counting)).ok()
            })
        });
        let blueprint = proposed.unwrap_or_else(|| panic!("{} reaches no goal", row.name));
        let never_forgets = blueprint.promise().false_negatives == 0.0;
        let mut filter = blueprint.build(Seed(1)).expect("memory");
        for item in 0..2 * ITEMS {
            filter.insert_hash(remix(item, 7), Time::from_millis(item));
        }
        let now = Time::from_millis(2 * ITEMS - 1);
        for item in ITEMS..2 * ITEMS {
            let found = filter.contains_hash(remix(item, 7), now);
            assert!(found || !never_forgets, "{} forgot {item}", row.name);
        }
        let hashing = Hashing::Fast(Seed(1));
        let saved = codec::save(&*filter, hashing);
        let (mut again, _) = codec::open(&saved).expect("what was just saved");
        assert_eq!(codec::save(&*again, hashing), saved, "{}", row.name);
        for item in 0..ITEMS / 10 {
            let (hash, later) = (remix(item, 9), Time::from_millis(2 * ITEMS + item));
            assert_eq!(filter.insert_hash(hash, later), again.insert_hash(hash, later));
        }
    }
    let mut seen = Lately::last(ITEMS).structure("sliding").build().expect("a filter");
    assert!(seen.insert("click 17") && !seen.insert("click 17") && seen.insert(17_u64));
}
