//! Real threads at one filter. `cargo xtask memory` runs these under the thread sanitizer.

use std::collections::HashMap;
use std::sync::Barrier;
use std::time::{Duration, SystemTime};

use lately::{Lately, Shared, Time};

const THREADS: u64 = 4;

/// Runs threads that all begin at once, each with its number, and returns what they did.
fn together<R: Send>(work: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        let run = |thread| {
            barrier.wait();
            work(thread)
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The keys of a thread: all threads have the same ones, each begins elsewhere, so that every key is
/// inserted by all of them, and by some at the same time.
fn keys(thread: u64, count: u64) -> impl Iterator<Item = u64> {
    let start = thread * count / THREADS / 64;
    (0..count).map(move |i| (start + i) % count)
}

/// How often each key was said to be new.
fn news(answers: Vec<Vec<(u64, bool)>>) -> HashMap<u64, u32> {
    let mut news = HashMap::new();
    for (key, new) in answers.into_iter().flatten() {
        *news.entry(key).or_default() += u32::from(new);
    }
    news
}

/// Each is new once, or never if it was taken for another, which is as rare as promised.
fn assert_new_once(news: &HashMap<u64, u32>, count: u64, error: f64) {
    assert_eq!(news.len() as u64, count);
    assert!(news.values().all(|&times| times <= 1), "a key was new to several threads");
    let never = news.values().filter(|&&times| times == 0).count() as u64;
    assert!(testkit::stats::rate_is_at_most(never, count, error, 1e-9), "{never} of {count}");
}

const COUNT: u64 = 20_000;
const ERROR: f64 = 0.001;

fn windows() -> [Shared; 2] {
    // Every key is inserted by all threads, and each insertion is a position in the stream.
    [Lately::last(THREADS * COUNT), Lately::ever()]
        .map(|builder| builder.error(ERROR).build_shared().unwrap())
}

/// All threads insert all keys, in a way that is to be tried.
fn new_to_exactly_one(insert: impl Fn(u64) -> bool + Sync) {
    let answers = together(|thread| keys(thread, COUNT).map(|key| (key, insert(key))).collect());
    assert_new_once(&news(answers), COUNT, ERROR);
}

#[test]
fn each_key_is_new_to_exactly_one_thread() {
    for seen in windows() {
        new_to_exactly_one(|key| seen.insert(key));
        assert!((0..COUNT).all(|key| seen.contains(key)));
    }
}

/// A planted fault, as of a lock that is released between looking and inserting: others come in between.
#[test]
#[should_panic(expected = "a key was new to several threads")]
fn looking_before_inserting_is_caught() {
    let [seen, _] = windows();
    let (barrier, meeting) = (Barrier::new(THREADS as usize), COUNT / 2);
    new_to_exactly_one(|key| {
        let new = !seen.contains(key);
        // All meet once, so that it does not depend on luck.
        if key == meeting {
            barrier.wait();
        } else {
            std::thread::yield_now();
        }
        seen.insert(key);
        new
    });
}

#[test]
fn each_key_is_new_to_exactly_one_thread_in_batches() {
    for seen in windows() {
        let answers = together(|thread| {
            let keys: Vec<u64> = keys(thread, COUNT).collect();
            let mut new = vec![false; keys.len()];
            // Lengths that end anywhere in a batch, and batches with repeats.
            for (keys, new) in keys.chunks(777).zip(new.chunks_mut(777)) {
                seen.insert_all(keys, new);
            }
            keys.into_iter().zip(new).collect()
        });
        assert_new_once(&news(answers), COUNT, ERROR);
        let all: Vec<u64> = (0..COUNT).collect();
        let mut found = vec![false; all.len()];
        seen.contains_all(&all, &mut found);
        assert!(found.into_iter().all(|found| found));
    }
}

#[test]
fn each_key_is_new_once_per_window_of_time() {
    let seen = Lately::within(Duration::from_secs(60)).error(ERROR).build_shared().unwrap();
    let start = SystemTime::now() - Duration::from_secs(3000);
    for window in 0..3 {
        // Slack and all, what came in the window before is gone.
        let now = start + Duration::from_secs(600 * window);
        let answers = together(|thread| {
            let insert = |key| (key, seen.insert_at(key, now).unwrap());
            keys(thread, COUNT).map(insert).collect()
        });
        assert_new_once(&news(answers), COUNT, ERROR);
    }
}

#[test]
fn batches_answer_like_single_keys() {
    let [single, batched] = [(); 2].map(|()| Lately::last(50_000).build_shared().unwrap());
    let keys: Vec<u64> = testkit::streams::uniform(3_000, 7).take(10_000).collect();
    let mut new = vec![false; keys.len()];
    batched.insert_all(&keys, &mut new);
    for (key, new) in keys.iter().zip(new) {
        assert_eq!(single.insert(*key), new, "{key}");
    }
}

#[test]
fn a_snapshot_taken_while_others_insert_is_whole() {
    let seen = Lately::last(THREADS * COUNT).build_shared().unwrap();
    (0..COUNT).for_each(|key| _ = seen.insert(key));
    let snapshots = together(|thread| match thread {
        0 => Some(seen.save()),
        _ => {
            (0..COUNT / 2).for_each(|key| _ = seen.insert((thread << 40) + key));
            None
        }
    });
    let again = Shared::open(snapshots[0].as_ref().unwrap()).unwrap();
    assert!((0..COUNT).all(|key| again.contains(key)));
}

/// However many threads ask at once, no more pass than may, and each sighting is counted once.
#[test]
fn threads_keep_a_limit_together() {
    let minute = Duration::from_secs(60);
    let requests = Lately::within(minute).counting().build_shared().unwrap();
    let words = Lately::ever().counting().build_shared().unwrap();
    let passed = together(|_| {
        let now = Time::from_millis(1_000);
        let asked = (0..40_000).filter(|turn| {
            words.add(turn % 1_000);
            requests.admit_at(turn % 1_000, 7, now).unwrap().allowed
        });
        asked.count()
    });
    let passed: usize = passed.into_iter().sum();
    // One in a thousand may be taken for another: it passes less often, never more.
    assert!((6_900..=7_000).contains(&passed), "{passed}");
    assert!((0..1_000_u64).all(|key| words.count(key) >= 160));
    assert!(Lately::last(1_000).counting().build_shared().is_err());
}
