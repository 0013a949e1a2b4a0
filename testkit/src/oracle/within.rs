//! The last `span` milliseconds, exactly.
//!
//! The clock is the latest time any insertion named. Time going back is treated as standing still: an
//! insertion from the past counts as happening at the clock, so a jump backwards shortens no key's
//! stay. Questions may look ahead of the clock but do not move it.

use crate::collections::KeyMap;

/// Which keys were seen within the last `span_ms` milliseconds.
///
/// A key is in the window while its age is at most the span: one exactly `span_ms` old is still in.
///
/// ```
/// use testkit::oracle::Within;
///
/// let mut within = Within::new(100);
/// assert!(within.insert(7, 1000));
/// assert!(within.contains(7, 1100));
/// assert!(!within.contains(7, 1101));
/// assert!(!within.insert(7, 900)); // the past counts as now
/// assert_eq!(within.age(7, 1101), Some(101));
/// ```
#[derive(Debug, Clone)]
pub struct Within {
    span_ms: u64,
    /// Latest time of any insertion.
    clock_ms: u64,
    /// Clock at each key's recorded sighting, also beyond the window.
    recorded: KeyMap<u64>,
}

impl Within {
    /// An empty history whose clock stands at 0. A span of 0 holds what this millisecond brought.
    pub fn new(span_ms: u64) -> Self {
        Self { span_ms, clock_ms: 0, recorded: KeyMap::default() }
    }

    /// Inserts `key` and records this sighting; `true` if the key was not in the window.
    pub fn insert(&mut self, key: u64, now_ms: u64) -> bool {
        let new = !self.contains(key, now_ms);
        self.clock_ms = self.clock_ms.max(now_ms);
        self.recorded.insert(key, self.clock_ms);
        new
    }

    /// Inserts `key`, but records the sighting only if it is new: a repeat does not refresh the key.
    /// The clock moves either way.
    ///
    /// ```
    /// use testkit::oracle::Within;
    ///
    /// let mut within = Within::new(100);
    /// let answers = [0, 60, 100, 101].map(|now_ms| within.insert_new(7, now_ms));
    /// assert_eq!(answers, [true, false, false, true]);
    /// ```
    pub fn insert_new(&mut self, key: u64, now_ms: u64) -> bool {
        let new = !self.contains(key, now_ms);
        self.clock_ms = self.clock_ms.max(now_ms);
        if new {
            self.recorded.insert(key, self.clock_ms);
        }
        new
    }

    /// Whether the recorded sighting of `key` is at most the span old.
    pub fn contains(&self, key: u64, now_ms: u64) -> bool {
        self.age(key, now_ms).is_some_and(|age| age <= self.span_ms)
    }

    /// Milliseconds since the recorded sighting of `key`, also beyond the span; `None` for a key never
    /// seen.
    pub fn age(&self, key: u64, now_ms: u64) -> Option<u64> {
        let now_ms = self.clock_ms.max(now_ms);
        self.recorded.get(&key).map(|recorded_ms| now_ms - recorded_ms)
    }

    /// Sets the clock back, if it is later: every sighting counts as made at `now_ms` at the latest.
    ///
    /// ```
    /// use testkit::oracle::Within;
    ///
    /// let mut within = Within::new(100);
    /// within.insert(7, 5_000);
    /// within.turn_back(1_000);
    /// assert!(within.contains(7, 1_100));
    /// assert!(!within.contains(7, 1_101));
    /// ```
    pub fn turn_back(&mut self, now_ms: u64) {
        self.clock_ms = self.clock_ms.min(now_ms);
        for recorded_ms in self.recorded.values_mut() {
            *recorded_ms = now_ms.min(*recorded_ms);
        }
    }

    /// How many different keys are in the window. Takes time for every key held.
    pub fn distinct(&self, now_ms: u64) -> u64 {
        self.iter(now_ms).filter(|&(_, age)| age <= self.span_ms).count() as u64
    }

    /// Every key seen and its age, beyond the window too, in no particular order.
    pub fn iter(&self, now_ms: u64) -> impl Iterator<Item = (u64, u64)> {
        let now_ms = self.clock_ms.max(now_ms);
        self.recorded.iter().map(move |(&key, recorded_ms)| (key, now_ms - recorded_ms))
    }

    /// The latest time any insertion named.
    pub fn clock_ms(&self) -> u64 {
        self.clock_ms
    }

    /// The span this oracle was made for.
    pub fn span_ms(&self) -> u64 {
        self.span_ms
    }

    /// Forgets keys older than `age_ms` by the clock, as if never seen; never those in the window.
    /// Long soaks call this now and then, or memory grows with every key. Takes time for every key
    /// held.
    pub fn forget_beyond(&mut self, age_ms: u64) {
        let kept = age_ms.max(self.span_ms);
        self.recorded.retain(|_, recorded_ms| self.clock_ms - *recorded_ms <= kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::HashSet;

    /// The definition: key, time as given, and whether the insertion recorded a sighting.
    #[derive(Default)]
    struct History(Vec<(u64, u64, bool)>);

    impl History {
        fn clock(&self, until: usize) -> u64 {
            self.0[..until].iter().map(|&(_, time, _)| time).max().unwrap_or(0)
        }

        fn age(&self, key: u64, now: u64) -> Option<u64> {
            let sighting = self.0.iter().rposition(|&(k, _, recorded)| k == key && recorded)?;
            Some(self.clock(self.0.len()).max(now) - self.clock(sighting + 1))
        }

        fn contains(&self, key: u64, now: u64, span: u64) -> bool {
            self.age(key, now).is_some_and(|age| age <= span)
        }

        fn distinct(&self, now: u64, span: u64) -> u64 {
            let keys: HashSet<u64> = self.0.iter().map(|sighting| sighting.0).collect();
            keys.into_iter().filter(|&key| self.contains(key, now, span)).count() as u64
        }
    }

    #[test]
    fn agrees_with_a_rescan_of_the_history() {
        const ALPHABET: u64 = 9;
        for span in [0, 1, 2, 5, 10, 40] {
            let mut random = SplitMix64::new(span);
            let mut history = History::default();
            let mut within = Within::new(span);
            let mut time = 50;
            for _ in 0..300 {
                // Stands still, advances, leaps, and goes back now and then.
                time += [0, 0, 1, 1, 3, 25][random.below(6) as usize];
                let now = time - random.below(3) * random.below(20);
                let key = random.below(ALPHABET);
                let new = !history.contains(key, now, span);
                if random.below(2) == 0 {
                    assert_eq!(within.insert(key, now), new);
                    history.0.push((key, now, true));
                } else {
                    assert_eq!(within.insert_new(key, now), new);
                    history.0.push((key, now, new));
                }
                for later in [0, now, now + 1, now + span, now + span + 1] {
                    for key in 0..=ALPHABET {
                        assert_eq!(within.age(key, later), history.age(key, later));
                        let contained = history.contains(key, later, span);
                        assert_eq!(within.contains(key, later), contained);
                    }
                    assert_eq!(within.distinct(later), history.distinct(later, span));
                }
                assert_eq!(within.clock_ms(), history.clock(history.0.len()));
            }
        }
    }

    #[test]
    fn questions_do_not_move_the_clock() {
        let mut within = Within::new(10);
        within.insert(1, 100);
        assert!(!within.contains(1, 1000));
        assert!(within.contains(1, 105));
        assert_eq!(within.clock_ms(), 100);
        assert_eq!(within.span_ms(), 10);
    }

    #[test]
    fn extreme_times_do_not_overflow() {
        let mut within = Within::new(u64::MAX);
        assert!(within.insert(1, 0));
        assert!(!within.insert(1, u64::MAX));
        assert!(!within.insert(1, 0));
        assert_eq!(within.age(1, 0), Some(0));
    }

    #[test]
    fn forgetting_keeps_the_window() {
        let mut within = Within::new(10);
        for time in 0..100 {
            within.insert(time, time);
        }
        within.forget_beyond(20);
        assert_eq!(within.iter(0).count(), 21);
        within.forget_beyond(0);
        assert_eq!(within.distinct(0), 11);
        assert_eq!(within.iter(0).count(), 11);
    }
}
