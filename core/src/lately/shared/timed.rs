//! Filters over the last *t*, shared: each call says the moment.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::Shared;
use crate::error::Error;
use crate::key::{Hashed, Key};
use crate::lately::Lately;
use crate::lately::timed::Moments;
use crate::window::Time;

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
        self.inner.parts.change(key, |part, key| part.insert_at(key, now))
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
        self.inner.parts.change(key, |part, key| part.insert_new_at(key, now))
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
        self.inner.parts.change(key, |part, key| part.insert_until(key, now, deadline))
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
        self.change_all_at(keys, now, new, Lately::insert_all_at)
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
        self.change_all_at(keys, now, new, Lately::insert_new_all_at)
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
        self.inner.parts.look(key, |part, key| part.contains_at(key, now))
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
        let look = |part: &Lately<T>, keys: &[Hashed], seen: &mut [bool]| {
            part.contains_all_at(keys, now, seen);
        };
        self.inner.parts.look_by_parts(keys, seen, look);
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
        self.inner.parts.look(key, |part, key| part.age_at(key, now))
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
        self.inner.parts.each(|part| part.distinct_at(now)).sum()
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
        let now = now.into();
        let mut parts = self.inner.parts.change_each(|part| part.expire_at(now));
        parts.try_fold(true, |done, part| Ok(done & part?))
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
        self.inner.parts.each(Lately::latest).flatten().max()
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
        self.inner.parts.change_each(|part| part.turn_back(now)).for_each(drop);
    }

    /// Every way to insert many at a moment: `change` does so in one part.
    fn change_all_at<K: Key>(
        &self,
        keys: &[K],
        now: impl Into<Time>,
        new: &mut [bool],
        change: impl Fn(&mut Lately<T>, &[Hashed], Time, &mut [bool]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let now = now.into();
        self.inner.parts.try_by_parts(keys, new, |part, keys, new| change(part, keys, now, new))
    }
}
