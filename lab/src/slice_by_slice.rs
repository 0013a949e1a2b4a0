//! The age-partitioned filter with every slice in one piece, as the paper has it: the same blocks,
//! bits and answers, only elsewhere in memory. What it is slower by is what interleaving is worth.

use lately::raw::{Blueprint, Structure};
use lately::sliding::AgePartitionedParameters;
use lately::sliding::slices::Probe;
use lately::{Hashing, Promise, Seed, Time};

use crate::contender::{Profile, Rival, Subject};

/// Slice after slice.
pub static SLICE_BY_SLICE: Rival = Rival {
    name: "slice-by-slice",
    build: |goal, seed| {
        let parameters = AgePartitionedParameters::propose(goal)?;
        Ok(Box::new(SliceBySlice::new(parameters, seed)))
    },
};

struct SliceBySlice {
    parameters: AgePartitionedParameters,
    promise: Promise,
    hashing: Hashing,
    /// Slices one after the other; the slice of age `a` is number `newest + a`, in a circle.
    words: Vec<u64>,
    newest: usize,
    inserted: u64,
}

impl SliceBySlice {
    fn new(parameters: AgePartitionedParameters, seed: Seed) -> Self {
        let promise = parameters.promise();
        let hashing = Hashing::Fast(seed);
        let mut filter =
            Self { parameters, promise, hashing, words: Vec::new(), newest: 0, inserted: 0 };
        filter.words = vec![0; filter.slices() * filter.slice_words()];
        filter
    }

    fn slices(&self) -> usize {
        (self.parameters.slices_per_key * self.parameters.slices_per_class) as usize
    }

    fn slice_words(&self) -> usize {
        self.parameters.blocks as usize * self.parameters.block.words as usize
    }

    /// Where the block of a key begins in the slice of this age, and the key's probe for it.
    #[inline]
    fn place(&self, hash: u64, age: usize) -> (usize, Probe) {
        let slices = self.slices();
        let number = self.newest + age;
        let number = if number < slices { number } else { number - slices };
        let probe = Probe::new(hash, number % self.parameters.slices_per_key as usize);
        let block = probe.one_of(self.parameters.blocks) * self.parameters.block.words as usize;
        (number * self.slice_words() + block, probe)
    }

    #[inline]
    fn holds(&self, hash: u64, age: usize) -> bool {
        let (at, probe) = self.place(hash, age);
        let end = at + self.parameters.block.words as usize;
        probe.hits(&self.words[at..end], self.parameters.block) != 0
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let k = self.parameters.slices_per_key as usize;
        let windows = self.slices() + 1 - k;
        lately::sliding::slices::find_window(k, 0..windows, |_| true, |age| self.holds(hash, age))
    }
}

impl Subject for SliceBySlice {
    fn profile(&self) -> Profile {
        Profile::of_rival(self.promise)
    }

    fn insert(&mut self, key: u64, _now: Time) -> bool {
        if self.inserted == self.parameters.generation {
            self.inserted = 0;
            self.newest = (self.newest + self.slices() - 1) % self.slices();
            let (from, words) = (self.newest * self.slice_words(), self.slice_words());
            self.words[from..from + words].fill(0);
        }
        self.inserted += 1;
        let hash = self.hashing.hash(&key.to_le_bytes());
        let seen = self.contains_hash(hash);
        for age in 0..self.parameters.slices_per_key as usize {
            let (at, probe) = self.place(hash, age);
            let end = at + self.parameters.block.words as usize;
            probe.set(&mut self.words[at..end], self.parameters.block);
        }
        !seen
    }

    fn contains(&self, key: u64, _now: Time) -> bool {
        self.contains_hash(self.hashing.hash(&key.to_le_bytes()))
    }
}
