//! How far back a shared filter over the last *t* remembers: as far as the part that remembers least.

use core::time::Duration;

use super::Shared;
use crate::lately::timed::Moments;
use crate::lately::{Clocked, Lately};
use crate::window::Time;

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> Shared<T> {
    /// [`Lately::remembers_at`](crate::Lately::remembers_at), of the part that remembers least.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).shortening_at(8_000_000).build_shared()?;
    /// assert_eq!(seen.remembers_at(Time::from_millis(0)), minute);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembers_at(&self, now: impl Into<Time>) -> Duration {
        let now = now.into();
        self.inner.parts.each(|part| part.remembers_at(now)).min().unwrap_or_default()
    }

    /// [`Lately::remembered_least`](crate::Lately::remembered_least), of the part that remembered least.
    ///
    /// ```
    /// use lately::Lately;
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).shortening_at(8_000_000).build_shared()?;
    /// assert_eq!(seen.remembered_least(), minute);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembered_least(&self) -> Duration {
        self.inner.parts.each(Lately::remembered_least).min().unwrap_or_default()
    }
}

impl Shared<Clocked> {
    /// [`Lately::remembers`], of the part that remembers least.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = Lately::within(minute).shortening_at(8_000_000).clock(SystemClock).build_shared()?;
    /// assert_eq!(seen.remembers(), minute);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembers(&self) -> Duration {
        self.inner.parts.each(Lately::remembers).min().unwrap_or_default()
    }
}
