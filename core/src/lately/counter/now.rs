//! Counters that need not be told the moment: ever, in the last *n*, and those that read it from a clock.

use super::super::now::Now;
use super::Counter;
use crate::error::Error;
use crate::filter::Admission;
use crate::key::Key;
use crate::window::Time;

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Now> Counter<T> {
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
        let (hash, now) = self.hash_now(key);
        self.counting_mut().add_hash(hash, times, now)
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
        let (hash, now) = self.hash_read(key);
        self.counting().count_hash(hash, now)
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
        let (hash, now) = self.hash_read(key);
        self.counting().reaches_hash(hash, threshold, now)
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
        let (hash, now) = self.hash_now(key);
        self.counting_mut().take_back_hash(hash, times, now)
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
        let (hash, now) = self.hash_read(key);
        self.counting().estimate_hash(hash, now)
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
        let (hash, now) = self.hash_now(key);
        self.counting_mut().admit_hash(hash, times, limit, now)
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
        self.seen.distinct()
    }

    /// The hash of a key, and the moment of a call that changes the counter.
    fn hash_now(&mut self, key: impl Key) -> (u64, Time) {
        let now = self.seen.time.now(&mut self.seen.inner);
        (self.seen.hash(key), now)
    }

    /// The same of a call that does not.
    fn hash_read(&self, key: impl Key) -> (u64, Time) {
        (self.seen.hash(key), self.seen.time.read(&self.seen.inner))
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<K: Key, T: Now> Extend<K> for Counter<T> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.add(key);
        }
    }
}
