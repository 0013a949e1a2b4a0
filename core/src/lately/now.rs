//! Filters that need not be told the moment: windows without time, and those that read it from a clock.

use super::Lately;
use super::untimed::NOT_DISTINCT;
use crate::dictionary::Repeat;
use crate::error::Error;
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::Time;

/// How the moment of a call is known without being told.
pub(super) trait Now {
    /// The moment of a call that changes the filter.
    fn now(&mut self, filter: &mut Untyped) -> Time;

    /// The moment of a call that does not.
    fn read(&self, filter: &Untyped) -> Time;
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Now> Lately<T> {
    /// Records a sighting, and says whether the key was not in the window, like
    /// [`HashSet::insert`](std::collections::HashSet::insert). A repeat starts its window anew.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(2).build()?;
    /// assert!(seen.insert("a"));
    /// assert!(!seen.insert("a"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[inline]
    pub fn insert(&mut self, key: impl Key) -> bool {
        let now = self.time.now(&mut self.inner);
        self.put(key, now, Repeat::Refresh)
    }

    /// Like [`insert`](Self::insert), but a repeat does not start its window anew: a key passes at
    /// most once per window, however often it is repeated.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
    /// assert!(seen.insert_new("a"));
    /// assert!(!seen.insert_new("a"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[inline]
    pub fn insert_new(&mut self, key: impl Key) -> bool {
        let now = self.time.now(&mut self.inner);
        self.put(key, now, Repeat::Keep)
    }

    /// Whether the key is in the window.
    ///
    /// ```
    /// let mut seen = lately::Lately::ever().build()?;
    /// seen.insert(42);
    /// assert!(seen.contains(42));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.inner.filter.contains_hash(self.hash(key), self.time.read(&self.inner))
    }

    /// [`insert`](Self::insert) for many, faster: `new[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
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
        let now = self.time.now(&mut self.inner);
        self.put_all(keys, now, Repeat::Refresh, new);
    }

    /// [`insert_new`](Self::insert_new) for many, faster: `new[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
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
        let now = self.time.now(&mut self.inner);
        self.put_all(keys, now, Repeat::Keep, new);
    }

    /// [`contains`](Self::contains) for many, faster: `seen[i]` becomes the answer for `keys[i]`.
    ///
    /// ```
    /// let mut filter = lately::Lately::last(1000).build()?;
    /// filter.insert("a");
    /// let mut seen = [false; 2];
    /// filter.contains_all(&["a", "b"], &mut seen);
    /// assert_eq!(seen, [true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn contains_all<K: Key>(&self, keys: &[K], seen: &mut [bool]) {
        self.find_all(keys, self.time.read(&self.inner), seen);
    }

    /// About how many different keys are in the window; an error if the structure does not know.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).structure("sliding").build()?;
    /// seen.extend(["a", "b", "a"]);
    /// assert_eq!(seen.distinct()?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct(&self) -> Result<f64, Error> {
        self.inner.filter.distinct(self.time.read(&self.inner)).ok_or(NOT_DISTINCT)
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<K: Key, T: Now> Extend<K> for Lately<T> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}
