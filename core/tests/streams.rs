//! Long streams through every structure: all that can be seen of it, as it was when somebody last looked.
//!
//! The same calls give the same answers and the same bytes, everywhere and in every release: a replica may run another
//! one than its primary. `golden/streams-*.txt` have a checksum of the snapshot and of all answers at some points of a
//! stream that fills a structure, repeats, takes back, and joins two of them. Where bytes change on purpose,
//! `cargo xtask golden` writes the file again.

use std::fmt::Write as _;
use std::ops::Range;

use crate::samples::{HASHING, compare_with_kept};
use lately::catalog::Row;
use lately::dictionary::tools::CacheLines;
use lately::dictionary::{Repeat, Shape};
use lately::growing::{Growing, GrowingCountsParameters, GrowingParameters};
use lately::plan::Goal;
use lately::raw::{Age, Blueprint, Filter, Structure, codec, remix};
use lately::sliding::{Sliding, SlidingCompact, SlidingCompactParameters, SlidingParameters};
use lately::{ErrorRate, Memory, Seed, Slack, Span, Time, Window};
use lately_papers::CATALOG;
use xxhash_rust::xxh3::Xxh3;

/// Items that windows hold.
const WINDOW: u64 = 2_000;

/// Operations between two looks.
const STEP: u64 = 3_000;

/// Looks at each structure.
const STEPS: u64 = 4;

/// Every kind of wish, once each: every structure reaches one of them.
fn goals() -> Vec<(&'static str, Goal)> {
    let rate = ErrorRate::new(0.01).unwrap();
    let last = Goal::new(Window::Last(WINDOW), rate);
    let within = Goal::new(Window::Within(Span::from_millis(WINDOW)), rate);
    let ever = Goal::new(Window::Ever, rate);
    let rare = ErrorRate::new(1e-5).unwrap().into();
    vec![
        ("last", last),
        ("last, rarely wrong", Goal { limit: rare, ..last }),
        ("last, little slack", Goal { slack: Slack::Items(20), ..last }),
        ("within", within),
        (
            "within, bounded",
            Goal { limit: Memory::from_bytes(4_000).into(), expected_items: Some(1_000), ..within },
        ),
        ("within, shortening", Goal { shortening: Some(Memory::from_bytes(8_192)), ..within }),
        ("ever", ever),
        ("ever, taking back", Goal { removing: true, ..ever }),
        ("ever, stated", Goal { expected_items: Some(6_000), ..ever }),
        ("ever, counting", Goal { counting: true, expected_items: Some(3_000), ..ever }),
        ("last, counting", Goal { counting: true, ..last }),
        ("within, counting", Goal { counting: true, ..within }),
        ("last, in a memory", Goal { limit: Memory::from_bytes(1_500).into(), ..last }),
    ]
}

/// Answers, added to a checksum as they come.
struct Answers(Xxh3);

impl Answers {
    fn add(&mut self, answer: u64) {
        self.0.update(&answer.to_le_bytes());
    }

    fn told(&self, filter: &dyn Filter, now: Time) -> String {
        let snapshot = codec::save(filter, HASHING);
        let mut sum = Xxh3::new();
        sum.update(&snapshot);
        format!(
            "{} bytes {:016x}, answers {:016x}, heap {}, wrong {:.4e}, distinct {:.2}",
            snapshot.len(),
            sum.digest(),
            self.0.digest(),
            filter.heap_bytes(),
            filter.false_positive_rate(),
            filter.distinct(now).unwrap_or(-1.0),
        )
    }
}

/// A piece of a stream.
#[derive(Clone, Copy)]
struct Stream {
    /// Hashes of every other thousand keys are so many times closer together, as a power of two.
    crowded: u32,
}

impl Stream {
    fn hash(self, key: u64) -> u64 {
        remix(key, 2) >> if key / 1_000 % 2 == 1 { self.crowded } else { 0 }
    }

    /// Some keys at once, in each of the ways.
    fn batch(self, filter: &mut dyn Filter, number: u64, now: Time, answers: &mut Answers) {
        let hashes: Vec<u64> = (0..60).map(|key| self.hash(number - key * key)).collect();
        let mut told = [false; 60];
        filter.prefetch_hashes(&hashes);
        filter.contains_hashes(&hashes, now, &mut told);
        told.iter().for_each(|&told| answers.add(told.into()));
        match number / 100 % 3 {
            0 => filter.insert_hashes(&hashes, now, &mut told),
            1 => filter.insert_new_hashes(&hashes, now, &mut told),
            _ => {
                for (hash, told) in hashes.iter().zip(&mut told) {
                    filter.prefetch_hash(*hash);
                    *told = filter.insert_fetched_hash(*hash, now);
                }
            }
        }
        told.iter().for_each(|&told| answers.add(told.into()));
    }

    /// Puts a piece of it into a filter: fresh keys, repeats near and far, and whatever else it can.
    fn drive(self, filter: &mut dyn Filter, numbers: Range<u64>, answers: &mut Answers) -> Time {
        let mut now = Time::ZERO;
        for number in numbers {
            if number % 100 == 99 && number > 3_600 {
                self.batch(filter, number, now, answers);
            }
            now = Time::from_millis(number / 2);
            let draw = remix(number, 1);
            let key = match draw % 8 {
                0 => number.saturating_sub(draw / 8 % 100),
                1 => number.saturating_sub(draw / 8 % (2 * WINDOW)),
                _ => number,
            };
            let hash = self.hash(key);
            answers.add(filter.contains_hash(remix(number, 3), now).into());
            answers.add(match draw / 64 % 4 {
                0 => filter.insert_new_hash(hash, now).into(),
                _ => filter.insert_hash(hash, now).into(),
            });
            if let Some(age) = filter.aging().and_then(|aging| aging.age_hash(hash, now)) {
                let (least, most) = match age {
                    Age::Items(ages) => ages.into_inner(),
                    Age::Time(ages) => (ages.start().millis(), ages.end().millis()),
                };
                answers.add(least ^ most << 32);
            }
            let earlier = self.hash(number.saturating_sub(draw / 512 % 50));
            if let Some(counting) = filter.as_counting() {
                answers.add(counting.add_hash(earlier, 1 << (draw / 1_024 % 12), now));
                answers.add(counting.count_hash(hash, now));
                if number % 5 == 0 {
                    answers.add(counting.take_back_hash(earlier, 3, now).unwrap_or(u64::MAX));
                    answers.add(counting.admit_hash(hash, 1, 40, now).allowed.into());
                }
            }
            if number % 3 == 0
                && let Some(removing) = filter.as_removing()
            {
                answers.add(removing.remove_hash(earlier).into());
            }
            if number % 7 == 0
                && let Some(deadlines) = filter.as_deadlines()
            {
                let deadline = Time::from_millis(now.millis() + draw % WINDOW);
                answers.add(deadlines.insert_until_hash(remix(number, 4), now, deadline).into());
            }
        }
        now
    }
}

/// Every structure for every goal that it reaches, and growing ones in many small segments.
fn subjects() -> Vec<(String, Box<dyn Blueprint>)> {
    let proposed = goals().into_iter().flat_map(|(wish, goal)| {
        let of_row =
            move |row: &Row| Some((format!("{}, {wish}", row.name), (row.propose)(&goal).ok()?));
        CATALOG.iter().filter_map(of_row)
    });
    let small = [false, true].map(|removing| {
        let parameters = GrowingParameters::with_error(0.01, 1_000, removing).unwrap();
        let remainder_bits = parameters.remainder_bits.map(|bits| bits.min(4));
        let small = GrowingParameters { bins: 1, remainder_bits, ..parameters };
        let name = if removing { "growing, small, taking back" } else { "growing, small" };
        (name.to_owned(), Box::new(small) as Box<dyn Blueprint>)
    });
    let lengths = GrowingParameters::with_error(0.01, 1_000, false).unwrap();
    let remainder_bits = lengths.remainder_bits.map(|bits| bits.min(6));
    let lengths = GrowingParameters { bins: 1, remainder_bits, ..lengths };
    let counts: Box<dyn Blueprint> = Box::new(GrowingCountsParameters { lengths });
    let small = small.into_iter().chain([("growing-counts, small".to_owned(), counts)]);
    let odd = ODD.into_iter().map(|(generations, shape)| {
        let parameters = SlidingParameters { window: WINDOW, generations, shape };
        (format!("sliding, {shape:?}"), Box::new(parameters) as Box<dyn Blueprint>)
    });
    proposed.chain(small).chain(odd).collect()
}

/// Dictionaries that no planner asks for, and the generations that their tags count: few sheds for many bins, so that a
/// row cannot tell all homes apart; entries within a byte, or longer than a word that begins with any bit.
const ODD: [(u64, Shape); 4] = [
    (15, Shape { bins: 700, buckets: 57, remainder_bits: 20, tag_bits: 4, sheds: 2 }),
    (3, Shape { bins: 700, buckets: 121, remainder_bits: 3, tag_bits: 2, sheds: 1 }),
    (100, Shape { bins: 60, buckets: 89, remainder_bits: 8, tag_bits: 7, sheds: 4 }),
    (255, Shape { bins: 90, buckets: 65, remainder_bits: 32, tag_bits: 8, sheds: 30 }),
];

/// A stream through one structure, with a look now and then.
fn told(blueprint: &dyn Blueprint, stream: Stream) -> String {
    let mut all = String::new();
    let mut answers = Answers(Xxh3::new());
    let [mut filter, mut other] = [0, 1].map(|_| blueprint.allocate(Seed(7)));
    let mut now = Time::ZERO;
    for step in 0..STEPS {
        now = stream.drive(&mut *filter, step * STEP..(step + 1) * STEP, &mut answers);
        writeln!(all, "  {}", answers.told(&*filter, now)).unwrap();
    }
    // Almost all of it is taken back, as often as it is there: what grew shrinks, and grows again.
    for piece in 0..2 * STEPS {
        let Some(removing) = filter.as_removing() else { break };
        for number in piece * STEP / 2..(piece + 1) * STEP / 2 - 40 {
            let there = (0..16).take_while(|_| removing.remove_hash(stream.hash(number)));
            answers.add(there.count() as u64);
        }
        writeln!(all, "  taken back {}", answers.told(&*filter, now)).unwrap();
    }
    if filter.as_removing().is_some() {
        now = stream.drive(&mut *filter, STEP..2 * STEP, &mut answers).max(now);
        writeln!(all, "  grown again {}", answers.told(&*filter, now)).unwrap();
    }
    stream.drive(&mut *other, STEP..2 * STEP, &mut answers);
    let (theirs, ours) = (other.clone(), filter.clone());
    for (one, from, words) in
        [(&mut filter, &theirs, "with fewer"), (&mut other, &ours, "with more")]
    {
        let mut product = one.clone();
        if one.unite(&**from).is_ok() {
            writeln!(all, "  united {words} {}", answers.told(&**one, now)).unwrap();
        }
        if one.as_counting().is_some_and(|counting| counting.merge(&**from).is_ok()) {
            writeln!(all, "  merged {words} {}", answers.told(&**one, now)).unwrap();
        }
        if product.as_counting().is_some_and(|counting| counting.multiply(&**from).is_ok()) {
            writeln!(all, "  multiplied {words} {}", answers.told(&*product, now)).unwrap();
        }
    }
    if filter.clock().is_some() {
        let late = Time::from_millis(now.millis() + 3 * WINDOW / 4);
        while !filter.expire(late, 3) {}
        writeln!(all, "  expired {}", answers.told(&*filter, late)).unwrap();
        filter.turn_back(now);
        stream.drive(&mut *filter, STEPS * STEP..STEPS * STEP + 500, &mut answers);
        writeln!(all, "  turned back {}", answers.told(&*filter, now)).unwrap();
    }
    // Opened, it goes on as the one that was saved.
    let (mut opened, _) = codec::open_of(CATALOG, &codec::save(&*filter, HASHING)).unwrap();
    stream.drive(&mut *opened, STEPS * STEP..(STEPS + 1) * STEP, &mut answers);
    writeln!(all, "  opened {}", answers.told(&*opened, now)).unwrap();
    all
}

/// Cache lines that the operations of a stream touch.
fn lines(stream: Stream, mut insert: impl FnMut(u64, Repeat, &mut CacheLines) -> bool) -> String {
    let mut lines = CacheLines::default();
    let mut sums = [0; 2];
    for number in 0..STEPS * STEP {
        let repeat = if number % 3 == 0 { Repeat::Keep } else { Repeat::Refresh };
        let key = if number % 4 == 0 { number / 2 } else { number };
        let new = insert(stream.hash(key), repeat, &mut lines);
        sums[usize::from(new)] += lines.count();
    }
    format!("  {} lines for new keys, {} for others\n", sums[1], sums[0])
}

fn all_lines() -> String {
    let mut all = String::new();
    for (words, crowded) in [("", 0), (", crowded", 6)] {
        let stream = Stream { crowded };
        for rate in [0.01, 1e-5] {
            writeln!(all, "\nlines, error {rate}{words}").unwrap();
            let rate = ErrorRate::new(rate).unwrap();
            let goal = Goal::new(Window::Last(WINDOW), rate);
            let mut sliding = Sliding::new(SlidingParameters::propose(&goal).unwrap());
            all +=
                &lines(stream, |hash, repeat, lines| sliding.insert_counted(hash, repeat, lines));
            let mut compact =
                SlidingCompact::new(SlidingCompactParameters::propose(&goal).unwrap());
            all +=
                &lines(stream, |hash, repeat, lines| compact.insert_counted(hash, repeat, lines));
            let mut looked_up = 0;
            for number in 0..STEP {
                let mut lines = CacheLines::default();
                sliding.contains_counted(stream.hash(number * 5), &mut lines);
                looked_up += lines.count();
                compact.contains_counted(stream.hash(number * 5), &mut lines);
                looked_up += lines.count();
            }
            writeln!(all, "  {looked_up} lines for looks").unwrap();
            let parameters = GrowingParameters::with_error(rate.get(), 1_000, false).unwrap();
            let mut growing = Growing::new(parameters);
            all += &lines(stream, |hash, _, lines| growing.insert_counted(hash, lines));
        }
        writeln!(all, "\nlines, odd shapes{words}").unwrap();
        for (generations, shape) in ODD {
            let parameters = SlidingParameters { window: WINDOW, generations, shape };
            let mut odd = Sliding::new(parameters);
            all += &lines(stream, |hash, repeat, lines| odd.insert_counted(hash, repeat, lines));
            let mut one = CacheLines::default();
            let looked_up = (0..STEP).map(|number| {
                odd.contains_counted(stream.hash(number * 5), &mut one);
                one.count()
            });
            writeln!(all, "  {} lines for looks", looked_up.sum::<usize>()).unwrap();
        }
    }
    all
}

/// Compares what streams leave in some structures with their file.
fn compare(
    name: &str,
    of: impl Fn(&str) -> bool,
    close: &[(&str, u32)],
    more: impl FnOnce() -> String,
) {
    let mut found = String::new();
    for (name, blueprint) in subjects().into_iter().filter(|(name, _)| of(name)) {
        for &(words, crowded) in close {
            write!(found, "\n{name}{words}\n{}", told(&*blueprint, Stream { crowded })).unwrap();
        }
    }
    found += &more();
    compare_with_kept(&format!("streams-{name}.txt"), &found);
}

/// How close together every other thousand keys are, in words and in bits.
const CLOSE: [(&str, u32); 3] = [("", 0), (", crowded", 6), (", in a corner", 12)];

/// Structures with a file of their own; what is in none of them is in the last one.
const APART: [&str; 3] = ["sliding", "growing,", "growing-counts"];

#[test]
fn sliding() {
    compare("sliding", |name| name.starts_with(APART[0]), &CLOSE, all_lines);
}

#[test]
fn growing() {
    compare("growing", |name| name.starts_with(APART[1]), &CLOSE, String::new);
}

#[test]
fn growing_counts() {
    compare("growing-counts", |name| name.starts_with(APART[2]), &CLOSE, String::new);
}

#[test]
fn all_others() {
    let is_apart = |name: &str| APART.iter().any(|apart| name.starts_with(apart));
    compare("others", |name| !is_apart(name), &CLOSE[..2], String::new);
}
