//! Who appears at least T times, with T chosen when asking: ad-hoc iceberg queries.
//!
//! A filter answers for keys it is asked about. To list keys, some must be kept: an [`Iceberg`]
//! keeps every key whose count reached a *floor* when it was last seen, with that count. When more
//! keys than it may keep have reached the floor, it rises until half of them are left. With room
//! for two keys and the stream `a b a c`, the third key lifts the floor from 1 to 2, and only `a`
//! is left, with 2.
//!
//! A query at any threshold from the floor on misses nothing: a key that came T times was counted
//! at least T when it last came, which was not below the floor. Section 5.2 of the paper; it scans
//! the data again for candidates, which a stream does not allow.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::lately::Lately;

/// A counting filter, and the keys that came most often.
///
/// ```
/// use lately::Lately;
/// use lately::spectral::Iceberg;
///
/// let counter = Lately::ever().counting().expected_items(1000).build()?;
/// let mut iceberg = Iceberg::new(counter, 100)?;
/// for word in ["the", "cat", "the", "dog", "the", "cat"] {
///     iceberg.add(word, 1)?;
/// }
/// let often: Vec<_> = iceberg.at_least(2)?.iter().map(|heavy| heavy.count).collect();
/// assert_eq!(often, [3, 2]);
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug)]
pub struct Iceberg {
    counter: Lately,
    /// Keys kept at most.
    room: usize,
    /// Every key whose count was at least this when it last came is kept.
    floor: u64,
    /// By hash: equal hashes are one key to the filter too.
    kept: BTreeMap<u64, Heavy>,
}

/// A key, and how often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heavy {
    /// The key.
    pub key: Box<[u8]>,
    /// Its count when it last came: at least the truth, and closer to it than the count of now.
    pub count: u64,
}

impl Iceberg {
    /// An iceberg over an empty filter that counts without end, with room for so many keys.
    pub fn new(counter: Lately, room: usize) -> Result<Self, Error> {
        counter.count([])?;
        let room = room.max(1);
        Ok(Self { counter, room, floor: 1, kept: BTreeMap::new() })
    }

    /// Records `times` sightings and says how often the key has now been seen.
    pub fn add(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<u64, Error> {
        let key = key.as_ref();
        let count = self.counter.add(key, times)?;
        if count >= self.floor {
            let hash = self.counter.hashing().hash(key);
            let heavy = self.kept.entry(hash).or_insert_with(|| Heavy { key: key.into(), count });
            heavy.count = count;
            if self.kept.len() > self.room {
                self.rise();
            }
        }
        Ok(count)
    }

    /// The lowest threshold that can be asked for.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// The filter: it answers for every key at every threshold.
    pub fn counter(&self) -> &Lately {
        &self.counter
    }

    /// Every key that came at least so often, and few that did not, most frequent first; an error
    /// below the floor.
    pub fn at_least(&self, threshold: u64) -> Result<Vec<&Heavy>, Error> {
        if threshold < self.floor {
            return Err(Error::Parameter {
                name: "threshold",
                found: format!(
                    "{threshold}, and keys that came less than {} times were not kept",
                    self.floor
                ),
                expected: "at least that, or there must be room for more keys",
            });
        }
        let mut heavy: Vec<&Heavy> =
            self.kept.values().filter(|heavy| heavy.count >= threshold).collect();
        heavy.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        Ok(heavy)
    }

    /// Lifts the floor above the median count.
    fn rise(&mut self) {
        let mut counts: Vec<u64> = self.kept.values().map(|heavy| heavy.count).collect();
        let middle = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(middle);
        self.floor = median.saturating_add(1);
        self.kept.retain(|_, heavy| heavy.count >= self.floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::ErrorRate;
    use testkit::oracle::Counts;
    use testkit::streams;

    #[test]
    fn the_example_of_the_documentation() {
        let counter = Lately::ever().counting().expected_items(100).build().unwrap();
        let mut iceberg = Iceberg::new(counter, 2).unwrap();
        for key in ["a", "b", "a", "c"] {
            iceberg.add(key, 1).unwrap();
        }
        assert_eq!(iceberg.floor(), 2);
        assert!(iceberg.at_least(1).is_err());
        let heavy = iceberg.at_least(2).unwrap();
        assert_eq!(heavy, [&Heavy { key: (*b"a").into(), count: 2 }]);
    }

    /// Nothing is missed at any threshold from the floor on, however little room there is, and the
    /// kept counts are never below the truth.
    #[test]
    fn nothing_is_missed() {
        for (room, skew) in [(10, 1.0), (100, 0.5), (1_000, 1.2), (1, 1.5)] {
            // Far too small a filter on purpose: even wrong counts miss nothing.
            let error = ErrorRate::new(0.3).unwrap();
            let builder = Lately::ever().counting().expected_items(500).error(error);
            let mut iceberg = Iceberg::new(builder.build().unwrap(), room).unwrap();
            let mut truth = Counts::new();
            for key in streams::zipf(2_000, skew, 3).take(30_000) {
                truth.add(key, 1);
                iceberg.add(key.to_le_bytes(), 1).unwrap();
            }
            let floor = iceberg.floor();
            for threshold in [floor, floor + 1, 2 * floor, 1_000, 10_000] {
                let Ok(found) = iceberg.at_least(threshold) else { continue };
                for (key, count) in truth.iter().filter(|&(_, count)| count >= threshold) {
                    let heavy = found.iter().find(|heavy| *heavy.key == key.to_le_bytes());
                    assert!(heavy.expect("missed").count >= count);
                }
            }
        }
    }

    #[test]
    fn what_does_not_count_makes_no_iceberg() {
        let error = Iceberg::new(Lately::last(10).build().unwrap(), 5).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }));
    }
}
