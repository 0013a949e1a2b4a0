//! Filters over the last *t*, shared, that read the moment from a clock.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::Shared;
use crate::error::Error;
use crate::key::Key;
use crate::lately::{Clocked, Lately};

impl Shared<Clocked> {
    /// [`Lately::insert`] by any thread, now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// assert!(seen.insert("click 17") && !seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert(key))
    }

    /// [`Lately::insert_new`] by any thread, now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// assert!(seen.insert_new("click 17") && !seen.insert_new("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert_new(key))
    }

    /// [`Lately::contains`] by any thread, now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(seen.contains("click 17") && !seen.contains("click 18"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn contains(&self, key: impl Key) -> bool {
        self.look(key, |part, key| part.contains(key))
    }

    /// [`Lately::insert_all`] by any thread, now: each part is locked once for all of its keys.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// let mut new = [false; 3];
    /// seen.insert_all(&["a", "b", "a"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_all<K: Key>(&self, keys: &[K], new: &mut [bool]) {
        self.by_parts(keys, new, |part, keys, new| part.change().insert_all(keys, new));
    }

    /// [`Lately::insert_new_all`] by any thread, now: each part is locked once for all of its keys.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// let mut new = [false; 3];
    /// seen.insert_new_all(&["a", "b", "a"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_new_all<K: Key>(&self, keys: &[K], new: &mut [bool]) {
        self.by_parts(keys, new, |part, keys, new| part.change().insert_new_all(keys, new));
    }

    /// [`Lately::contains_all`] by any thread, now: each part is locked once for all of its keys.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// seen.insert("a");
    /// let mut found = [false; 2];
    /// seen.contains_all(&["a", "b"], &mut found);
    /// assert_eq!(found, [true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn contains_all<K: Key>(&self, keys: &[K], seen: &mut [bool]) {
        self.by_parts(keys, seen, |part, keys, seen| part.look().contains_all(keys, seen));
    }

    /// [`Lately::age`] by any thread, now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(*seen.age("click 17")?.unwrap().start() < minute);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn age(&self, key: impl Key) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.look(key, |part, key| part.age(key))
    }

    /// [`Lately::distinct`], of all parts.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// seen.insert_all(&["a", "b", "a"], &mut [false; 3]);
    /// assert_eq!(seen.distinct()?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct(&self) -> Result<f64, Error> {
        self.sum(Lately::<Clocked>::distinct)
    }

    /// [`Lately::expire`], of all parts, one after the other.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).clock(SystemClock).build_shared()?;
    /// seen.insert("click 17");
    /// while !seen.expire() {}
    /// assert!(seen.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire(&self) -> bool {
        let mut done = true;
        for part in &self.inner.parts {
            done &= part.change().expire();
        }
        done
    }
}

impl<K: Key> Extend<K> for Shared<Clocked> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}
