//! Shared filters from snapshots.

use alloc::sync::Arc;

use super::Shared;
use crate::clock::Clock;
use crate::error::Error;
use crate::lately::{Clocked, Timed, Untimed};

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
