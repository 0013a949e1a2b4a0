//! One counter for many threads.
//!
//! Keys are split over parts by their hashes, and each part has a lock of its own. A key belongs to one part, so
//! its count is as exact as without threads, and a limit is kept by all threads together. Counts of the last
//! *n* are not shared: a key that makes up much of the stream would shorten the window of its part, and be
//! counted too low.

use alloc::sync::Arc;
use core::fmt;

use super::super::now::Now;
use super::super::shared::{self, Parts, Shareable};
use super::super::timed::Moments;
use super::super::{Builder, Door, Untimed};
use super::Counter;
use crate::error::Error;
use crate::filter::Admission;
use crate::key::Key;
use crate::promise::Promise;
use crate::untyped::Untyped;
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
    parts: Arc<Parts<Counter<T>>>,
}

impl<T> Shareable for Counter<T> {
    fn untyped(&self) -> &Untyped {
        &self.seen.inner
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
        let parts = (0..shards.get()).map(|_| one.build()).collect::<Result<_, Error>>()?;
        Ok(SharedCounter { parts: Arc::new(Parts::new(self.hashing, parts)) })
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Now> SharedCounter<T> {
    /// [`Counter::add`] by any thread.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert_eq!((words.add("to"), words.add("to")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&self, key: impl Key) -> u64 {
        self.parts.change(key, |part, key| part.add(key))
    }

    /// [`Counter::count`] by any thread.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert_eq!(words.count("to"), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count(&self, key: impl Key) -> u64 {
        self.parts.look(key, |part, key| part.count(key))
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
        self.parts.change(key, |part, key| part.admit(key, limit))
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
        self.parts.change(key, |part, key| part.add_at(key, now))
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
        self.parts.look(key, |part, key| part.count_at(key, now))
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
        self.parts.change(key, |part, key| part.admit_at(key, limit, now))
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
        for part in self.parts.change_each(|part| part.expire_at(now)) {
            done &= part?;
        }
        Ok(done)
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
        self.parts.of_one(Counter::promise)
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let words = lately::Lately::ever().counting().build_shared()?;
    /// assert!(words.heap_bytes() < 100_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        self.parts.own_bytes() + self.parts.each(Counter::heap_bytes).sum::<u64>()
    }
}

impl<T> Clone for SharedCounter<T> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts) }
    }
}

impl<T> fmt::Debug for SharedCounter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts.shards().0;
        self.parts.of_one(|part| write!(f, "SharedCounter({parts} times {part:?})"))
    }
}
