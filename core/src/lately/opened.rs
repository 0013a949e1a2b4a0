//! Filters over the last *t* from snapshots, which hold neither a clock nor how far ahead of it a moment
//! is believed.

use alloc::sync::Arc;
use core::time::Duration;

use super::{Clocked, Door, Lately, Timed};
use crate::clock::Clock;
use crate::error::Error;
use crate::untyped::Untyped;

impl Lately {
    /// The filter over a window by time in a snapshot, of this or an older release. The clock that
    /// moments may be ahead of is that of the machine.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_at("click 17", Time::from_millis(5_000))?;
    /// let again = Lately::open_within(&seen.save())?;
    /// assert!(again.contains_at("click 17", Time::from_millis(6_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open_within(snapshot: &[u8]) -> Result<Lately<Timed>, Error> {
        Lately::enter(Untyped::open(snapshot)?, Timed::default())
    }
}

impl Lately<Timed> {
    /// The same with another limit to how far ahead a moment is believed, and another clock that it
    /// may be ahead of: for filters that were [opened](Lately::open_within), since both are no part
    /// of a snapshot.
    ///
    /// ```
    /// use lately::{Lately, NoClock, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// let minute = Duration::from_secs(60);
    /// let mut again = Lately::open_within(&seen.save())?.believing(minute, NoClock);
    /// assert!(again.insert_at("b", Time::from_millis(200_000)).is_err());
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn believing(self, max_ahead: Duration, clock: impl Clock + 'static) -> Self {
        let time = Timed { max_ahead: Some(max_ahead.into()), clock: Arc::new(clock), ..self.time };
        let time = time.over(&self.inner).expect("its window is by time already");
        Self { time, ..self }
    }

    /// The same with a clock that says when something is inserted. An error if that knows no time.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// seen.insert("click 17");
    /// let again = Lately::open_within(&seen.save())?.with_clock(SystemClock)?;
    /// assert!(again.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn with_clock(self, clock: impl Clock + 'static) -> Result<Lately<Clocked>, Error> {
        let time = Timed { clock: Arc::new(clock), ..self.time };
        Lately::enter(self.inner, Clocked(time))
    }
}
