//! Who appears at least T times, with T chosen when asking: ad-hoc iceberg queries.
//!
//! An [`Iceberg`] counts in a filter and keeps the keys that came most often ([`Kept`]). Section 5.2
//! of the paper; it scans the data again for candidates, which a stream does not allow. In a window
//! only keys of the window are listed, and only they take memory.

use alloc::vec::Vec;

use super::kept::{Heavy, Kept};
use crate::error::Error;
use crate::lately::Counter;
use crate::window::{Time, Window};

/// A counting filter, and the keys that came most often.
///
/// ```
/// use lately::Lately;
/// use lately::queries::Iceberg;
///
/// let counter = Lately::ever().counting().expected_items(1000).build()?;
/// let mut iceberg = Iceberg::new(counter, 100)?;
/// for word in ["the", "cat", "the", "dog", "the", "cat"] {
///     iceberg.add(word, 1);
/// }
/// assert_eq!(iceberg.at_least(2)?, [(&b"the"[..], 3), (b"cat", 2)]);
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug)]
pub struct Iceberg {
    counter: Counter,
    window: Window,
    kept: Kept,
    /// Sightings so far: the moments of a window by count.
    sightings: u64,
}

impl Iceberg {
    /// An iceberg over an empty filter that counts, without end or among the last n, with room for
    /// so many keys.
    pub fn new(counter: Counter, room: usize) -> Result<Self, Error> {
        let window = counter.promise().window;
        if matches!(window, Window::Within(_)) {
            return Err(Error::Unsupported {
                operation: "list the keys of a span of time",
                instead: "list those of the last n, or of all",
            });
        }
        Ok(Self { counter, window, kept: Kept::new(window, room, 1), sightings: 0 })
    }

    /// Records `times` sightings and says how often the key has now been seen.
    pub fn add(&mut self, key: impl AsRef<[u8]>, times: u64) -> u64 {
        let key = key.as_ref();
        let count = self.counter.add_times(key, times);
        self.sightings = self.sightings.saturating_add(times);
        if count >= self.kept.floor() && times > 0 {
            let hash = self.counter.hashing().hash(key);
            let counted = counted(&self.counter, self.window);
            self.kept.note((hash, key), self.sightings, count, counted);
        } else {
            self.kept.advance(self.sightings);
        }
        count
    }

    /// The lowest threshold that can be asked for.
    pub fn floor(&self) -> u64 {
        self.kept.floor()
    }

    /// The filter: it answers for every key at every threshold.
    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    /// Every key that came at least so often, and few that did not, with its count, most frequent
    /// first; an error below the floor.
    pub fn at_least(&self, threshold: u64) -> Result<Vec<(&[u8], u64)>, Error> {
        self.kept.at_least(threshold, counted(&self.counter, self.window))
    }
}

/// Tells the count of a kept key at this moment. Without end it is that of when it last came, before
/// others collided with it.
fn counted(counter: &Counter, window: Window) -> impl Fn(u64, &Heavy) -> u64 {
    let counting = (window != Window::Ever).then(|| counter.counting());
    move |hash, heavy| counting.map_or(heavy.count, |counter| counter.count_hash(hash, Time::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lately::Lately;
    use testkit::oracle::Counts;
    use testkit::streams;

    #[test]
    fn the_example_of_the_documentation() {
        let counter = Lately::ever().counting().expected_items(100).build().unwrap();
        let mut iceberg = Iceberg::new(counter, 2).unwrap();
        for key in ["a", "b", "a", "c"] {
            iceberg.add(key, 1);
        }
        assert_eq!(iceberg.floor(), 2);
        assert!(iceberg.at_least(1).is_err());
        let heavy = iceberg.at_least(2).unwrap();
        assert_eq!(heavy, [(&b"a"[..], 2)]);
    }

    /// Nothing is missed at any threshold from the floor on, however little room there is, and the
    /// kept counts are never below the truth.
    #[test]
    fn nothing_is_missed() {
        for (room, skew) in [(10, 1.0), (100, 0.5), (1_000, 1.2), (1, 1.5)] {
            // Far too small a filter on purpose: even wrong counts miss nothing.
            let builder = Lately::ever().counting().expected_items(500).error(0.3);
            let mut iceberg = Iceberg::new(builder.build().unwrap(), room).unwrap();
            let mut truth = Counts::new();
            for key in streams::zipf(2_000, skew, 3).take(30_000) {
                truth.add(key, 1);
                iceberg.add(key.to_le_bytes(), 1);
            }
            let floor = iceberg.floor();
            for threshold in [floor, floor + 1, 2 * floor, 1_000, 10_000] {
                let Ok(found) = iceberg.at_least(threshold) else { continue };
                for (key, count) in truth.iter().filter(|&(_, count)| count >= threshold) {
                    let heavy = found.iter().find(|(kept, _)| *kept == key.to_le_bytes());
                    assert!(heavy.expect("missed").1 >= count);
                }
            }
        }
    }

    /// Over a window, listed are the keys of the window and no others, with at least their counts,
    /// and memory follows the window.
    #[test]
    fn keys_that_left_the_window_are_not_listed() {
        for (window, room) in [(10, 1_000_000), (1_000, 1_000_000), (1_000, 50)] {
            // Far too small a filter on purpose: it still counts what left.
            let counter = Lately::last(window).counting().error(0.3).build().unwrap();
            let mut iceberg = Iceberg::new(counter, room).unwrap();
            let keys: Vec<u64> = streams::zipf(20_000, 0.6, 5).take(20_000).collect();
            for key in &keys {
                iceberg.add(key.to_le_bytes(), 1);
                assert!(iceberg.kept.len() <= (2 * window as usize).min(room));
            }
            let mut truth = Counts::new();
            keys[keys.len() - window as usize..].iter().for_each(|&key| truth.add(key, 1));
            let found = iceberg.at_least(iceberg.floor()).unwrap();
            for (key, count) in &found {
                let key = u64::from_le_bytes((*key).try_into().unwrap());
                assert!((1..=*count).contains(&truth.count(key)), "{key} has left");
            }
            let reach = truth.iter().filter(|&(_, count)| count >= iceberg.floor());
            assert!(reach.count() <= found.len(), "missed");
        }
    }
}
