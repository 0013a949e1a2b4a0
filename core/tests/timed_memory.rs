//! Bits per key of the succinct window by time, counted by the allocator, at a million keys: a steady stream,
//! batches, bursts, swings. The limits are those of `docs/time.md`. And memory that is bounded, and comes back.

use std::collections::VecDeque;

use lately::raw::{Blueprint, Filter, Membership, remix};
use lately::timed::{TimedWindow, TimedWindowParameters};
use lately::{Span, Time};

use crate::heap::counted;
use crate::timed::{millis, planned};

const SPAN: u64 = 60_000;
const KEYS: f64 = 1e6;
const RATES: [f64; 3] = [0.01, 0.001, 0.0001];

/// What was seen of a filter while it was fed: bits per key of the last t, and of t and the slack.
#[derive(Default)]
struct Bits {
    sum: f64,
    count: f64,
    worst: f64,
    worst_with_slack: f64,
    last: f64,
}

/// A filter under a rhythm, with the numbers of keys that are in its window.
struct Feed {
    filter: TimedWindow,
    /// What it holds of the heap.
    bytes: i64,
    promised: f64,
    next_key: u64,
    /// Moments and keys that are in the window, and in window and slack.
    windows: [VecDeque<(u64, u64)>; 2],
    live: [u64; 2],
    bits: Bits,
}

impl Feed {
    fn new(rate: f64) -> Self {
        let span = Span::from_millis(SPAN);
        let parameters = TimedWindowParameters::with_error(span, None, rate, None).unwrap();
        let (filter, taken) = counted(|| TimedWindow::new(parameters));
        let (promised, bytes) = (parameters.false_positive_rate(), taken.bytes_current);
        let (windows, bits) = Default::default();
        Self { filter, bytes, promised, next_key: 0, windows, live: [0; 2], bits }
    }

    /// Inserts so many keys at a moment.
    fn insert(&mut self, keys: u64, now: u64) {
        for i in 0..keys {
            self.next_key += 1;
            let (hash, now) = (remix(self.next_key, 1), Time::from_millis(now));
            self.work(|filter| _ = filter.insert_hash(hash, now));
            for live in &mut self.live {
                *live += 1;
            }
            if keys > 20_000 && i % 512 == 0 {
                self.look();
            }
        }
        if keys > 0 {
            self.windows.iter_mut().for_each(|window| window.push_back((now, keys)));
        }
        self.wait_until(now);
    }

    /// Lets time pass until a moment, and looks.
    fn wait_until(&mut self, now: u64) {
        for (at, longest) in [SPAN, SPAN + SPAN / 7].into_iter().enumerate() {
            while self.windows[at].front().is_some_and(|front| now - front.0 > longest) {
                self.live[at] -= self.windows[at].pop_front().unwrap().1;
            }
        }
        self.look();
    }

    /// Lets go what is older at a moment, as a filter does that is looked after while idle.
    fn expire(&mut self, now: u64) {
        self.work(|filter| _ = filter.expire(Time::from_millis(now), 16));
    }

    fn work(&mut self, work: impl FnOnce(&mut TimedWindow)) {
        self.bytes += counted(|| work(&mut self.filter)).1.bytes_current;
    }

    fn look(&mut self) {
        let heap = self.bytes as f64 * 8.0;
        let per = |live: u64| if live < 20_000 { 0.0 } else { heap / live as f64 };
        let (bits, with_slack) = (per(self.live[0]), per(self.live[1]));
        if bits > 0.0 {
            self.bits.sum += bits;
            self.bits.count += 1.0;
            self.bits.last = bits;
        }
        self.bits.worst = self.bits.worst.max(bits);
        self.bits.worst_with_slack = self.bits.worst_with_slack.max(with_slack);
        let sum = self.filter.false_positive_rate();
        assert!(sum <= self.promised, "{sum} of {}", self.promised);
    }

    fn mean(&self) -> f64 {
        self.bits.sum / self.bits.count
    }
}

/// Runs a rhythm at every error, and says whether what it measures is at most what is allowed.
fn within(name: &str, most: [f64; 3], run: impl Fn(f64) -> f64) {
    let found = RATES.map(run);
    println!("{name}: {found:.2?} of {most:.2?} bits per key");
    assert!(found.iter().zip(most).all(|(&found, most)| found <= most), "{name}: {found:?}");
}

/// So many keys every so often, for some spans.
fn batches(feed: &mut Feed, every: u64, spans: u64) {
    let keys = KEYS * every as f64 / SPAN as f64;
    let mut owed = 0.0;
    let mut now = 1_000_000;
    while now < 1_000_000 + spans * SPAN {
        owed += keys;
        feed.insert(owed as u64, now);
        owed -= owed.floor();
        pass(feed, now, every);
        now += every;
    }
}

/// Lets time go on after a batch, as evenly as it is looked at.
fn pass(feed: &mut Feed, now: u64, every: u64) {
    for part in 1..20 {
        let later = now + every * part / 20;
        feed.expire(later);
        feed.wait_until(later);
    }
}

#[test]
fn a_steady_stream() {
    within("steady", [17.5, 21.5, 26.0], |rate| {
        let mut feed = Feed::new(rate);
        batches(&mut feed, 10, 3);
        feed.bits = Bits::default();
        batches_after(&mut feed, 10, SPAN);
        feed.mean()
    });
}

/// One more span of a rhythm.
fn batches_after(feed: &mut Feed, every: u64, millis: u64) {
    let start = feed.filter.clock().unwrap().millis() + every;
    let keys = (KEYS * every as f64 / SPAN as f64) as u64;
    for now in (start..start + millis).step_by(every as usize) {
        feed.insert(keys, now);
        pass(feed, now, every);
    }
}

#[test]
fn batches_of_quick_rhythms() {
    batches_at([100, 700, 2_000], [19.0, 23.0, 27.5]);
}

#[test]
fn batches_of_slow_rhythms() {
    batches_at([5_000, 7_000, 10_000], [19.0, 23.0, 27.5]);
}

#[test]
fn batches_of_the_slowest_rhythms() {
    batches_at([15_000, 20_000, 30_000], [21.0, 25.0, 29.0]);
}

fn batches_at(rhythms: [u64; 3], most: [f64; 3]) {
    for every in rhythms {
        within(&format!("every {every} ms"), most, |rate| {
            let mut feed = Feed::new(rate);
            batches(&mut feed, every, 2);
            feed.bits = Bits::default();
            batches_after(&mut feed, every, 2 * SPAN);
            feed.mean()
        });
    }
}

#[test]
fn a_million_at_once() {
    let most = [20.5, 24.5, 28.5];
    within("at once", most, |rate| {
        let mut feed = Feed::new(rate);
        feed.insert(KEYS as u64, 10);
        feed.bits.worst
    });
    within("at once upon a thousand", most, |rate| {
        let mut feed = Feed::new(rate);
        (0..2_000).for_each(|i| feed.insert(1, 1_000_000 + i * SPAN / 1_000));
        feed.bits = Bits::default();
        feed.insert(KEYS as u64, 1_000_000 + 2 * SPAN);
        feed.bits.worst
    });
}

#[test]
fn swings_by_a_thousand() {
    for (name, period) in [("half a span", SPAN / 2), ("four spans", 4 * SPAN)] {
        within(&format!("swings of {name}"), [23.5, 28.0, 32.5], |rate| {
            let mut feed = Feed::new(rate);
            let mut owed = 0.0;
            for step in 0..5 * SPAN / 10 {
                let phase = (step * 10) as f64 / period as f64 * std::f64::consts::TAU;
                owed += KEYS / SPAN as f64 * 10.0 * 10_f64.powf(-1.5 - 1.5 * phase.cos());
                feed.insert(owed as u64, 1_000_000 + step * 10);
                owed -= owed.floor();
                feed.expire(1_000_000 + step * 10);
            }
            feed.bits.worst_with_slack
        });
    }
}

/// As many keys as fit, a hundred times as many, and as many as fit again: memory stays within its bound but
/// for a segment, nothing in the window is forgotten, and the error that is told is the true one.
#[test]
fn bounded_memory_is_kept_at_a_hundred_times_the_rate_that_fits() {
    const BYTES: u64 = 1 << 17;
    const SEGMENT: u64 = 4_096;
    let span = Span::from_millis(7_000);
    let parameters = TimedWindowParameters::with_memory(span, None, BYTES, None).unwrap();
    let promised = parameters.promise().false_positives;
    let fits = parameters.promised_items().unwrap();
    assert!((30_000..60_000).contains(&fits), "{fits}");
    let mut filter = TimedWindow::new(parameters);
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let (mut key, mut now) = (0, 1_000_000);
    let mut absent = 1 << 60;
    for (times, windows) in [(1, 3), (100, 1), (1, 4)] {
        let mut worst = 0.0_f64;
        for step in 0..70 * windows {
            now += 100;
            steps.push((key, now));
            for _ in 0..fits * times / 70 {
                key += 1;
                filter.insert_hash(remix(key, 1), millis(now));
                if key % 16 == 0 {
                    let bytes = filter.heap_bytes();
                    assert!(bytes <= BYTES + SEGMENT, "{bytes} after {key}");
                }
            }
            // Keys of the last seven seconds, from all of them.
            let first = steps.iter().find(|(_, at)| now - at <= 7_000).unwrap().0;
            for i in 0..300 {
                let one = first + 1 + remix(i, now) % (key - first);
                assert!(filter.contains_hash(remix(one, 1), millis(now)), "forgot {one} of {key}");
            }
            let told = filter.false_positive_rate();
            worst = worst.max(told);
            if step % 7 == 0 {
                let hits = (0..3_000).filter(|_| {
                    absent += 1;
                    filter.contains_hash(remix(absent, 1), millis(now))
                });
                let hits = hits.count() as u64;
                testkit::stats::assert_rate_at_most(hits, 3_000, told.min(1.0 - 1e-9), 1e-9);
                testkit::stats::assert_rate_at_least(hits, 3_000, told / 2.0, 1e-9);
            }
        }
        filter.validate().unwrap();
        let now = filter.false_positive_rate();
        if steps.len() == 3 * 70 {
            assert!(worst <= promised, "{worst} of {promised} before there were too many");
        }
        match times {
            1 => assert!(now <= promised, "{now} of {promised} with {key} keys"),
            _ => assert!(worst > 100.0 * promised, "{worst}: nothing was exceeded"),
        }
    }
    assert!(filter.lost() == 0);
}

/// A burst leaves: its memory comes back by insertions alone, and without any by `expire`.
#[test]
fn memory_comes_back() {
    for idle in [false, true] {
        let mut filter = TimedWindow::new(planned(7_000, 0.001));
        let mut alone = TimedWindow::new(planned(7_000, 0.001));
        (0..300_000_u64).for_each(|key| _ = filter.insert_hash(remix(key, 1), millis(0)));
        let peak = filter.heap_bytes();
        let few = |filter: &mut TimedWindow, now: u64| {
            (0..2_000_u64).for_each(|key| _ = filter.insert_hash(remix(key, 2), millis(now)));
        };
        few(&mut alone, 7_000);
        few(&mut filter, 7_000);
        // Right after the last of the burst is too old, a seventh of the span is left.
        if idle {
            assert!(!filter.expire(millis(8_100), 10));
            assert!(filter.expire(millis(8_100), 4_000));
        } else {
            let segments = filter.segments() as u64;
            for i in 0..4 * segments {
                filter.insert_hash(remix(i % 2_000, 2), millis(8_001 + i * 998 / (4 * segments)));
            }
        }
        let (left, needed) = (filter.heap_bytes(), alone.heap_bytes());
        assert!(10 * left <= 13 * needed, "{idle}: {left} of {peak}, {needed} needed");
        assert!(filter.contains_hash(remix(5, 2), millis(8_100)));
        filter.validate().unwrap();
        // And of nothing, hardly anything is left.
        filter.expire(millis(100_000), 10_000);
        assert!(filter.heap_bytes() < 3_000, "{}", filter.heap_bytes());
    }
}
