//! Many keys at once: put in order of the parts that they belong to, so that each part is locked once for
//! all of its keys in a batch.
//!
//! Two passes: count the keys of each part, then put every hash behind those of the parts before its
//! own. Keys of one part keep their order, so that the first of several equal ones is the new one.
//!
//! Worked example, two parts, keys a, b, c in parts 1, 0, 1: part 0 begins at 0 and part 1 at 1, so
//! that the places are 1, 0, 2 and the order is b, a, c.

use core::ops::Range;

use super::parts::Parts;
use crate::bits::Flag;
use crate::error::Error;
use crate::hash::Hashing;
use crate::key::{Hashed, Key};
use crate::lately::Lately;
use crate::shards::Shards;

impl<T, F: Flag> Parts<Lately<T>, F> {
    /// Changes each part with its keys, in their order, and their answers.
    pub(super) fn by_parts<K: Key>(
        &self,
        keys: &[K],
        answers: &mut [bool],
        mut work: impl FnMut(&mut Lately<T>, &[Hashed], &mut [bool]),
    ) {
        let change = |number, keys: &[Hashed], answers: &mut [bool]| {
            work(&mut self.part(number).take(), keys, answers);
        };
        self.in_order(keys, answers, |number, keys| self.fetch(number, keys), change);
    }

    /// Looks at each part with its keys, in their order, and their answers.
    pub(super) fn look_by_parts<K: Key>(
        &self,
        keys: &[K],
        answers: &mut [bool],
        mut work: impl FnMut(&Lately<T>, &[Hashed], &mut [bool]),
    ) {
        let look = |number, keys: &[Hashed], answers: &mut [bool]| {
            work(&self.part(number).take(), keys, answers);
        };
        self.in_order(keys, answers, |_, _| (), look);
    }

    /// [`by_parts`](Self::by_parts) where a part may refuse its keys: the others get theirs, and the first
    /// error is told.
    pub(super) fn try_by_parts<K: Key>(
        &self,
        keys: &[K],
        answers: &mut [bool],
        mut work: impl FnMut(&mut Lately<T>, &[Hashed], &mut [bool]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut first = None;
        self.by_parts(keys, answers, |part, keys, answers| {
            if let Err(error) = work(part, keys, answers) {
                first.get_or_insert(error);
            }
        });
        first.map_or(Ok(()), Err)
    }

    /// Does `work` for the keys of one part after the other, each some time after it was announced.
    fn in_order<K: Key>(
        &self,
        keys: &[K],
        answers: &mut [bool],
        announce: impl Fn(usize, &[Hashed]),
        mut work: impl FnMut(usize, &[Hashed], &mut [bool]),
    ) {
        assert_eq!(keys.len(), answers.len(), "one answer per key");
        // Few need no order, and only a snapshot from elsewhere has so many parts.
        if keys.len() <= FEW || self.shards().0 as usize > MOST_PARTS {
            for (key, answer) in keys.iter().zip(answers) {
                let (number, key) = self.number(Hashed(key.hash_with(&self.hashing())));
                announce(number, &[key]);
                work(number, &[key], core::slice::from_mut(answer));
            }
            return;
        }
        self.many_in_order(keys, answers, announce, work);
    }

    /// The same for many keys, apart: few do not take so much of the stack.
    #[inline(never)]
    fn many_in_order<K: Key>(
        &self,
        keys: &[K],
        answers: &mut [bool],
        announce: impl Fn(usize, &[Hashed]),
        mut work: impl FnMut(usize, &[Hashed], &mut [bool]),
    ) {
        for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            let batch = Batch::new(keys, &self.hashing(), self.shards());
            let mut found = [false; BATCH];
            let mut ahead = batch.parts();
            let mut announce_next = || {
                if let Some((number, range)) = ahead.next() {
                    announce(number, &batch.hashes[range]);
                }
            };
            announce_next();
            for (number, range) in batch.parts() {
                announce_next();
                work(number, &batch.hashes[range.clone()], &mut found[range]);
            }
            for (answer, place) in answers.iter_mut().zip(batch.places) {
                *answer = found[usize::from(place)];
            }
        }
    }
}

/// Keys that are put in order together: some for every part, and all on the stack.
const BATCH: usize = 1024;

/// Keys that are not worth putting in order.
const FEW: usize = 16;

/// Parts at most; places are counted in as many counters.
pub(super) const MOST_PARTS: usize = 256;

/// Hashes in order of their parts.
struct Batch {
    hashes: [Hashed; BATCH],
    /// Where the hash of each key is.
    places: [u16; BATCH],
    /// Where the hashes of each part end.
    ends: [u16; MOST_PARTS],
    parts: usize,
}

impl Batch {
    /// Of at most [`BATCH`] keys, for at most [`MOST_PARTS`] parts.
    fn new<K: Key>(keys: &[K], hashing: &Hashing, shards: Shards) -> Self {
        let (mut unsorted, mut owners) = ([Hashed(0); BATCH], [0_u8; BATCH]);
        let mut ends = [0; MOST_PARTS];
        for ((key, hash), owner) in keys.iter().zip(&mut unsorted).zip(&mut owners) {
            *hash = Hashed(key.hash_with(hashing));
            *owner = shards.of(hash.0) as u8;
            ends[usize::from(*owner)] += 1;
        }
        // From how many each part has to where it begins; filling it then moves that to its end.
        let parts = shards.0 as usize;
        let mut begin = 0;
        for end in &mut ends[..parts] {
            begin += core::mem::replace(end, begin);
        }
        let (mut hashes, mut places) = ([Hashed(0); BATCH], [0; BATCH]);
        for ((&hash, &owner), place) in
            unsorted.iter().zip(&owners).zip(&mut places).take(keys.len())
        {
            let end = &mut ends[usize::from(owner)];
            *place = *end;
            hashes[usize::from(*place)] = hash;
            *end += 1;
        }
        Self { hashes, places, ends, parts }
    }

    /// The parts that have keys, and where those are.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut begin = 0;
        let ranges = self.ends[..self.parts].iter().map(move |&end| {
            let range = begin..usize::from(end);
            begin = range.end;
            range
        });
        ranges.enumerate().filter(|(_, range)| !range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Seed;

    #[test]
    fn every_key_is_with_its_part_and_in_its_order() {
        let hashing = Hashing::Fast(Seed(1));
        for (parts, count) in [(1, 1024), (2, 3), (16, 256), (256, 1024), (64, 0), (64, 1)] {
            let shards = Shards(parts);
            let keys: Vec<_> =
                (0..count).map(|i| Hashed(crate::hash::remix(i / 3, u64::from(parts)))).collect();
            let batch = Batch::new(&keys, &hashing, shards);
            let mut found = Vec::new();
            for (part, range) in batch.parts() {
                for hash in &batch.hashes[range] {
                    assert_eq!(shards.of(hash.0), part);
                    found.push(*hash);
                }
            }
            assert_eq!(found.len(), keys.len());
            let mut places: Vec<_> = batch.places[..keys.len()].to_vec();
            for (key, &place) in keys.iter().zip(&places) {
                assert_eq!(found[usize::from(place)], *key);
            }
            // Equal ones keep their order.
            for pair in (1..keys.len()).filter(|&i| keys[i] == keys[i - 1]) {
                assert!(places[pair - 1] < places[pair]);
            }
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), keys.len());
        }
    }
}
