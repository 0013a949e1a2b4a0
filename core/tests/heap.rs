//! Small means counted: what a structure says it uses is what the allocator gave it.

use std::alloc::System;

use lately::catalog::CATALOG;
use lately::plan::Goal;
use lately::{ErrorRate, Hashing, Memory, Seed, Span, Time, Window};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What the structure itself occupies behind its box, beside what it points to.
const BOX_BYTES: u64 = 1024;

/// Net bytes that the allocator gave since the region began.
fn held(region: &Region<'_, System>) -> u64 {
    let change = region.change();
    let grown = change.bytes_allocated as isize - change.bytes_deallocated as isize;
    u64::try_from(grown).unwrap()
}

/// One test, because tests of one file share their heap.
#[test]
fn heap_bytes_are_the_allocators() {
    let rate = ErrorRate::new(0.01).unwrap();
    for row in CATALOG {
        for items in [1, 100, 10_000] {
            let span = Window::Within(Span::from_millis(1_000));
            let goals =
                [Window::Last(items), Window::Ever, span].map(|window| Goal::new(window, rate));
            let counting = Goal { counting: true, expected_items: Some(items), ..goals[1] };
            let sliding = Goal { counting: true, ..goals[0] };
            let memory = Memory::from_bytes(200 + items);
            let small = Goal::new(Window::Last(items), memory);
            let accepted = [goals[0], goals[1], goals[2], counting, sliding, small];
            let Some(blueprint) = accepted.iter().find_map(|goal| (row.propose)(goal).ok()) else {
                continue;
            };
            let region = Region::new(HEAP);
            let mut filter = blueprint.build(Seed(1)).unwrap();
            for i in 0..2 * items {
                let hash = Hashing::Fast(Seed(1)).hash(&i.to_le_bytes());
                filter.insert_hash(hash, Time::from_millis(i));
            }
            let (said, held) = (filter.heap_bytes(), held(&region));
            assert!(
                said <= held && held <= said + BOX_BYTES,
                "{} for {items} items says {said} bytes and holds {held}",
                row.name
            );
        }
    }
}
