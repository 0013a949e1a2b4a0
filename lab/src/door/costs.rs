//! What else people remember the last keys with: what each takes of memory, and of time.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hint::black_box;
use std::rc::Rc;

use anyhow::Result;
use lately::Lately;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::{Doorkeeper, Part, SEED, Texts};
use crate::clock::Clock;
use crate::heap::Meter;
use crate::rivals::Rotating;

/// What one of them took.
#[derive(Debug)]
pub struct Cost {
    /// Who.
    pub name: &'static str,
    /// Bytes of heap for each key of the window, once it has been full for long.
    pub bytes: f64,
    /// Nanoseconds of an insertion, round by round.
    pub nanos: Vec<f64>,
}

/// Lets each live through two and a half windows of texts, then times insertions of new ones in turns.
pub fn costs(items: u64, rounds: u64, clock: &impl Clock) -> Result<Vec<Cost>> {
    let piece = (items / 10).max(1);
    let mut inserted = items * 5 / 2;
    let mut sides = Vec::new();
    for (name, build) in contenders() {
        let mut meter = Meter::default();
        let mut side = meter.during(|| build(items))?;
        for number in (0..inserted).step_by(piece as usize) {
            let texts = Texts::of(Part::Stream, number..(number + piece).min(inserted));
            let keys = texts.all();
            meter.during(|| side.insert_each(&keys));
        }
        let bytes = meter.bytes() as f64 / items as f64;
        sides.push((side, Cost { name, bytes, nanos: Vec::new() }));
    }
    for _ in 0..rounds {
        let texts = Texts::of(Part::Stream, inserted..inserted + piece);
        let keys = texts.all();
        inserted += piece;
        for (side, cost) in &mut sides {
            let start = clock.nanos();
            black_box(side.insert_each(&keys));
            cost.nanos.push((clock.nanos() - start) as f64 / piece as f64);
        }
    }
    Ok(sides.into_iter().map(|(_, cost)| cost).collect())
}

type Build = fn(u64) -> Result<Box<dyn Doorkeeper>>;

/// The first is what the others are compared with.
fn contenders() -> [(&'static str, Build); 5] {
    fn ours(items: u64, error: f64) -> Result<Box<dyn Doorkeeper>> {
        Ok(Box::new(Lately::last(items).error(error).seed(SEED).build()?))
    }
    [
        ("Lately, error 0.1%", |items| ours(items, 0.001)),
        ("Lately, error 1e-9", |items| ours(items, 1e-9)),
        ("two rotating fastbloom, error 0.1%", |items| {
            Ok(Box::new(Rotating::new(items, 0.001, SEED)))
        }),
        ("HashMap and a queue, exact", |items| Ok(Box::new(Exact::new(items)))),
        ("moka, least recently used", |items| {
            let cache = Cache::builder().max_capacity(items).eviction_policy(EvictionPolicy::lru());
            Ok(Box::new(Cached(cache.build())))
        }),
    ]
}

/// The keys with the number of their last insertion, and the insertions of the window in order; a key's
/// text is there once.
struct Exact {
    items: u64,
    inserted: u64,
    last: HashMap<Rc<str>, u64>,
    order: VecDeque<Rc<str>>,
}

impl Exact {
    fn new(items: u64) -> Self {
        Self { items, inserted: 0, last: HashMap::new(), order: VecDeque::new() }
    }

    fn insert(&mut self, key: &str) -> bool {
        let key: Rc<str> = key.into();
        let before = self.last.insert(Rc::clone(&key), self.inserted);
        self.order.push_back(key);
        self.inserted += 1;
        if self.inserted > self.items {
            let leaving = self.order.pop_front().expect("the window is full");
            if let Entry::Occupied(entry) = self.last.entry(leaving)
                && *entry.get() < self.inserted - self.items
            {
                entry.remove();
            }
        }
        before.is_none()
    }
}

impl Doorkeeper for Exact {
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|key| u64::from(!self.insert(key))).sum()
    }

    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.last.contains_key(key))).sum()
    }
}

struct Cached(Cache<String, ()>);

impl Doorkeeper for Cached {
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        let seen = |key: &&&str| !self.0.entry_by_ref(**key).or_insert(()).is_fresh();
        let seen = keys.iter().filter(seen).count();
        // What it put off belongs to the insertions.
        self.0.run_pending_tasks();
        seen as u64
    }

    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.0.contains_key(key))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;

    #[test]
    fn all_of_them_know_repeats() -> Result<()> {
        for (name, build) in contenders() {
            let mut side = build(1_000)?;
            assert_eq!(side.insert_each(&["a", "b", "a"]), 1, "{name}");
            assert_eq!(side.contains_each(&["a", "c"]), 1, "{name}");
        }
        Ok(())
    }

    #[test]
    fn what_left_the_window_is_new() {
        let mut exact = Exact::new(2);
        let news: Vec<_> = ["a", "b", "a", "c", "b"].map(|key| exact.insert(key)).into();
        assert_eq!(news, [true, true, false, true, true]);
        assert_eq!((exact.last.len(), exact.order.len()), (2, 2));
    }

    /// Bytes are not looked at: other tests have their memory in this process too.
    #[test]
    fn every_cost_is_told() -> Result<()> {
        let costs = costs(2_000, 2, &Monotonic::start())?;
        let rounds: Vec<_> = costs.iter().map(|cost| cost.nanos.len()).collect();
        assert_eq!(rounds, [2; 5]);
        Ok(())
    }
}
