//! Filters over the last *t*: each call says the moment.

use alloc::sync::Arc;
use core::ops::RangeInclusive;
use core::time::Duration;

use super::untimed::{NO_AGES, NOT_DISTINCT};
use super::{Door, Lately};
use crate::clock::{Clock, SystemClock};
use crate::dictionary::Repeat;
use crate::error::Error;
use crate::filter::Age;
use crate::horizon::{Horizon, Lookout};
use crate::key::Key;
use crate::untyped::Untyped;
use crate::window::{Span, Time, Window};

/// Says that each call tells the moment.
///
/// A moment is a [`SystemTime`](std::time::SystemTime) or a [`Time`] of the caller's own counting.
/// One before the latest counts as the latest. One that is further ahead of the clock than
/// [`max_ahead`](super::Builder::max_ahead) is refused and changes nothing, lest a single wrong one
/// spoil the window.
#[derive(Debug, Clone)]
pub struct Timed {
    pub(super) horizon: Horizon,
    pub(super) lookout: Lookout,
    /// No moment that the filter was told is later.
    pub(super) latest: Time,
    /// What the builder was told, which the lookout is made of.
    pub(super) max_ahead: Option<Span>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Default for Timed {
    fn default() -> Self {
        let (horizon, clock) = (Horizon::ENDLESS, Arc::new(SystemClock));
        Self { horizon, lookout: Lookout::new(horizon), latest: Time::ZERO, max_ahead: None, clock }
    }
}

impl Timed {
    /// Looks out as far as the window asks for.
    pub(super) fn over(mut self, inner: &Untyped) -> Result<Self, Error> {
        let window = inner.promise().window;
        if !matches!(window, Window::Within(_)) {
            return Err(Error::Unsupported {
                operation: "tell moments apart",
                instead: "its window is not by time: open it with `open`",
            });
        }
        self.horizon = Horizon::of(window, self.max_ahead);
        self.latest = inner.filter.clock().unwrap_or(Time::ZERO);
        self.lookout = Lookout::with_clock(self.horizon, Arc::clone(&self.clock));
        Ok(self)
    }

    /// The moment, if it is believed.
    #[inline]
    pub(super) fn believe(&mut self, inner: &Untyped, now: Time) -> Result<Time, Error> {
        self.lookout.check(now, || inner.filter.clock())?;
        self.latest = self.latest.max(now);
        Ok(now)
    }

    /// Sets the latest moment back to `now` if it is later.
    pub(super) fn turn_back(&mut self, inner: &mut Untyped, now: Time) {
        inner.filter.turn_back(now);
        self.latest = self.latest.min(now);
        self.lookout.forget();
    }
}

impl Door for Lately<Timed> {
    type Time = Timed;

    fn enter(inner: Untyped, time: Timed) -> Result<Self, Error> {
        let time = time.over(&inner)?;
        Ok(Self { inner, time })
    }
}

/// Both ways to know the moment: told by the call, and read from a clock.
pub(super) trait Moments {
    fn timed(&mut self) -> &mut Timed;
}

impl Moments for Timed {
    fn timed(&mut self) -> &mut Timed {
        self
    }
}

#[allow(private_bounds, reason = "both kinds of time are listed; nobody can add a third")]
impl<T: Moments> Lately<T> {
    /// Records a sighting at a moment, and says whether the key was not in the window. A repeat
    /// starts its window anew. An error if the moment is too far ahead.
    ///
    /// ```
    /// use lately::{Error, Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(600)).build()?;
    /// assert!(seen.insert_at("click 17", Time::from_millis(1_700_000_000_000))?);
    /// // Microseconds by mistake.
    /// let wrong = seen.insert_at("click 18", Time::from_millis(1_700_000_000_000_000));
    /// assert!(matches!(wrong, Err(Error::TooFarAhead { .. })));
    /// assert!(!seen.insert_at("click 17", Time::from_millis(1_700_000_000_001))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_at(&mut self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.put_at(key, now, Repeat::Refresh)
    }

    /// Like [`insert_at`](Self::insert_at), but a repeat does not start the key's window anew.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// assert!(seen.insert_new_at("a", Time::from_millis(0))?);
    /// assert!(!seen.insert_new_at("a", Time::from_millis(59_000))?);
    /// assert!(seen.insert_new_at("a", Time::from_millis(80_000))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_new_at(&mut self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.put_at(key, now, Repeat::Keep)
    }

    /// Like [`insert_at`](Self::insert_at), but the key counts until a deadline of its own, if that is
    /// before the end of its window. It is never forgotten before, and reported at most the slack
    /// after. An error if the structure cannot, or the moment is too far ahead.
    ///
    /// ```
    /// use lately::Lately;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let mut tokens = Lately::within(Duration::from_secs(3600)).build()?;
    /// let now = SystemTime::now();
    /// let expiry = now + Duration::from_secs(300);
    /// assert!(tokens.insert_until("jti 17", now, expiry)?);
    /// assert!(tokens.contains_at("jti 17", expiry));
    /// assert!(!tokens.contains_at("jti 17", now + Duration::from_secs(3599)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_until(
        &mut self,
        key: impl Key,
        now: impl Into<Time>,
        deadline: impl Into<Time>,
    ) -> Result<bool, Error> {
        let now = self.believe(now)?;
        let hash = self.hash(key);
        let deadlines = self.inner.filter.as_deadlines().ok_or(Error::Unsupported {
            operation: "let keys leave before their window ends",
            instead: "make a filter for each length of life",
        })?;
        Ok(deadlines.insert_until_hash(hash, now, deadline.into()))
    }

    /// [`insert_at`](Self::insert_at) for many at one moment, faster: `new[i]` becomes the answer for
    /// `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// let mut new = [false; 3];
    /// seen.insert_all_at(&["a", "b", "a"], Time::from_millis(0), &mut new)?;
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_all_at<K: Key>(
        &mut self,
        keys: &[K],
        now: impl Into<Time>,
        new: &mut [bool],
    ) -> Result<(), Error> {
        self.put_all_at(keys, now, Repeat::Refresh, new)
    }

    /// [`insert_new_at`](Self::insert_new_at) for many at one moment, faster: `new[i]` becomes the
    /// answer for `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// let mut new = [false; 3];
    /// seen.insert_new_all_at(&["a", "b", "a"], Time::from_millis(0), &mut new)?;
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_new_all_at<K: Key>(
        &mut self,
        keys: &[K],
        now: impl Into<Time>,
        new: &mut [bool],
    ) -> Result<(), Error> {
        self.put_all_at(keys, now, Repeat::Keep, new)
    }

    /// Whether the key is in the window at a moment. Changes nothing, so any moment will do.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// assert!(seen.contains_at("a", Time::from_millis(60_000)));
    /// assert!(!seen.contains_at("a", Time::from_millis(120_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn contains_at(&self, key: impl Key, now: impl Into<Time>) -> bool {
        self.inner.filter.contains_hash(self.hash(key), now.into())
    }

    /// [`contains_at`](Self::contains_at) for many at one moment, faster: `seen[i]` becomes the answer
    /// for `keys[i]`.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut filter = Lately::within(Duration::from_secs(60)).build()?;
    /// filter.insert_at("a", Time::from_millis(0))?;
    /// let mut seen = [false; 2];
    /// filter.contains_all_at(&["a", "b"], Time::from_millis(0), &mut seen);
    /// assert_eq!(seen, [true, false]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn contains_all_at<K: Key>(&self, keys: &[K], now: impl Into<Time>, seen: &mut [bool]) {
        self.find_all(keys, now.into(), seen);
    }

    /// How long ago the key came, as the least and the most it can be; `None` if it is not in the
    /// window. An error if the structure does not know.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// let age = seen.age_at("a", Time::from_millis(30_000))?.unwrap();
    /// assert!(age.contains(&Duration::from_secs(30)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn age_at(
        &self,
        key: impl Key,
        now: impl Into<Time>,
    ) -> Result<Option<RangeInclusive<Duration>>, Error> {
        let aging = self.inner.filter.aging().ok_or(NO_AGES)?;
        Ok(match aging.age_hash(self.hash(key), now.into()) {
            Some(Age::Time(age)) => Some((*age.start()).into()..=(*age.end()).into()),
            Some(Age::Items(_)) | None => None,
        })
    }

    /// About how many different keys are in the window at a moment; an error if the structure does
    /// not know.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_all_at(&["a", "b", "a"], Time::from_millis(0), &mut [false; 3])?;
    /// assert_eq!(seen.distinct_at(Time::from_millis(0))?.round(), 2.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "len")]
    pub fn distinct_at(&self, now: impl Into<Time>) -> Result<f64, Error> {
        self.inner.filter.distinct(now.into()).ok_or(NOT_DISTINCT)
    }

    /// Gives back memory of keys that have left the window by a moment, for times in which nothing is
    /// inserted: a little at each call, so that no call takes long. `true` if nothing is left to do.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// seen.insert_at("a", Time::from_millis(0))?;
    /// while !seen.expire_at(Time::from_millis(200_000))? {}
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expire_at(&mut self, now: impl Into<Time>) -> Result<bool, Error> {
        const STEPS: usize = 16;
        let now = self.believe(now)?;
        Ok(self.inner.filter.expire(now, STEPS))
    }

    /// The latest moment of any insertion, if there was one.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// assert_eq!(seen.latest(), None);
    /// seen.insert_at("a", Time::from_millis(5))?;
    /// assert_eq!(seen.latest(), Some(Time::from_millis(5)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn latest(&self) -> Option<Time> {
        self.inner.filter.clock()
    }

    /// Sets the latest moment back to `now` if it is later: the remedy for a moment that was wrong.
    /// What is in the window stays in it, for one more window at most.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).max_ahead(Duration::MAX).build()?;
    /// seen.insert_at("a", Time::from_millis(99_999_999))?;
    /// seen.turn_back(Time::from_millis(5_000));
    /// assert_eq!(seen.latest(), Some(Time::from_millis(5_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn turn_back(&mut self, now: impl Into<Time>) {
        self.time.timed().turn_back(&mut self.inner, now.into());
    }

    /// Every way to insert a key at a moment.
    #[inline(always)]
    fn put_at(
        &mut self,
        key: impl Key,
        now: impl Into<Time>,
        repeat: Repeat,
    ) -> Result<bool, Error> {
        let now = self.believe(now)?;
        Ok(self.put(key, now, repeat))
    }

    /// Every way to insert many.
    fn put_all_at<K: Key>(
        &mut self,
        keys: &[K],
        now: impl Into<Time>,
        repeat: Repeat,
        new: &mut [bool],
    ) -> Result<(), Error> {
        let now = self.believe(now)?;
        self.put_all(keys, now, repeat, new);
        Ok(())
    }

    /// The moment, if it is believed.
    #[inline]
    pub(super) fn believe(&mut self, now: impl Into<Time>) -> Result<Time, Error> {
        self.time.timed().believe(&self.inner, now.into())
    }
}
