//! How large a join will be, from two filters and two samples: bifocal sampling.
//!
//! A sample alone misses what is rare in it but frequent in the other relation. So keys are told
//! apart: *dense* keys, with at least √n rows in their relation, are all found in a sample of
//! √n log n rows, and their joins are added up; for keys that are *sparse* in both, every sampled
//! row asks how often its key occurs in the other relation, and the answers are scaled up. With
//! 10,000 rows a key is dense from 100 rows on.
//!
//! Ganguly, Gibbons, Matias and Silberschatz 1996, with filters as the indexes that answer: the
//! paper's section 5.4. We changed one thing: they add up only keys that are dense in both relations
//! and sample all others; a filter over each relation knows the partners of every dense key. And what
//! a filter counts for keys it never saw is measured on random ones and taken off: where few keys
//! join, it would be most of the answer.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use crate::filter::Counting;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{Seed, reduce, remix};
use crate::window::Time;

/// Makes keys that never were, apart from the indices that filters make of hashes.
const STRANGER: u64 = 1 << 32;

/// One relation: a filter over its keys, and a sample of them.
#[derive(Clone, Copy)]
pub struct Relation<'a> {
    /// Counted the key of every row.
    pub counter: &'a dyn Counting,
    /// Was offered the key of every row.
    pub sample: &'a Sample,
}

impl Relation<'_> {
    fn rows(&self, hash: u64) -> f64 {
        self.counter.count_hash(hash, Time::ZERO) as f64
    }

    /// What is counted for a key that never was: one made from this hash.
    fn rows_of_stranger(&self, hash: u64) -> f64 {
        let rows = self.rows(remix(hash, STRANGER));
        // A dense key would not have been asked for here.
        if rows >= (self.sample.offered as f64).sqrt() { 0.0 } else { rows }
    }

    fn is_dense(&self, hash: u64) -> bool {
        self.rows(hash) >= (self.sample.offered as f64).sqrt()
    }

    fn dense_keys(&self) -> impl Iterator<Item = u64> {
        self.sample.kept.iter().copied().filter(|&hash| self.is_dense(hash))
    }
}

impl fmt::Debug for Relation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relation").field("sample", self.sample).finish_non_exhaustive()
    }
}

/// About how many rows the join of two relations has.
pub fn join_size(ours: Relation<'_>, theirs: Relation<'_>) -> f64 {
    let dense: BTreeSet<u64> = ours.dense_keys().chain(theirs.dense_keys()).collect();
    let of_dense: f64 = dense.into_iter().map(|hash| ours.rows(hash) * theirs.rows(hash)).sum();
    let sampled = &ours.sample.kept;
    let sparse = sampled.iter().filter(|&&hash| !ours.is_dense(hash) && !theirs.is_dense(hash));
    let of_sparse: f64 =
        sparse.map(|&hash| theirs.rows(hash) - theirs.rows_of_stranger(hash)).sum();
    let of_sparse = of_sparse.max(0.0);
    of_dense + of_sparse * ours.sample.offered as f64 / sampled.len().max(1) as f64
}

/// A uniform sample of a stream of keys, by their hashes, of a size given in advance.
#[derive(Debug, Clone)]
pub struct Sample {
    seed: Seed,
    size: usize,
    offered: u64,
    kept: Vec<u64>,
}

impl Sample {
    /// An empty sample that will hold so many keys.
    pub fn new(size: usize, seed: Seed) -> Self {
        Self { seed, size, offered: 0, kept: Vec::new() }
    }

    /// The size that bifocal sampling asks for: √n log n of n rows, so that no dense key is missed.
    pub fn size_for(rows: u64) -> usize {
        let rows = rows.max(2) as f64;
        (rows.sqrt() * rows.log2()).min(rows).ceil() as usize
    }

    /// Offers the next key of the stream; every one so far is then in with the same chance.
    pub fn offer(&mut self, hash: u64) {
        self.offered += 1;
        if self.kept.len() < self.size {
            self.kept.push(hash);
            return;
        }
        let (place, _) = reduce(remix(self.seed.0, self.offered), self.offered);
        if let Some(kept) = self.kept.get_mut(place as usize) {
            *kept = hash;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lately::Lately;
    use testkit::oracle::Counts;
    use testkit::stats::assert_uniform;
    use testkit::streams;

    #[test]
    fn samples_are_uniform() {
        let mut hits = vec![0; 50];
        for seed in 0..20_000 {
            let mut sample = Sample::new(5, Seed(seed));
            (0..50).for_each(|hash| sample.offer(hash));
            sample.kept.iter().for_each(|&hash| hits[hash as usize] += 1);
        }
        assert_uniform(&hits, 1e-9);
    }

    /// Where few keys join, the errors of the filter do not drown them: 2% of the keys, at an error
    /// of 1%. With these seeds, always.
    #[test]
    fn errors_of_the_filter_are_taken_off() {
        let rows = 50_000;
        let relation = |seed: u64| {
            let builder = Lately::ever().counting().expected_items(10_000).error(0.01);
            let mut counter = builder.build().unwrap();
            let mut sample = Sample::new(rows as usize, Seed(seed));
            let mut truth = Counts::new();
            for key in streams::uniform(10_000, seed).take(rows as usize) {
                let key = reduce(remix(key, 5), 10_000).0;
                let key = if key < 200 { key } else { key + seed * 10_000 };
                sample.offer(counter.hashing().hash(&key.to_le_bytes()));
                counter.add(key);
                truth.add(key, 1);
            }
            (counter, sample, truth)
        };
        let (a, b) = (relation(1), relation(2));
        let truth: u64 = a.2.iter().map(|(key, count)| count * b.2.count(key)).sum();
        let estimate = join_size(
            Relation { counter: a.0.counting(), sample: &a.1 },
            Relation { counter: b.0.counting(), sample: &b.1 },
        );
        let ratio = estimate / truth as f64;
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
    }

    /// Within 10% of the truth for skewed and even relations; with these seeds, always.
    #[test]
    fn estimates_are_close() {
        for (skew, other) in [(0.0, 0.0), (1.0, 0.5), (1.0, 1.0), (1.5, 0.0), (0.0, 1.5)] {
            let rows = 40_000;
            let relation = |seed: u64, skew| {
                let mut counter = Lately::ever().counting().expected_items(3_000).build().unwrap();
                let mut sample = Sample::new(Sample::size_for(rows), Seed(seed));
                let mut truth = Counts::new();
                // The same alphabet for both relations, from different parts of a stream.
                let keys = streams::zipf(3_000, skew, 7).skip(seed as usize * 100_000);
                for key in keys.take(rows as usize) {
                    sample.offer(counter.hashing().hash(&key.to_le_bytes()));
                    counter.add(key);
                    truth.add(key, 1);
                }
                (counter, sample, truth)
            };
            let (a, b) = (relation(0, skew), relation(1, other));
            let truth: u64 = a.2.iter().map(|(key, count)| count * b.2.count(key)).sum();
            let estimate = join_size(
                Relation { counter: a.0.counting(), sample: &a.1 },
                Relation { counter: b.0.counting(), sample: &b.1 },
            );
            let ratio = estimate / truth as f64;
            assert!((0.9..1.1).contains(&ratio), "{skew} {other}: {ratio}");
        }
    }
}
