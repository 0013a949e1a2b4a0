//! Filters over the last *t*, shared: each call says the moment.

use alloc::sync::Arc;
use core::ops::RangeInclusive;
use core::time::Duration;

use super::Shared;
use crate::clock::Clock;
use crate::error::Error;
use crate::key::Key;
use crate::lately::timed::Moments;
use crate::lately::{Clocked, Timed};
use crate::window::Time;

impl Shared {
    /// The filter over a window by time in a snapshot that [`save`](Self::save) made. The clock that
    /// moments may be ahead of is that of the machine.
    ///
    /// ```
    /// use lately::{Lately, Shared, Time};
    /// use std::time::Duration;
    ///
    /// let seen = Lately::within(Duration::from_secs(60)).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// assert!(Shared::open_within(&seen.save())?.contains_at("a", Time::from_millis(0)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open_within(snapshot: &[u8]) -> Result<Shared<Timed>, Error> {
        Shared::opened(snapshot, &Timed::default())
    }

    /// The same, with a clock that says when something is inserted. An error if that knows no time.
    ///
    /// ```
    /// use lately::{Lately, Shared, SystemClock};
    /// use std::time::Duration;
    ///
    /// let seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(Shared::open_clocked(&seen.save(), SystemClock)?.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open_clocked(
        snapshot: &[u8],
        clock: impl Clock + 'static,
    ) -> Result<Shared<Clocked>, Error> {
        let time = Timed { clock: Arc::new(clock), ..Timed::default() };
        Shared::opened(snapshot, &Clocked(time))
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> Shared<T> {
    /// [`Lately::insert_at`](crate::Lately::insert_at) by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// assert!(seen.insert_at("a", Time::from_millis(0))?);
    /// assert!(!seen.insert_at("a", Time::from_millis(59_000))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_at(&self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_at(key, now))
    }

    /// [`Lately::insert_new_at`](crate::Lately::insert_new_at) by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// assert!(seen.insert_new_at("a", Time::from_millis(0))?);
    /// assert!(!seen.insert_new_at("a", Time::from_millis(59_000))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new_at(&self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_new_at(key, now))
    }

    /// [`Lately::insert_until`](crate::Lately::insert_until) by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_until("a", Time::from_millis(0), Time::from_millis(10_000))?;
    /// assert!(seen.contains_at("a", Time::from_millis(10_000)));
    /// assert!(!seen.contains_at("a", Time::from_millis(50_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_until(
        &self,
        key: impl Key,
        now: impl Into<Time>,
        deadline: impl Into<Time>,
    ) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_until(key, now, deadline))
    }

    /// [`Lately::insert_all_at`](crate::Lately::insert_all_at) by any thread: each part is locked once for all of its keys.
    /// Every part judges the moment: without a clock by the latest it was told itself, so that after an
    /// error some of them may have taken their keys.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// let mut new = [false; 3];
    /// seen.insert_all_at(&["a", "b", "a"], Time::from_millis(0), &mut new)?;
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_all_at<K: Key>(
        &self,
        keys: &[K],
        now: impl Into<Time>,
        new: &mut [bool],
    ) -> Result<(), Error> {
        let now = now.into();
        self.try_by_parts(keys, new, |part, keys, new| part.change().insert_all_at(keys, now, new))
    }

    /// [`Lately::insert_new_all_at`](crate::Lately::insert_new_all_at) by any thread: each part is locked once for all of its keys.
    /// Every part judges the moment: without a clock by the latest it was told itself, so that after an
    /// error some of them may have taken their keys.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// let mut new = [false; 3];
    /// seen.insert_new_all_at(&["a", "b", "a"], Time::from_millis(0), &mut new)?;
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_new_all_at<K: Key>(
        &self,
        keys: &[K],
        now: impl Into<Time>,
        new: &mut [bool],
    ) -> Result<(), Error> {
        let now = now.into();
        self.try_by_parts(keys, new, |part, keys, new| {
            part.change().insert_new_all_at(keys, now, new)
        })
    }

    /// [`Lately::contains_at`](crate::Lately::contains_at) by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// assert!(seen.contains_at("a", Time::from_millis(60_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn contains_at(&self, key: impl Key, now: impl Into<Time>) -> bool {
        self.look(key, |part, key| part.contains_at(key, now))
    }

    /// [`Lately::contains_all_at`](crate::Lately::contains_all_at) by any thread: each part is locked once for all of its keys.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// let mut found = [false; 2];
    /// seen.contains_all_at(&["a", "b"], Time::from_millis(0), &mut found);
    /// assert_eq!(found, [true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn contains_all_at<K: Key>(&self, keys: &[K], now: impl Into<Time>, seen: &mut [bool]) {
        let now = now.into();
        self.by_parts(keys, seen, |part, keys, seen| part.look().contains_all_at(keys, now, seen));
    }

    /// [`Lately::age_at`](crate::Lately::age_at) by any thread.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// let age = seen.age_at("a", Time::from_millis(30_000))?.unwrap();
    /// assert!(age.contains(&Duration::from_secs(30)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn age_at(
        &self,
        key: impl Key,
        now: impl Into<Time>,
    ) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.look(key, |part, key| part.age_at(key, now))
    }

    /// [`Lately::distinct_at`](crate::Lately::distinct_at), of all parts.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_all_at(&["a", "b", "a"], Time::from_millis(0), &mut [false; 3])?;
    /// assert_eq!(seen.distinct_at(Time::from_millis(0))?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct_at(&self, now: impl Into<Time>) -> Result<f64, Error> {
        let now = now.into();
        self.sum(|part| part.distinct_at(now))
    }

    /// [`Lately::expire_at`](crate::Lately::expire_at), of all parts, one after the other.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// while !seen.expire_at(Time::from_millis(200_000))? {}
    /// assert!(!seen.contains_at("a", Time::from_millis(200_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire_at(&self, now: impl Into<Time>) -> Result<bool, Error> {
        let (now, mut done) = (now.into(), true);
        for part in &self.inner.parts {
            done &= part.change().expire_at(now)?;
        }
        Ok(done)
    }

    /// [`Lately::latest`](crate::Lately::latest), of all parts.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(5))?;
    /// assert_eq!(seen.latest(), Some(Time::from_millis(5)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn latest(&self) -> Option<Time> {
        self.inner.parts.iter().filter_map(|part| part.look().latest()).max()
    }

    /// [`Lately::turn_back`](crate::Lately::turn_back), of all parts.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).max_ahead(Duration::MAX).build_shared()?;
    /// seen.insert_at("a", Time::from_millis(99_999_999))?;
    /// seen.turn_back(Time::from_millis(5_000));
    /// assert_eq!(seen.latest(), Some(Time::from_millis(5_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn turn_back(&self, now: impl Into<Time>) {
        let now = now.into();
        self.inner.parts.iter().for_each(|part| part.change().turn_back(now));
    }
}
