//! What can be measured: a structure of the catalog, or a rival, behind one small interface.
//!
//! A [`Contender`] is a name that can be built for a goal; a [`Subject`] is what was built. Keys
//! are `u64`, and every subject hashes them itself, as it would for a user: ours by XXH3 over eight
//! bytes, a rival by whatever it does.
//!
//! Timed loops are methods of the subject ([`Subject::insert_each`], [`Subject::contains_each`]),
//! compiled once per implementation. So a rival is called directly, without indirection, and ours
//! through the one virtual call that every user of a filter chosen at run time pays too.

use anyhow::{Context, Result, anyhow};
use lately::catalog::Row;
use lately::plan::{Goal, Limit};
use lately::raw::{Filter, Unfit};
use lately::{Hashing, Promise, Seed, Time};

/// A structure of ours or a rival, not yet built.
#[derive(Clone, Copy)]
pub enum Contender {
    /// A structure of the catalog.
    Row(&'static Row),
    /// Somebody else's.
    Rival(&'static Rival),
}

/// Somebody else's structure, or the exact one.
pub struct Rival {
    /// Its name in experiments.
    pub name: &'static str,
    /// Builds it for a goal, or says why it cannot.
    pub build: fn(&Goal, Seed) -> Built,
}

/// A rival built for a goal, or why it cannot reach it.
pub type Built = Result<Box<dyn Subject>, Unfit>;

/// One built structure.
pub trait Subject {
    /// What it keeps and costs, by its own account.
    fn profile(&self) -> Profile;

    /// Records a sighting; `true` if the key was not in the window.
    fn insert(&mut self, key: u64, now: Time) -> bool;

    /// Whether the key is in the window.
    fn contains(&self, key: u64, now: Time) -> bool;

    /// Inserts one key after the other, and counts those that were in the window.
    fn insert_each(&mut self, keys: &[u64], now: Time) -> u64 {
        keys.iter().map(|&key| u64::from(!self.insert(key, now))).sum()
    }

    /// Looks up one key after the other, and counts those in the window.
    fn contains_each(&self, keys: &[u64], now: Time) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key, now))).sum()
    }

    /// This subject as one that takes many keys at once, if it does.
    fn as_batched(&mut self) -> Option<&mut dyn Batched> {
        None
    }
}

/// A subject whose users can hand it many keys at once.
pub trait Batched {
    /// [`Subject::insert_each`], many at once.
    fn insert_batch(&mut self, keys: &[u64], now: Time) -> u64;

    /// [`Subject::contains_each`], many at once.
    fn contains_batch(&self, keys: &[u64], now: Time) -> u64;
}

/// What a subject says about itself.
#[derive(Debug, Clone)]
pub struct Profile {
    /// What it keeps.
    pub promise: Promise,
    /// Cache lines per insertion, where its formulas count them.
    pub lines_touched: Option<f64>,
    /// Bytes on the heap at this moment, where it knows.
    pub reported_bytes: Option<u64>,
    /// Its parameters by name.
    pub parameters: Vec<(&'static str, String)>,
}

impl Profile {
    /// The profile of a rival, which says no more than what it keeps.
    pub fn of_rival(promise: Promise) -> Self {
        Self { promise, lines_touched: None, reported_bytes: None, parameters: Vec::new() }
    }
}

impl Contender {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Row(row) => row.name,
            Contender::Rival(rival) => rival.name,
        }
    }

    /// Whether it is one of ours.
    pub fn is_ours(&self) -> bool {
        matches!(self, Contender::Row(_))
    }

    /// An empty one for this goal. Equal seeds make equal choices, where it can be seeded.
    pub fn fresh(&self, goal: &Goal, seed: u64) -> Result<Box<dyn Subject>> {
        let unfit = |Unfit(why)| anyhow!("{} {why}", self.name());
        match self {
            Contender::Row(row) => {
                let hashing = Hashing::Fast(Seed(seed));
                let blueprint = (row.propose)(goal).map_err(unfit)?;
                let filter = blueprint.build(hashing.structure_seed()).context(row.name)?;
                Ok(Box::new(Resident { hashing, filter }))
            }
            Contender::Rival(rival) => (rival.build)(goal, Seed(seed)).map_err(unfit),
        }
    }

    /// The least bits per item that any structure could use for this goal, if the planner knows.
    pub fn lower_bound(&self, goal: &Goal) -> Option<f64> {
        let plan = match (self, goal.limit) {
            (Contender::Row(row), _) => goal.plan_with(row).ok()?,
            // The bound for an error is the same whoever is asked.
            (Contender::Rival(_), Limit::Error(_)) => goal.best_plan().ok()?,
            (Contender::Rival(_), Limit::Memory(_)) => return None,
        };
        plan.lower_bound_bits_per_item
    }
}

/// A structure of the catalog, with the hash at its door.
struct Resident {
    hashing: Hashing,
    filter: Box<dyn Filter>,
}

/// Keys hashed together before the filter sees them: they stay on the stack.
const BATCH: usize = 256;

impl Resident {
    #[inline]
    fn hash(&self, key: u64) -> u64 {
        self.hashing.hash(&key.to_le_bytes())
    }

    fn hash_all<'a>(&self, keys: &[u64], hashes: &'a mut [u64; BATCH]) -> &'a [u64] {
        let hashes = &mut hashes[..keys.len()];
        for (hash, &key) in hashes.iter_mut().zip(keys) {
            *hash = self.hash(key);
        }
        hashes
    }
}

impl Subject for Resident {
    fn profile(&self) -> Profile {
        let blueprint = self.filter.blueprint();
        Profile {
            promise: blueprint.promise(),
            lines_touched: Some(blueprint.lines_touched()),
            reported_bytes: Some(self.filter.heap_bytes()),
            parameters: blueprint.fields(),
        }
    }

    #[inline]
    fn insert(&mut self, key: u64, now: Time) -> bool {
        let hash = self.hash(key);
        self.filter.insert_hash(hash, now)
    }

    #[inline]
    fn contains(&self, key: u64, now: Time) -> bool {
        self.filter.contains_hash(self.hash(key), now)
    }

    fn as_batched(&mut self) -> Option<&mut dyn Batched> {
        Some(self)
    }
}

impl Batched for Resident {
    fn insert_batch(&mut self, keys: &[u64], now: Time) -> u64 {
        let (mut hashes, mut new) = ([0; BATCH], [false; BATCH]);
        let batches = keys.chunks(BATCH).map(|keys| {
            let new = &mut new[..keys.len()];
            let hashes = self.hash_all(keys, &mut hashes);
            self.filter.insert_hashes(hashes, now, new);
            new.iter().filter(|&&new| !new).count() as u64
        });
        batches.sum()
    }

    fn contains_batch(&self, keys: &[u64], now: Time) -> u64 {
        let (mut hashes, mut seen) = ([0; BATCH], [false; BATCH]);
        let batches = keys.chunks(BATCH).map(|keys| {
            let seen = &mut seen[..keys.len()];
            let hashes = self.hash_all(keys, &mut hashes);
            self.filter.contains_hashes(hashes, now, seen);
            seen.iter().filter(|&&seen| seen).count() as u64
        });
        batches.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::{ErrorRate, Window};
    use lately_papers::CATALOG;

    #[test]
    fn batches_answer_like_single_keys() {
        let goal = Goal::new(Window::Last(1000), ErrorRate::new(0.01).unwrap());
        let keys: Vec<u64> = testkit::streams::uniform(1500, 7).take(5000).collect();
        for row in CATALOG.iter() {
            let Ok(mut single) = Contender::Row(row).fresh(&goal, 7) else { continue };
            let mut batched = Contender::Row(row).fresh(&goal, 7).unwrap();
            let seen = single.insert_each(&keys, Time::ZERO);
            let batched = batched.as_batched().unwrap();
            assert_eq!(batched.insert_batch(&keys, Time::ZERO), seen, "{}", row.name);
            let found = single.contains_each(&keys, Time::ZERO);
            assert_eq!(batched.contains_batch(&keys, Time::ZERO), found, "{}", row.name);
        }
    }
}
