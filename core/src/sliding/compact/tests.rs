//! The blocks against a list per home, at loads and in crowds that no planner allows.

use alloc::vec::Vec;

use super::block::SLOTS;
use super::store::Blocks;
use super::{Division, Shape, SlidingCompact, SlidingCompactParameters, SweepClock};
use crate::dictionary::tools::CacheLines;
use crate::dictionary::{Place, Repeat, Sweep, Table};
use crate::filter::Membership;
use crate::hash::remix;
use crate::sliding::{Passes, SweptParameters};
use crate::window::Time;
use testkit::rounds;

/// What a filter should hold: for each home its entries, as bucket, remainder and tag.
struct Model {
    clock: SweepClock,
    homes: Vec<Vec<(u32, u64, u64)>>,
}

impl Model {
    fn new(parameters: &SlidingCompactParameters) -> Self {
        Self { clock: parameters.clock(), homes: vec![Vec::new(); parameters.shape.homes] }
    }

    fn insert(&mut self, place: Place, repeat: Repeat, fine_bits: u32) -> bool {
        let Self { clock, homes } = self;
        if clock.advance() {
            clock.sweep(|Sweep { home, expired, .. }| {
                homes[home].retain(|entry| entry.2 >> fine_bits != expired);
            });
        }
        let moment = clock.moment(place.bin);
        let same =
            |entry: &&mut (u32, u64, u64)| (entry.0, entry.1) == (place.bucket, place.remainder);
        match homes[place.bin].iter_mut().find(same) {
            Some(entry) => {
                let alive = moment.is_alive(entry.2);
                if repeat == Repeat::Refresh || !alive {
                    entry.2 = moment.now;
                }
                !alive
            }
            None => {
                homes[place.bin].push((place.bucket, place.remainder, moment.now));
                true
            }
        }
    }

    fn contains(&self, place: Place) -> bool {
        let same = |entry: &&(u32, u64, u64)| (entry.0, entry.1) == (place.bucket, place.remainder);
        let found = self.homes[place.bin].iter().find(same);
        found.is_some_and(|entry| self.clock.moment(place.bin).is_alive(entry.2))
    }

    /// All entries in order.
    fn entries(&self) -> Vec<(Place, u64)> {
        let mut all = Vec::new();
        for (bin, entries) in self.homes.iter().enumerate() {
            let place = |&(bucket, remainder, tag): &(u32, u64, u64)| {
                (Place { bin, bucket, remainder }, tag)
            };
            all.extend(entries.iter().map(place));
        }
        all.sort();
        all
    }
}

/// A window that fills so many homes of some shape to a load.
fn parameters(homes: usize, load: f64, shape: Shape, count: u64) -> SlidingCompactParameters {
    let share = 1.0 + 0.5 / count as f64;
    let window = (homes as f64 * f64::from(SLOTS) * load / share) as u64;
    let division = Division { count, fine_bits: shape.fine_bits };
    let shape = Shape { homes, tag_bits: division.tag_bits(), ..shape };
    assert!(shape.is_valid());
    SlidingCompactParameters { window, generations: count, shape }
}

const fn shape(remainder_bits: u32, buckets: u32, fine_bits: u32) -> Shape {
    Shape { homes: 8, buckets, remainder_bits, tag_bits: 1, fine_bits }
}

/// Shapes of 1%, 0.1%, 0.01%, of much slack and of little, with their generations.
const SHAPES: [(Shape, u64); 7] = [
    (shape(6, 95, 0), 7),
    (shape(6, 95, 0), 3),
    (shape(9, 119, 0), 7),
    (shape(13, 79, 0), 7),
    (shape(3, 127, 0), 63),
    (shape(6, 95, 4), 15),
    (shape(9, 63, 8), 7),
];

/// How the hashes of a stream fall.
#[derive(Clone, Copy, Debug)]
enum Crowding {
    Even,
    /// One in eleven into the same fortieth of all homes.
    Few,
    /// One in eleven into one bucket in the middle.
    Bucket,
}

impl Crowding {
    fn hash(self, key: u64, seed: u64, parameters: &SlidingCompactParameters) -> u64 {
        let hash = remix(key, seed);
        match self {
            Crowding::Even => hash,
            _ if !hash.is_multiple_of(11) => hash,
            Crowding::Few => hash / 40 + u64::MAX / 5,
            Crowding::Bucket => {
                let Shape { homes, buckets, .. } = parameters.shape;
                let home = u64::MAX / homes as u64;
                home * (homes as u64 / 2) + home / 3 + hash / (homes as u64 * u64::from(buckets))
            }
        }
    }
}

/// Runs a stream through a filter and a model: answers after every step, and every few the whole contents,
/// tags included, and all invariants. Returns how far from its home an entry was at most, in blocks.
fn agrees(parameters: SlidingCompactParameters, crowd: Crowding, seed: u64, repeats: u64) -> usize {
    let mut filter = SlidingCompact::new(parameters);
    if seed.is_multiple_of(3) {
        filter = filter.without_vectors();
    }
    let mut model = Model::new(&parameters);
    let (window, fine_bits) = (parameters.window, parameters.shape.fine_bits);
    let mut farthest = 0;
    for step in 0..rounds(20_000) as u64 {
        let random = remix(step, seed ^ 1 << 40);
        let back = random / 100 % (window + window / 4);
        let key = if random % 100 < repeats { step.saturating_sub(back) } else { step };
        let hash = crowd.hash(key, seed, &parameters);
        let repeat = if random >> 60 == 0 { Repeat::Keep } else { Repeat::Refresh };
        let place = filter.table.place(hash);
        let new = model.insert(place, repeat, fine_bits);
        let found = match repeat {
            Repeat::Keep => filter.insert_new_hash(hash, Time::ZERO),
            Repeat::Refresh => filter.insert_hash(hash, Time::ZERO),
        };
        let case = || format!("step {step} of {crowd:?} {seed} {parameters:?}");
        assert_eq!((filter.lost(), filter.late()), (0, 0), "no room for a test: {}", case());
        assert_eq!(found, new, "{}", case());
        assert!(filter.contains_hash(hash, Time::ZERO), "{}", case());
        for other in [remix(random, 7), crowd.hash(step.saturating_sub(back), seed, &parameters)] {
            let expected = model.contains(filter.table.place(other));
            assert_eq!(filter.contains_hash(other, Time::ZERO), expected, "{}", case());
        }
        if step.is_multiple_of(37) {
            assert_eq!(filter.validate(), Ok(()), "{}", case());
            let mut entries = filter.table.entries();
            entries.sort();
            assert!(entries == model.entries(), "contents at {}", case());
            farthest =
                farthest.max((0..parameters.shape.homes).map(away(&filter.table)).max().unwrap());
        }
    }
    farthest
}

/// How many blocks behind its home the last entry of a home lies.
fn away(blocks: &Blocks) -> impl Fn(usize) -> usize {
    |home| blocks.get(home + 1).guests().div_ceil(SLOTS) as usize
}

#[test]
fn agrees_with_a_list_per_home() {
    for (seed, (shape, count)) in SHAPES.into_iter().enumerate() {
        for load in [0.6, 0.9, 0.94] {
            agrees(parameters(40, load, shape, count), Crowding::Even, seed as u64, 20);
        }
    }
}

#[test]
fn agrees_when_nearly_full() {
    for (seed, (shape, count)) in SHAPES.into_iter().enumerate() {
        if count > 3 {
            let farthest =
                agrees(parameters(40, 0.97, shape, count), Crowding::Even, seed as u64, 5);
            assert!(farthest > 0, "nobody was away from home");
        }
    }
}

/// Entries that lie several blocks from home.
#[test]
fn agrees_in_a_crowd() {
    for (seed, (shape, count)) in SHAPES.into_iter().enumerate() {
        let farthest = agrees(parameters(40, 0.8, shape, count), Crowding::Few, seed as u64, 5);
        assert!(farthest > 2, "no crowd, nothing tested: {farthest}");
    }
}

/// Very many of one bucket: runs that go on from block to block.
#[test]
fn agrees_on_runs_over_several_blocks() {
    for (seed, (shape, count)) in SHAPES.into_iter().enumerate() {
        if shape.remainder_bits >= 6 {
            agrees(parameters(40, 0.7, shape, count), Crowding::Bucket, seed as u64, 5);
        }
    }
}

/// A filter of 40 homes, large enough that nothing expires by chance.
fn roomy() -> SlidingCompactParameters {
    parameters(40, 0.8, shape(9, 119, 0), 7)
}

/// A hash with this place.
fn hash_of(parameters: &SlidingCompactParameters, home: u64, bucket: u64, remainder: u64) -> u64 {
    let Shape { homes, buckets, remainder_bits, .. } = parameters.shape;
    let wide = (u128::from(bucket) << remainder_bits) + u128::from(remainder);
    let all = u128::from(buckets) << remainder_bits;
    let at = (u128::from(home) * all + wide) * 2 + 1;
    let hash = ((at << 64) / (all * homes as u128 * 2)) as u64;
    let place = parameters.shape.cut().place(hash);
    assert_eq!(place, Place { bin: home as usize, bucket: bucket as u32, remainder });
    hash
}

/// Inserts keys that live elsewhere than in the first nine homes, one at a time, and looks at the filter
/// after each.
fn pass_time(
    filter: &mut SlidingCompact,
    elements: u64,
    mut look: impl FnMut(&SlidingCompact, u64),
) {
    let far = (0..).map(|key| remix(key, 77)).filter(|&hash| hash > u64::MAX / 4);
    for (step, hash) in far.take(elements as usize).enumerate() {
        filter.insert_hash(hash, Time::ZERO);
        assert_eq!(filter.validate(), Ok(()), "step {step}");
        look(filter, step as u64);
    }
}

/// Pitfall: a rank beyond the slots of a block that comes round to the first of them.
#[test]
fn a_home_with_more_runs_than_slots_denies_nothing() {
    let parameters = roomy();
    let hashes: Vec<u64> = (0..119).map(|bucket| hash_of(&parameters, 5, bucket, 3)).collect();
    for mut filter in
        [SlidingCompact::new(parameters), SlidingCompact::new(parameters).without_vectors()]
    {
        for (count, &hash) in hashes.iter().enumerate() {
            assert!(filter.insert_hash(hash, Time::ZERO));
            assert!(hashes[..=count].iter().all(|&hash| filter.contains_hash(hash, Time::ZERO)));
            assert!(!filter.contains_hash(hash_of(&parameters, 5, 118, 4), Time::ZERO));
        }
        assert_eq!(filter.validate(), Ok(()));
    }
}

/// Pitfall: a sweep by slot instead of by home, which would remove guests just inserted.
#[test]
fn a_sweep_leaves_the_guests_of_its_block() {
    let parameters = roomy();
    for delay in [0, 50, 133, 250] {
        let mut filter = SlidingCompact::new(parameters);
        pass_time(&mut filter, delay, |_, _| {});
        let hashes: Vec<u64> = (0..100).map(|bucket| hash_of(&parameters, 4, bucket, 1)).collect();
        for &hash in &hashes {
            filter.insert_hash(hash, Time::ZERO);
        }
        assert_eq!(filter.table.get(5).guests(), 36);
        pass_time(&mut filter, parameters.window - 100, |filter, step| {
            for &hash in &hashes {
                assert!(filter.contains_hash(hash, Time::ZERO), "{step} after {delay}");
            }
        });
    }
}

/// Pitfall: an entry that goes from the third block, and the guests of the second are not counted down.
#[test]
fn removing_from_afar_lowers_the_guests_in_between() {
    let parameters = roomy();
    let mut filter = SlidingCompact::new(parameters);
    for bucket in 0..119 {
        filter.insert_hash(hash_of(&parameters, 4, bucket, 1), Time::ZERO);
        filter.insert_hash(hash_of(&parameters, 4, bucket, 2), Time::ZERO);
    }
    assert_eq!((filter.table.get(5).guests(), filter.table.get(6).guests()), (174, 110));
    let reach = parameters.division().reach(parameters.window);
    pass_time(&mut filter, reach + 240, |_, _| {});
    assert_eq!((filter.table.get(5).guests(), filter.lost(), filter.late()), (0, 0, 0));
}

/// Pitfall: a sweep that removes only what is next door, and does not walk on from there.
#[test]
fn a_gap_next_door_is_filled_from_further_on() {
    let parameters = roomy();
    let mut filter = SlidingCompact::new(parameters);
    let of_home = |buckets: core::ops::Range<u64>, home| {
        buckets.map(move |bucket| hash_of(&parameters, home, bucket, 1)).collect::<Vec<u64>>()
    };
    // The largest first, so that they are next door when they expire.
    for hash in of_home(100..110, 4) {
        filter.insert_hash(hash, Time::ZERO);
    }
    pass_time(&mut filter, parameters.window / 2, |_, _| {});
    let young: Vec<u64> =
        [of_home(0..64, 4), of_home(0..64, 5), of_home(0..64, 6)].into_iter().flatten().collect();
    for &hash in &young {
        filter.insert_hash(hash, Time::ZERO);
    }
    assert_eq!([5, 6, 7].map(|number| filter.table.get(number).guests()), [10, 10, 10]);
    pass_time(&mut filter, parameters.window - 192, |filter, _| {
        assert!(young.iter().all(|&hash| filter.contains_hash(hash, Time::ZERO)));
    });
    assert_eq!([5, 6, 7].map(|number| filter.table.get(number).guests()), [0, 0, 0]);
}

/// Pitfall: whether a block is full is told by its words before any of them is written, and stays true
/// when the run of its last slot goes on next door.
#[test]
fn a_full_block_is_full_wherever_its_last_run_ends() {
    let parameters = roomy();
    for first in [0, 62] {
        let mut filter = SlidingCompact::new(parameters);
        for bucket in 0..first {
            filter.insert_hash(hash_of(&parameters, 4, bucket, 1), Time::ZERO);
        }
        for remainder in 0..90 {
            filter.insert_hash(hash_of(&parameters, 4, 70, remainder), Time::ZERO);
            let used = filter.table.get(4).words().count();
            assert_eq!(u64::from(used), (first + remainder + 1).min(64));
            assert_eq!(filter.validate(), Ok(()));
        }
        assert!((0..90).all(|r| filter.contains_hash(hash_of(&parameters, 4, 70, r), Time::ZERO)));
    }
}

/// Crowds for which there is no room: nothing is denied, no operation looks further than it may, and when
/// the crowd has left all is as before.
#[test]
fn a_crowd_without_room_is_told_and_leaves() {
    for narrow in [8, 30, 2000] {
        let parameters = parameters(400, 0.9, shape(13, 79, 0), 7);
        let mut filter = SlidingCompact::new(parameters);
        let crowd = |key: u64| remix(key, 1) / narrow;
        let window = parameters.window;
        let mut work = CacheLines::default();
        for key in 0..rounds(60_000) as u64 {
            filter.insert_counted(crowd(key), Repeat::Refresh, &mut work);
            assert!(work.count() as u64 <= filter.most_lines(), "{} lines", work.count());
            assert!(filter.contains_counted(crowd(key), &mut work));
            assert!(work.count() as u64 <= filter.most_lines());
            if key.is_multiple_of(4001) {
                assert_eq!(filter.validate(), Ok(()));
                for past in key.saturating_sub(window)..=key {
                    assert!(filter.contains_hash(crowd(past), Time::ZERO), "{past} at {key}");
                }
            }
        }
        assert!(filter.lost() > 0, "no crowd");
        // While the crowd leaves, some who come to its place still find no room.
        let mut lost = Vec::new();
        for turn in 0..12 {
            for key in turn * window..(turn + 1) * window {
                filter.insert_hash(remix(key, 2), Time::ZERO);
            }
            lost.push((filter.lost(), filter.late()));
        }
        assert_eq!(filter.validate(), Ok(()));
        assert_eq!(lost[8], lost[11], "{lost:?}");
        let late = filter.table.frame.len as f64 / window as f64;
        assert!(late < 1.1, "{late} windows are stored");
        assert!(!filter.table.frame.is_blind(0));
    }
}
