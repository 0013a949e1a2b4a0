//! How often: what every counter owes.

use std::collections::VecDeque;

use lately::raw::{Counting, Filter};
use lately::{Error, Slack, Time, Wait, Window};
use testkit::oracle::Counts;
use testkit::random::SplitMix64;
use testkit::stats::assert_rate_at_most;
use testkit::streams;

use super::membership::hash;
use super::subjects::Subject;

/// On skewed and even streams, adding one or several at a time: no count is below the truth where
/// that is promised, the count that an addition returns is the one a look finds, thresholds agree
/// with counts, and the share of keys whose count is wrong is no more than promised.
pub fn counts_are_right(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut history = History::new(subject);
        for (step, key) in keys.take(50_000).enumerate() {
            let times = 1 + step as u64 % 3;
            history.add(key, times);
            let counter = filter.as_counting().expect("this contract is for counters");
            let count = counter.add_hash(hash(seed, key), times, Time::ZERO);
            assert_eq!(count, counter.count_hash(hash(seed, key), Time::ZERO));
            assert!(counter.reaches_hash(hash(seed, key), count, Time::ZERO));
            assert!(!counter.reaches_hash(hash(seed, key), count + 1, Time::ZERO));
            at_least(subject, &*filter, count, history.count(key));
        }
        history.counts_as_told(subject, &*filter, seed);
    }
}

/// At any moment it tells how many different keys it counts: never more than there are, and less only
/// where two are taken for one.
pub fn tells_how_many_differ(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut history = History::new(subject);
        for (step, key) in keys.take(20_000).enumerate() {
            let times = 1 + step as u64 % 2;
            history.add(key, times);
            let counter = filter.as_counting().expect("this contract is for counters");
            counter.add_hash(hash(seed, key), times, Time::ZERO);
            if step % 1_000 != 999 && step > 300 {
                continue;
            }
            let truth = history.counts.distinct();
            let told = filter.distinct(Time::ZERO).expect("this contract is for those that know");
            assert!(told <= truth as f64, "{}: {told} for {truth}", subject.label);
            let missed = truth - told as u64;
            assert_rate_at_most(missed, truth, subject.promise.false_positives, 1e-9 / 1e3);
        }
    }
}

/// Under minimal increase an addition raises the counters that hold a key's count and no others: the
/// key counts exactly so many more, and no other key comes to count more than both counted. There are
/// four times the keys that the filter is made for, so that most counters are shared.
pub fn raises_no_more_than_it_must(subject: &Subject) {
    let seed = 3;
    let mut filter = (subject.build)(seed);
    let watched: Vec<u64> = streams::distinct(9).take(300).map(|key| hash(seed, key)).collect();
    for (step, key) in streams::zipf(20_000, 0.8, 9).take(60_000).enumerate() {
        let key = hash(seed, key);
        let counter = filter.as_counting().expect("this contract is for counters");
        let count = |counter: &dyn Counting, key| counter.count_hash(key, Time::ZERO);
        let times = 1 + step as u64 % 2;
        if step % 20 != 0 {
            counter.add_hash(key, times, Time::ZERO);
            continue;
        }
        let before: Vec<u64> = watched.iter().map(|&other| count(counter, other)).collect();
        let own = count(counter, key) + times;
        assert_eq!(counter.add_hash(key, times, Time::ZERO), own, "{}", subject.label);
        for (&other, before) in watched.iter().zip(before) {
            let after = count(counter, other);
            assert!(after <= before.max(own), "{}: {before} became {after}", subject.label);
        }
    }
}

/// Sightings that are taken back are gone, others stay; more than there are cannot be taken back;
/// and when all are taken back, nothing is left.
pub fn takes_back(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let mut filter = (subject.build)(seed);
        let mut oracle = Counts::new();
        let mut random = SplitMix64::new(seed);
        let keys: Vec<u64> = keys.take(20_000).collect();
        for (step, &key) in keys.iter().enumerate() {
            let counter = filter.as_counting().expect("this contract is for counters");
            oracle.add(key, 2);
            counter.add_hash(hash(seed, key), 2, Time::ZERO);
            // Keys of all ages lose some or all of their sightings.
            let other = keys[random.below(step as u64 + 1) as usize];
            let held = oracle.count(other);
            let times = if step % 2 == 0 { held } else { held.min(1) };
            assert!(oracle.remove(other, times));
            let left = counter.take_back_hash(hash(seed, other), times, Time::ZERO).unwrap();
            assert_eq!(left, counter.count_hash(hash(seed, other), Time::ZERO));
            at_least(subject, &*filter, left, held - times);
        }
        counts_as(subject, &*filter, &oracle, seed);

        let before = all_counts(&*filter, seed);
        let counter = filter.as_counting().expect("this contract is for counters");
        for key in streams::absent(seed).take(200) {
            let hash = hash(seed, key);
            let found = counter.count_hash(hash, Time::ZERO);
            // Under a rule with two filters the first may count more; far more none does.
            let refused = counter.take_back_hash(hash, found + 1_000_000, Time::ZERO);
            assert!(matches!(refused, Err(Error::TooFew { .. })), "{}", subject.label);
        }
        assert!(all_counts(&*filter, seed) == before, "{}: refused, but not", subject.label);

        let removing = filter.as_removing().expect("this contract is for those that remove");
        for (key, count) in oracle.iter() {
            for _ in 0..count {
                assert!(removing.remove_hash(hash(seed, key)), "{}", subject.label);
            }
        }
        let left = all_counts(&*filter, seed).into_iter().filter(|&count| count > 0);
        assert_eq!(left.count(), 0, "{}: something is left of nothing", subject.label);
    }
}

/// A counter that cannot take back says so, and changes nothing.
pub fn refuses_to_take_back(subject: &Subject) {
    let mut filter = (subject.build)(1);
    add_all(&mut *filter, 1);
    assert!(filter.as_removing().is_none());
    let before = all_counts(&*filter, 1);
    let counter = filter.as_counting().expect("this contract is for counters");
    for key in streams::uniform(5_000, 6).take(100) {
        let refused = counter.take_back_hash(hash(1, key), 1, Time::ZERO);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{}", subject.label);
    }
    assert!(all_counts(&*filter, 1) == before, "{}: refused, but not", subject.label);
}

/// Two filters that saw two parts of a stream and are merged count like one that saw it all; where
/// sightings can be taken back from counters of fixed number, exactly like it.
pub fn merges(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let Halves { mut ours, theirs, whole, first, second } = halves(subject, seed, keys);
        ours.as_counting().unwrap().merge(&*theirs).unwrap();
        // Where counters are added up, and none is made for what comes.
        if ours.as_removing().is_some() && ours.blueprint().promised_items().is_some() {
            assert!(all_counts(&*ours, seed) == all_counts(&*whole, seed), "{}", subject.label);
        }
        let mut both = first;
        second.iter().for_each(|(key, count)| both.add(key, count));
        counts_as(subject, &*ours, &both, seed);
    }
}

/// Multiplied, two filters count pairs.
pub fn multiplies(subject: &Subject) {
    for (seed, keys) in (1..).zip(some_keys()) {
        let Halves { ours: mut product, theirs, whole: _, first, second } =
            halves(subject, seed, keys);
        product.as_counting().unwrap().multiply(&*theirs).unwrap();
        let counter = product.counting().unwrap();
        let mut wrong = 0;
        let mut keys: Vec<u64> = first.iter().chain(second.iter()).map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        for &key in &keys {
            let pairs = first.count(key) * second.count(key);
            let count = counter.count_hash(hash(seed, key), Time::ZERO);
            at_least(subject, &*product, count, pairs);
            wrong += u64::from(count != pairs);
        }
        let rate = subject.promise.false_positives;
        assert_rate_at_most(wrong, keys.len() as u64, rate, 1e-9);
        assert!(product.as_removing().is_none(), "a product cannot be taken back from");
    }
}

/// A stream in two filters, in one, and as it is.
struct Halves {
    ours: Box<dyn Filter>,
    theirs: Box<dyn Filter>,
    whole: Box<dyn Filter>,
    first: Counts,
    second: Counts,
}

fn halves(subject: &Subject, seed: u64, keys: streams::Keys) -> Halves {
    let keys: Vec<u64> = keys.take(20_000).collect();
    let [mut ours, mut theirs, mut whole] = [0; 3].map(|_| (subject.build)(seed));
    let (mut first, mut second) = (Counts::new(), Counts::new());
    for (step, &key) in keys.iter().enumerate() {
        let is_first = step < keys.len() / 3;
        let (half, counts) =
            if is_first { (&mut ours, &mut first) } else { (&mut theirs, &mut second) };
        counts.add(key, 1);
        for filter in [half, &mut whole] {
            filter.as_counting().unwrap().add_hash(hash(seed, key), 1, Time::ZERO);
        }
    }
    Halves { ours, theirs, whole, first, second }
}

/// While time goes on, in small steps, in jumps and not at all: no count is below that of the window, and
/// none but a few above that of window and slack.
pub fn counts_slide(subject: &Subject) {
    for seed in 1..=3 {
        let mut filter = (subject.build)(seed);
        let mut diary = Diary::new(subject);
        let (mut high, mut looks) = (0, 0);
        let mut random = SplitMix64::new(seed);
        for step in 0..6_000_u64 {
            diary.wait(&mut random, step);
            let key = random.below([30, 1_000][(step / 700 % 2) as usize]);
            let times = if random.below(20) == 0 { random.below(40) } else { 1 };
            diary.add(key, times);
            let counter = filter.as_counting().expect("this contract is for counters");
            let told = counter.add_hash(hash(seed, key), times, diary.now());
            for key in [key, random.below(1_000)] {
                let count = counter.count_hash(hash(seed, key), diary.now());
                let (least, most) = diary.count(key);
                let owed = if counter.never_undercounts() { least } else { 0 };
                assert!(count >= owed, "{}: {count} is less than {least}", subject.label);
                (high, looks) = (high + u64::from(count > most), looks + 1);
            }
            assert_eq!(told, counter.count_hash(hash(seed, key), diary.now()), "{}", subject.label);
        }
        // Looks at one key depend on each other, and keys are a thousand.
        assert_rate_at_most(high / 12, looks / 12, subject.promise.false_positives, 1e-9);
    }
}

/// Whatever comes, no more than the limit pass in a window; what is denied is not counted; who is denied
/// without reason is seldom so; and after the wait that is told, the key passes.
pub fn admits_up_to_the_limit(subject: &Subject) {
    const LIMIT: u64 = 5;
    for seed in 1..=3 {
        let mut filter = (subject.build)(seed);
        let mut diary = Diary::new(subject);
        let (mut wrongly, mut asked) = (0, 0);
        let mut random = SplitMix64::new(seed);
        for step in 0..8_000_u64 {
            diary.wait(&mut random, step);
            let key = random.below(300);
            let times = 1 + random.below(2);
            let counter = filter.as_counting().expect("this contract is for counters");
            let (least, most) = diary.count(key);
            let before = counter.count_hash(hash(seed, key), diary.now());
            let told = counter.admit_hash(hash(seed, key), times, LIMIT, diary.now());
            asked += 1;
            if told.allowed {
                assert!(least + times <= LIMIT, "{}: {least} and {times}", subject.label);
                diary.add(key, times);
            } else {
                assert_eq!(told.count, before, "{}: denied, but counted", subject.label);
                // Neither it nor what is in the slack is too much: it was taken for another.
                wrongly += u64::from(most + times <= LIMIT);
                // In the slack alone: that is told.
                if least + times <= LIMIT && most + times > LIMIT && told.surely + times > LIMIT {
                    wrongly += 1;
                }
                if let Some(Wait::Time(wait)) = told.wait {
                    let later = diary.now().after(wait);
                    let left = counter.count_hash(hash(seed, key), later);
                    assert!(left + times <= LIMIT, "{}: {left} after {wait}", subject.label);
                }
            }
            assert_eq!(told.left, LIMIT.saturating_sub(told.count), "{}", subject.label);
            assert_eq!(told.count, counter.count_hash(hash(seed, key), diary.now()));
        }
        assert_rate_at_most(wrongly / 20, asked / 20, subject.promise.false_positives, 1e-9);
    }
}

/// Every sighting of a window, written down.
struct Diary {
    window: Window,
    slack: Option<u64>,
    millis: u64,
    /// Sightings so far.
    counted: u64,
    /// Moments by the clock of the window, and how often.
    sightings: std::collections::HashMap<u64, Vec<(u64, u64)>>,
}

impl Diary {
    fn new(subject: &Subject) -> Self {
        let slack = match subject.promise.slack {
            Slack::Items(items) => Some(items),
            Slack::Time(span) => Some(span.millis()),
            Slack::Unlimited => None,
        };
        let sightings = std::collections::HashMap::new();
        Self { window: subject.promise.window, slack, millis: 5, counted: 0, sightings }
    }

    fn now(&self) -> Time {
        Time::from_millis(self.millis)
    }

    /// Lets time pass by one of several rhythms.
    fn wait(&mut self, random: &mut SplitMix64, step: u64) {
        let Window::Within(span) = self.window else { return };
        let pause = match step / 500 % 4 {
            0 => 0,
            1 => u64::from(step.is_multiple_of(1 + 50 / span.millis().min(50))),
            2 => random.below(span.millis().div_ceil(20) + 1),
            _ => u64::from(random.below(40) == 0) * random.below(3 * span.millis()),
        };
        self.millis += pause;
    }

    fn add(&mut self, key: u64, times: u64) {
        let of_key = self.sightings.entry(key).or_default();
        match self.window {
            Window::Last(_) => of_key.extend((0..times).map(|i| (self.counted + i, 1))),
            _ => of_key.push((self.millis, times)),
        }
        self.counted += times;
    }

    /// How often a key came in the window, and in window and slack.
    fn count(&self, key: u64) -> (u64, u64) {
        let (now, span) = match self.window {
            Window::Last(items) => (self.counted, items),
            Window::Within(span) => (self.millis, span.millis()),
            Window::Ever => unreachable!("this contract is for windows"),
        };
        let within = |span: u64| {
            let all = self.sightings.get(&key).into_iter().flatten();
            all.filter(|(at, _)| now - at <= span).map(|(_, times)| times).sum()
        };
        (within(span), within(self.slack.map_or(u64::MAX, |slack| span.saturating_add(slack))))
    }
}

/// Filters that were not built alike, or cannot be combined, say so and stay as they are.
pub fn refuses_to_combine(subject: &Subject) {
    let mut ours = (subject.build)(1);
    let mut theirs = (subject.stranger)(1);
    add_all(&mut *ours, 1);
    add_all(&mut *theirs, 1);
    let before = all_counts(&*ours, 1);
    let counter = ours.as_counting().expect("this contract is for counters");
    for refused in [counter.merge(&*theirs), counter.multiply(&*theirs)] {
        let error = refused.unwrap_err();
        let expected = matches!(error, Error::Different { .. } | Error::Unsupported { .. });
        assert!(expected, "{}: {error}", subject.label);
    }
    assert!(all_counts(&*ours, 1) == before, "{}: refused, but not", subject.label);
}

/// What a counter should hold: all sightings, or those in its window.
struct History {
    counts: Counts,
    window: Option<u64>,
    /// The keys in the window, oldest first.
    recent: VecDeque<u64>,
    /// Those that left it, the latest last.
    left: Vec<u64>,
}

impl History {
    fn new(subject: &Subject) -> Self {
        let window = match subject.promise.window {
            Window::Last(window) => Some(window),
            // Time stands still in these contracts.
            Window::Within(_) | Window::Ever => None,
        };
        Self { counts: Counts::new(), window, recent: VecDeque::new(), left: Vec::new() }
    }

    fn add(&mut self, key: u64, times: u64) {
        self.counts.add(key, times);
        let Some(window) = self.window else { return };
        for _ in 0..times {
            self.recent.push_back(key);
            if self.recent.len() as u64 > window {
                let oldest = self.recent.pop_front().unwrap();
                assert!(self.counts.remove(oldest, 1));
                self.left.push(oldest);
            }
        }
    }

    fn count(&self, key: u64) -> u64 {
        self.counts.count(key)
    }

    /// What is counted is in the window, or in its slack.
    fn counts_as_told(&self, subject: &Subject, filter: &dyn Filter, seed: u64) {
        let slack = match (self.window, subject.promise.slack) {
            (Some(_), Slack::Items(slack)) => slack as usize,
            _ => 0,
        };
        let mut most = self.counts.clone();
        self.left.iter().rev().take(slack).for_each(|&key| most.add(key, 1));
        counts_between(subject, filter, &self.counts, &most, seed);
    }
}

/// Streams of at most 5,000 different keys.
fn some_keys() -> [streams::Keys; 2] {
    [Box::new(streams::zipf(5_000, 1.0, 6)), Box::new(streams::uniform(5_000, 6))]
}

/// Adds a few keys.
fn add_all(filter: &mut dyn Filter, seed: u64) {
    let counter = filter.as_counting().expect("this contract is for counters");
    for key in streams::uniform(5_000, 6).take(1_000) {
        counter.add_hash(hash(seed, key), 1, Time::ZERO);
    }
}

/// The counts of the keys of [`some_keys`] and of as many others.
fn all_counts(filter: &dyn Filter, seed: u64) -> Vec<u64> {
    let counter = filter.counting().expect("this contract is for counters");
    let keys = some_keys().into_iter().flat_map(|keys| keys.take(3_000));
    let keys = keys.chain(streams::absent(seed).take(3_000));
    keys.map(|key| counter.count_hash(hash(seed, key), Time::ZERO)).collect()
}

/// A count that is too small is an error where the counter promises that there are none.
fn at_least(subject: &Subject, filter: &dyn Filter, count: u64, truth: u64) {
    let counter = filter.counting().expect("this contract is for counters");
    let owed = if counter.never_undercounts() { truth.min(counter.largest_count()) } else { 0 };
    assert!(count >= owed, "{}: {count} is less than {truth}", subject.label);
}

/// No count is too small, none of a key that is in is nothing, and few are wrong.
fn counts_as(subject: &Subject, filter: &dyn Filter, oracle: &Counts, seed: u64) {
    counts_between(subject, filter, oracle, oracle, seed);
}

/// The same where some may be counted that are no longer in the window.
fn counts_between(
    subject: &Subject,
    filter: &dyn Filter,
    least: &Counts,
    most: &Counts,
    seed: u64,
) {
    let counter = filter.counting().expect("this contract is for counters");
    let mut wrong = 0;
    for (key, truth) in least.iter() {
        let hash = hash(seed, key);
        let count = counter.count_hash(hash, Time::ZERO);
        at_least(subject, filter, count, truth);
        assert!(filter.contains_hash(hash, Time::ZERO), "{}: lost a key", subject.label);
        let [truth, most] = [truth, most.count(key)].map(|owed| owed.min(counter.largest_count()));
        wrong += u64::from(!(truth..=most).contains(&count));
    }
    assert_rate_at_most(wrong, least.distinct(), subject.promise.false_positives, 1e-9);
}
