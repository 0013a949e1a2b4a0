//! Filters that need no time, shared. How many insertions ago a key came is not known here: each part
//! counts its own.

use super::Shared;
use crate::error::Error;
use crate::key::Key;
use crate::lately::{Lately, Untimed};

impl Shared {
    /// The filter in a snapshot that [`save`](Self::save) made. An error if its window is by time:
    /// that is for [`open_within`](Self::open_within).
    ///
    /// ```
    /// use lately::Shared;
    ///
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(Shared::open(&seen.save())?.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::opened(snapshot, &Untimed)
    }

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
        self.change(key, |part, key| part.insert(key))
    }

    /// [`Lately::insert_new`] by any thread.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// assert!(seen.insert_new("click 17") && !seen.insert_new("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert_new(key))
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
        self.look(key, |part, key| part.contains(key))
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
        self.by_parts(keys, new, |part, keys, new| part.change().insert_all(keys, new));
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
        self.by_parts(keys, new, |part, keys, new| part.change().insert_new_all(keys, new));
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
        self.by_parts(keys, seen, |part, keys, seen| part.look().contains_all(keys, seen));
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
        self.sum(Lately::<Untimed>::distinct)
    }
}

impl<K: Key> Extend<K> for Shared {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}
