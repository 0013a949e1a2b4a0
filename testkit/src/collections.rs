//! Maps and sets of keys.
//!
//! Oracles look up a key for every one that a filter is told, and the standard hash, made for keys that an adversary
//! chose, takes longer than most filters. Here the keys are ours, and [`mix`] spreads them as well.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::random::mix;

/// Something for each key.
///
/// ```
/// use testkit::collections::KeyMap;
///
/// let mut last = KeyMap::default();
/// last.insert(7, "here");
/// assert_eq!(last.get(&7), Some(&"here"));
/// ```
pub type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// A set of keys.
pub type KeySet = HashSet<u64, BuildHasherDefault<KeyHasher>>;

/// Hashes keys, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are words");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mix(key);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
