//! The rivals: what people use today, set up as well as we can.
//!
//! Each is sized for the error that is asked of all, hashes the key once per operation where its
//! interface allows it, and is otherwise left at its defaults.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::Hash;

use fastbloom::BloomFilter;
use foldhash::fast::FixedState;
use lately::plan::{Goal, Limit};
use lately::raw::Unfit;
use lately::{Promise, Seed, Slack, Time, Window};
use lately_papers::CATALOG;
use scalable_cuckoo_filter::ScalableCuckooFilter;

use crate::contender::{Built, Contender, Profile, Rival, Subject};

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

/// Our succinct window by count, for a window by time: it stands for a rate that never changes.
pub static SLIDING_BY_COUNT: Rival = Rival {
    name: "sliding-by-count",
    build: |goal, Seed(seed)| {
        let items = goal.items().ok_or(Unfit("must know how many items to expect"))?;
        let row = CATALOG.row("sliding").ok_or(Unfit("is not in the catalog"))?;
        let by_count = Goal::new(Window::Last(items), goal.limit);
        Contender::Row(row).fresh(&by_count, seed).map_err(|_| Unfit("cannot be built"))
    },
};

/// Our double buffer of split-block Bloom filters, as the yardstick of other structures of ours: by
/// count, so for a window by time it stands for a rate that is known and never changes.
pub static DOUBLE_BUFFER: Rival = Rival {
    name: "double-buffer-by-count",
    build: |goal, Seed(seed)| {
        let items = goal.items().ok_or(Unfit("must know how many items to expect"))?;
        ours("double-buffer", &Goal::new(Window::Last(items), goal.limit), seed)
    },
};

/// Our sliding filter with a backyard, as the yardstick of the one without.
pub static SLIDING: Rival =
    Rival { name: "sliding-with-backyard", build: |goal, Seed(seed)| ours("sliding", goal, seed) };

/// A structure of ours in the place of a rival.
fn ours(name: &str, goal: &Goal, seed: u64) -> Built {
    let row = CATALOG.row(name).ok_or(Unfit("is not in the catalog"))?;
    Contender::Row(row).fresh(goal, seed).map_err(|_| Unfit("cannot be built"))
}

/// A hash map of last positions and a queue of keys: exact, and large.
pub static EXACT_WINDOW: Rival = Rival {
    name: "exact-window",
    build: |goal, _| {
        let window = count_window(goal)?;
        Ok(Box::new(Exact { window, last: HashMap::new(), queue: VecDeque::new(), position: 0 }))
    },
};

/// A single `fastbloom` filter, for a set whose size is known.
pub static FASTBLOOM: Rival = Rival {
    name: "fastbloom",
    build: |goal, seed| {
        let items = set_size(goal)?;
        let filter = fastbloom(error(goal)?, items, seed);
        let promise = set_promise(filter.expected_false_pos(items as usize));
        Ok(Box::new(Set { filter, promise }))
    },
};

/// A `qfilter` quotient filter, for a set whose size is known.
pub static QFILTER: Rival = Rival {
    name: "qfilter",
    build: |goal, _| {
        let filter = qfilter::Filter::new(set_size(goal)?, error(goal)?)
            .map_err(|_| Unfit("cannot be sized so"))?;
        let promise = set_promise(filter.max_error_ratio());
        Ok(Box::new(Set { filter, promise }))
    },
};

/// A `scalable_cuckoo_filter`, which grows beyond its first capacity: given a tenth of the size.
pub static SCALABLE_CUCKOO: Rival = Rival {
    name: "scalable-cuckoo",
    build: |goal, _| {
        let first = (set_size(goal)? / 10).max(1) as usize;
        let rate = error(goal)?;
        let filter = ScalableCuckooFilter::new(first, rate);
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// A `qfilter` that starts as small as can be and doubles up to the expected size.
pub static QFILTER_GROWN: Rival = Rival {
    name: "qfilter",
    build: |goal, _| {
        let rate = error(goal)?;
        let filter = qfilter::Filter::new_resizeable(SMALLEST, set_size(goal)?, rate)
            .map_err(|_| Unfit("cannot be sized so"))?;
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// A `scalable_cuckoo_filter` that starts as small.
pub static SCALABLE_CUCKOO_GROWN: Rival = Rival {
    name: "scalable-cuckoo",
    build: |goal, _| {
        let rate = error(goal)?;
        let filter = ScalableCuckooFilter::new(SMALLEST as usize, rate);
        Ok(Box::new(Set { filter, promise: set_promise(rate) }))
    },
};

/// Keys for which a rival that grows is sized at first.
const SMALLEST: u64 = 64;

/// With foldhash, the fastest hasher that it can be given here: its default is a keyed one.
type FastBloom = BloomFilter<FixedState>;

fn fastbloom(rate: f64, items: u64, Seed(seed): Seed) -> FastBloom {
    let hasher = FixedState::with_seed(seed);
    BloomFilter::with_false_pos(rate).hasher(hasher).expected_items(items as usize)
}

fn count_window(goal: &Goal) -> Result<u64, Unfit> {
    match goal.window {
        Window::Last(n) => Ok(n),
        _ => Err(Unfit("keeps windows by count only")),
    }
}

fn set_size(goal: &Goal) -> Result<u64, Unfit> {
    match (goal.window, goal.expected_items) {
        (Window::Ever, Some(items)) => Ok(items),
        (Window::Ever, None) => Err(Unfit("must know how many keys to expect")),
        _ => Err(Unfit("never forgets")),
    }
}

fn error(goal: &Goal) -> Result<f64, Unfit> {
    match goal.limit {
        Limit::Error(rate) => Ok(rate.get()),
        Limit::Memory(_) => Err(Unfit("is sized by its error here")),
    }
}

fn set_promise(false_positives: f64) -> Promise {
    Promise { window: Window::Ever, slack: Slack::Unlimited, false_positives, false_negatives: 0.0 }
}

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

/// A rival that never forgets.
struct Set<F> {
    filter: F,
    promise: Promise,
}

/// Inserting and looking up, as each crate spells it.
trait SetOperations {
    /// `true` if the key was new.
    fn insert(&mut self, key: u64) -> bool;
    fn contains(&self, key: u64) -> bool;
}

impl<F: SetOperations> Subject for Set<F> {
    fn profile(&self) -> Profile {
        Profile::of_rival(self.promise)
    }

    #[inline]
    fn insert(&mut self, key: u64, _now: Time) -> bool {
        self.filter.insert(key)
    }

    #[inline]
    fn contains(&self, key: u64, _now: Time) -> bool {
        self.filter.contains(key)
    }
}

impl SetOperations for FastBloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !FastBloom::insert(self, &key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        FastBloom::contains(self, &key)
    }
}

impl SetOperations for qfilter::Filter {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        qfilter::Filter::insert(self, key).expect("no more keys than it was sized for")
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        qfilter::Filter::contains(self, key)
    }
}

impl SetOperations for ScalableCuckooFilter<u64> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        !self.insert_if_not_contained(&key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        ScalableCuckooFilter::contains(self, &key)
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
