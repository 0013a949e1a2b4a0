//! Clocks that are set back again and again, while segments have yet to take part in it: against a map from keys to the
//! moments of their sightings, in which a turn is one line. Remainders are so long that no two keys are taken for
//! one, so whatever has left must be gone.

use std::collections::HashMap;

use lately::raw::{
    Age, Aging, Blueprint, Counting, Deadlines, Filter, Membership, Removing, codec, remix,
};
use lately::timed::{
    TimedWindow, TimedWindowParameters, Unit, WindowCounts, WindowCountsParameters,
};
use lately::{Hashing, Seed, Slack, Span, Time};
use testkit::random::SplitMix64;

use crate::timed::{millis, tiny};

const HASHING: Hashing = Hashing::Fast(Seed(1));

/// Opens what a filter saves, as what it is.
fn reopened<F: Filter>(filter: &F) -> F {
    let (filter, _) = codec::open(&codec::save(filter, HASHING)).unwrap();
    let any: Box<dyn std::any::Any> = filter;
    *any.downcast().unwrap()
}

/// When a key was seen, and how often then.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    at: i128,
    times: u64,
    /// Whether it may have left already when the clock was set back.
    doubtful: bool,
}

/// What is known of all keys.
struct Diary {
    span: i128,
    longest: i128,
    sightings: HashMap<u64, Vec<Sighting>>,
}

impl Diary {
    fn new(blueprint: &dyn Blueprint, span: u64) -> Self {
        let Slack::Time(slack) = blueprint.promise().slack else { unreachable!() };
        let longest = i128::from(span) + i128::from(slack.millis());
        Self { span: span.into(), longest, sightings: HashMap::new() }
    }

    fn of(&self, key: u64) -> &[Sighting] {
        self.sightings.get(&key).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, key: u64, at: i128, times: u64) {
        let of_key = self.sightings.entry(key).or_default();
        of_key.push(Sighting { at, times, doubtful: false });
    }

    /// The rule: what has left is gone, and the rest was seen at this moment at the latest.
    fn turn_back(&mut self, from: u64, to: u64) {
        for of_key in self.sightings.values_mut() {
            of_key.retain(|sighting| i128::from(from) - sighting.at <= self.longest);
            for sighting in of_key {
                sighting.doubtful |= i128::from(from) - sighting.at > self.span;
                sighting.at = sighting.at.min(to.into());
            }
        }
    }

    /// How often a key must count at a moment, and how often it may.
    fn counts(&self, key: u64, now: u64) -> (u64, u64) {
        let younger = |age: i128, doubtful: bool| {
            let all = self.of(key).iter();
            all.filter(|sighting| {
                i128::from(now) - sighting.at <= age && (doubtful || !sighting.doubtful)
            })
            .map(|sighting| sighting.times)
            .sum()
        };
        (younger(self.span, false), younger(self.longest, true))
    }
}

/// Moments that go on, mostly slowly, and back: by less than a tick, by some, and by more than a window.
struct Clock {
    random: SplitMix64,
    span: u64,
    /// How far a wrong moment is ahead at most.
    leap: u64,
    now: u64,
}

impl Clock {
    fn go_on(&mut self) {
        let (span, random) = (self.span, &mut self.random);
        let on = match random.below(200) {
            0 => random.below(3 * span),
            1 => random.below(self.leap),
            2..=30 => random.below(span / 10 + 2),
            31..=60 => random.below(2),
            _ => 0,
        };
        self.now = self.now.saturating_add(on);
    }

    /// Where it is set back to, if it is.
    fn turn(&mut self) -> Option<u64> {
        let (span, random) = (self.span, &mut self.random);
        let back = match random.below(160) {
            0 => random.below(span / 20 + 2),
            1 | 2 => random.below(span),
            3 => random.below(3 * span),
            4 => random.below(self.leap),
            // Far away, sooner or later it comes back.
            5 if self.now > 1 << 50 => self.now,
            _ => return None,
        };
        Some(self.now.saturating_sub(back))
    }
}

/// Spans, generations, and how far wrong moments are ahead: also with ticks of a millisecond and clocks that go from
/// one end to the other.
const KINDS: [(u64, u32, u64); 5] = [
    (7_000, 7, 1 << 40),
    (700, 7, 30_000),
    (7, 7, u64::MAX),
    (600, 5, 40_000),
    (25_500, 255, 1 << 50),
];

fn clock(kind: (u64, u32, u64), seed: u64) -> Clock {
    let (span, _, leap) = kind;
    Clock { random: SplitMix64::new(seed), span, leap, now: 1_000 * span }
}

#[test]
fn keys_are_known_as_a_map_knows_them_however_often_the_clock_is_set_back() {
    let mut behind = 0;
    for seed in 0..60 {
        let kind = KINDS[seed as usize % KINDS.len()];
        let (span, generations, _) = kind;
        let mut filter = TimedWindow::new(tiny(span, generations, 30));
        let mut opened = reopened(&filter);
        let mut diary = Diary::new(filter.blueprint(), span);
        let mut clock = clock(kind, seed);
        for step in 0..4_000 {
            clock.go_on();
            let key = clock.random.below(900);
            let (hash, now) = (remix(key, 9), clock.now);
            let (least, most) = diary.counts(key, now);
            let what = clock.random.below(100);
            let older = clock.random.below(span + span / 2);
            let [answer, same] = [&mut filter, &mut opened].map(|filter| match what {
                0..40 => filter.insert_hash(hash, millis(now)),
                40..55 => filter.insert_new_hash(hash, millis(now)),
                55..65 => {
                    filter.insert_late_hash(hash, millis(now), millis(now.saturating_sub(older)))
                }
                65..75 => {
                    filter.insert_until_hash(hash, millis(now), millis(now.saturating_add(older)))
                }
                75..85 => filter.remove_hash(hash),
                85..90 => filter.expire(millis(now), (older % 9) as usize),
                _ => !filter.contains_hash(hash, millis(now)),
            });
            assert_eq!(answer, same, "{seed} {step}");
            if !(75..90).contains(&what) {
                assert!(!answer || least == 0, "{seed} {step}: {key} is forgotten");
                assert!(answer || most > 0, "{seed} {step}: {key} came back");
            }
            let now = i128::from(clock.now);
            match what {
                0..40 => diary.add(key, now, 1),
                40..55 if answer => diary.add(key, now, 1),
                55..65 => diary.add(key, (now - i128::from(older)).max(0), 1),
                65..75 => {
                    let deadline = i128::from(clock.now.saturating_add(older));
                    diary.add(key, now.min(deadline - i128::from(span)), 1);
                }
                75..85 => drop(diary.sightings.remove(&key)),
                _ => (),
            }
            if let Some(to) = clock.turn()
                && let Some(from) = filter.clock().map(Time::millis)
            {
                [&mut filter, &mut opened].into_iter().for_each(|f| f.turn_back(millis(to)));
                if to < from {
                    diary.turn_back(from, to);
                    clock.now = to;
                }
            }
            clock.now = clock.now.max(filter.clock().map_or(0, Time::millis));
            if clock.random.below(20) == 0 {
                filter.validate().unwrap_or_else(|fault| panic!("{seed} {step}: {fault}"));
                let bytes = codec::save(&filter, HASHING);
                assert!(bytes == codec::save(&opened, HASHING), "{seed} {step}: they differ");
                let told = clock.now.to_le_bytes();
                let at = bytes.windows(8).position(|bytes| bytes == told);
                behind += u64::from(at.is_some_and(|at| bytes[at - 1] == 2));
                opened = reopened(&filter);
                assert!(bytes == codec::save(&opened, HASHING), "{seed} {step}: read wrongly");
                assert_eq!(opened.false_positive_rate(), filter.false_positive_rate());
                let now = clock.now;
                let at = |key: u64| match filter.age_hash(remix(key, 9), millis(now)) {
                    Some(Age::Time(range)) => Some(range),
                    _ => None,
                };
                for key in 0..900 {
                    let (least, most) = diary.counts(key, now);
                    let seen = filter.contains_hash(remix(key, 9), millis(now));
                    assert!(seen || least == 0, "{seed} {step}: {key} is forgotten");
                    assert!(!seen || most > 0, "{seed} {step}: {key} came back");
                    // Before the end of time, where generations have no end.
                    if least > 0 && now < u64::MAX {
                        let tick = span.div_ceil(generations.into());
                        let age = |sighting: &Sighting| (i128::from(now) - sighting.at) as u64;
                        let all = diary.of(key).iter();
                        let surely = all.clone().filter(|sighting| !sighting.doubtful);
                        let most = surely.map(age).min().unwrap() + tick;
                        let least = all.map(age).min().unwrap().min(now).saturating_sub(tick);
                        let range = at(key).unwrap();
                        let fits = range.start().millis() <= most && range.end().millis() >= least;
                        assert!(fits, "{seed} {step}: {range:?}, {least} to {most}");
                    }
                }
            }
        }
        assert_eq!(filter.lost(), 0);
    }
    assert!(behind > 1_000, "{behind} snapshots with segments that are behind");
}

#[test]
fn counts_are_those_of_a_map_however_often_the_clock_is_set_back() {
    for seed in 0..40 {
        let kind = KINDS[seed as usize % KINDS.len()];
        let (span, generations, _) = kind;
        let segments = TimedWindowParameters { payload_bits: 1, ..tiny(span, generations, 30) };
        let mut counter =
            WindowCounts::new(WindowCountsParameters { unit: Unit::Millis, segments });
        let mut opened = reopened(&counter);
        let mut diary = Diary::new(counter.blueprint(), span);
        let mut clock = clock(kind, 100 + seed);
        for step in 0..3_000 {
            clock.go_on();
            let key = clock.random.below(400);
            let (hash, now) = (remix(key, 9), clock.now);
            let what = clock.random.below(100);
            let bits = clock.random.below(6);
            let times = 1 + clock.random.below(1 << bits);
            let (least, most) = diary.counts(key, now);
            let all = counter.count_hash(hash, millis(now));
            assert!((least..=most).contains(&all), "{seed} {step}: {key} counts {all}");
            let [count, same] = [&mut counter, &mut opened].map(|counter| match what {
                0..70 => counter.add_hash(hash, times, millis(now)),
                70..80 => counter.take_back_hash(hash, all, millis(now)).unwrap(),
                80..85 => u64::from(counter.expire(millis(now), (times % 9) as usize)),
                _ => counter.count_hash(hash, millis(now)),
            });
            assert_eq!(count, same, "{seed} {step}");
            match what {
                0..70 => {
                    assert_eq!(count, all + times);
                    diary.add(key, now.into(), times);
                }
                70..80 => {
                    assert_eq!(count, 0);
                    diary.sightings.remove(&key);
                }
                _ => (),
            }
            if let Some(to) = clock.turn()
                && let Some(from) = counter.clock().map(Time::millis)
            {
                [&mut counter, &mut opened].into_iter().for_each(|c| c.turn_back(millis(to)));
                if to < from {
                    diary.turn_back(from, to);
                    clock.now = to;
                }
            }
            clock.now = clock.now.max(counter.clock().map_or(0, Time::millis));
            if clock.random.below(20) == 0 {
                counter.validate().unwrap_or_else(|fault| panic!("{seed} {step}: {fault}"));
                let bytes = codec::save(&counter, HASHING);
                assert!(bytes == codec::save(&opened, HASHING), "{seed} {step}: they differ");
                opened = reopened(&counter);
                assert!(bytes == codec::save(&opened, HASHING), "{seed} {step}: read wrongly");
                assert_eq!(opened.false_positive_rate(), counter.false_positive_rate());
                for key in 0..400 {
                    let (least, most) = diary.counts(key, clock.now);
                    let count = counter.count_hash(remix(key, 9), millis(clock.now));
                    assert!((least..=most).contains(&count), "{seed} {step}: {key}");
                }
            }
        }
        assert_eq!(counter.lost(), 0);
    }
}

/// A turn touches no segment, whatever there is, and operations after it no more than ever: also the second turn, and
/// many that follow each other.
#[test]
fn a_turn_is_short_and_so_is_all_that_follows() {
    let span = Span::from_millis(7_000);
    let parameters = TimedWindowParameters::with_error(span, None, 0.01, None).unwrap();
    let mut filter = TimedWindow::new(parameters);
    let mut now = 1_000_000;
    for key in 0..300_000_u64 {
        filter.insert_hash(remix(key, 1), millis(now + key / 50));
    }
    now += 6_000;
    assert!(filter.segments() > 100);
    let mut key = 300_000;
    for round in 0..30 {
        let before = filter.work();
        for back in 1..=20 {
            filter.turn_back(millis(now - 150 * back));
        }
        assert_eq!(filter.work(), before, "round {round}: a turn looks at segments");
        now -= 3_000;
        // The hand does not go round before the next turn, but at last it does.
        for _ in 0..if round % 10 == 9 { 3_000 } else { 20 } {
            let before = filter.work();
            filter.insert_hash(remix(key, 1), millis(now));
            assert!(filter.work() - before <= 9, "round {round}: {}", filter.work() - before);
            key += 1;
            now += u64::from(key.is_multiple_of(8)) * 400 / 3;
        }
    }
    filter.validate().unwrap();
}

/// Where turns are noted that nobody takes part in, the next ones are right all the same, and memory is bounded.
#[test]
fn turns_that_are_too_many_are_settled() {
    let mut filter = TimedWindow::new(tiny(7_000, 7, 30));
    for key in 0..3_000_u64 {
        filter.insert_hash(remix(key, 1), millis(1_000_000 + key));
    }
    let mut now = 1_003_000;
    let heap = filter.heap_bytes();
    for round in 0..200 {
        // A generation begins, and one segment takes part.
        now += 1_001;
        filter.insert_hash(remix(9_000 + round, 1), millis(now));
        now -= 1_001;
        filter.turn_back(millis(now));
        assert!(filter.heap_bytes() < heap + 10_000);
        for key in (0..3_000_u64).step_by(97) {
            assert!(filter.contains_hash(remix(key, 1), millis(now)), "{round}: {key}");
        }
    }
    filter.validate().unwrap();
    for key in 0..3_000_u64 {
        assert!(!filter.contains_hash(remix(key, 1), millis(now + 8_001)), "{key}");
    }
}

/// Keys that are not hashed at all: what found no room is reported for as long as it would have been known, by the clock
/// that was set back.
#[test]
fn what_was_lost_is_reported_as_long_as_it_would_have_been_known() {
    for back in [500, 3_000, 60_000] {
        let mut filter = TimedWindow::new(tiny(7_000, 7, 30));
        let start = 1_000_000;
        for key in 0..40_000_u64 {
            filter.insert_hash(key << 20, millis(start + key / 10));
        }
        let lost = filter.lost();
        filter.insert_hash(remix(1, 1), millis(start + 7_000));
        assert!(lost > 0 && filter.lost() == lost);
        let now = start + 7_000 - back;
        filter.turn_back(millis(now));
        filter.validate().unwrap();
        let known = |filter: &TimedWindow, later| {
            (0..40_000_u64)
                .step_by(7)
                .filter(|key| {
                    let seen = (start + key / 10).min(now);
                    now + later - seen <= 7_000
                        && !filter.contains_hash(key << 20, millis(now + later))
                })
                .count()
        };
        for later in [0, 3_000, 7_000] {
            assert_eq!(known(&filter, later), 0, "set back by {back}, {later} later");
        }
        filter.expire(millis(now), 10_000);
        for later in [0, 3_000, 7_000] {
            assert_eq!(known(&filter, later), 0, "set back by {back}, {later} after a sweep");
        }
        assert!(!filter.contains_hash(5 << 20, millis(now + 8_001)));
    }
}
