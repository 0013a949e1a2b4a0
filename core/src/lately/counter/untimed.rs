//! Counts that need no time: ever, and in the last *n*.

use super::super::{Door, Lately, Untimed};
use super::{Counter, check_counting};
use crate::error::Error;
use crate::untyped::Untyped;
use crate::window::Window;

impl Door for Counter {
    type Time = Untimed;

    fn enter(inner: Untyped, time: Untimed) -> Result<Self, Error> {
        check_counting(&inner)?;
        match inner.promise().window {
            Window::Within(_) => Err(Error::Unsupported {
                operation: "count without a moment",
                instead: "its window is by time: open it with `open_within`",
            }),
            Window::Last(_) | Window::Ever => Ok(Self { seen: Lately { inner, time } }),
        }
    }
}

impl Counter {
    /// The counter in a snapshot of this or an older release.
    ///
    /// ```
    /// use lately::{Counter, Lately};
    ///
    /// let mut words = Lately::ever().counting().expected_items(1000).build()?;
    /// words.add("to");
    /// assert_eq!(Counter::open(&words.save())?.count("to"), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::from_untyped(Untyped::open(snapshot)?)
    }

    /// The counter that a filter is; an error if it does not count.
    ///
    /// ```
    /// use lately::{Counter, Lately};
    ///
    /// let words = Lately::last(9).counting().build()?.into_untyped();
    /// assert!(Counter::from_untyped(words).is_ok());
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn from_untyped(inner: Untyped) -> Result<Self, Error> {
        Self::enter(inner, Untimed)
    }
}
