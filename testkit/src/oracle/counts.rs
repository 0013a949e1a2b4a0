//! How often each key was added, exactly.

use crate::collections::KeyMap;

/// A multiset: how many times each key is in.
///
/// ```
/// use testkit::oracle::Counts;
///
/// let mut counts = Counts::new();
/// counts.add(7, 3);
/// assert!(counts.remove(7, 1));
/// assert!(!counts.remove(7, 3)); // more than there are: nothing happens
/// assert_eq!(counts.count(7), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Never holds a zero.
    counts: KeyMap<u64>,
    total: u64,
}

impl Counts {
    /// An empty multiset.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `key` `times` times.
    ///
    /// # Panics
    ///
    /// If the total exceeds 64 bits.
    pub fn add(&mut self, key: u64, times: u64) {
        self.total = self.total.checked_add(times).expect("the total fits 64 bits");
        if times > 0 {
            *self.counts.entry(key).or_default() += times;
        }
    }

    /// Removes `key` `times` times; `false`, changing nothing, if it is in fewer times than that.
    pub fn remove(&mut self, key: u64, times: u64) -> bool {
        let Some(rest) = self.count(key).checked_sub(times) else {
            return false;
        };
        self.total -= times;
        if rest == 0 {
            self.counts.remove(&key);
        } else {
            self.counts.insert(key, rest);
        }
        true
    }

    /// How many times `key` is in.
    pub fn count(&self, key: u64) -> u64 {
        self.counts.get(&key).copied().unwrap_or(0)
    }

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many different keys are in.
    pub fn distinct(&self) -> u64 {
        self.counts.len() as u64
    }

    /// Every key that is in and its count, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().map(|(&key, &count)| (key, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn agrees_with_a_list_of_every_single_item() {
        let mut random = SplitMix64::new(1);
        let mut items: Vec<u64> = Vec::new();
        let mut counts = Counts::new();
        for _ in 0..3000 {
            let (key, times) = (random.below(12), random.below(4));
            let held = items.iter().filter(|&&item| item == key).count() as u64;
            assert_eq!(counts.count(key), held);
            if random.below(2) == 0 {
                counts.add(key, times);
                items.extend((0..times).map(|_| key));
            } else {
                assert_eq!(counts.remove(key, times), times <= held);
                if times <= held {
                    for _ in 0..times {
                        let index = items.iter().position(|&item| item == key).unwrap();
                        items.swap_remove(index);
                    }
                }
            }
            assert_eq!(counts.total(), items.len() as u64);
            let mut keys = items.clone();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(counts.distinct(), keys.len() as u64);
            assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), counts.total());
        }
    }

    #[test]
    fn nothing_added_is_nothing_held() {
        let mut counts = Counts::new();
        counts.add(1, 0);
        assert!(counts.remove(1, 0));
        assert_eq!((counts.distinct(), counts.total()), (0, 0));
    }

    #[test]
    #[should_panic(expected = "64 bits")]
    fn an_overflowing_total_panics() {
        let mut counts = Counts::new();
        counts.add(1, u64::MAX);
        counts.add(2, 1);
    }
}
