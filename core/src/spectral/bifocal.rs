//! How large a join will be, from two filters and a sample: bifocal sampling.
//!
//! A sample alone misses what is rare in it but frequent in the other relation. So keys are told
//! apart: *dense* keys, with at least √n rows, are all found in a sample of √n log n rows, and their
//! joins are added up; for *sparse* keys every sampled row asks how often its key occurs in the
//! other relation, and the answers are scaled up. With 10,000 rows a key is dense from 100 rows on.
//!
//! Ganguly, Gibbons, Matias and Silberschatz 1996, with filters as the indexes that answer: the
//! paper's section 5.4. We changed one thing: they also sample the other relation, to find which
//! dense keys are dense there too; a filter over it knows that of every key. Counts are never too
//! small, which makes the estimate slightly too large.

use std::collections::BTreeSet;

use crate::filter::Counting;
use crate::hash::{Seed, reduce, remix};
use crate::window::Time;

/// About how many rows the join of two relations has: from a sample of one, and filters over the
/// keys of both.
pub fn join_size(sample: &Sample, ours: &dyn Counting, theirs: &dyn Counting) -> f64 {
    let here = |hash| ours.count_hash(hash, Time::ZERO) as f64;
    let there = |hash| theirs.count_hash(hash, Time::ZERO) as f64;
    let least_dense = (sample.offered as f64).sqrt();
    let (dense, sparse): (Vec<u64>, Vec<u64>) =
        sample.kept.iter().partition(|&&hash| here(hash) >= least_dense);
    let dense: BTreeSet<u64> = dense.into_iter().collect();
    let of_dense: f64 = dense.into_iter().map(|hash| here(hash) * there(hash)).sum();
    let of_sampled: f64 = sparse.into_iter().map(there).sum();
    let rows_per_sampled = sample.offered as f64 / sample.kept.len().max(1) as f64;
    of_dense + of_sampled * rows_per_sampled
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

    /// Within 10% of the truth for skewed and even relations; with these seeds, always.
    #[test]
    fn estimates_are_close() {
        for (skew, other) in [(0.0, 0.0), (1.0, 0.5), (1.0, 1.0), (1.5, 0.0), (0.0, 1.5)] {
            let rows = 40_000;
            let mut sample = Sample::new(Sample::size_for(rows), Seed(1));
            let relation = |start: usize, skew, sample: &mut Sample| {
                let mut counter = Lately::ever().counting().expected_items(3_000).build().unwrap();
                let mut truth = Counts::new();
                // The same alphabet for both relations, from different parts of a stream.
                for key in streams::zipf(3_000, skew, 7).skip(start).take(rows as usize) {
                    sample.offer(counter.hashing().hash(&key.to_le_bytes()));
                    counter.insert(key.to_le_bytes());
                    truth.add(key, 1);
                }
                (counter, truth)
            };
            let (ours, counts) = relation(0, skew, &mut sample);
            let (theirs, partners) = relation(100_000, other, &mut Sample::new(0, Seed(0)));
            let truth: u64 = counts.iter().map(|(key, count)| count * partners.count(key)).sum();
            let estimate = join_size(
                &sample,
                ours.filter().counting().unwrap(),
                theirs.filter().counting().unwrap(),
            );
            let ratio = estimate / truth as f64;
            assert!((0.9..1.1).contains(&ratio), "{skew} {other}: {ratio}");
        }
    }
}
