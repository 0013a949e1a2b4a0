//! Counts in the last *t* that read the moment from a clock.

use super::super::now::Now as _;
use super::super::{Clocked, Door};
use super::{Counter, check_counting};
use crate::error::Error;
use crate::filter::Admission;
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::Time;

impl Door for Counter<Clocked> {
    type Time = Clocked;

    fn enter(inner: Untyped, time: Clocked) -> Result<Self, Error> {
        check_counting(&inner)?;
        let time = time.over(&inner)?;
        Ok(Self { inner, time })
    }
}

impl Counter<Clocked> {
    /// The moment of a call that changes nothing.
    pub(crate) fn now(&self) -> Time {
        self.time.read(&self.inner)
    }

    /// Records a sighting now, and says how often the key has been seen in the window.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut clicks = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// assert_eq!((clicks.add("user 17"), clicks.add("user 17")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&mut self, key: impl Key) -> u64 {
        self.add_times(key, 1)
    }

    /// Records many sightings at once.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut bytes = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// assert_eq!(bytes.add_times("10.0.0.1", 1500), 1500);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add_times(&mut self, key: impl Key, times: u64) -> u64 {
        let now = self.time.now(&mut self.inner);
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().add_hash(hash, times, now)
    }

    /// How often the key was seen in the window that ends now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let clicks = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// assert_eq!(clicks.count("user 17"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count(&self, key: impl Key) -> u64 {
        self.count_at(key, self.time.read(&self.inner))
    }

    /// Counts the key if it then counts at most `limit`, in one step: see
    /// [`admit_at`](Self::admit_at).
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut requests = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// assert!(requests.admit("user 17", 1).allowed);
    /// assert!(!requests.admit("user 17", 1).allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit(&mut self, key: impl Key, limit: u64) -> Admission {
        let now = self.time.now(&mut self.inner);
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().admit_hash(hash, 1, limit, now)
    }

    /// Takes back `times` sightings of a key that was seen so often in the window, and says how often it
    /// still counts.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut carts = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// carts.add_times("apples", 3);
    /// assert_eq!(carts.take_back("apples", 1)?, 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn take_back(&mut self, key: impl Key, times: u64) -> Result<u64, Error> {
        let now = self.time.now(&mut self.inner);
        let hash = key.hash_with(&self.inner.hashing);
        self.counting_mut().take_back_hash(hash, times, now)
    }
}

impl<K: Key> Extend<K> for Counter<Clocked> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.add(key);
        }
    }
}
