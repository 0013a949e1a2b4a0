//! Counts that need no time: ever, and in the last *n*.

use super::super::untimed::{NO_TIME, NOT_DISTINCT};
use super::super::{Door, Untimed};
use super::{Counter, check_counting};
use crate::error::Error;
use crate::filter::Admission;
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::Window;

impl Door for Counter {
    type Time = Untimed;

    fn enter(inner: Untyped, time: Untimed) -> Result<Self, Error> {
        check_counting(&inner)?;
        match inner.promise().window {
            Window::Within(_) => Err(Error::Unsupported {
                operation: "count without a moment",
                instead: "its window is by time: open it with `open_within`",
            }),
            Window::Last(_) | Window::Ever => Ok(Self { inner, time }),
        }
    }
}

impl Counter {
    /// The counter in a snapshot of this or an older release.
    ///
    /// ```
    /// use lately::{Counter, Lately};
    ///
    /// let mut words = Lately::ever().counting().expected_items(1000).build()?;
    /// words.add("to");
    /// assert_eq!(Counter::open(&words.save())?.count("to"), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::from_untyped(Untyped::open(snapshot)?)
    }

    /// Records a sighting, and says how often the key has now been seen.
    ///
    /// ```
    /// let mut words = lately::Lately::last(1000).counting().build()?;
    /// assert_eq!((words.add("to"), words.add("to")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&mut self, key: impl Key) -> u64 {
        self.add_times(key, 1)
    }

    /// Records many sightings at once, and says how often the key has now been seen.
    ///
    /// ```
    /// let mut bytes = lately::Lately::ever().counting().build()?;
    /// assert_eq!(bytes.add_times("10.0.0.1", 1500), 1500);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add_times(&mut self, key: impl Key, times: u64) -> u64 {
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().add_hash(hash, times, NO_TIME)
    }

    /// How often the key was seen.
    ///
    /// ```
    /// let mut words = lately::Lately::last(1000).counting().build()?;
    /// words.add("to");
    /// assert_eq!((words.count("to"), words.count("be")), (1, 0));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count(&self, key: impl Key) -> u64 {
        self.counting().count_hash(key.hash_with(&self.inner.hashing), NO_TIME)
    }

    /// Whether the key was seen at least so often: cheaper than its count.
    ///
    /// ```
    /// let mut words = lately::Lately::ever().counting().expected_items(1000).build()?;
    /// words.add_times("to", 5);
    /// assert!(words.reaches("to", 5));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn reaches(&self, key: impl Key, threshold: u64) -> bool {
        self.counting().reaches_hash(key.hash_with(&self.inner.hashing), threshold, NO_TIME)
    }

    /// Takes back `times` sightings of a key that was seen so often, and says how often it still
    /// counts. An error unless it was built for [`removing`](crate::Builder::removing).
    ///
    /// ```
    /// let mut carts = lately::Lately::ever().counting().removing().build()?;
    /// carts.add_times("apples", 3);
    /// assert_eq!(carts.take_back("apples", 1)?, 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn take_back(&mut self, key: impl Key, times: u64) -> Result<u64, Error> {
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().take_back_hash(hash, times, NO_TIME)
    }

    /// How often the key was seen, right on average: where a window lets its oldest sightings go in
    /// groups, [`count`](Self::count) includes the whole group, and this as much of it as is in the window. It
    /// may be too low.
    ///
    /// ```
    /// let mut words = lately::Lately::last(1000).counting().build()?;
    /// words.add("to");
    /// assert_eq!(words.estimate("to"), 1.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn estimate(&self, key: impl Key) -> f64 {
        self.counting().estimate_hash(key.hash_with(&self.inner.hashing), NO_TIME)
    }

    /// Counts the key if it then counts at most `limit`, in one step; otherwise nothing is counted.
    ///
    /// Never more than the limit pass in a window. A key is denied wrongly with a chance of at most the
    /// error, or because of sightings that are in the slack of the window:
    /// [`surely`](Admission::surely) tells the two apart.
    ///
    /// ```
    /// let mut shown = lately::Lately::last(1000).counting().build()?;
    /// assert_eq!(shown.admit("advertisement 7", 2).left, 1);
    /// assert_eq!(shown.admit("advertisement 7", 2).left, 0);
    /// assert!(!shown.admit("advertisement 7", 2).allowed);
    /// assert_eq!(shown.count("advertisement 7"), 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit(&mut self, key: impl Key, limit: u64) -> Admission {
        self.admit_times(key, 1, limit)
    }

    /// The same for many sightings at once: all of them, or none.
    ///
    /// ```
    /// let mut bytes = lately::Lately::ever().counting().build()?;
    /// assert!(bytes.admit_times("10.0.0.1", 1500, 2000).allowed);
    /// assert!(!bytes.admit_times("10.0.0.1", 1500, 2000).allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit_times(&mut self, key: impl Key, times: u64, limit: u64) -> Admission {
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().admit_hash(hash, times, limit, NO_TIME)
    }

    /// About how many different keys were counted, or are in the window; an error if the structure does
    /// not know.
    ///
    /// ```
    /// let mut views = lately::Lately::last(3).slack(0).counting().build()?;
    /// for page in ["a", "b", "a", "b"] {
    ///     views.add(page);
    /// }
    /// assert_eq!((views.count("b"), views.distinct()?), (2, 2.0));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct(&self) -> Result<f64, Error> {
        self.inner.filter.distinct(NO_TIME).ok_or(NOT_DISTINCT)
    }

    /// The counter that a filter is; an error if it does not count.
    ///
    /// ```
    /// use lately::{Counter, Lately};
    ///
    /// let words = Lately::last(9).counting().build()?.into_untyped();
    /// assert!(Counter::from_untyped(words).is_ok());
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn from_untyped(inner: Untyped) -> Result<Self, Error> {
        Self::enter(inner, Untimed)
    }
}

impl<K: Key> Extend<K> for Counter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.add(key);
        }
    }
}
