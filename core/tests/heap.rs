//! Small means counted: what a structure says it uses is what the allocator gave it.

use allocation_counter::{AllocationInfo, measure};
use lately::growing::{Growing, GrowingParameters};
use lately::plan::Goal;
use lately::raw::{Membership, Removing, remix};
use lately::{ErrorRate, Hashing, Memory, Seed, Span, Time, Window};
use lately_papers::CATALOG;

/// What the structure itself occupies behind its box, beside what it points to.
const BOX_BYTES: u64 = 1024;

/// What some work gives, and what it took of the heap. Each thread counts its own, so that tests run beside each
/// other.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, AllocationInfo) {
    let mut given = None;
    let taken = measure(|| given = Some(work()));
    (given.expect("the work was done"), taken)
}

#[test]
fn heap_bytes_are_the_allocators() {
    let rate = ErrorRate::new(0.01).unwrap();
    for row in CATALOG.iter() {
        for items in [1, 100, 10_000] {
            let span = Window::Within(Span::from_millis(1_000));
            let goals =
                [Window::Last(items), Window::Ever, span].map(|window| Goal::new(window, rate));
            let counting = Goal { counting: true, expected_items: Some(items), ..goals[1] };
            let sliding = Goal { counting: true, ..goals[0] };
            let memory = Memory::from_bytes(200 + items);
            let small = Goal::new(Window::Last(items), memory);
            let shortening = Goal { shortening: Some(Memory::from_bytes(1 << 16)), ..goals[2] };
            let accepted = [goals[0], goals[1], goals[2], counting, sliding, small, shortening];
            let Some(blueprint) = accepted.iter().find_map(|goal| (row.propose)(goal).ok()) else {
                continue;
            };
            let (filter, taken) = counted(|| {
                let mut filter = blueprint.build(Seed(1)).unwrap();
                for i in 0..2 * items {
                    let hash = Hashing::Fast(Seed(1)).hash(&i.to_le_bytes());
                    filter.insert_hash(hash, Time::from_millis(i));
                }
                filter
            });
            let (said, held) = (filter.heap_bytes(), u64::try_from(taken.bytes_current).unwrap());
            assert!(
                said <= held && held <= said + BOX_BYTES,
                "{} for {items} items says {said} bytes and holds {held}",
                row.name
            );
        }
    }
}

/// Segments merge when keys are taken back, and what that takes does not depend on how many there are:
/// decoding two of a thousand entries each, at most a few times over.
#[test]
fn no_removal_takes_more_in_a_larger_filter() {
    let most = [100_000, 400_000].map(|keys| {
        let parameters = GrowingParameters::with_error(0.01, 10_000_000, true).unwrap();
        let mut filter = Growing::new(parameters);
        (0..keys).for_each(|key| _ = filter.insert_hash(remix(key, 1), Time::ZERO));
        let taken_by = |key| {
            let (was_there, taken) = counted(|| filter.remove_hash(remix(key, 1)));
            assert!(was_there);
            taken.bytes_total
        };
        (0..keys).map(taken_by).max().unwrap()
    });
    assert!(most[0] > 10_000, "nothing merged: {most:?}");
    assert!(most[1] < 256 << 10 && most[1] <= most[0] + most[0] / 4, "{most:?}");
}
