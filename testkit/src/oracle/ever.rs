//! Everything ever inserted, exactly.

use crate::collections::KeySet;

/// Which keys were ever inserted.
///
/// ```
/// use testkit::oracle::Ever;
///
/// let mut ever = Ever::new();
/// assert!(ever.insert(7));
/// assert!(!ever.insert(7));
/// assert!(ever.contains(7));
/// assert_eq!(ever.distinct(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ever {
    keys: KeySet,
}

impl Ever {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts `key`; `true` if it was never inserted before.
    pub fn insert(&mut self, key: u64) -> bool {
        self.keys.insert(key)
    }

    /// Whether `key` was ever inserted.
    pub fn contains(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    /// How many different keys were inserted.
    pub fn distinct(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Every key inserted, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.keys.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn agrees_with_a_rescan_of_the_history() {
        let mut random = SplitMix64::new(1);
        let mut history = Vec::new();
        let mut ever = Ever::new();
        for _ in 0..500 {
            let key = random.below(300);
            assert_eq!(ever.contains(key), history.contains(&key));
            assert_eq!(ever.insert(key), !history.contains(&key));
            history.push(key);
        }
        history.sort_unstable();
        history.dedup();
        let mut keys: Vec<_> = ever.iter().collect();
        keys.sort_unstable();
        assert_eq!(keys, history);
        assert_eq!(ever.distinct(), history.len() as u64);
    }
}
