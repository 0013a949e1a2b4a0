//! How often each key came: ever, in the last *n*, or in the last *t*.

mod clocked;
mod now;
#[cfg(feature = "std")]
mod shared;
mod timed;
mod untimed;

#[cfg(feature = "std")]
pub use shared::SharedCounter;

use alloc::vec::Vec;
use core::fmt;

use super::{Lately, Untimed};
use crate::error::Error;
use crate::filter::Counting;
use crate::hash::Hashing;
use crate::promise::Promise;
use crate::untyped::Untyped;

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
    /// The same filter, to those who only ask whether. It counts.
    seen: Lately<T>,
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
        self.seen.save()
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
        self.seen.inner.check_hashing(&other.seen.inner)?;
        self.counting_mut().merge(&*other.seen.inner.filter)
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
        self.seen.inner.check_hashing(&other.seen.inner)?;
        self.counting_mut().multiply(&*other.seen.inner.filter)
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
        let Lately { inner, time } = &self.seen;
        Ok(Self { seen: Lately { inner: inner.empty_alike()?, time: time.clone() } })
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
        self.seen.clear()
    }

    /// What is promised: its share of false positives is the share of counts that are too high.
    ///
    /// ```
    /// let words = lately::Lately::last(1000).counting().error(0.01).build()?;
    /// assert!(words.promise().false_positives <= 0.01);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn promise(&self) -> Promise {
        self.seen.promise()
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
        self.seen.error_now()
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
        self.seen.structure()
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let words = lately::Lately::last(1_000).counting().build()?;
    /// assert!(words.heap_bytes() < 100_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        self.seen.heap_bytes()
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
        self.seen.hashing()
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
        self.seen.into_untyped()
    }

    /// The counter over hashes.
    ///
    /// ```
    /// let words = lately::Lately::last(9).counting().build()?;
    /// assert_eq!(words.counting().count_hash(17, lately::Time::ZERO), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting(&self) -> &dyn Counting {
        self.seen.inner.filter.counting().expect("only what counts enters")
    }

    /// The counter over hashes, to change.
    ///
    /// ```
    /// let mut words = lately::Lately::last(9).counting().build()?;
    /// assert_eq!(words.counting_mut().add_hash(17, 1, lately::Time::ZERO), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting_mut(&mut self) -> &mut dyn Counting {
        self.seen.inner.filter.as_counting().expect("only what counts enters")
    }
}

impl<T> fmt::Debug for Counter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counter({}: {})", self.structure(), self.promise())
    }
}
