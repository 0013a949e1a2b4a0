//! Counts in the last *t*: each call says the moment.

use super::super::timed::Moments;
use super::super::{Door, Lately, Timed};
use super::{Counter, check_counting};
use crate::error::Error;
use crate::filter::{Admission, Counting};
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::Time;

impl Door for Counter<Timed> {
    type Time = Timed;

    fn enter(inner: Untyped, time: Timed) -> Result<Self, Error> {
        check_counting(&inner)?;
        Ok(Self { seen: Lately::enter(inner, time)? })
    }
}

impl Counter {
    /// The counter over a window by time in a snapshot, of this or an older release. The clock that
    /// moments may be ahead of is that of the machine.
    ///
    /// ```
    /// use lately::{Counter, Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(5_000))?;
    /// let again = Counter::open_within(&clicks.save())?;
    /// assert_eq!(again.count_at("user 17", Time::from_millis(6_000)), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open_within(snapshot: &[u8]) -> Result<Counter<Timed>, Error> {
        Counter::enter(Untyped::open(snapshot)?, Timed::default())
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> Counter<T> {
    /// Records a sighting at a moment, and says how often the key has been seen in the window. An error
    /// if the moment is too far ahead.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// assert_eq!(clicks.add_at("user 17", Time::from_millis(0))?, 1);
    /// assert_eq!(clicks.add_at("user 17", Time::from_millis(59_000))?, 2);
    /// assert_eq!(clicks.add_at("user 17", Time::from_millis(100_000))?, 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add_at(&mut self, key: impl Key, now: impl Into<Time>) -> Result<u64, Error> {
        self.add_times_at(key, 1, now)
    }

    /// Records many sightings at once.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut bytes = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// assert_eq!(bytes.add_times_at("10.0.0.1", 1500, Time::from_millis(0))?, 1500);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add_times_at(
        &mut self,
        key: impl Key,
        times: u64,
        now: impl Into<Time>,
    ) -> Result<u64, Error> {
        self.change_at(key, now, |counting, hash, now| counting.add_hash(hash, times, now))
    }

    /// How often the key was seen in the window at a moment. Changes nothing, so any moment will do.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(0))?;
    /// assert_eq!(clicks.count_at("user 17", Time::from_millis(60_000)), 1);
    /// assert_eq!(clicks.count_at("user 17", Time::from_millis(100_000)), 0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn count_at(&self, key: impl Key, now: impl Into<Time>) -> u64 {
        self.counting().count_hash(self.seen.hash(key), now.into())
    }

    /// The same, right on average: of the oldest sightings, which leave in groups, as many as are in the
    /// window. It may be too low.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(70)).counting().build()?;
    /// clicks.add_times_at("user 17", 100, Time::from_millis(0))?;
    /// let estimate = clicks.estimate_at("user 17", Time::from_millis(74_000));
    /// assert!(estimate < 100.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn estimate_at(&self, key: impl Key, now: impl Into<Time>) -> f64 {
        self.counting().estimate_hash(self.seen.hash(key), now.into())
    }

    /// Counts the key at a moment if it then counts at most `limit`, in one step; otherwise nothing is
    /// counted, so that a flood costs nothing. An error if the moment is too far ahead.
    ///
    /// Never more than the limit pass in a window. A key is denied wrongly with a chance of at most the
    /// error, or because of sightings that are in the slack of the window:
    /// [`surely`](Admission::surely) tells the two apart.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut requests = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// let now = Time::from_millis(0);
    /// assert_eq!(requests.admit_at("user 17", 2, now)?.left, 1);
    /// assert_eq!(requests.admit_at("user 17", 2, now)?.left, 0);
    /// let denied = requests.admit_at("user 17", 2, now)?;
    /// assert!(!denied.allowed && denied.wait.is_some());
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit_at(
        &mut self,
        key: impl Key,
        limit: u64,
        now: impl Into<Time>,
    ) -> Result<Admission, Error> {
        self.admit_times_at(key, 1, limit, now)
    }

    /// The same for many sightings at once: all of them, or none.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut bytes = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// assert!(bytes.admit_times_at("10.0.0.1", 1500, 2000, Time::from_millis(0))?.allowed);
    /// assert!(!bytes.admit_times_at("10.0.0.1", 1500, 2000, Time::from_millis(0))?.allowed);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn admit_times_at(
        &mut self,
        key: impl Key,
        times: u64,
        limit: u64,
        now: impl Into<Time>,
    ) -> Result<Admission, Error> {
        self.change_at(key, now, |counting, hash, now| counting.admit_hash(hash, times, limit, now))
    }

    /// Takes back `times` sightings of a key that was seen so often in the window, and says how often it
    /// still counts. Later it never counts less than if the latest had been taken back.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut carts = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// carts.add_times_at("apples", 3, Time::from_millis(0))?;
    /// assert_eq!(carts.take_back_at("apples", 1, Time::from_millis(5))?, 2);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn take_back_at(
        &mut self,
        key: impl Key,
        times: u64,
        now: impl Into<Time>,
    ) -> Result<u64, Error> {
        self.change_at(key, now, |counting, hash, now| counting.take_back_hash(hash, times, now))?
    }

    /// About how many different keys are in the window at a moment; an error if the structure does not
    /// know.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_times_at("user 17", 3, Time::from_millis(0))?;
    /// assert_eq!(clicks.distinct_at(Time::from_millis(0))?.round(), 1.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn distinct_at(&self, now: impl Into<Time>) -> Result<f64, Error> {
        self.seen.distinct_at(now)
    }

    /// Gives back memory of keys that have left the window by a moment, for times in which nothing is
    /// counted: a little at each call, so that no call takes long. `true` if nothing is left to do.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(0))?;
    /// while !clicks.expire_at(Time::from_millis(200_000))? {}
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire_at(&mut self, now: impl Into<Time>) -> Result<bool, Error> {
        self.seen.expire_at(now)
    }

    /// The latest moment that anything was counted at, if there was one.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut clicks = Lately::within(Duration::from_secs(60)).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(5))?;
    /// assert_eq!(clicks.latest(), Some(Time::from_millis(5)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn latest(&self) -> Option<Time> {
        self.seen.latest()
    }

    /// Sets the latest moment back to `now` if it is later: the remedy for a moment that was wrong.
    /// What is in the window stays in it, for one more window at most.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut clicks = Lately::within(minute).max_ahead(Duration::MAX).counting().build()?;
    /// clicks.add_at("user 17", Time::from_millis(99_999_999))?;
    /// clicks.turn_back(Time::from_millis(5_000));
    /// assert_eq!(clicks.count_at("user 17", Time::from_millis(5_000)), 1);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn turn_back(&mut self, now: impl Into<Time>) {
        self.seen.turn_back(now);
    }

    /// Every way to change a count: with the hash of its key, at a moment that is believed.
    #[inline]
    fn change_at<R>(
        &mut self,
        key: impl Key,
        now: impl Into<Time>,
        change: impl FnOnce(&mut dyn Counting, u64, Time) -> R,
    ) -> Result<R, Error> {
        let now = self.seen.believe(now)?;
        let hash = self.seen.hash(key);
        Ok(change(self.counting_mut(), hash, now))
    }
}
