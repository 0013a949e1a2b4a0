//! Filters that need no time: the last *n*, and ever.

use core::ops::RangeInclusive;

use super::{Door, Lately, in_batches};
use crate::error::Error;
use crate::filter::Age;
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::{Time, Window};

/// Says that a filter needs no time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untimed;

/// What structures are told that count items and ignore time.
pub(super) const NO_TIME: Time = Time::ZERO;

impl Door for Lately {
    type Time = Untimed;

    fn enter(inner: Untyped, time: Untimed) -> Result<Self, Error> {
        match inner.promise().window {
            Window::Within(_) => Err(Error::Unsupported {
                operation: "answer without a moment",
                instead: "its window is by time: open it with `open_within`",
            }),
            Window::Last(_) | Window::Ever => Ok(Self { inner, time }),
        }
    }
}

impl Lately {
    /// The filter in a snapshot that [`save`](Self::save) made, in this or an older release. An error
    /// if its window is by time: that is for [`open_within`](Self::open_within).
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let mut seen = Lately::last(1000).build()?;
    /// seen.insert("click 17");
    /// assert!(Lately::open(&seen.save())?.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::enter(Untyped::open(snapshot)?, Untimed)
    }

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
        let hash = self.hash(key);
        self.inner.filter.insert_hash(hash, NO_TIME)
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
        let hash = self.hash(key);
        self.inner.filter.insert_new_hash(hash, NO_TIME)
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
        self.inner.filter.contains_hash(self.hash(key), NO_TIME)
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
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_hashes(hashes, NO_TIME, new);
        });
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
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_new_hashes(hashes, NO_TIME, new);
        });
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
        let filter = &self.inner.filter;
        in_batches(&self.inner.hashing, keys, seen, |hashes, seen| {
            filter.contains_hashes(hashes, NO_TIME, seen);
        });
    }

    /// How many insertions ago the key came, as the least and the most it can be, zero for the last
    /// one; `None` if it is not in the window. An error if the structure does not know.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).structure("sliding").build()?;
    /// seen.insert("a");
    /// seen.insert("b");
    /// assert!(seen.age("a")?.unwrap().contains(&1));
    /// assert_eq!(seen.age("c")?, None);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn age(&self, key: impl Key) -> Result<Option<RangeInclusive<u64>>, Error> {
        let aging = self.inner.filter.aging().ok_or(NO_AGES)?;
        Ok(match aging.age_hash(self.hash(key), NO_TIME) {
            Some(Age::Items(age)) => Some(age),
            Some(Age::Time(_)) | None => None,
        })
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
        self.inner.filter.distinct(NO_TIME).ok_or(NOT_DISTINCT)
    }
}

/// What is said when a filter that knows no ages is asked for one.
pub(super) const NO_AGES: Error = Error::Unsupported {
    operation: "say how long ago",
    instead: "choose the structure `sliding` for windows by count",
};

/// What is said when a filter does not know how many keys it holds.
pub(super) const NOT_DISTINCT: Error = Error::Unsupported {
    operation: "say how many different keys it holds",
    instead: "choose the structure `sliding` for windows by count, or `growing` for ever",
};

impl<K: Key> Extend<K> for Lately {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

/// All keys, ever: the filter that [`Lately::ever`] builds, with its default error.
///
/// ```
/// let seen: lately::Lately = ["a", "b"].into_iter().collect();
/// assert!(seen.contains("a") && !seen.contains("c"));
/// ```
impl<K: Key> FromIterator<K> for Lately {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let keys = keys.into_iter();
        // A few kilobytes, which grow with what comes.
        let mut seen = Lately::ever().build().expect("what grows begins small");
        seen.extend(keys);
        seen
    }
}
