//! How far back a filter over the last *t* remembers, which may be less while more comes than fits.

use core::time::Duration;

use super::Lately;
use super::clocked::Clocked;
use super::now::Now;
use super::timed::Moments;
use crate::window::{Reach, Span, Time, Window};

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> Lately<T> {
    /// How far back it remembers at a moment: what was seen less than this ago is reported for sure. That is the
    /// window, but for a filter that is [shortening](super::Builder::shortening_at) it.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let seen = Lately::within(hour).build()?;
    /// assert_eq!(seen.remembers_at(Time::from_millis(0)), hour);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembers_at(&self, now: impl Into<Time>) -> Duration {
        self.reach_at(now.into()).now.into()
    }

    /// The least that [`remembers_at`](Self::remembers_at) ever was.
    ///
    /// ```
    /// use lately::Lately;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// assert_eq!(Lately::within(hour).build()?.remembered_least(), hour);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembered_least(&self) -> Duration {
        self.reach_at(Time::ZERO).least.into()
    }

    fn reach_at(&self, now: Time) -> Reach {
        let whole = match self.inner.promise().window {
            Window::Within(span) => span,
            Window::Last(_) | Window::Ever => Span::LONGEST,
        };
        self.inner.filter.reach(now).unwrap_or(Reach { now: whole, least: whole })
    }
}

impl Lately<Clocked> {
    /// [`remembers_at`](Self::remembers_at) this moment.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let mut seen = Lately::within(hour).shortening_at(100_000).clock(SystemClock).build()?;
    /// (0..100_000_u64).for_each(|key| _ = seen.insert(key));
    /// assert!(seen.remembers() < hour);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn remembers(&self) -> Duration {
        self.remembers_at(self.time.read(&self.inner))
    }
}
