//! Ways to count, ours and others', behind one small interface.

use count_min_sketch::CountMinSketch32;
use datasketches::countmin::CountMinSketch;
use lately::raw::{Blueprint, Filter};
use lately::{Hashing, Seed, Time};

/// One way to count. Loops are its methods, so that rivals are called directly.
pub trait Counter {
    /// Records sightings, one after the other.
    fn add_each(&mut self, keys: &[u64]);

    /// How often a key was seen.
    fn count(&self, key: u64) -> u64;

    /// Asks for keys, one after the other.
    fn count_each(&self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum + self.count(key))
    }

    /// Bytes on the heap, by its own account.
    fn bytes(&self) -> u64;
}

/// The `count-min-sketch` crate, which updates conservatively.
pub struct CountMin {
    /// The sketch.
    pub sketch: CountMinSketch32<u64>,
    /// Of its counters.
    pub bytes: u64,
}

impl CountMin {
    /// So many rows of so many counters, a power of two. Its interface asks for a capacity and a certainty.
    pub fn new(rows: u32, width: u64) -> Result<Self, &'static str> {
        let (capacity, certainty) = (width as usize / 2, 1.0 - (-(f64::from(rows) + 0.5)).exp2());
        let sketch = CountMinSketch32::new(capacity, certainty, 1.0)?;
        let bytes = CountMinSketch32::<u64>::estimate_memory(capacity, certainty, 1.0)?;
        Ok(Self { sketch, bytes: bytes as u64 })
    }
}

impl Counter for CountMin {
    fn add_each(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| self.sketch.increment(key));
    }

    fn count(&self, key: u64) -> u64 {
        self.sketch.estimate(&key).into()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The count-min sketch of Apache's `datasketches`.
impl Counter for CountMinSketch<u32> {
    fn add_each(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| self.update(key));
    }

    fn count(&self, key: u64) -> u64 {
        self.estimate(key).into()
    }

    fn bytes(&self) -> u64 {
        4 * u64::from(self.num_hashes()) * u64::from(self.num_buckets())
    }
}

/// A filter of ours that counts.
pub struct Ours {
    filter: Box<dyn Filter>,
    pace: Pace,
}

/// How updates are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// One by one, as to the rival.
    Single,
    /// Many at once, so that memory is fetched for all of them together.
    Batched,
}

const HASHING: Hashing = Hashing::Fast(Seed(3));

impl Ours {
    /// An empty one.
    pub fn new(blueprint: &dyn Blueprint, pace: Pace) -> Self {
        Self { filter: blueprint.allocate(Seed(0)), pace }
    }
}

impl Counter for Ours {
    fn add_each(&mut self, keys: &[u64]) {
        if self.pace == Pace::Batched {
            let mut new = [false; 64];
            let mut hashes = [0; 64];
            for keys in keys.chunks(64) {
                for (hash, key) in hashes.iter_mut().zip(keys) {
                    *hash = HASHING.hash(&key.to_le_bytes());
                }
                let many = keys.len();
                self.filter.insert_hashes(&hashes[..many], Time::ZERO, &mut new[..many]);
            }
            return;
        }
        for key in keys {
            self.filter.insert_hash(HASHING.hash(&key.to_le_bytes()), Time::ZERO);
        }
    }

    fn count(&self, key: u64) -> u64 {
        let counter = self.filter.counting().expect("it counts");
        counter.count_hash(HASHING.hash(&key.to_le_bytes()), Time::ZERO)
    }

    fn bytes(&self) -> u64 {
        self.filter.heap_bytes()
    }
}
