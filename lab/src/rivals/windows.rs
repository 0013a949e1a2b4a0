//! Windows by count, as people build them.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::Hash;
use std::num::NonZeroUsize;

use cuckoo_clock::config::{BitCount, CuckooConfiguration, TtlConfig};
use cuckoo_clock::{CuckooFilter, LookupValues};
use foldhash::fast::FixedState;
use lately::plan::Goal;
use lately::raw::Unfit;
use lately::{Promise, Seed, Slack, Time, Window};
use lru::LruCache;

use super::{FastBloom, count_window, error, fastbloom};
use crate::contender::{Built, Profile, Rival, Subject};

/// Two `fastbloom` filters that take turns, rotated by hand: the usual answer for a window.
pub static ROTATING_FASTBLOOM: Rival = Rival {
    name: "rotating-fastbloom",
    build: |goal, seed| Ok(Box::new(Rotating::new(count_window(goal)?, error(goal)?, seed.0))),
};

/// The same for a window by time, by count: it stands for a rate that is known and never changes.
pub static ROTATING_FASTBLOOM_BY_COUNT: Rival = Rival {
    name: "rotating-fastbloom-by-count",
    build: |goal, seed| {
        let items = goal.items().ok_or(Unfit("must know how many items to expect"))?;
        (ROTATING_FASTBLOOM.build)(&Goal { window: Window::Last(items), ..*goal }, seed)
    },
};

/// A hash map of last positions and a queue of keys: exact, and large.
pub static EXACT_WINDOW: Rival = Rival {
    name: "exact-window",
    build: |goal, _| {
        let window = count_window(goal)?;
        Ok(Box::new(Exact { window, last: HashMap::new(), queue: VecDeque::new(), position: 0 }))
    },
};

/// The `lru` cache of as many keys as the window has: exact where no key comes twice, and remembering longer
/// where keys do.
pub static LRU: Rival = Rival {
    name: "lru",
    build: |goal, _| {
        let window = count_window(goal)?;
        let most = usize::try_from(window).ok().and_then(NonZeroUsize::new);
        Ok(Box::new(Lru { window, cache: LruCache::new(most.ok_or(Unfit("needs a window"))?) }))
    },
};

/// A `cuckoo-clock` whose fingerprints expire. The user must scan it: six times in a window here.
pub static CUCKOO_CLOCK: Rival =
    Rival { name: "cuckoo-clock", build: |goal, seed| CuckooClock::build(goal, seed) };

/// See [`ROTATING_FASTBLOOM`].
pub struct Rotating {
    /// Receives insertions.
    current: FastBloom,
    /// Holds the `window` insertions before those; hashes like `current`.
    previous: FastBloom,
    /// Insertions since the last turn.
    inserted: u64,
    window: u64,
    false_positives: f64,
}

impl Rotating {
    /// For the last `window`, each half with half of the error.
    pub fn new(window: u64, error: f64, seed: u64) -> Self {
        let filter = || fastbloom(error / 2.0, window, Seed(seed));
        let each = filter().expected_false_pos(window as usize);
        Self {
            current: filter(),
            previous: filter(),
            inserted: 0,
            window,
            false_positives: each * (2.0 - each),
        }
    }

    /// Records a sighting; `true` if the key was not in the window. The key is hashed once.
    #[inline]
    pub fn insert_key<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        if self.inserted == self.window {
            std::mem::swap(&mut self.current, &mut self.previous);
            self.current.clear();
            self.inserted = 0;
        }
        self.inserted += 1;
        let hash = self.current.source_hash(key);
        let seen = self.current.insert_hash(hash);
        !(seen || self.previous.contains_hash(hash))
    }

    /// Whether the key is in the window.
    #[inline]
    pub fn contains_key<K: Hash + ?Sized>(&self, key: &K) -> bool {
        let hash = self.current.source_hash(key);
        self.current.contains_hash(hash) || self.previous.contains_hash(hash)
    }
}

impl Subject for Rotating {
    fn profile(&self) -> Profile {
        Profile::of_rival(Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(self.window),
            false_positives: self.false_positives,
            false_negatives: 0.0,
        })
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        self.insert_key(&key)
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.contains_key(&key)
    }
}

struct Exact {
    window: u64,
    /// Position of each key's last insertion; only keys of the window.
    last: HashMap<u64, u64>,
    /// The last `window` insertions, oldest first.
    queue: VecDeque<u64>,
    /// Insertions so far.
    position: u64,
}

impl Subject for Exact {
    fn profile(&self) -> Profile {
        Profile::of_rival(Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(0),
            false_positives: 0.0,
            false_negatives: 0.0,
        })
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        let seen = self.last.insert(key, self.position).is_some();
        self.position += 1;
        if self.queue.len() as u64 == self.window {
            let oldest = self.queue.pop_front().expect("a window holds at least one key");
            // A key inserted again since stays: its last position is a later one.
            if let Entry::Occupied(entry) = self.last.entry(oldest)
                && entry.get() + self.window < self.position
            {
                entry.remove();
            }
        }
        self.queue.push_back(key);
        !seen
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.last.contains_key(&key)
    }
}

/// See [`LRU`].
struct Lru {
    window: u64,
    cache: LruCache<u64, ()>,
}

impl Subject for Lru {
    fn profile(&self) -> Profile {
        Profile::of_rival(Promise {
            window: Window::Last(self.window),
            slack: Slack::Unlimited,
            false_positives: 0.0,
            false_negatives: 0.0,
        })
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        self.cache.put(key, ()).is_none()
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.cache.contains(&key)
    }
}

/// See [`CUCKOO_CLOCK`].
struct CuckooClock {
    filter: CuckooFilter<FixedState>,
    window: u64,
    /// Insertions from one scan to the next.
    period: u64,
    /// Insertions since the last scan.
    inserted: u64,
    false_positives: f64,
}

impl CuckooClock {
    /// Scans that an entry lives to see, in so many bits.
    const LIVES: u32 = 7;
    const LIFE_BITS: usize = 3;
    /// Slots of a bucket, as in the example of its documentation; each bucket has a lock.
    const SLOTS: usize = 8;

    fn build(goal: &Goal, Seed(seed): Seed) -> Built {
        let (window, rate) = (count_window(goal)?, error(goal)?);
        // Whoever comes just before a scan lives six periods more.
        let period = window.div_ceil(u64::from(Self::LIVES) - 1);
        // A lookup compares with two buckets. Entries take whole bytes: what is left is the fingerprint's.
        let compared = 2.0 * Self::SLOTS as f64;
        let fewest = (compared / rate).log2().ceil() as usize;
        let entry = (fewest + Self::LIFE_BITS).next_multiple_of(8);
        let fingerprint = entry - Self::LIFE_BITS;
        let refused = |_| Unfit("cannot be sized so");
        let ttl = TtlConfig {
            ttl: Self::LIVES.try_into().map_err(|_| Unfit("needs a life"))?,
            ttl_bits: BitCount::try_from(Self::LIFE_BITS).map_err(refused)?,
        };
        // Its table is full at nineteen twentieths.
        let entries = (window + period) as f64 / 0.95;
        let configuration = CuckooConfiguration::builder(entries as usize)
            .fingerprint_bits(BitCount::try_from(fingerprint).map_err(refused)?)
            .bucket_size(NonZeroUsize::new(Self::SLOTS).ok_or(Unfit("needs slots"))?)
            .with_ttl(ttl)
            .build()
            .map_err(refused)?;
        let filter = CuckooFilter::new(configuration, FixedState::with_seed(seed));
        let false_positives = compared * (-(fingerprint as f64)).exp2();
        Ok(Box::new(Self { filter, window, period, inserted: 0, false_positives }))
    }
}

impl Subject for CuckooClock {
    fn profile(&self) -> Profile {
        Profile::of_rival(Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(u64::from(Self::LIVES) * self.period - self.window),
            false_positives: self.false_positives,
            false_negatives: 0.0,
        })
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        if self.inserted == self.period {
            self.filter.scan_and_update_ttl();
            self.inserted = 0;
        }
        self.inserted += 1;
        // A sighting begins a new life. It does not tell whether it inserted, so it is asked first.
        let again = LookupValues { ttl: Some(Self::LIVES), counter_diff: None };
        let seen = self.filter.contains_with_update(&key, again);
        if !seen {
            self.filter.insert(&key);
        }
        !seen
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.filter.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::ErrorRate;
    use testkit::oracle::Last;

    #[test]
    fn the_exact_window_is_exact() {
        let goal = Goal::new(Window::Last(50), ErrorRate::DEFAULT);
        let mut exact = (EXACT_WINDOW.build)(&goal, Seed(1)).unwrap();
        let mut oracle = Last::new(50);
        let keys: Vec<u64> = testkit::streams::uniform(80, 7).take(5000).collect();
        for &key in &keys {
            assert_eq!(exact.insert(key, Time::ZERO), oracle.insert(key));
            let mut some = keys[..100].iter();
            assert!(some.all(|&key| exact.contains(key, Time::ZERO) == oracle.contains(key)));
        }
    }
}
