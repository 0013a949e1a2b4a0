//! What is wanted of a window by time: how late, how far ahead, and by whose clock.

use alloc::sync::Arc;
use core::time::Duration;

use super::super::{Clocked, Counter, Lately, Timed};
use super::Builder;
use crate::clock::Clock;
use crate::memory::Memory;
use crate::window::Slack;

impl Builder<Lately<Timed>> {
    /// It must answer how often, not only whether.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(0))?;
    /// assert_eq!(clicks.add_at("user 17", Time::from_millis(30_000))?, 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting(self) -> Builder<Counter<Timed>> {
        self.for_counting()
    }

    /// At most so much longer than the window may a key be reported.
    ///
    /// ```
    /// use lately::{Lately, Slack};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let hour = Lately::within(60 * minute).slack(6 * minute).build()?;
    /// assert!(matches!(hour.promise().slack, Slack::Time(slack) if slack <= (6 * minute).into()));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn slack(mut self, span: Duration) -> Self {
        self.goal.slack = Slack::Time(span.into());
        self
    }

    /// At most this many bytes at the error that is asked for, whatever comes: when more comes than fits, the window
    /// becomes shorter, and [`remembers_at`](Lately::remembers_at) tells how short. When less comes, it grows back.
    /// Where nothing may be forgotten and the error may rise instead, say [`memory`](Self::memory).
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let mut seen = Lately::within(hour).error(0.001).shortening_at(100_000).build()?;
    /// let now = Time::from_millis(1_700_000_000_000);
    /// (0..10_000_u64).try_for_each(|key| seen.insert_at(key, now).map(drop))?;
    /// assert_eq!(seen.remembers_at(now), hour);
    /// // In the next minute far more come than 100 kB hold.
    /// let minute = |second: u64| Time::from_millis(now.millis() + 1000 * second);
    /// for key in 10_000..200_000_u64 {
    ///     seen.insert_at(key, minute(key * 60 / 200_000))?;
    /// }
    /// assert!(seen.remembers_at(minute(60)) < Duration::from_secs(20));
    /// assert!(seen.heap_bytes() <= 104_096);
    /// // An hour later it remembers an hour again.
    /// assert_eq!(seen.remembers_at(minute(60 + 3600)), hour);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn shortening_at(mut self, bytes: u64) -> Self {
        self.goal.shortening = Some(Memory::from_bytes(bytes));
        self
    }

    /// So far ahead of the clock of the machine may a moment be; one that is further is refused, lest
    /// a single wrong moment spoil the window. Without it, as far as the window reaches back, or an
    /// hour if that is more; [`Duration::MAX`] believes everything.
    ///
    /// ```
    /// use lately::Lately;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut seen = Lately::within(minute).max_ahead(minute).build()?;
    /// assert!(seen.insert_at("a", SystemTime::now() + 3 * minute).is_err());
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn max_ahead(mut self, span: Duration) -> Self {
        self.time.max_ahead = Some(span.into());
        self
    }

    /// The clock that moments may be ahead of, in place of that of the machine. With
    /// [`NoClock`](crate::NoClock) the latest moment seen counts instead: then answers are the same on
    /// every machine, but the first moment is believed, and a gap longer than `max_ahead` is not.
    ///
    /// ```
    /// use lately::{Lately, NoClock, Time};
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let mut seen = Lately::within(hour).checked_by(NoClock).build()?;
    /// assert!(seen.insert_at("a", Time::from_millis(u64::MAX / 2))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn checked_by(mut self, clock: impl Clock + 'static) -> Self {
        self.time.clock = Arc::new(clock);
        self
    }

    /// The clock that says when something is inserted: calls need not tell the moment then.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// assert!(seen.insert("click 17") && !seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn clock(self, clock: impl Clock + 'static) -> Builder<Lately<Clocked>> {
        let Self { goal, hashing, row, time, parts, refused } = self.checked_by(clock);
        Builder { goal, hashing, row, time: Clocked(time), parts, refused }
    }
}

impl Builder<Counter<Timed>> {
    /// The clock that says when something is counted: calls need not tell the moment then.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut clicks = Lately::within(minute).counting().clock(SystemClock).build()?;
    /// assert_eq!((clicks.add("user 17"), clicks.add("user 17")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn clock(self, clock: impl Clock + 'static) -> Builder<Counter<Clocked>> {
        let Self { goal, hashing, row, time, parts, refused } = self;
        let time = Clocked(Timed { clock: Arc::new(clock), ..time });
        Builder { goal, hashing, row, time, parts, refused }
    }
}
