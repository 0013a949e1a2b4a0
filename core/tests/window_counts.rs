//! What the counter in windows owes beyond the contracts of all counters: against sightings written down one
//! by one, at every rhythm, with digits, splits, merges and take-backs all the time; the estimate; limits; and
//! that hot keys, forged snapshots and hashes that are not random break nothing.

use std::collections::HashMap;

use lately::plan::Goal;
use lately::raw::{Admission, Counting, Filter, Wait, codec, remix};
use lately::timed::{TimedWindowParameters, Unit, WindowCounts, WindowCountsParameters};
use lately::{ErrorRate, Hashing, Seed, Slack, Span, Time, Window};
use testkit::random::SplitMix64;
use testkit::streams;

/// Segments of a few entries, so that a few hundred keys split and merge them many times; remainders so long
/// that no two keys are taken for one.
fn tiny(unit: Unit, span: u64, generations: u32) -> WindowCountsParameters {
    let segments = TimedWindowParameters {
        span: Span::from_millis(span),
        generations,
        groups: 8,
        remainder_bits: 25,
        entries: 24,
        expected: 0,
        most_bytes: 0,
        payload_bits: 1,
    };
    WindowCountsParameters { unit, segments }
}

fn planned(window: Window, rate: f64) -> WindowCounts {
    let rate = ErrorRate::new(rate).unwrap();
    let goal = Goal { counting: true, ..Goal::new(window, rate) };
    let row = lately::catalog::CATALOG.row("window-counts").unwrap();
    let bytes = codec::save(&*(row.propose)(&goal).unwrap().build(Seed(0)).unwrap(), HASHING);
    reopened(&bytes)
}

const HASHING: Hashing = Hashing::Fast(Seed(1));

/// The counter in a snapshot, as what it is.
fn reopened(bytes: &[u8]) -> WindowCounts {
    let (filter, _) = codec::open(bytes).unwrap();
    let any: Box<dyn std::any::Any> = filter;
    *any.downcast().unwrap()
}

fn slack_of(counter: &WindowCounts) -> u64 {
    match counter.blueprint().promise().slack {
        Slack::Items(items) => items,
        Slack::Time(span) => span.millis(),
        Slack::Unlimited => unreachable!(),
    }
}

/// Every sighting, written down: when, and how often.
#[derive(Default)]
struct Diary {
    sightings: HashMap<u64, Vec<(u64, u64)>>,
}

impl Diary {
    fn add(&mut self, key: u64, at: u64, times: u64) {
        self.sightings.entry(key).or_default().push((at, times));
    }

    /// Sightings at most so long ago.
    fn count(&self, key: u64, now: u64, span: u64) -> u64 {
        let all = self.sightings.get(&key).into_iter().flatten();
        all.filter(|(at, _)| now - at <= span).map(|(_, times)| times).sum()
    }

    /// Takes back some that are at most so long ago, the latest or the oldest of them.
    fn take_back(&mut self, key: u64, now: u64, span: u64, mut times: u64, latest: bool) {
        let all = self.sightings.entry(key).or_default();
        let mut take = |(at, count): &mut (u64, u64)| {
            if now - *at <= span {
                let taken = times.min(*count);
                (*count, times) = (*count - taken, times - taken);
            }
        };
        if latest {
            all.iter_mut().rev().for_each(take)
        } else {
            all.iter_mut().for_each(&mut take)
        }
        assert_eq!(times, 0);
    }
}

/// Bursts, lulls, single sightings and many at once, take-backs and snapshots at random, on two instruction
/// sets at once: no count is below that of the window, had the latest been taken back; none is above that of window
/// and slack, had the oldest been; the two are equal, and every invariant holds.
#[test]
fn counts_are_those_of_the_window_and_some_of_the_slack() {
    for seed in 0..24_u64 {
        let (span, generations) =
            [(7_000, 7), (50, 7), (1_000, 3), (5, 7), (40_000, 31), (1, 7)][(seed % 6) as usize];
        let unit = if seed % 4 < 2 { Unit::Millis } else { Unit::Sightings };
        let parameters = tiny(unit, span, generations);
        let mut counter = WindowCounts::new(parameters);
        let mut scalar = WindowCounts::new(parameters).without_vectors();
        let longest = span + slack_of(&counter);
        let (mut least, mut most) = (Diary::default(), Diary::default());
        let mut random = SplitMix64::new(seed);
        let (mut millis, mut sightings) = (0, 0);
        for step in 0..4_000_u64 {
            let rhythm = remix(seed, step / 300) % 4;
            let pause = [0, span / 900, span / 30, random.below(2 * span)][rhythm as usize];
            millis += if step % 7 == 0 { pause } else { 0 };
            let key = random.below([20, 400, 4_000][(step / 500 % 3) as usize]);
            let hash = remix(key, 1);
            let time = Time::from_millis(millis);
            let now = |sightings| if unit == Unit::Millis { millis } else { sightings };
            let times = if random.below(50) == 0 { random.below(3 * span) } else { 1 };
            // In a window by count every one is a moment.
            for diary in [&mut least, &mut most] {
                let kept = times.min(2 * longest);
                match unit {
                    Unit::Millis => diary.add(key, millis, times),
                    Unit::Sightings => {
                        let first = sightings + times - kept;
                        (0..kept).for_each(|i| diary.add(key, first + i, 1));
                    }
                }
            }
            sightings += times;
            let told = counter.add_hash(hash, times, time);
            assert_eq!(told, scalar.add_hash(hash, times, time));
            if random.below(3) == 0 {
                let key = random.below(400);
                let now = now(sightings);
                let asked = random.below(least.count(key, now, span) + 1);
                let [left, same] = [&mut counter, &mut scalar]
                    .map(|counter| counter.take_back_hash(remix(key, 1), asked, time).unwrap());
                assert_eq!(left, same);
                least.take_back(key, now, span, asked, true);
                most.take_back(key, now, longest, asked, false);
            }
            for key in [key, random.below(4_000)] {
                let now = now(sightings);
                let told = counter.count_hash(remix(key, 1), time);
                let (least, most) = (least.count(key, now, span), most.count(key, now, longest));
                assert!((least..=most).contains(&told), "{seed} {step}: {least} {told} {most}");
                let estimate = counter.estimate_hash(remix(key, 1), time);
                assert!(estimate <= told as f64 + 1e-9);
            }
            if step % 500 == 0 {
                counter.validate().unwrap();
                assert_eq!(codec::save(&counter, HASHING), codec::save(&scalar, HASHING));
                counter = reopened(&codec::save(&counter, HASHING));
            }
        }
        counter.validate().unwrap();
        assert!(counter.lost() == 0);
    }
}

/// What the oldest generation has too much is half of it on average: one in fourteen with the usual slack. The
/// estimate has nothing too much, on average.
#[test]
fn the_estimate_is_right_on_average() {
    let window = 70_000;
    let mut counter = planned(Window::Last(window), 0.0001);
    let keys: Vec<u64> = streams::uniform(300, 5).take(400_000).collect();
    let (mut truth, mut told, mut estimate) = (0.0, 0.0, 0.0);
    for (step, &key) in keys.iter().enumerate() {
        counter.add_hash(remix(key, 1), 1, Time::ZERO);
        if step >= 100_000 && step % 977 == 0 {
            let inside = &keys[step + 1 - window as usize..=step];
            truth += inside.iter().filter(|&&other| other == key).count() as f64;
            told += counter.count_hash(remix(key, 1), Time::ZERO) as f64;
            estimate += counter.estimate_hash(remix(key, 1), Time::ZERO);
        }
    }
    let (over, error) = (told / truth - 1.0, estimate / truth - 1.0);
    eprintln!("too high by {:.2}%, the estimate by {:.2}%", 100.0 * over, 100.0 * error);
    assert!(over > 0.0 && over <= 1.05 / 14.0, "{over}");
    assert!(error.abs() < 0.01, "{error}");
}

/// A key of a billion sightings, one by one and at once, among others: exact, in a few slots.
#[test]
fn a_hot_key_of_a_billion_sightings() {
    for (unit, span) in [(Unit::Millis, 70_000), (Unit::Sightings, 1 << 40)] {
        let mut counter = WindowCounts::new(tiny(unit, span, 7));
        let hot = remix(7, 7);
        let mut truth = 0;
        for step in 0..20_000_u64 {
            let times = if step % 20 == 0 { 1_000_000 } else { 1 };
            truth += times;
            let now = Time::from_millis(step * 3);
            assert_eq!(counter.add_hash(hot, times, now), truth);
            counter.add_hash(remix(step, 1), 1, now);
        }
        let now = Time::from_millis(60_000);
        assert_eq!(counter.count_hash(hot, now), truth);
        assert!(truth > 1_000_000_000);
        assert_eq!(counter.take_back_hash(hot, truth - 3, now), Ok(3));
        assert_eq!(counter.take_back_hash(hot, 3, now), Ok(0));
        assert!(counter.take_back_hash(hot, 1, now).is_err());
        counter.validate().unwrap();
        // All at once: more than can be told, or than the window holds.
        let most = if unit == Unit::Millis { counter.largest_count() } else { span };
        for _ in 0..2 {
            assert!(counter.add_hash(hot, u64::MAX, now) >= most);
            counter.validate().unwrap();
        }
        assert!(reopened(&codec::save(&counter, HASHING)).count_hash(hot, now) >= most);
    }
}

/// Two halves of a stream, by time, each with its own rhythm and size: merged, they count as one that saw
/// both, and later too.
#[test]
fn merged_halves_count_like_the_whole() {
    for (many, few) in [(6_000, 6_000), (6_000, 40), (40, 6_000), (3, 3), (0, 500), (500, 0)] {
        let parameters = tiny(Unit::Millis, 7_000, 7);
        let [mut ours, mut theirs, mut whole] = [0; 3].map(|_| WindowCounts::new(parameters));
        for step in 0..6_000 {
            let now = Time::from_millis(step * 3);
            for (counter, keys, stream) in [(&mut ours, many, 1), (&mut theirs, few, 2)] {
                if step < keys {
                    let hash = remix(remix(step, stream) % 2_000, 5);
                    counter.add_hash(hash, 1 + step % 5, now);
                    whole.add_hash(hash, 1 + step % 5, now);
                }
            }
        }
        ours.merge(&theirs).unwrap();
        ours.validate().unwrap();
        for now in [18_000, 21_000, 24_000, 30_000].map(Time::from_millis) {
            for key in 0..2_000 {
                let hash = remix(key, 5);
                assert_eq!(
                    ours.count_hash(hash, now),
                    whole.count_hash(hash, now),
                    "{key} {now:?}"
                );
            }
            ours.add_hash(remix(9, 5), 2, now);
            whole.add_hash(remix(9, 5), 2, now);
            ours.validate().unwrap();
        }
    }
    let mut by_count = WindowCounts::new(tiny(Unit::Sightings, 7_000, 7));
    let other = by_count.clone();
    assert!(by_count.merge(&other).is_err());
}

/// A clock that was wrong is set back: everything that was in the window counts as of then, once.
#[test]
fn a_clock_set_back_keeps_counts() {
    let mut counter = WindowCounts::new(tiny(Unit::Millis, 7_000, 7));
    for step in 0..3_000 {
        counter.add_hash(remix(step % 500, 1), 1, Time::from_millis(2 * step));
    }
    let before: Vec<u64> =
        (0..500).map(|key| counter.count_hash(remix(key, 1), Time::from_millis(5_998))).collect();
    counter.turn_back(Time::from_millis(1_000));
    counter.validate().unwrap();
    for (key, before) in (0..500).zip(before) {
        assert_eq!(before, 6);
        for now in [1_000, 7_000] {
            assert_eq!(counter.count_hash(remix(key, 1), Time::from_millis(now)), before);
        }
        assert_eq!(counter.count_hash(remix(key, 1), Time::from_millis(9_100)), 0);
    }
}

/// Hashes that all begin alike: counts are right as long as they fit, and nobody's is too low afterwards.
#[test]
fn hashes_that_are_not_random_are_never_counted_too_low() {
    let mut counter = WindowCounts::new(tiny(Unit::Millis, 7_000, 7));
    for step in 0..40_000_u64 {
        let now = Time::from_millis(step / 100);
        assert!(counter.add_hash((step % 20_000) << 29, 1, now) > step / 20_000);
    }
    counter.validate().unwrap();
    assert!(counter.lost() > 0);
    assert_eq!(counter.count_hash(5 << 29, Time::from_millis(400)), counter.largest_count());
    assert_eq!(counter.count_hash(5 << 29, Time::from_millis(9_000)), 0);
}

/// Five per window: never more than five pass, whatever comes; a flood of one key takes no memory; and what is
/// denied is told why and how long.
#[test]
fn a_limit_is_kept_and_a_flood_costs_nothing() {
    let mut counter = planned(Window::Within(Span::from_millis(7_000)), 0.001);
    let hash = remix(1, 1);
    for _ in 0..5 {
        assert!(counter.admit_hash(hash, 1, 5, Time::from_millis(0)).allowed);
    }
    let bytes = counter.heap_bytes();
    for step in 0..100_000 {
        let told = counter.admit_hash(hash, 1, 5, Time::from_millis(step / 50));
        let Admission { allowed, count, surely, left, wait } = told;
        assert!(!allowed && (count, surely, left) == (5, 5, 0));
        let Some(Wait::Time(wait)) = wait else { panic!("a window by time knows how long") };
        assert!(wait.millis() + step / 50 > 7_000 && wait.millis() + step / 50 <= 8_000);
    }
    assert_eq!(counter.heap_bytes(), bytes);
    // Older than the window, and not yet gone: by the slack.
    let told = counter.admit_hash(hash, 1, 5, Time::from_millis(7_001));
    assert!(told.allowed || told.surely == 0);
    assert_eq!(counter.admit_hash(hash, 6, 5, Time::from_millis(8_001)).wait, None);
    assert!(counter.admit_hash(hash, 5, 5, Time::from_millis(8_001)).allowed);
}
