//! One counter for many threads.
//!
//! Keys are split over parts by their hashes, and each part has a lock of its own. A key belongs to one part, so
//! its count is as exact as without threads, and a limit is kept by all threads together. Counts of the last
//! *n* are not shared: a key that makes up much of the stream would shorten the window of its part, and be
//! counted too low.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::super::timed::Moments;
use super::super::{Builder, Clocked, Door, Untimed, shared};
use super::Counter;
use crate::error::Error;
use crate::filter::Admission;
use crate::hash::Hashing;
use crate::key::{Hashed, Key};
use crate::promise::Promise;
use crate::shards::Shards;
use crate::window::{Time, Window};

/// A counter that threads share: clones are the same counter.
///
/// ```
/// use lately::{Lately, SystemClock};
/// use std::time::Duration;
///
/// let minute = Duration::from_secs(60);
/// let requests = Lately::within(minute).counting().clock(SystemClock).build_shared()?;
/// let passed = std::thread::scope(|scope| {
///     let threads = [0; 4].map(|_| {
///         scope.spawn(|| (0..10).filter(|_| requests.admit("user 17", 5).allowed).count())
///     });
///     threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
/// });
/// assert_eq!(passed, 5);
/// # Ok::<(), lately::Error>(())
/// ```
pub struct SharedCounter<T = Untimed> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    hashing: Hashing,
    shards: Shards,
    parts: Box<[Part<T>]>,
}

/// A part, away from the cache lines of its neighbours' locks.
#[repr(align(128))]
struct Part<T>(RwLock<Counter<T>>);

impl<T> Part<T> {
    // A thread that panicked while it held the lock left a counter that is whole: they panic only before
    // they change anything.
    fn change(&self) -> RwLockWriteGuard<'_, Counter<T>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> RwLockReadGuard<'_, Counter<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Builder<Counter<T>>
where
    Counter<T>: Door<Time = T>,
{
    /// Allocates a counter that many threads use at once. An error for windows over the last *n*.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert_eq!((words.add("to"), words.clone().add("to")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn build_shared(&self) -> Result<SharedCounter<T>, Error> {
        self.plan()?;
        if matches!(self.goal.window, Window::Last(_)) {
            return Err(Error::Unsupported {
                operation: "count the last n from many threads",
                instead: "count by time, or in one thread",
            });
        }
        let (shards, goal) = shared::split(&self.goal, self.parts)?;
        let mut one = self.clone();
        one.goal = goal;
        let parts = (0..shards.get()).map(|_| Ok(Part(RwLock::new(one.build()?))));
        let parts = parts.collect::<Result<Box<[_]>, Error>>()?;
        let inner = Inner { hashing: self.hashing, shards: Shards(shards.get()), parts };
        Ok(SharedCounter { inner: Arc::new(inner) })
    }
}

impl SharedCounter {
    /// [`Counter::add`] by any thread.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert_eq!((words.add("to"), words.add("to")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&self, key: impl Key) -> u64 {
        self.change(key, |part, key| part.add(key))
    }

    /// [`Counter::count`] by any thread.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert_eq!(words.count("to"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count(&self, key: impl Key) -> u64 {
        self.look(key, |part, key| part.count(key))
    }

    /// [`Counter::admit`] by any thread: all of them together keep the limit.
    ///
    /// ```
    /// let coupons = lately::Lately::ever().counting().build_shared()?;
    /// assert!(coupons.admit("customer 5", 1).allowed);
    /// assert!(!coupons.admit("customer 5", 1).allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit(&self, key: impl Key, limit: u64) -> Admission {
        self.change(key, |part, key| part.admit(key, limit))
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> SharedCounter<T> {
    /// [`Counter::add_at`] by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let clicks = Lately::within(Duration::from_secs(60)).counting().build_shared()?;
    /// assert_eq!(clicks.add_at("user 17", Time::from_millis(5))?, 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add_at(&self, key: impl Key, now: impl Into<Time>) -> Result<u64, Error> {
        self.change(key, |part, key| part.add_at(key, now))
    }

    /// [`Counter::count_at`] by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let clicks = Lately::within(Duration::from_secs(60)).counting().build_shared()?;
    /// assert_eq!(clicks.count_at("user 17", Time::from_millis(5)), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count_at(&self, key: impl Key, now: impl Into<Time>) -> u64 {
        self.look(key, |part, key| part.count_at(key, now))
    }

    /// [`Counter::admit_at`] by any thread: all of them together keep the limit.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let requests = Lately::within(Duration::from_secs(60)).counting().build_shared()?;
    /// let now = Time::from_millis(5);
    /// assert!(requests.admit_at("user 17", 1, now)?.allowed);
    /// assert!(!requests.admit_at("user 17", 1, now)?.allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit_at(
        &self,
        key: impl Key,
        limit: u64,
        now: impl Into<Time>,
    ) -> Result<Admission, Error> {
        self.change(key, |part, key| part.admit_at(key, limit, now))
    }

    /// Gives back memory of keys that have left the window by a moment, a little in each part; `true` if
    /// nothing is left to do.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let clicks = Lately::within(Duration::from_secs(60)).counting().build_shared()?;
    /// clicks.add_at("user 17", Time::from_millis(5))?;
    /// while !clicks.expire_at(Time::from_millis(200_000))? {}
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire_at(&self, now: impl Into<Time>) -> Result<bool, Error> {
        let now = now.into();
        let mut done = true;
        for part in &self.inner.parts {
            done &= part.change().expire_at(now)?;
        }
        Ok(done)
    }
}

impl SharedCounter<Clocked> {
    /// Records a sighting now, by any thread, and says how often the key has been seen in the window.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let clicks = Lately::within(minute).counting().clock(SystemClock).build_shared()?;
    /// assert_eq!((clicks.add("user 17"), clicks.count("user 17")), (1, 1));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&self, key: impl Key) -> u64 {
        self.change(key, |part, key| part.add(key))
    }

    /// How often the key was seen in the window that ends now, by any thread.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let clicks = Lately::within(minute).counting().clock(SystemClock).build_shared()?;
    /// assert_eq!(clicks.count("user 17"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count(&self, key: impl Key) -> u64 {
        self.look(key, |part, key| part.count(key))
    }

    /// Counts the key if it then counts at most `limit`, by any thread: all of them together keep the limit.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let requests = Lately::within(minute).counting().clock(SystemClock).build_shared()?;
    /// assert!(requests.admit("user 17", 1).allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit(&self, key: impl Key, limit: u64) -> Admission {
        self.change(key, |part, key| part.admit(key, limit))
    }
}

impl<T> SharedCounter<T> {
    /// What is promised.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().error(0.01).build_shared()?;
    /// assert!(words.promise().false_positives <= 0.01);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn promise(&self) -> Promise {
        self.inner.parts[0].look().promise()
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert!(words.heap_bytes() < 100_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        let parts = &self.inner.parts;
        size_of_val(&**parts) as u64
            + parts.iter().map(|part| part.look().heap_bytes()).sum::<u64>()
    }

    fn part(&self, key: impl Key) -> (&Part<T>, Hashed) {
        let hash = key.hash_with(&self.inner.hashing);
        (&self.inner.parts[self.inner.shards.of(hash)], Hashed(hash))
    }

    fn change<R>(&self, key: impl Key, work: impl FnOnce(&mut Counter<T>, Hashed) -> R) -> R {
        let (part, key) = self.part(key);
        work(&mut part.change(), key)
    }

    fn look<R>(&self, key: impl Key, work: impl FnOnce(&Counter<T>, Hashed) -> R) -> R {
        let (part, key) = self.part(key);
        work(&part.look(), key)
    }
}

impl<T> Clone for SharedCounter<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for SharedCounter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.inner.parts;
        write!(f, "SharedCounter({} times {:?})", parts.len(), parts[0].look())
    }
}
