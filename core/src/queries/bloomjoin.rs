//! Joining relations at two sites by exchanging filters instead of rows.
//!
//! The question is `SELECT r.a, count(*) FROM r, s WHERE r.a = s.a GROUP BY r.a HAVING count(*) >=
//! T`. The site of `s` counts its keys in a filter and sends the snapshot. The site of `r`
//! multiplies it with its own: the product counts pairs, never too few. It then scans `r`, and keeps
//! the keys whose count reaches T. With `x` twice in `r` and three times in `s`, the product says at
//! least six for `x`, and for a key that is in one of them alone it says zero, but for a collision.
//!
//! Because errors go one way, they can be removed: the keys that are left go to the site of `s`, it
//! answers with their exact counts, and the result is exact. Section 5.3 of the paper.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::Error;
use crate::lately::Counter;

/// A site that received the filter of another, and can tell which of its keys join.
#[derive(Debug)]
pub struct Bloomjoin {
    product: Counter,
    /// Bytes of the filter that was sent.
    received: u64,
}

/// A key that joins, with the number of rows that its join has at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The key.
    pub key: Vec<u8>,
    /// Its rows at this site, exactly.
    pub rows: u64,
    /// Rows of the join with this key: never less than there are.
    pub pairs: u64,
}

/// What was sent between the sites, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// The filter.
    pub filter: u64,
    /// The keys of the candidates.
    pub candidates: u64,
    /// Their exact counts.
    pub counts: u64,
}

impl Traffic {
    /// Everything.
    pub fn total(&self) -> u64 {
        self.filter + self.candidates + self.counts
    }
}

impl Bloomjoin {
    /// Multiplies the filter over our keys with the snapshot of the filter over theirs. Both must
    /// be built alike, with the same seed.
    pub fn new(mut ours: Counter, theirs: &[u8]) -> Result<Self, Error> {
        ours.multiply(&Counter::open(theirs)?)?;
        Ok(Self { product: ours, received: theirs.len() as u64 })
    }

    /// Rows of the join with this key: never less than there are.
    pub fn pairs(&self, key: impl AsRef<[u8]>) -> u64 {
        self.product.count(key.as_ref())
    }

    /// Our keys whose join may have at least so many rows, one for each different key, in order.
    pub fn candidates<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        at_least: u64,
    ) -> Vec<Candidate> {
        let mut scan = self.scan(at_least);
        keys.into_iter().for_each(|key| scan.see(key));
        scan.candidates()
    }

    /// The same, handed our keys one by one.
    pub fn scan(&self, at_least: u64) -> Scan<'_> {
        Scan { join: self, at_least: at_least.max(1), rows: BTreeMap::new() }
    }

    /// What sending the filter, these candidates and an answer for each costs: a key with a length
    /// of two bytes before it, and a count of eight bytes.
    pub fn traffic(&self, candidates: &[Candidate]) -> Traffic {
        Traffic {
            filter: self.received,
            candidates: candidates.iter().map(|candidate| candidate.key.len() as u64 + 2).sum(),
            counts: 8 * candidates.len() as u64,
        }
    }
}

/// A walk through our rows for those that join.
#[derive(Debug)]
pub struct Scan<'a> {
    join: &'a Bloomjoin,
    at_least: u64,
    /// Rows of each key that may join.
    rows: BTreeMap<Vec<u8>, u64>,
}

impl Scan<'_> {
    /// Takes the key of the next row.
    pub fn see(&mut self, key: impl AsRef<[u8]>) {
        let key = key.as_ref();
        // Most keys join nothing: they are never stored.
        if self.join.pairs(key) >= self.at_least {
            match self.rows.get_mut(key) {
                Some(rows) => *rows += 1,
                None => _ = self.rows.insert(key.to_vec(), 1),
            }
        }
    }

    /// The keys that may join, in order.
    pub fn candidates(self) -> Vec<Candidate> {
        let join = self.join;
        let candidate = |(key, rows)| Candidate { pairs: join.pairs(&key), key, rows };
        self.rows.into_iter().map(candidate).collect()
    }
}

/// The exact result: candidates whose rows here times rows there reach the threshold, with that
/// many pairs. `theirs` gives the exact number of rows of a key at the other site.
pub fn verify(
    candidates: &[Candidate],
    at_least: u64,
    theirs: impl Fn(&[u8]) -> u64,
) -> Vec<Candidate> {
    let exact = |candidate: &Candidate| {
        let pairs = candidate.rows * theirs(&candidate.key);
        (pairs >= at_least.max(1)).then(|| Candidate { pairs, ..candidate.clone() })
    };
    candidates.iter().filter_map(exact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lately::Lately;
    use testkit::oracle::Counts;
    use testkit::streams;

    fn filter(keys: &[u64], seed: u64) -> Counter {
        let builder = Lately::ever().counting().expected_items(2_000).seed(seed);
        let mut filter = builder.build().unwrap();
        for key in keys {
            filter.add(key);
        }
        filter
    }

    /// After verification the join is the exact one, for every threshold; before it, nothing is
    /// missing.
    #[test]
    fn a_verified_join_is_exact() {
        let ours: Vec<u64> = streams::uniform(1_000, 1).take(3_000).collect();
        let theirs: Vec<u64> = streams::uniform(1_000, 1)
            .skip(9_000)
            .take(2_000)
            .chain(streams::distinct(1).take(500))
            .collect();
        let mut counts = [Counts::new(), Counts::new()];
        ours.iter().for_each(|&key| counts[0].add(key, 1));
        theirs.iter().for_each(|&key| counts[1].add(key, 1));
        let snapshot = filter(&theirs, 5).save();
        let join = Bloomjoin::new(filter(&ours, 5), &snapshot).unwrap();
        for at_least in [0, 1, 4, 20] {
            let keys = ours.iter().map(|key| key.to_le_bytes());
            let candidates = join.candidates(keys, at_least);
            let exact = verify(&candidates, at_least, |key| {
                counts[1].count(u64::from_le_bytes(key.try_into().unwrap()))
            });
            let pairs = |key| counts[0].count(key) * counts[1].count(key);
            let expected = counts[0].iter().filter(|&(key, _)| pairs(key) >= at_least.max(1));
            assert_eq!(exact.len(), expected.count());
            for found in &exact {
                let key = u64::from_le_bytes(found.key[..].try_into().unwrap());
                assert_eq!(found.pairs, pairs(key));
            }
            assert!(join.traffic(&candidates).total() > snapshot.len() as u64);
        }
    }

    #[test]
    fn different_seeds_do_not_join() {
        let snapshot = filter(&[1], 6).save();
        let error = Bloomjoin::new(filter(&[1], 5), &snapshot).unwrap_err().to_string();
        assert!(error.contains("seed (5 and 6)"), "{error}");
    }
}
