//! How often each key came: ever, in the last *n*, or in the last *t*.

mod clocked;
#[cfg(feature = "std")]
mod shared;
mod timed;

#[cfg(feature = "std")]
pub use shared::SharedCounter;

use alloc::vec::Vec;
use core::fmt;

use super::untimed::{NO_TIME, NOT_DISTINCT};
use super::{Door, Untimed};
use crate::error::Error;
use crate::filter::{Admission, Counting};
use crate::hash::Hashing;
use crate::key::Key;
use crate::promise::Promise;
use crate::untyped::Untyped;
use crate::window::Window;

/// Counts keys: ever, among the last *n*, or in the last *t*. No count is too low, unless the promise says so.
///
/// ```
/// use lately::Lately;
///
/// let mut words = Lately::ever().counting().build()?;
/// assert_eq!(words.add("to"), 1);
/// assert_eq!(words.add("be"), 1);
/// assert_eq!(words.add("to"), 2);
/// assert_eq!(words.count("or"), 0);
/// # Ok::<(), lately::Error>(())
/// ```
///
/// At most 5 a minute of each:
///
/// ```
/// use lately::{Lately, SystemClock};
/// use std::time::Duration;
///
/// let minute = Duration::from_secs(60);
/// let mut requests = Lately::within(minute).counting().clock(SystemClock).build()?;
/// for _ in 0..5 {
///     assert!(requests.admit("user 17", 5).allowed);
/// }
/// assert!(!requests.admit("user 17", 5).allowed);
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Clone)]
pub struct Counter<T = Untimed> {
    inner: Untyped,
    time: T,
}

/// What does not count has no door here.
fn check_counting(inner: &Untyped) -> Result<(), Error> {
    match inner.filter.counting() {
        Some(_) => Ok(()),
        None => Err(Error::Unsupported {
            operation: "count",
            instead: "build one that does with `counting()`",
        }),
    }
}

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

impl<T> Counter<T> {
    /// Everything needed to go on later, or elsewhere.
    ///
    /// ```
    /// use lately::{Counter, Lately};
    ///
    /// let mut words = Lately::ever().counting().expected_items(1000).build()?;
    /// words.add("to");
    /// assert_eq!(Counter::open(&words.save())?.count("to"), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    /// Adds all that another counter counted: then it counts as one that saw both streams. An error
    /// that says in what they differ unless both were built alike, with the same seed.
    ///
    /// ```
    /// let mut monday = lately::Lately::ever().counting().expected_items(1000).build()?;
    /// let mut tuesday = monday.empty_alike()?;
    /// monday.add("to");
    /// tuesday.add("to");
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.count("to"), 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "union")]
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.inner.check_hashing(&other.inner)?;
        self.counting_mut().merge(&*other.inner.filter)
    }

    /// Multiplies every count by that of another counter: rows of the join of two relations, key by
    /// key. An error that says in what they differ unless both were built alike, with the same seed.
    ///
    /// ```
    /// let mut orders = lately::Lately::ever().counting().expected_items(1000).build()?;
    /// let mut payments = orders.empty_alike()?;
    /// orders.add_times("customer 5", 3);
    /// payments.add_times("customer 5", 2);
    /// orders.multiply(&payments)?;
    /// assert_eq!(orders.count("customer 5"), 6);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn multiply(&mut self, other: &Self) -> Result<(), Error> {
        self.inner.check_hashing(&other.inner)?;
        self.counting_mut().multiply(&*other.inner.filter)
    }

    /// An empty counter that is built alike and hashes alike: what it counts can be merged with this
    /// one, or multiplied by it.
    ///
    /// ```
    /// let mut monday = lately::Lately::ever().counting().expected_items(1000).build()?;
    /// monday.add("to");
    /// assert_eq!(monday.empty_alike()?.count("to"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn empty_alike(&self) -> Result<Self, Error>
    where
        T: Clone,
    {
        Ok(Self { inner: self.inner.empty_alike()?, time: self.time.clone() })
    }

    /// Forgets everything.
    ///
    /// ```
    /// let mut words = lately::Lately::ever().counting().expected_items(1000).build()?;
    /// words.add("to");
    /// words.clear()?;
    /// assert_eq!(words.count("to"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn clear(&mut self) -> Result<(), Error> {
        self.inner = self.inner.empty_alike()?;
        Ok(())
    }

    /// What is promised: its share of false positives is the share of counts that are too high.
    ///
    /// ```
    /// let words = lately::Lately::last(1000).counting().error(0.01).build()?;
    /// assert!(words.promise().false_positives <= 0.01);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn promise(&self) -> Promise {
        self.inner.promise()
    }

    /// The chance at this moment that a key never counted is counted; the promise speaks of the worst
    /// moment.
    ///
    /// ```
    /// let words = lately::Lately::last(1000).counting().build()?;
    /// assert_eq!(words.error_now(), 0.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn error_now(&self) -> f64 {
        self.inner.filter.false_positive_rate()
    }

    /// The name of the structure in the [catalog](crate::catalog).
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let words = Lately::ever().counting().structure("spectral").expected_items(9).build()?;
    /// assert_eq!(words.structure(), "spectral");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn structure(&self) -> &'static str {
        self.inner.filter.blueprint().structure()
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let words = lately::Lately::last(1_000).counting().build()?;
    /// assert!(words.heap_bytes() < 100_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        self.inner.filter.heap_bytes()
    }

    /// How keys become hashes.
    ///
    /// ```
    /// use lately::{Hashing, Lately, Seed};
    ///
    /// let words = Lately::last(9).counting().seed(7).build()?;
    /// assert_eq!(words.hashing(), Hashing::Fast(Seed(7)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn hashing(&self) -> Hashing {
        self.inner.hashing
    }

    /// The counter without its type, to speak to it in hashes.
    ///
    /// ```
    /// let mut words = lately::Lately::last(9).counting().build()?.into_untyped();
    /// let counting = words.filter_mut().as_counting().unwrap();
    /// assert_eq!(counting.add_hash(0x9e37_79b9_7f4a_7c15, 2, lately::Time::ZERO), 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn into_untyped(self) -> Untyped {
        self.inner
    }

    /// The counter over hashes.
    ///
    /// ```
    /// let words = lately::Lately::last(9).counting().build()?;
    /// assert_eq!(words.counting().count_hash(17, lately::Time::ZERO), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting(&self) -> &dyn Counting {
        self.inner.filter.counting().expect("only what counts enters")
    }

    /// The counter over hashes, to change.
    ///
    /// ```
    /// let mut words = lately::Lately::last(9).counting().build()?;
    /// assert_eq!(words.counting_mut().add_hash(17, 1, lately::Time::ZERO), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting_mut(&mut self) -> &mut dyn Counting {
        self.inner.filter.as_counting().expect("only what counts enters")
    }
}

impl<K: Key> Extend<K> for Counter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.add(key);
        }
    }
}

impl<T> fmt::Debug for Counter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blueprint = self.inner.filter.blueprint();
        write!(f, "Counter({}: {})", blueprint.structure(), blueprint.promise())
    }
}
