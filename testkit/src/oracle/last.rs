//! The last `window` insertions, exactly.
//!
//! Every insertion, of whichever kind, takes one position of the stream. A key's *distance* is counted
//! from the next position back to its recorded sighting: the key just inserted is at distance 1, and a
//! key is in the window while its distance is at most `window`.

use std::collections::VecDeque;

use crate::collections::KeyMap;

/// Which keys were among the last `window` insertions.
///
/// ```
/// use testkit::oracle::Last;
///
/// let mut last = Last::new(2);
/// assert!(last.insert(10));
/// assert!(last.insert(20));
/// assert!(!last.insert(10)); // two steps ago: still in the window
/// assert!(last.insert(30));
/// assert!(last.insert(20)); // three steps ago: gone
/// assert_eq!(last.distance(10), Some(3)); // gone as well, yet its distance is known
/// ```
#[derive(Debug, Clone)]
pub struct Last {
    window: u64,
    /// Insertions so far, and thereby the position of the next one.
    position: u64,
    /// Position of each key's recorded sighting, also beyond the window.
    recorded: KeyMap<u64>,
    /// Position and key of every recording in the window, oldest first. A refreshed key occurs
    /// several times; only the occurrence that `recorded` names counts.
    recent: VecDeque<(u64, u64)>,
    /// Keys whose recorded sighting is in `recent`.
    distinct: u64,
}

impl Last {
    /// An empty history. A window of 0 contains nothing, ever.
    pub fn new(window: u64) -> Self {
        Self {
            window,
            position: 0,
            recorded: KeyMap::default(),
            recent: VecDeque::new(),
            distinct: 0,
        }
    }

    /// Inserts `key` and records this sighting; `true` if the key was not in the window.
    pub fn insert(&mut self, key: u64) -> bool {
        let new = !self.contains(key);
        self.record(key, new);
        self.advance();
        new
    }

    /// Inserts `key`, but records the sighting only if it is new: a repeat does not refresh the key.
    /// The stream moves on by one position either way.
    ///
    /// ```
    /// use testkit::oracle::Last;
    ///
    /// let mut last = Last::new(2);
    /// let answers = [1, 1, 1, 1].map(|key| last.insert_new(key));
    /// assert_eq!(answers, [true, false, false, true]);
    /// ```
    pub fn insert_new(&mut self, key: u64) -> bool {
        let new = !self.contains(key);
        if new {
            self.record(key, new);
        }
        self.advance();
        new
    }

    /// Whether the recorded sighting of `key` is among the last `window` insertions.
    pub fn contains(&self, key: u64) -> bool {
        self.distance(key).is_some_and(|distance| distance <= self.window)
    }

    /// How many steps ago the recorded sighting of `key` was; 1 for a key just inserted, `None` for
    /// a key never seen. Known beyond the window too, so that a test can tell inside, slack, outside.
    pub fn distance(&self, key: u64) -> Option<u64> {
        self.recorded.get(&key).map(|position| self.position - position)
    }

    /// How many different keys are in the window.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }

    /// Every key seen and its distance, beyond the window too, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.recorded.iter().map(|(&key, position)| (key, self.position - position))
    }

    /// Insertions so far.
    pub fn insertions(&self) -> u64 {
        self.position
    }

    /// The window this oracle was made for.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Forgets keys farther away than `distance`, as if never seen; never those in the window. Long
    /// soaks call this now and then, or memory grows with every key. Takes time for every key held.
    pub fn forget_beyond(&mut self, distance: u64) {
        let kept = distance.max(self.window);
        self.recorded.retain(|_, position| self.position - *position <= kept);
    }

    fn record(&mut self, key: u64, new: bool) {
        self.distinct += u64::from(new);
        self.recorded.insert(key, self.position);
        self.recent.push_back((self.position, key));
    }

    fn advance(&mut self) {
        self.position += 1;
        while let Some(&(position, key)) = self.recent.front()
            && self.position - position > self.window
        {
            self.recent.pop_front();
            if self.recorded[&key] == position {
                self.distinct -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::HashSet;

    /// The definition: every insertion ever, and whether it recorded a sighting.
    #[derive(Default)]
    struct History(Vec<(u64, bool)>);

    impl History {
        fn distance(&self, key: u64) -> Option<u64> {
            let steps = self.0.iter().rev().position(|&sighting| sighting == (key, true))?;
            Some(steps as u64 + 1)
        }

        fn contains(&self, key: u64, window: u64) -> bool {
            self.distance(key).is_some_and(|distance| distance <= window)
        }

        fn distinct(&self, window: u64) -> u64 {
            let recent = self.0.iter().rev().take(window as usize);
            let keys: HashSet<_> = recent.filter(|sighting| sighting.1).collect();
            keys.len() as u64
        }
    }

    #[test]
    fn agrees_with_a_rescan_of_the_history() {
        const ALPHABET: u64 = 9;
        for window in 0..=12 {
            let mut random = SplitMix64::new(window);
            let mut history = History::default();
            let mut last = Last::new(window);
            for step in 0..600 {
                let key = random.below(ALPHABET);
                let new = !history.contains(key, window);
                if random.below(2) == 0 {
                    assert_eq!(last.insert(key), new);
                    history.0.push((key, true));
                } else {
                    assert_eq!(last.insert_new(key), new);
                    history.0.push((key, new));
                }
                for key in 0..=ALPHABET {
                    assert_eq!(last.distance(key), history.distance(key));
                    assert_eq!(last.contains(key), history.contains(key, window));
                }
                assert_eq!(last.distinct(), history.distinct(window));
                assert_eq!(last.insertions(), step + 1);
            }
        }
    }

    #[test]
    fn window_border_is_inclusive() {
        let mut last = Last::new(3);
        last.insert(0);
        last.insert(1);
        last.insert(2);
        assert_eq!(last.distance(0), Some(3));
        assert!(last.contains(0));
        last.insert(3);
        assert_eq!(last.distance(0), Some(4));
        assert!(!last.contains(0));
    }

    #[test]
    fn an_endless_window_forgets_nothing() {
        let mut last = Last::new(u64::MAX);
        assert!((0..1000).all(|key| last.insert(key)));
        assert!((0..1000).all(|key| last.contains(key)));
        assert_eq!(last.distinct(), 1000);
    }

    #[test]
    fn forgetting_keeps_the_window_and_all_answers_about_it() {
        let mut random = SplitMix64::new(5);
        let mut pruned = Last::new(20);
        let mut whole = Last::new(20);
        for step in 0..5000 {
            let key = random.below(60);
            assert_eq!(pruned.insert(key), whole.insert(key));
            assert_eq!(pruned.distinct(), whole.distinct());
            if step % 7 == 0 {
                pruned.forget_beyond(30);
                assert!(pruned.iter().all(|(_, distance)| distance <= 30));
                let near = whole.iter().filter(|&(_, distance)| distance <= 30);
                assert_eq!(pruned.iter().count(), near.count());
            }
        }
        pruned.forget_beyond(0);
        assert_eq!(pruned.iter().count() as u64, whole.distinct());
    }

    #[test]
    fn iteration_tells_every_key_and_its_distance() {
        let mut last = Last::new(1);
        assert_eq!([4, 5, 4].map(|key| last.insert(key)), [true, true, true]);
        let mut seen: Vec<_> = last.iter().collect();
        seen.sort_unstable();
        assert_eq!(seen, [(4, 1), (5, 2)]);
        assert_eq!(last.window(), 1);
    }
}
