//! What the succinct window by time owes beyond the contracts of all filters: the error by the exact sum,
//! at every moment of every rhythm; the same answers on every instruction set; bounded work; memory that
//! comes back; and that it never forgets early, even if hashes are not random or snapshots are forged.

use std::collections::HashMap;

use lately::plan::Goal;
use lately::raw::{Blueprint, Filter, Membership, Removing, codec, remix};
use lately::timed::{TimedWindow, TimedWindowParameters};
use lately::{Error, ErrorRate, Hashing, Seed, Slack, Span, Time, Window};

const HASHING: Hashing = Hashing::Fast(Seed(1));

pub fn planned(span: u64, rate: f64) -> TimedWindowParameters {
    TimedWindowParameters::with_error(Span::from_millis(span), None, rate, None).unwrap()
}

pub fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Segments of a few entries, so that a few hundred keys split and merge them many times. Short remainders
/// are used up, and with long ones no two keys are taken for one.
pub fn tiny(span: u64, generations: u32, remainder_bits: u32) -> TimedWindowParameters {
    let span = Span::from_millis(span);
    TimedWindowParameters {
        span,
        generations,
        groups: 8,
        remainder_bits,
        entries: 24,
        expected: 0,
        most_bytes: 0,
        payload_bits: 0,
    }
}

/// The n-th draw of a round.
fn draw(seed: u64, round: u64, n: u64) -> u64 {
    remix(remix(seed, round), n)
}

/// Keys and what is known of them.
struct Oracle {
    span: u64,
    longest: u64,
    /// When each key was last seen.
    seen: HashMap<u64, u64>,
    keys: Vec<u64>,
}

impl Oracle {
    fn new(filter: &TimedWindow, span: u64) -> Self {
        let Slack::Time(slack) = filter.blueprint().promise().slack else { unreachable!() };
        let longest = span + slack.millis();
        Self { span, longest, seen: HashMap::new(), keys: Vec::new() }
    }

    fn record(&mut self, key: u64, at: u64) {
        if self.seen.insert(key, at).is_none() {
            self.keys.push(key);
        }
    }

    /// Whether the key must be reported, must not be but by chance, or may be either.
    fn expects(&self, key: u64, now: u64) -> Option<bool> {
        match self.seen.get(&key) {
            Some(at) if now - at <= self.span => Some(true),
            Some(at) if now - at <= self.longest => None,
            _ => Some(false),
        }
    }
}

/// Bursts, lulls, repeats, late sightings and snapshots at random, on two instruction sets at once, with
/// every invariant checked: nothing in the window is ever forgotten, and the two are always equal.
#[test]
fn nothing_is_forgotten_at_any_rhythm_on_any_instruction_set() {
    for seed in 0..12 {
        let (span, generations) =
            [(7_000, 7), (50, 7), (1_000, 3), (5, 7), (40_000, 31), (1, 7)][(seed % 6) as usize];
        let mut fast = TimedWindow::new(tiny(span, generations, 3));
        let mut plain = TimedWindow::new(tiny(span, generations, 3)).without_vectors();
        let mut oracle = Oracle::new(&fast, span);
        let mut now = draw(seed, 0, 1) % 10_000;
        for round in 0..400 {
            let draw = |n| draw(seed, round, n);
            let keys = match draw(1) % 12 {
                0 => draw(2) % 1_500,
                1..=7 => draw(2) % 8,
                _ => draw(2) % 80,
            };
            for i in 0..keys {
                let pick = remix(draw(3), i);
                let key = match oracle.keys.len() as u64 {
                    known if pick.is_multiple_of(4) && known > 0 => {
                        oracle.keys[(remix(pick, 1) % known) as usize]
                    }
                    _ => remix(pick, 2),
                };
                let hash = remix(key, 9);
                let expected = oracle.expects(key, now);
                let (new, same) = match pick >> 8 & 7 {
                    0 => (
                        fast.insert_new_hash(hash, millis(now)),
                        plain.insert_new_hash(hash, millis(now)),
                    ),
                    1 => {
                        let at = now - remix(pick, 3) % (now + 1).min(2 * span);
                        let late = fast.insert_late_hash(hash, millis(now), millis(at));
                        if oracle.expects(key, now) != Some(true) && now - at <= span {
                            let at = at.max(oracle.seen.get(&key).copied().unwrap_or(0));
                            oracle.record(key, at);
                        }
                        (late, plain.insert_late_hash(hash, millis(now), millis(at)))
                    }
                    _ => {
                        oracle.record(key, now);
                        (fast.insert_hash(hash, millis(now)), plain.insert_hash(hash, millis(now)))
                    }
                };
                assert_eq!(new, same);
                assert!(!(new && expected == Some(true)), "forgot {key} at {now}, seed {seed}");
                if pick >> 8 & 7 == 0 && new {
                    oracle.record(key, now);
                }
            }
            for i in 0..40.min(oracle.keys.len() as u64) {
                let key = oracle.keys[(draw(20 + i) % oracle.keys.len() as u64) as usize];
                let later = now + draw(70 + i) % 2 * (draw(120 + i) % span);
                let seen = fast.contains_hash(remix(key, 9), millis(later));
                assert_eq!(seen, plain.contains_hash(remix(key, 9), millis(later)));
                assert!(
                    seen || oracle.expects(key, later) != Some(true),
                    "lost {key}, seed {seed}"
                );
            }
            if round % 7 == 0 {
                fast.validate().unwrap_or_else(|fault| panic!("{seed} {round}: {fault}"));
                let bytes = codec::save(&fast, HASHING);
                assert!(bytes == codec::save(&plain, HASHING), "{seed} {round}: sets differ");
                let (opened, _) = codec::open(&bytes).unwrap();
                assert!(
                    codec::save(&*opened, HASHING) == bytes,
                    "{seed} {round}: not what was saved"
                );
                // Where entries lie may differ, and so does how many are in the stash.
                let heaps = [opened.heap_bytes(), fast.heap_bytes()].map(|bytes| bytes as f64);
                assert!((heaps[0] / heaps[1] - 1.0).abs() < 0.1, "{heaps:?}");
                assert_eq!(opened.false_positive_rate(), fast.false_positive_rate());
            }
            now += match draw(4) % 20 {
                0 => draw(5) % (3 * span),
                1..=8 => 0,
                _ => draw(5) % (span / 20 + 2),
            };
            for i in 0..draw(10) % 6 * u64::from(draw(11) % 8 == 0) {
                if oracle.keys.is_empty() {
                    break;
                }
                let at = (remix(draw(12), i) % oracle.keys.len() as u64) as usize;
                let key = oracle.keys.swap_remove(at);
                oracle.seen.remove(&key);
                let hash = remix(key, 9);
                let [removed, same] =
                    [&mut fast, &mut plain].map(|filter| filter.remove_hash(hash));
                assert_eq!(removed, same);
                // Others of its bucket may go with it: there are 400 in an eighth of all hashes.
                oracle.keys.retain(|key| remix(*key, 9).abs_diff(hash) > (1 << 61) / 400);
                oracle.seen.retain(|key, _| remix(*key, 9).abs_diff(hash) > (1 << 61) / 400);
            }
            if draw(6) % 10 == 0 {
                let steps = (draw(7) % 50) as usize;
                assert_eq!(fast.expire(millis(now), steps), plain.expire(millis(now), steps));
            }
            if draw(8) % 60 == 0 && now > span {
                let back = now - draw(9) % span;
                fast.turn_back(millis(back));
                plain.turn_back(millis(back));
                // What had left the window may be reported, or not.
                oracle.seen.retain(|_, at| now - *at <= span);
                oracle.keys.retain(|key| oracle.seen.contains_key(key));
                oracle.seen.values_mut().for_each(|at| *at = (*at).min(back));
                now = now.min(fast.clock().map_or(now, Time::millis));
            }
        }
        assert_eq!(fast.lost(), 0);
        assert!(fast.work() > 1_000, "{}", fast.work());
    }
}

/// Bursts, rises, batches, lulls and swings: the chance that an unseen key is reported, summed up over all
/// live entries, never exceeds the promise. Samples would hide what the sum shows.
#[test]
fn the_error_is_kept_at_every_moment_by_the_exact_sum() {
    let worst = worst_sum(0..24, |parameters| parameters);
    assert!(PLANNED.contains(&worst), "{worst} of what is promised");
}

/// Remainders that are a bit too short, or a bit longer than is needed, are noticed.
#[test]
fn the_exact_sum_tells_parameters_that_are_planned_badly() {
    for off in [-1, 1] {
        let planted = |parameters: TimedWindowParameters| TimedWindowParameters {
            remainder_bits: parameters.remainder_bits.saturating_add_signed(off),
            ..parameters
        };
        // Not those with an error of 10%, which have so few bits that none can be taken.
        let worst = worst_sum([1, 2, 4, 5], planted);
        assert!(!PLANNED.contains(&worst), "{off} bits: {worst} of what is promised");
    }
}

/// The part of the promise that a filter uses at its worst moment, if it is planned as well as can be.
const PLANNED: std::ops::RangeInclusive<f64> = 0.6..=1.0;

/// The largest error by the exact sum at any moment of these streams, as a part of what is promised; of
/// filters that are not built as planned but with a fault.
fn worst_sum(
    seeds: impl IntoIterator<Item = u64>,
    planted: impl Fn(TimedWindowParameters) -> TimedWindowParameters,
) -> f64 {
    let mut worst = 0.0_f64;
    for seed in seeds {
        let rate = [0.1, 0.01, 0.001][(seed % 3) as usize];
        let span = 7_000;
        let expected = (seed % 4 == 3).then_some(40_000);
        let wanted = Span::from_millis(span);
        let parameters = TimedWindowParameters::with_error(wanted, None, rate, expected).unwrap();
        // Smaller segments, so that fewer keys show what happens with many.
        let smaller = TimedWindowParameters {
            entries: parameters.entries / 4,
            remainder_bits: parameters.remainder_bits.saturating_sub(2).max(1),
            ..parameters
        };
        let promised = smaller.promise().false_positives;
        let mut filter = TimedWindow::new(planted(smaller));
        let (mut key, mut now) = ((seed + 1) << 40, 1_000_000_u64);
        let mut pace = 1.0;
        for round in 0..600 {
            let draw = |n| draw(seed + 100, round, n);
            if draw(1) % 25 == 0 {
                pace = (f64::from((draw(2) % 1_000) as u32) / 1_000.0 * 7.6).exp();
            }
            let keys = match draw(3) % 40 {
                0 => draw(4) % 40_000,
                1..=4 => 0,
                _ => (pace * f64::from((draw(4) % 64) as u32) / 32.0) as u64,
            };
            for i in 0..keys {
                key += 1;
                let repeat = remix(key, 5).is_multiple_of(8);
                let key = if repeat { key - remix(key, 6) % 3_000 } else { key };
                filter.insert_hash(remix(key, 7), millis(now));
                if i % 512 == 0 {
                    worst = worst.max(filter.false_positive_rate() / promised);
                }
            }
            now += match draw(5) % 30 {
                0 => draw(6) % (2 * span),
                1..=6 => 0,
                _ => draw(6) % 120,
            };
            if draw(7) % 3 == 0 {
                filter.expire(millis(now), (draw(8) % 8) as usize);
            }
            worst = worst.max(filter.false_positive_rate() / promised);
            if round % 50 == 0 {
                filter.validate().unwrap();
            }
        }
    }
    worst
}

/// Forgetting a key may forget another that is mistaken for it: of all others no larger part than the error.
#[test]
fn forgetting_takes_others_along_no_more_often_than_keys_are_mistaken() {
    let mut filter = TimedWindow::new(planned(7_000, 0.01));
    let keys = 60_000_u64;
    (0..keys).for_each(|key| _ = filter.insert_hash(remix(key, 1), millis(key / 60)));
    let error = filter.false_positive_rate();
    let (gone, kept) = (0..keys / 2, keys / 2..keys);
    assert!(gone.clone().all(|key| {
        // A key may be gone already, with one that it was mistaken for.
        filter.remove_hash(remix(key, 1)) || error > 0.0
    }));
    let lost = kept.filter(|&key| !filter.contains_hash(remix(key, 1), millis(1_000))).count();
    testkit::stats::assert_rate_at_most(lost as u64, keys / 2, error, 1e-9);
    let left = gone.filter(|&key| filter.contains_hash(remix(key, 1), millis(1_000))).count();
    testkit::stats::assert_rate_at_most(left as u64, keys / 2, error, 1e-9);
}

/// A key seen again and again keeps no fingerprint that became too short as the filter grew.
#[test]
fn keys_refreshed_for_ever_do_not_wear_the_error_out() {
    let parameters = TimedWindowParameters { entries: 300, ..planned(7_000, 0.01) };
    let parameters =
        TimedWindowParameters { remainder_bits: parameters.remainder_bits - 2, ..parameters };
    let promised = parameters.promise().false_positives;
    let mut filter = TimedWindow::new(parameters);
    let mut now = 0;
    let mut keys = 0_u64;
    for epoch in 0..4 {
        keys = 600 * 8_u64.pow(epoch);
        // Three windows in which all keys so far are seen.
        for turn in 0..30 {
            now += 700;
            for key in 0..keys {
                filter.insert_hash(remix(key, 3), millis(now));
            }
            let sum = filter.false_positive_rate();
            assert!(sum <= promised, "{sum} of {promised} in epoch {epoch}, turn {turn}");
        }
    }
    assert!((0..keys).all(|key| filter.contains_hash(remix(key, 3), millis(now))));
}

/// How long ago is told to a generation; a deadline is kept, and no more than a generation longer; what is
/// taken back is gone, and nothing else; and different keys are counted.
#[test]
fn ages_deadlines_removals_and_distinct_keys() {
    let span = 7_000;
    let mut filter = TimedWindow::new(planned(span, 0.0001));
    let mut keys: Vec<(u64, u64, u64)> = Vec::new();
    let mut now = 500_000;
    for key in 0..60_000_u64 {
        // Fast and slow, so that segments split, mix and merge.
        let rare = if (key / 15_000).is_multiple_of(2) { 8 } else { 2 };
        now += u64::from(remix(key, 1).is_multiple_of(rare));
        let hash = remix(key, 2);
        let life = if key % 3 == 0 { remix(key, 3) % (2 * span) } else { span };
        let deadlines = filter.as_deadlines().unwrap();
        deadlines.insert_until_hash(hash, millis(now), millis(now + life));
        keys.push((hash, now, now + life.min(span)));
        let (hash, seen, until) = keys[(remix(key, 4) % keys.len() as u64) as usize];
        let found = filter.aging().unwrap().age_hash(hash, millis(now));
        assert_eq!(found.is_some(), filter.contains_hash(hash, millis(now)));
        if now <= until {
            let Some(lately::raw::Age::Time(age)) = found else {
                panic!("forgot before its deadline")
            };
            // One with a deadline counts as one that leaves then.
            let age = age.start().millis()..=age.end().millis();
            let counted = now + span - until;
            let truth = if until - seen < span { counted } else { now - seen };
            assert!(age.end() - age.start() < 1_000);
            assert!(*age.start() <= truth && truth <= age.end() + 1_000, "{age:?} {truth}");
        }
    }
    let late = keys.iter().filter(|key| now > key.2 + 1_000 && now < key.1 + span).count() as u64;
    let still = keys.iter().filter(|key| now > key.2 + 1_000 && now < key.1 + span);
    let still = still.filter(|key| filter.contains_hash(key.0, millis(now))).count() as u64;
    assert!(late > 500 && still * 100 < late, "{still} of {late} after their deadlines");

    // Half of the rest is taken back.
    let live: Vec<u64> = keys.iter().filter(|key| now <= key.2).map(|key| key.0).collect();
    let counted = filter.distinct(millis(now)).unwrap();
    assert!((counted / live.len() as f64 - 1.0).abs() < 0.05, "{counted} of {}", live.len());
    let (gone, kept): (Vec<u64>, Vec<u64>) = live.iter().partition(|hash| **hash % 2 == 0);
    for &hash in &gone {
        assert!(filter.as_removing().unwrap().remove_hash(hash));
    }
    filter.validate().unwrap();
    assert!(kept.iter().all(|&hash| filter.contains_hash(hash, millis(now))));
    let reported = gone.iter().filter(|&&hash| filter.contains_hash(hash, millis(now))).count();
    assert!(reported <= gone.len() / 500, "{reported} of {}", gone.len());
    let before = filter.heap_bytes();
    for &hash in &kept {
        assert!(filter.as_removing().unwrap().remove_hash(hash));
    }
    filter.expire(millis(now), 10_000);
    filter.validate().unwrap();
    assert!(filter.heap_bytes() < before / 2 + 10_000);
}

/// What one insertion costs beside its own segment does not depend on how many keys there are.
#[test]
fn no_insertion_touches_more_segments_in_a_larger_filter() {
    let mut filter = TimedWindow::new(planned(7_000, 0.01));
    let mut most = [0; 3];
    for key in 0..900_000_u64 {
        // A burst, a lull in which half of it expires, and a steady stream.
        let now = if key < 400_000 { 0 } else { 7_500 + (key - 400_000) / 40 };
        let before = filter.work();
        filter.insert_hash(remix(key, 1), millis(now));
        let phase = if key < 50_000 { 0 } else { 1 + usize::from(key >= 400_000) };
        most[phase] = most[phase].max(filter.work() - before);
    }
    assert!(most.iter().all(|&most| most <= 9), "{most:?}");
}

/// Keys that are not hashed at all share segments that cannot be split: they report everything while they
/// must, say so, and recover.
#[test]
fn hashes_that_are_not_random_are_not_forgotten_and_do_no_lasting_harm() {
    for shift in [0, 20, 40] {
        let mut filter = TimedWindow::new(planned(7_000, 0.01));
        for key in 0..40_000_u64 {
            filter.insert_hash(key << shift, millis(key / 10));
            for old in (0..10).map(|i| key * i / 10) {
                assert!(filter.contains_hash(old << shift, millis(key / 10)));
            }
        }
        filter.validate().unwrap();
        assert_eq!(filter.lost() > 0, filter.false_positive_rate() > 0.01, "{shift}");
        assert!(filter.heap_bytes() < 4_000_000);
        let later = 4_000 + 8_000;
        assert!(!filter.contains_hash(1 << shift, millis(later)));
        for key in 0..20_000_u64 {
            filter.insert_hash(remix(key, 1), millis(later));
        }
        filter.expire(millis(later), 10_000);
        assert!(filter.false_positive_rate() <= 0.01);
        filter.validate().unwrap();
    }
}

/// A filter that was saved and opened goes on as the one that was not, byte for byte: in segments of a few
/// entries, in those that are planned, of which many entries are exiles, and where memory decides; also where it
/// was saved when segments had yet to take part in a turn of the clock, or in several.
#[test]
fn what_was_opened_goes_on_as_what_was_saved() {
    let bounded = |span| {
        let span = Span::from_millis(span);
        TimedWindowParameters::with_memory(span, None, 1 << 16, None).unwrap()
    };
    goes_on_as_saved(tiny(300, 7, 3), 12_000);
    goes_on_as_saved(planned(20_000, 0.01), 120_000);
    goes_on_as_saved(bounded(40_000), 160_000);
}

fn goes_on_as_saved(parameters: TimedWindowParameters, keys: u64) {
    let mut filter = TimedWindow::new(parameters);
    let mut copies: Vec<Box<dyn Filter>> = Vec::new();
    let mut back = 0;
    for key in 0..keys {
        // Faster and slower, so that segments split and merge.
        let mut now = key + key / (keys / 24) % 3 * (keys / 300) - back;
        if remix(key, 3).is_multiple_of(keys / 60) {
            let to =
                filter.clock().map_or(0, Time::millis).saturating_sub(remix(key, 4) % (keys / 200));
            filter.turn_back(millis(to));
            copies.iter_mut().for_each(|copy| copy.turn_back(millis(to)));
            let later = now.saturating_sub(to);
            (now, back) = (now - later, back + later);
        }
        let now = millis(now);
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
        filter.insert_hash(hash, now);
        for copy in &mut copies {
            copy.insert_hash(hash, now);
        }
    }
}

/// Every bit of a snapshot with many segments, forged: an error, or a filter that works.
#[test]
fn forged_segments_do_no_harm() {
    let mut filter = TimedWindow::new(tiny(300, 7, 3));
    for key in 0..700_u64 {
        filter.insert_hash(remix(key, 6), millis(key));
    }
    assert!(filter.segments() > 12);
    forged_do_no_harm(&filter);
    // The same while segments have yet to take part in turns of the clock.
    for key in 700..720_u64 {
        filter.turn_back(millis(1_390 - key));
        filter.insert_hash(remix(key, 6), millis(730));
    }
    forged_do_no_harm(&filter);
}

pub fn forged_do_no_harm(filter: &dyn Filter) {
    let bytes = codec::save(filter, HASHING);
    let payload = bytes.len() - codec::CHECKSUM_BYTES;
    let mut opened = 0;
    for bit in 8 * codec::HEADER_BYTES..8 * payload {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let checksum = xxhash_rust::xxh3::xxh3_64(&forged[..payload]).to_le_bytes();
        forged[payload..].copy_from_slice(&checksum);
        let result: Result<_, Error> = codec::open(&forged);
        let Ok((mut forged, _)) = result else { continue };
        opened += 1;
        let now = forged.clock().map_or(0, Time::millis);
        for key in 0..200_u64 {
            forged.contains_hash(remix(key, 6), millis(now + key));
            forged.insert_hash(remix(key, 7), millis(now + key));
        }
        forged.expire(millis(now + 500), 100);
        forged.turn_back(millis(now / 2));
        forged.false_positive_rate();
        codec::open(&codec::save(&*forged, HASHING)).expect("what we save, we open");
    }
    assert!(opened > 100, "only {opened} forgeries opened: nothing was tested");
}

/// Whatever window by time with an error is asked for, this is what the planner takes; and what it says
/// about memory is what a steady stream takes.
#[test]
fn the_planner_takes_it_for_every_window_by_time() {
    let span = Span::from_millis(60_000);
    for error in [0.1, 0.01, 0.001, 0.0001, 1e-6] {
        for expected in [None, Some(10), Some(300), Some(3_000), Some(30_000), Some(300_000)] {
            let rate = ErrorRate::new(error).unwrap();
            let goal = Goal::new(Window::Within(span), rate);
            let goal = Goal { expected_items: expected, ..goal };
            let plan = goal.plans().unwrap().swap_remove(0);
            assert_eq!(plan.row.name, "timed");
            let keys = expected.unwrap_or(1 << 10);
            let mut filter = plan.blueprint.build(Seed(1)).unwrap();
            let mut heap = 0.0;
            for key in 0..3 * keys.max(100) {
                filter.insert_hash(remix(key, 1), millis(1_000_000 + key * 60_000 / keys));
                heap = filter.heap_bytes() as f64;
            }
            let off = heap / plan.bytes as f64 - 1.0;
            assert!(off.abs() < 0.1, "{error} {expected:?}: {heap}, {} planned", plan.bytes);
        }
    }
}
