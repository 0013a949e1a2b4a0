//! Filters over the last *t* that read the moment from a clock.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::now::Now;
use super::timed::{Moments, Timed};
use super::{Door, Lately};
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

impl Now for Clocked {
    /// A clock that was wrong before and is right again is believed: the filter is set back to it, as
    /// [`turn_back`](Lately::turn_back) does.
    #[inline]
    fn now(&mut self, filter: &mut Untyped) -> Time {
        let now = self.read(filter);
        let Self(time) = self;
        // The filter itself is not asked: that would be a call for each key.
        if time.latest > now.after(time.horizon.limit()) {
            time.turn_back(filter, now);
        } else {
            time.latest = time.latest.max(now);
        }
        now
    }

    /// The moment, or the latest seen if the clock does not know it any more.
    #[inline]
    fn read(&self, filter: &Untyped) -> Time {
        self.0.clock.now().or_else(|| filter.filter.clock()).unwrap_or(Time::ZERO)
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
}

impl Lately<Clocked> {
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
        self.age_at(key, self.time.read(&self.inner))
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
        let now = self.time.now(&mut self.inner);
        self.expire_at(now).unwrap_or(true)
    }
}
