//! Filters over the last *t* that read the moment from a clock.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::timed::{Moments, Timed};
use super::{Door, Lately, in_batches};
use crate::error::Error;
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::Time;

/// Says that the moment of a call is read from a clock.
#[derive(Debug, Clone)]
pub struct Clocked(pub(super) Timed);

impl Moments for Clocked {
    fn timed(&mut self) -> &mut Timed {
        &mut self.0
    }
}

impl Door for Lately<Clocked> {
    type Time = Clocked;

    fn enter(inner: Untyped, Clocked(time): Clocked) -> Result<Self, Error> {
        let time = Clocked(time).over(&inner)?;
        Ok(Self { inner, time })
    }
}

impl Clocked {
    /// Looks out as far as the window asks for, with a clock that tells the time.
    pub(super) fn over(self, inner: &Untyped) -> Result<Self, Error> {
        let time = self.0.over(inner)?;
        time.clock.now().ok_or(Error::Unsupported {
            operation: "know the time",
            instead: "the clock that it was given tells none: tell the moment with each call",
        })?;
        Ok(Self(time))
    }

    /// Notes the moment, and says whether it is so long before the latest that the clock was wrong then.
    pub(super) fn is_set_back(&mut self, now: Time) -> bool {
        let Self(time) = self;
        // The filter itself is not asked: that would be a call for each key.
        let back = time.latest > now.after(time.horizon.limit());
        time.latest = if back { time.latest } else { time.latest.max(now) };
        back
    }

    /// The moment, or the latest seen if the clock does not know it any more.
    pub(super) fn read(&self, inner: &Untyped) -> Time {
        self.0.clock.now().or_else(|| inner.filter.clock()).unwrap_or(Time::ZERO)
    }
}

impl Lately<Clocked> {
    /// Records a sighting now, and says whether the key was not in the window. A repeat starts its
    /// window anew.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// assert!(seen.insert("click 17"));
    /// assert!(!seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert(&mut self, key: impl Key) -> bool {
        let now = self.now();
        let hash = self.hash(key);
        self.inner.filter.insert_hash(hash, now)
    }

    /// Like [`insert`](Self::insert), but a repeat does not start the key's window anew.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// assert!(seen.insert_new("click 17"));
    /// assert!(!seen.insert_new("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new(&mut self, key: impl Key) -> bool {
        let now = self.now();
        let hash = self.hash(key);
        self.inner.filter.insert_new_hash(hash, now)
    }

    /// Whether the key is in the window now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// seen.insert("click 17");
    /// assert!(seen.contains("click 17") && !seen.contains("click 18"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn contains(&self, key: impl Key) -> bool {
        self.inner.filter.contains_hash(self.hash(key), self.read())
    }

    /// [`insert`](Self::insert) for many, faster: `new[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// let mut new = [false; 3];
    /// seen.insert_all(&["a", "b", "a"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_all<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        let now = self.now();
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_hashes(hashes, now, new);
        });
    }

    /// [`insert_new`](Self::insert_new) for many, faster: `new[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// let mut new = [false; 3];
    /// seen.insert_new_all(&["a", "b", "a"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_new_all<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        let now = self.now();
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_new_hashes(hashes, now, new);
        });
    }

    /// [`contains`](Self::contains) for many, faster: `seen[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
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
        self.contains_all_at(keys, self.read(), seen);
    }

    /// How long ago the key came, as the least and the most it can be; `None` if it is not in the
    /// window. An error if the structure does not know.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// seen.insert("click 17");
    /// assert!(*seen.age("click 17")?.unwrap().start() < Duration::from_secs(60));
    /// assert_eq!(seen.age("click 18")?, None);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn age(&self, key: impl Key) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.age_at(key, self.read())
    }

    /// About how many different keys are in the window; an error if the structure does not know.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// seen.extend(["a", "b", "a"]);
    /// assert_eq!(seen.distinct()?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct(&self) -> Result<f64, Error> {
        self.distinct_at(self.read())
    }

    /// Gives back memory of keys that have left the window, for times in which nothing is inserted: a
    /// little at each call, so that no call takes long. `true` if nothing is left to do.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// seen.insert("click 17");
    /// while !seen.expire() {}
    /// assert!(seen.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire(&mut self) -> bool {
        let now = self.now();
        self.expire_at(now).unwrap_or(true)
    }

    /// The moment. A clock that was wrong before and is right again is believed: the filter is set
    /// back to it, as [`turn_back`](Self::turn_back) does.
    fn now(&mut self) -> Time {
        let now = self.read();
        if self.time.is_set_back(now) {
            self.turn_back(now);
        }
        now
    }

    fn read(&self) -> Time {
        self.time.read(&self.inner)
    }
}

impl<K: Key> Extend<K> for Lately<Clocked> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}
