//! Filters that need no time: the last *n*, and ever.

use core::ops::RangeInclusive;

use super::now::Now;
use super::{Door, Lately};
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

impl Now for Untimed {
    fn now(&mut self, _: &mut Untyped) -> Time {
        NO_TIME
    }

    fn read(&self, _: &Untyped) -> Time {
        NO_TIME
    }
}

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
