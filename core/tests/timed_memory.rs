//! Bits per key of the succinct window by time, counted by the allocator, at a million keys: a steady stream,
//! batches, bursts, swings. The limits are those of `docs/time.md`.

use std::collections::VecDeque;

use lately::raw::{Filter, Membership, remix};
use lately::timed::{TimedWindow, TimedWindowParameters};
use lately::{Span, Time};

use crate::heap::counted;

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
