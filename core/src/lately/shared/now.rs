//! Filters that need not be told the moment, shared. How many insertions ago a key came is not known here:
//! each part counts its own.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::Shared;
use crate::error::Error;
use crate::key::Key;
use crate::lately::now::Now;
use crate::lately::{Clocked, Lately};

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Now> Shared<T> {
    /// [`Lately::insert`] by any thread: of several that insert one new key at once, exactly one is
    /// told that it is new.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// assert!(seen.insert("click 17") && !seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[inline]
    pub fn insert(&self, key: impl Key) -> bool {
        self.inner.parts.change(key, |part, key| part.insert(key))
    }

    /// [`Lately::insert_new`] by any thread.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// assert!(seen.insert_new("click 17") && !seen.insert_new("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new(&self, key: impl Key) -> bool {
        self.inner.parts.change(key, |part, key| part.insert_new(key))
    }

    /// [`Lately::contains`] by any thread.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(seen.contains("click 17") && !seen.contains("click 18"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.inner.parts.look(key, |part, key| part.contains(key))
    }

    /// [`Lately::insert_all`] by any thread: each part is locked once for all of its keys.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
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
        self.inner.parts.by_parts(keys, new, Lately::insert_all);
    }

    /// [`Lately::insert_new_all`] by any thread: each part is locked once for all of its keys.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
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
        self.inner.parts.by_parts(keys, new, Lately::insert_new_all);
    }

    /// [`Lately::contains_all`] by any thread: each part is locked once for all of its keys.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
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
        self.inner.parts.look_by_parts(keys, seen, Lately::contains_all);
    }

    /// [`Lately::distinct`], of all parts.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1_000_000).structure("sliding").build_shared()?;
    /// seen.extend(["a", "b", "a"]);
    /// assert_eq!(seen.distinct()?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct(&self) -> Result<f64, Error> {
        self.inner.parts.each(Lately::distinct).sum()
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<K: Key, T: Now> Extend<K> for Shared<T> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl Shared<Clocked> {
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
        self.inner.parts.look(key, |part, key| part.age(key))
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
        self.inner.parts.change_each(Lately::expire).fold(true, |done, part| done & part)
    }
}
