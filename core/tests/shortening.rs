//! The window by time that shortens: against a map from keys to the moments of their last sightings. What is told of
//! the window holds, the error is kept by the exact sum, and memory by the allocator, at a hundred times the rate that
//! fits and beyond; the window grows back; and what was opened goes on as what was saved.

use std::collections::{HashMap, HashSet};

use lately::plan::Goal;
use lately::raw::{Age, Aging, Blueprint, Filter, Membership, Removing, codec, remix};
use lately::timed::{ShorteningWindow, ShorteningWindowParameters, TimedWindowParameters};
use lately::{Error, ErrorRate, Hashing, Lately, Memory, NoClock, Seed, Slack, Span, Time, Window};
use testkit::random::SplitMix64;

use crate::heap::counted;
use crate::timed::{forged_do_no_harm, millis, tiny};

const HASHING: Hashing = Hashing::Fast(Seed(1));

fn planned(span: u64, rate: f64, bytes: u64) -> ShorteningWindowParameters {
    let span = Span::from_millis(span);
    ShorteningWindowParameters::with_error_and_memory(span, None, rate, bytes, None).unwrap()
}

/// Bytes of the smaller filters.
const FEW: u64 = 24_000;

/// Segments of a few bins in so little memory that some thousand keys are too many, and remainders so long that no two
/// keys are taken for one.
fn crowded(span: u64, generations: u32) -> ShorteningWindowParameters {
    let segments = tiny(span, generations, 24);
    let segments = TimedWindowParameters { entries: 100, most_bytes: FEW, ..segments };
    ShorteningWindowParameters { segments, keys: 0 }
}

fn remembered(filter: &dyn Filter, now: u64) -> u64 {
    filter.reach(millis(now)).unwrap().now.millis()
}

/// As many keys as fit, a hundred times as many, and as many as fit again, also all in one millisecond.
#[test]
fn memory_and_error_are_kept_at_a_hundred_times_the_rate_that_fits() {
    const SPAN: u64 = 60_000;
    const STEP: u64 = SPAN / 1_000;
    const SEGMENT: i64 = 4_096;
    // With many generations each sweep finds little, so that there are fewer leaps and these are longer.
    let filters = [
        (1 << 16, 0.01, SPAN, 7),
        (1 << 17, 0.001, SPAN / 100, 4),
        (1 << 16, 1e-9, SPAN, 7),
        (1 << 20, 0.001, SPAN, 7),
    ];
    for (bytes, rate, slack, eighths) in filters {
        let (span, slack) = (Span::from_millis(SPAN), Some(Span::from_millis(slack)));
        let parameters =
            ShorteningWindowParameters::with_error_and_memory(span, slack, rate, bytes, None)
                .unwrap();
        let promised = parameters.promise().false_positives;
        let fits = parameters.promised_items().unwrap();
        let (mut filter, taken) = counted(|| ShorteningWindow::new(parameters));
        let mut heap = taken.bytes_current;
        let (mut key, mut now) = (0_u64, 1_000_000_u64);
        // The first key of each moment.
        let mut firsts = Vec::new();
        let (mut most, mut worst, mut work, mut shortest) = (0, 0.0_f64, 0, [SPAN; 2]);
        let mut began = now - SPAN;
        for (times, parts) in [(1, 1_500), (100, 200), (1, 2_100), (10_000, 1), (1, 700)] {
            for _ in 0..parts {
                now += STEP;
                firsts.push((now, key + 1));
                for _ in 0..fits * times * STEP / SPAN {
                    key += 1;
                    let before = filter.work();
                    let (_, taken) = counted(|| filter.insert_hash(remix(key, 1), millis(now)));
                    heap += taken.bytes_current;
                    most = most.max(heap);
                    work = work.max(filter.work() - before);
                    if key % 64 == 0 {
                        worst = worst.max(filter.false_positive_rate() / promised);
                    }
                }
                let told = remembered(&filter, now);
                if times > 1 {
                    let flood = usize::from(times > 100);
                    shortest[flood] = shortest[flood].min(told);
                }
                let first = firsts.iter().find(|(at, _)| now - at < told);
                let first = first.map_or(key + 1, |&(_, first)| first);
                for i in 0..300.min(key + 1 - first) {
                    let one = first + remix(i, now) % (key + 1 - first);
                    assert!(
                        filter.contains_hash(remix(one, 1), millis(now)),
                        "forgot {one} of {first}..={key}, {told} told"
                    );
                }
                // As far as it can: the keys that fit, to an eighth of a generation, and to the last moment. What was
                // too much is gone after a span, and with it the last trace of it.
                let least = match times {
                    1 => (SPAN * eighths / 8).min(now - began),
                    _ => (SPAN * eighths / 8 / times).saturating_sub(STEP),
                };
                assert!(told >= least, "{told} of {least} at {times} times");
            }
            assert!(times > 1 || parts < 1_500 || remembered(&filter, now) == SPAN);
            began = now;
            filter.validate().unwrap();
        }
        println!(
            "{bytes} at {rate}: {fits} fit, {most} bytes, {worst:.2} of the error, {work} segments, {shortest:?} ms"
        );
        assert!(most <= bytes as i64 + SEGMENT, "{most} of {bytes}");
        assert!(worst <= 1.0, "{worst} of the error that is promised");
        assert!(work <= 12, "{work} segments were made or swept by one insertion");
        assert_eq!(shortest[1], 0, "nothing was too much");
        assert_eq!(filter.reach(millis(now)).unwrap().least.millis(), 0);
        assert_eq!(filter.lost(), 0);
    }
}

/// Bursts, lulls, repeats, removals, turns of the clock and snapshots at random, in segments of a few entries: nothing
/// that was seen within what is told of the window is ever forgotten, what is too old is gone, and ages are right.
#[test]
fn what_is_told_of_the_window_holds_at_any_rhythm() {
    let (mut short, mut whole, mut turned) = (0, 0, 0);
    for seed in 0..16 {
        let (span, generations) =
            [(7_000, 7), (1_000, 3), (40_000, 31), (90, 7)][seed as usize % 4];
        let mut filter = ShorteningWindow::new(crowded(span, generations));
        let Slack::Time(slack) = filter.blueprint().promise().slack else { unreachable!() };
        let longest = span + slack.millis();
        let mut random = SplitMix64::new(seed);
        // When each key was last seen.
        let mut seen: HashMap<u64, u64> = HashMap::new();
        // What had left when the clock was set back, and may be reported or not.
        let mut doubtful = HashSet::new();
        let mut now = 1_000_000;
        let mut key = 0;
        let mut turned_once = false;
        for round in 0..400 {
            let keys = match random.below(12) {
                0 => random.below(6_000),
                1..=6 => random.below(8),
                _ => random.below(200),
            };
            for _ in 0..keys {
                key += 1;
                let one =
                    if random.below(4) == 0 { key - random.below(key.min(4_000)) } else { key };
                let told = remembered(&filter, now);
                let last = seen.insert(one, now).map(|at| now - at);
                let new = filter.insert_hash(remix(one, 1), millis(now));
                assert!(!(new && last.is_some_and(|last| last < told)), "{seed}: forgot {one}");
                let doubted = doubtful.remove(&one);
                let kept = last.is_some_and(|last| last <= longest) || doubted;
                assert!(new || kept, "{seed}: kept {one}");
                // A segment of 800 bytes, and a longer table for so few; and turns of the clock are noted.
                let most = FEW + if turned_once { 5_632 } else { 1_536 };
                assert!(filter.heap_bytes() <= most, "{} of {most}", filter.heap_bytes());
            }
            let told = remembered(&filter, now);
            short += u64::from(told < span);
            whole += u64::from(told == span && round > 100);
            for later in [now, now + random.below(span)] {
                let told = remembered(&filter, later);
                for (&key, &at) in &seen {
                    let found = filter.age_hash(remix(key, 1), millis(later));
                    match found {
                        Some(Age::Time(age)) => {
                            let truth = Span::from_millis(later - at);
                            assert!(
                                age.contains(&truth),
                                "{seed}: {key} is {truth} old, not {age:?}"
                            );
                            assert!(later - at <= longest, "{seed}: kept {key}");
                        }
                        Some(Age::Items(_)) => panic!("a window by time"),
                        None => assert!(later - at >= told, "{seed}: lost {key}, {told} told"),
                    }
                }
            }
            assert!(filter.false_positive_rate() <= filter.blueprint().promise().false_positives);
            now += match random.below(20) {
                0 => random.below(2 * span),
                1..=8 => 0,
                _ => random.below(span / 20 + 2),
            };
            if random.below(10) == 0 {
                filter.expire(millis(now), random.below(50) as usize);
            }
            if random.below(8) == 0 && key > 0 {
                let one = key - random.below(key.min(300));
                filter.remove_hash(remix(one, 1));
                seen.remove(&one);
            }
            if random.below(40) == 0 {
                let clock = filter.clock().map_or(now, Time::millis);
                let most = [10, span, 5 * span][random.below(3) as usize];
                let back = now - random.below(most);
                let told = remembered(&filter, clock);
                filter.turn_back(millis(back));
                turned += u64::from(back < clock);
                turned_once = true;
                // What was in the window was seen then at the latest.
                doubtful
                    .extend(seen.iter().filter(|(_, at)| clock - *at >= told).map(|(key, _)| *key));
                seen.retain(|_, at| clock - *at < told);
                seen.values_mut().for_each(|at| *at = (*at).min(back));
                now = back.min(clock);
            }
            if round % 5 == 0 {
                filter.validate().unwrap_or_else(|fault| panic!("{seed} {round}: {fault}"));
                let bytes = codec::save(&filter, HASHING);
                let (opened, _) = codec::open(&bytes).unwrap();
                assert!(codec::save(&*opened, HASHING) == bytes, "{seed}: not what was saved");
                assert_eq!(opened.reach(millis(now)), filter.reach(millis(now)));
                assert_eq!(opened.false_positive_rate(), filter.false_positive_rate());
            }
        }
        assert_eq!(filter.lost(), 0);
    }
    assert!(short > 1_000 && whole > 200 && turned > 50, "{short} {whole} {turned}");
}

/// A filter that was saved and opened goes on as the one that was not, byte for byte: while its window shortens, is
/// short and grows back, and while segments have yet to take part in a turn of the clock.
#[test]
fn what_was_opened_goes_on_as_what_was_saved() {
    for (parameters, keys) in [(crowded(300, 7), 20_000), (planned(20_000, 0.01, 1 << 16), 300_000)]
    {
        let mut filter = ShorteningWindow::new(parameters);
        let mut copies: Vec<Box<dyn Filter>> = Vec::new();
        let span = parameters.segments.span.millis();
        let (mut back, mut short) = (0, 0);
        for key in 0..keys {
            // Fits, is far too much, and fits again.
            let spans = [2, 1, 4][(key * 12 / keys % 3) as usize];
            let mut now = 1_000_000 + key * span * spans * 3 / keys - back;
            now = now.max(filter.clock().map_or(0, Time::millis));
            if remix(key, 3).is_multiple_of(keys / 40) {
                let to = now - remix(key, 4) % (span / 2);
                filter.turn_back(millis(to));
                copies.iter_mut().for_each(|copy| copy.turn_back(millis(to)));
                (back, now) = (back + now - to, to);
            }
            if key % (keys / 48) == 0 {
                copies.push(codec::open(&codec::save(&filter, HASHING)).unwrap().0);
            }
            if key % (keys / 6) == keys / 6 - 1 {
                let bytes = codec::save(&filter, HASHING);
                for copy in copies.drain(..) {
                    assert!(codec::save(&*copy, HASHING) == bytes, "at {key}");
                }
            }
            let hash = remix(if key % 5 == 0 { key / 2 } else { key }, 9);
            filter.insert_hash(hash, millis(now));
            copies.iter_mut().for_each(|copy| _ = copy.insert_hash(hash, millis(now)));
            short += u64::from(remembered(&filter, now) < span);
        }
        assert!(short > keys / 4 && short < keys, "{short} of {keys}");
    }
}

/// Every bit of a snapshot of a window that is short, forged: an error, or a filter that works.
#[test]
fn forged_snapshots_do_no_harm() {
    let segments = TimedWindowParameters { most_bytes: 8_192, ..tiny(300, 7, 3) };
    let mut filter = ShorteningWindow::new(ShorteningWindowParameters { segments, keys: 0 });
    for key in 0..1_200_u64 {
        filter.insert_hash(remix(key, 6), millis(key / 10));
    }
    assert!(remembered(&filter, 120) < 300);
    forged_do_no_harm(&filter);
}

/// At the end of time nothing goes wrong.
#[test]
fn time_may_end() {
    let mut filter = ShorteningWindow::new(crowded(300, 7));
    for key in 0..9_000_u64 {
        filter.insert_hash(remix(key, 6), millis(u64::MAX - 3_000 + key / 3));
    }
    filter.validate().unwrap();
    let opened = codec::open(&codec::save(&filter, HASHING)).unwrap().0;
    assert_eq!(opened.reach(millis(0)), filter.reach(millis(0)));
    filter.turn_back(millis(5));
    assert_eq!(filter.clock(), Some(millis(5)));
    filter.validate().unwrap();
}

fn goal(bytes: u64) -> Goal {
    let hour = Window::Within(Span::from_millis(3_600_000));
    let shortening = Some(Memory::from_bytes(bytes));
    Goal { shortening, ..Goal::new(hour, ErrorRate::new(0.001).unwrap()) }
}

/// Whoever asks for it gets it and nothing else, and nobody else does.
#[test]
fn it_is_chosen_where_it_is_asked_for_and_only_there() {
    let plans = goal(10_000_000).plans().unwrap();
    assert_eq!(plans.iter().map(|plan| plan.row.name).collect::<Vec<_>>(), ["shortening"]);
    assert_eq!(plans[0].bytes, 10_000_000);
    let few = Goal { expected_items: Some(1_000), ..goal(10_000_000) }.best_plan().unwrap();
    assert!(few.bytes < 10_000, "{}", few.bytes);
    let without = Goal { shortening: None, ..goal(1) };
    assert!(without.plans().unwrap().iter().all(|plan| plan.row.name != "shortening"));
    let row = lately::catalog::CATALOG.row_named("shortening").unwrap();
    let told = without.plan_with(row).unwrap_err().to_string();
    assert!(told.contains("not asked for"), "{told}");
    let told = goal(1_000_000).plan_with(lately::catalog::CATALOG.row_named("timed").unwrap());
    assert!(told.unwrap_err().to_string().contains("does not shorten"));
}

/// What cannot be is refused, with a word about what can.
#[test]
fn what_cannot_be_is_refused() {
    let told = |goal: Goal| goal.best_plan().unwrap_err().to_string();
    let text = told(goal(65_535));
    assert!(text.contains("allow 128.0KiB, with which `shortening` does"), "{text}");
    let text = told(Goal { counting: true, ..goal(1 << 20) });
    assert!(text.contains("do without counting"), "{text}");
    let text = told(Goal { window: Window::Last(10), ..goal(1 << 20) });
    assert!(text.contains("but for a window by time"), "{text}");
    let text = told(Goal { limit: Memory::from_bytes(9).into(), ..goal(1 << 20) });
    assert!(text.contains("beside an error"), "{text}");
    let hour = std::time::Duration::from_secs(3_600);
    let refused = Lately::within(hour).shortening_at(1_000).build();
    assert!(matches!(refused, Err(Error::NoPlan { .. })), "{refused:?}");
}

/// Through the door, by one thread and by many: it says how short its window is, and that it is whole again.
#[test]
fn the_door_tells_how_far_back_it_remembers() {
    let minute = std::time::Duration::from_secs(60);
    let builder = Lately::within(minute).error(0.01).shortening_at(1 << 20).checked_by(NoClock);
    let mut alone = builder.clone().max_ahead(minute * 60).build().unwrap();
    let shared = builder.parts(4).max_ahead(minute * 60).build_shared().unwrap();
    assert_eq!((alone.remembers_at(millis(0)), shared.remembers_at(millis(0))), (minute, minute));
    for key in 0..2_000_000_u64 {
        let now = millis(1_000_000 + key / 100);
        alone.insert_at(key, now).unwrap();
        shared.insert_at(key, now).unwrap();
    }
    let now = millis(1_020_000);
    let told = [alone.remembers_at(now), shared.remembers_at(now)];
    for told in told {
        assert!(told < minute / 10 && told > minute / 25, "{told:?}");
    }
    assert!(alone.heap_bytes() < (1 << 20) + 1_024 && shared.heap_bytes() < (1 << 20) + 4_096);
    let later = millis(1_080_000);
    assert_eq!((alone.remembers_at(later), shared.remembers_at(later)), (minute, minute));
    assert!(alone.remembered_least() <= told[0] && shared.remembered_least() <= told[1]);
    assert!(alone.insert_until("a", now, later).is_err(), "a life that ends early");
}
