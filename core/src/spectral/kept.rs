//! The keys that came most often, beside whatever counts them.
//!
//! A counter answers for keys it is asked about; to list keys, some must be kept. Kept is every key
//! whose count reached a *floor* when it was last seen. When more keys than there is room for have
//! reached it, it rises until at most half of them are left. With room for two keys and the stream
//! `a b a c`, the third key lifts the floor from 1 to 2, and only `a` is left, with 2.
//!
//! A query at any threshold from the floor on misses nothing, as long as no count is ever too small:
//! a key that counts T at the end counted at least T when it last came, also in a window, where its
//! sightings since then can only have left.

use std::collections::HashMap;

use crate::error::Error;

/// Keys with their counts, the floor that they reached, and room for so many.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Keys kept at most.
    room: usize,
    /// Every key whose count was at least this when it last came is kept.
    floor: u64,
    /// By hash: equal hashes are one key to the counter too.
    keys: HashMap<u64, Heavy>,
}

/// A key, and how often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heavy {
    /// The key.
    pub key: Box<[u8]>,
    /// Its count when it last came: at least the truth, and closer to it than the count of now.
    pub count: u64,
}

impl Kept {
    /// Room for so many keys, of those that came at least `floor` times.
    pub fn new(room: usize, floor: u64) -> Self {
        Self { room: room.max(1), floor: floor.max(1), keys: HashMap::new() }
    }

    /// The lowest threshold that can be asked for.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Notes that a key came and counts so much with that. `now` tells the count of any kept key at
    /// this moment: in a window it may have become less than when the key last came.
    #[inline]
    pub fn note(&mut self, hash: u64, key: &[u8], count: u64, now: impl Fn(u64, &Heavy) -> u64) {
        if count < self.floor {
            return;
        }
        let heavy = self.keys.entry(hash).or_insert_with(|| Heavy { key: key.into(), count });
        heavy.count = count;
        if self.keys.len() > self.room {
            self.make_room(now);
        }
    }

    /// Every key that counts at least so much at this moment, most frequent first, with that count;
    /// an error below the floor.
    pub fn at_least(
        &self,
        threshold: u64,
        now: impl Fn(u64, &Heavy) -> u64,
    ) -> Result<Vec<(&[u8], u64)>, Error> {
        if threshold < self.floor {
            let floor = self.floor;
            return Err(Error::Parameter {
                name: "threshold",
                found: format!(
                    "{threshold}, and keys that came less than {floor} times were not kept"
                ),
                expected: "at least that, or there must be room for more keys",
            });
        }
        let counted = self.keys.iter().map(|(&hash, heavy)| (&*heavy.key, now(hash, heavy)));
        let mut heavy: Vec<_> = counted.filter(|&(_, count)| count >= threshold).collect();
        heavy.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        Ok(heavy)
    }

    /// Lets go what has sunk below the floor; if that is little, lifts the floor above the median.
    fn make_room(&mut self, now: impl Fn(u64, &Heavy) -> u64) {
        self.keys.retain(|&hash, heavy| now(hash, heavy) >= self.floor);
        // A quarter at least, so that it takes as many more keys until the next time.
        if self.keys.len() <= self.room - self.room / 4 {
            return;
        }
        let mut counts: Vec<u64> =
            self.keys.iter().map(|(&hash, heavy)| now(hash, heavy)).collect();
        let middle = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(middle);
        self.floor = median.saturating_add(1);
        self.keys.retain(|&hash, heavy| now(hash, heavy) >= self.floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::oracle::Counts;
    use testkit::streams;

    /// In a window of exact counts, whatever counts enough at the end is found with that count.
    #[test]
    fn nothing_is_missed_in_a_window() {
        for (room, window) in [(5, 300), (50, 1_000), (1_000, 100)] {
            let keys: Vec<u64> = streams::zipf(500, 1.0, 4).take(5_000).collect();
            let mut counts = Counts::new();
            let mut kept = Kept::new(room, 1);
            for (at, &key) in keys.iter().enumerate() {
                if at >= window {
                    assert!(counts.remove(keys[at - window], 1));
                }
                counts.add(key, 1);
                let now = |hash: u64, _: &Heavy| counts.count(hash);
                kept.note(key, &key.to_le_bytes(), counts.count(key), now);
            }
            let floor = kept.floor();
            assert!(kept.at_least(floor - 1, |_, _| 0).is_err());
            for threshold in [floor, floor + 3] {
                let found = kept.at_least(threshold, |hash, _| counts.count(hash)).unwrap();
                let expected = counts.iter().filter(|&(_, count)| count >= threshold).count();
                assert_eq!(found.len(), expected);
                assert!(found.is_sorted_by_key(|&(_, count)| std::cmp::Reverse(count)));
                for (key, count) in found {
                    let key = u64::from_le_bytes(key.try_into().unwrap());
                    assert_eq!(counts.count(key), count);
                }
            }
        }
    }
}
