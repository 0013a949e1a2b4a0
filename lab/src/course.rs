//! The keys of a race, the same for all who run in it.
//!
//! Keys to insert continue one stream, keys to find are drawn from what the stream brought into the
//! window, and keys to miss were never in it.

use std::collections::VecDeque;
use std::ops::Range;

use lately::plan::Goal;
use lately::{Time, Window};
use testkit::random::{SplitMix64, derive};
use testkit::streams::{self, Keys, TimedKeys};

use crate::stream::Stream;

/// A source of keys.
pub struct Course {
    stream: TimedKeys,
    absent: Keys,
    random: SplitMix64,
    window: Window,
    /// Insertions still in the window, oldest first.
    recent: VecDeque<(u64, Time)>,
    now: Time,
}

/// Keys for one timed piece of work, those of the same moment together.
#[derive(Debug)]
pub struct Leg {
    keys: Vec<u64>,
    moments: Vec<(Time, Range<usize>)>,
}

impl Course {
    /// The beginning of a stream.
    pub fn new(stream: &Stream, goal: &Goal, seed: u64) -> Self {
        Self {
            stream: (stream.open)(goal, seed),
            absent: Box::new(streams::absent(seed)),
            random: SplitMix64::new(derive(seed, "present")),
            window: goal.window,
            recent: VecDeque::new(),
            now: Time::ZERO,
        }
    }

    /// The next keys of the stream. Whoever gets them must insert them.
    pub fn next(&mut self, count: u64) -> Leg {
        let mut leg = Leg { keys: Vec::with_capacity(count as usize), moments: Vec::new() };
        for _ in 0..count {
            let (key, millis) = self.stream.next().expect("streams are endless");
            self.now = self.now.max(Time::from_millis(millis));
            leg.push(key, self.now);
            self.recent.push_back((key, self.now));
            self.drop_expired();
        }
        leg
    }

    /// Forgets what was inserted: everybody starts again from nothing.
    pub fn restart(&mut self) {
        self.recent.clear();
    }

    /// Keys never inserted.
    pub fn absent(&mut self, count: u64) -> Leg {
        Leg::at(self.now, self.absent.by_ref().take(count as usize).collect())
    }

    /// Keys in the window, at random.
    pub fn present(&mut self, count: u64) -> Leg {
        let (recent, random) = (&self.recent, &mut self.random);
        let keys = (0..count).map(|_| recent[random.below(recent.len() as u64) as usize].0);
        Leg::at(self.now, keys.collect())
    }

    fn drop_expired(&mut self) {
        while let Some(&(_, at)) = self.recent.front() {
            let expired = match self.window {
                Window::Last(n) => self.recent.len() as u64 > n,
                Window::Within(span) => self.now.since(at) > span,
                Window::Ever => false,
            };
            if !expired {
                break;
            }
            self.recent.pop_front();
        }
    }
}

impl Leg {
    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    /// The keys, moment after moment.
    pub fn moments(&self) -> impl Iterator<Item = (Time, &[u64])> {
        self.moments.iter().map(|(now, range)| (*now, &self.keys[range.clone()]))
    }

    fn at(now: Time, keys: Vec<u64>) -> Self {
        let moments = vec![(now, 0..keys.len())];
        Self { keys, moments }
    }

    fn push(&mut self, key: u64, now: Time) {
        let index = self.keys.len();
        self.keys.push(key);
        match self.moments.last_mut() {
            Some((moment, range)) if *moment == now => range.end = index + 1,
            _ => self.moments.push((now, index..index + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::DISTINCT;
    use lately::{ErrorRate, Span};
    use testkit::oracle::{Last, Within};

    #[test]
    fn present_keys_are_in_the_window_and_absent_keys_are_not() {
        let goal = Goal::new(Window::Last(50), ErrorRate::DEFAULT);
        let mut course = Course::new(&DISTINCT, &goal, 7);
        let mut oracle = Last::new(50);
        for _ in 0..4 {
            let leg = course.next(33);
            assert_eq!((leg.len(), leg.moments().count()), (33, 1));
            leg.moments().flat_map(|(_, keys)| keys).for_each(|&key| {
                oracle.insert(key);
            });
            let (present, absent) = (course.present(100), course.absent(100));
            assert!(present.keys.iter().all(|&key| oracle.contains(key)));
            assert!(!absent.keys.iter().any(|&key| oracle.contains(key)));
        }
    }

    #[test]
    fn keys_of_one_moment_stay_together() {
        let window = Window::Within(Span::from_millis(10));
        let goal = Goal { expected_items: Some(40), ..Goal::new(window, ErrorRate::DEFAULT) };
        let mut course = Course::new(&DISTINCT, &goal, 7);
        let mut oracle = Within::new(10);
        let leg = course.next(400);
        assert_eq!(leg.moments().count(), 100);
        for (now, keys) in leg.moments() {
            keys.iter().for_each(|&key| {
                oracle.insert(key, now.millis());
            });
        }
        let now = course.now.millis();
        assert!(course.present(100).keys.iter().all(|&key| oracle.contains(key, now)));
    }
}
