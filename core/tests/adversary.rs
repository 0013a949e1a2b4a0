//! The game against an adversary who writes the stream (section 7 of the paper on duplicate
//! detection): a window of insertions whose answers she sees, then one key that she wants judged
//! wrongly.
//!
//! She knows the code, the parameters and the seed. Under [`Hashing::Fast`] that is all there is to
//! know, so she plays against a copy of her own first and looks for a key that the copy judges
//! wrongly. Under [`Hashing::Keyed`] her copy has another key, and what she finds is worth nothing.

use lately::catalog::Row;
use lately::duplicates::{
    AloneParameters, Even, QueuingParameters, QuotientTable, Rotation, Update,
};
use lately::plan::Goal;
use lately::raw::{Blueprint, Filter};
use lately::{Hashing, Memory, Seed, Time, Window};
use lately_papers::CATALOG;
use testkit::stats::{rate_is_at_least, rate_is_at_most};

const WINDOW: u64 = 500;
const GAMES: u64 = 400;
/// Keys that she tries against her copy in each game.
const TRIES: u64 = 4_000;

/// What she plays against, and what she believes.
struct Game<'a> {
    blueprint: &'a dyn Blueprint,
    hashing: Hashing,
    believed: Hashing,
    number: u64,
}

impl Game<'_> {
    fn fresh(&self) -> Box<dyn Filter> {
        self.blueprint.build(self.hashing.structure_seed()).unwrap()
    }

    fn copy(&self) -> Box<dyn Filter> {
        self.blueprint.build(self.believed.structure_seed()).unwrap()
    }

    fn key(&self, i: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.number.to_le_bytes());
        key[8..].copy_from_slice(&i.to_le_bytes());
        key
    }

    fn insert(&self, filter: &mut dyn Filter, hashing: Hashing, i: u64) -> bool {
        filter.insert_hash(hashing.hash(&self.key(i)), Time::ZERO)
    }

    /// Her key, another, and hers again, until hers is called new; then the same once more.
    fn win_by_asking(&self) -> bool {
        let mut filter = self.fresh();
        let mut insert = |i| self.insert(&mut *filter, self.hashing, i);
        insert(0);
        for other in 1..TRIES {
            insert(other);
            if insert(0) {
                insert(other);
                return insert(0);
            }
        }
        false
    }

    /// A window of keys, then one never seen that her copy reports as seen.
    fn win_false_positive(&self) -> bool {
        let (mut filter, mut copy) = (self.fresh(), self.copy());
        for i in 0..WINDOW {
            self.insert(&mut *filter, self.hashing, i);
            self.insert(&mut *copy, self.believed, i);
        }
        let reported = |i: &u64| copy.contains_hash(self.believed.hash(&self.key(*i)), Time::ZERO);
        let chosen = (WINDOW..WINDOW + TRIES).find(reported).unwrap_or(WINDOW);
        !self.insert(&mut *filter, self.hashing, chosen)
    }

    /// A key, then one that pushes it out of her copy, or any, then others up to a window, or none if
    /// she knows better, then the key again.
    fn win_false_negative(&self, others: u64) -> bool {
        let pushes = |i: &u64| {
            let mut copy = self.copy();
            self.insert(&mut *copy, self.believed, 0);
            self.insert(&mut *copy, self.believed, *i);
            !copy.contains_hash(self.believed.hash(&self.key(0)), Time::ZERO)
        };
        let chosen = (1..TRIES).find(pushes).unwrap_or(1);
        let mut filter = self.fresh();
        self.insert(&mut *filter, self.hashing, 0);
        self.insert(&mut *filter, self.hashing, chosen);
        for i in TRIES..TRIES + others {
            self.insert(&mut *filter, self.hashing, i);
        }
        self.insert(&mut *filter, self.hashing, 0)
    }
}

fn wins(blueprint: &dyn Blueprint, secret: bool, game: impl Fn(&Game<'_>) -> bool) -> u64 {
    let one = |number: u64| {
        let mut key = [7; 16];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let fast = Hashing::Fast(Seed(number));
        let hashing = if secret { Hashing::Keyed(key) } else { fast };
        // What she does not know she makes up.
        let believed = if secret { Hashing::Keyed([1; 16]) } else { fast };
        game(&Game { blueprint, hashing, believed, number })
    };
    (0..GAMES).filter(|&number| one(number)).count() as u64
}

/// Rows in so little memory that they err at a rate she can find.
fn subjects() -> Vec<(&'static Row, Box<dyn Blueprint>)> {
    let goal = Goal::new(Window::Last(WINDOW), Memory::from_bytes(800));
    let proposed = CATALOG.iter().filter_map(|row| Some((row, (row.propose)(&goal).ok()?)));
    proposed.filter(|(_, blueprint)| blueprint.promise().false_positives > 2e-3).collect()
}

/// Without a secret she wins nearly always: a false positive is only a matter of trying. With one
/// she wins no more often than chance, which is Theorem 9: `1 - (1 - p)^L` for a queue of L whose
/// subfilters err with p, that is the promise, at the worst moment. Each assertion fails by luck
/// once in 1e9.
#[test]
fn false_positives_are_found_without_a_secret_and_not_with_one() {
    let subjects = subjects();
    assert!(subjects.len() > 8, "only {} rows play", subjects.len());
    for (row, blueprint) in subjects {
        let open = wins(&*blueprint, false, |game| game.win_false_positive());
        assert!(rate_is_at_least(open, GAMES, 0.9, 1e-9), "{}: {open} of {GAMES}", row.name);
        let keyed = wins(&*blueprint, true, |game| game.win_false_positive());
        let promised = blueprint.promise().false_positives;
        let most = (1.25 * promised + 0.005).min(1.0);
        assert!(
            rate_is_at_most(keyed, GAMES, most, 1e-9),
            "{}: {keyed} of {GAMES}, {promised} promised",
            row.name
        );
    }
}

/// The paper's table, one bucket of three bits, alone and ten in a queue. Without a secret she finds
/// the key that overwrites hers. With one she can only send a window of others and hope. Theorem 10
/// bounds what a queue that covers the window then forgets by `p max(1 - q, p)^(L-1)`, where a
/// subfilter forgets its first key with chance p and reports an unseen one with chance q at least
/// (the theorem says min; its proof says max).
#[test]
fn false_negatives_are_made_without_a_secret_and_not_with_one() {
    let table = |bits| QuotientTable {
        update: Update::KeepRandom,
        ..QuotientTable::with_bits(bits, 1, Even { bits: 3 }).unwrap()
    };
    let alone = AloneParameters { window: WINDOW, detector: table(6400) };
    let turn = Rotation::Covering.turn(WINDOW, 10);
    let queue = QueuingParameters { window: WINDOW, filters: 10, turn, subfilter: table(640) };
    // The first key of so many survives if no other comes to its row.
    let forgotten = |table: QuotientTable, keys: u64| {
        6.0 / 7.0 * (1.0 - (1.0 - 1.0 / table.rows as f64).powf(keys as f64 - 1.0))
    };
    let bounds = [forgotten(alone.detector, WINDOW), forgotten(queue.subfilter, turn)];
    let subjects: [&dyn Blueprint; 2] = [&alone, &queue];
    for (blueprint, bound) in subjects.into_iter().zip(bounds) {
        let open = wins(blueprint, false, |game| game.win_false_negative(0));
        assert!(rate_is_at_least(open, GAMES, 0.8, 1e-9), "{blueprint:?}: {open} of {GAMES}");
        let keyed = wins(blueprint, true, |game| game.win_false_negative(WINDOW - 2));
        assert!(rate_is_at_most(keyed, GAMES, bound, 1e-9), "{blueprint:?}: {keyed}, {bound}");
    }
}

/// What no secret helps against either: she learns from the answers alone which key pushes hers out,
/// and does it once more.
#[test]
fn what_pushes_a_key_out_is_learnt_from_the_answers() {
    let detector = QuotientTable {
        update: Update::KeepRandom,
        ..QuotientTable::with_bits(6400, 1, Even { bits: 3 }).unwrap()
    };
    let alone = AloneParameters { window: WINDOW, detector };
    let won = wins(&alone, true, |game| game.win_by_asking());
    assert!(rate_is_at_least(won, GAMES, 0.6, 1e-9), "{won} of {GAMES}");
    // One that never forgets inside its window gives her nothing to learn.
    let goal = Goal::new(Window::Last(WINDOW), Memory::from_bytes(1_350));
    let never = (CATALOG.row("quotient-short-hash").unwrap().propose)(&goal).unwrap();
    assert_eq!(wins(&*never, true, |game| game.win_by_asking()), 0);
}

/// What no secret helps against: she saw a key reported falsely, sends the same window again, and
/// the key is reported again.
#[test]
fn a_replayed_window_repeats_its_false_positive() {
    let goal = Goal::new(Window::Last(WINDOW), Memory::from_bytes(1_350));
    let blueprint = (CATALOG.row("quotient-short-hash").unwrap().propose)(&goal).unwrap();
    let hashing = Hashing::Keyed([9; 16]);
    let mut replayed = 0;
    for number in 0..200 {
        let game = Game { blueprint: &*blueprint, hashing, believed: hashing, number };
        let mut filter = game.fresh();
        (0..WINDOW).for_each(|i| {
            game.insert(&mut *filter, hashing, i);
        });
        if !game.insert(&mut *filter, hashing, WINDOW) {
            (0..WINDOW).for_each(|i| {
                game.insert(&mut *filter, hashing, i);
            });
            assert!(!game.insert(&mut *filter, hashing, WINDOW), "the window moved on by itself");
            replayed += 1;
        }
    }
    assert!(replayed > 0, "no false positive to replay");
}
