//! Filters over the last *t*: each call says the moment, or a clock does.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::untimed::{NO_AGES, NOT_DISTINCT};
use super::{Door, Lately, in_batches};
use crate::clock::{Clock, SystemClock};
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
    horizon: Horizon,
    lookout: Lookout,
    /// What the builder was told, which the lookout is made of.
    pub(super) max_ahead: Option<Span>,
    pub(super) clock: Arc<dyn Clock>,
}

/// Says that the moment of a call is read from a clock.
#[derive(Debug, Clone)]
pub struct Clocked(pub(super) Timed);

impl Default for Timed {
    fn default() -> Self {
        let (horizon, clock) = (Horizon::ENDLESS, Arc::new(SystemClock));
        Self { horizon, lookout: Lookout::new(horizon), max_ahead: None, clock }
    }
}

impl Timed {
    /// Looks out as far as the window asks for.
    fn over(mut self, inner: &Untyped) -> Result<Self, Error> {
        let window = inner.promise().window;
        if !matches!(window, Window::Within(_)) {
            return Err(Error::Unsupported {
                operation: "tell moments apart",
                instead: "its window is not by time: open it with `open`",
            });
        }
        self.horizon = Horizon::of(window, self.max_ahead);
        self.lookout = Lookout::with_clock(self.horizon, Arc::clone(&self.clock));
        Ok(self)
    }
}

impl Door for Lately<Timed> {
    type Time = Timed;

    fn enter(inner: Untyped, time: Timed) -> Result<Self, Error> {
        let time = time.over(&inner)?;
        Ok(Self { inner, time })
    }
}

impl Door for Lately<Clocked> {
    type Time = Clocked;

    fn enter(inner: Untyped, Clocked(time): Clocked) -> Result<Self, Error> {
        let time = Clocked(time.over(&inner)?);
        time.0.clock.now().ok_or(Error::Unsupported {
            operation: "know the time",
            instead: "the clock that it was given tells none: tell the moment with `insert_at`",
        })?;
        Ok(Self { inner, time })
    }
}

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

/// A moment at which something is inserted into a window by time.
trait Moments {
    fn timed(&mut self) -> &mut Timed;
}

impl Moments for Timed {
    fn timed(&mut self) -> &mut Timed {
        self
    }
}

impl Moments for Clocked {
    fn timed(&mut self) -> &mut Timed {
        &mut self.0
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
        let now = self.believe(now)?;
        let hash = self.hash(key);
        Ok(self.inner.filter.insert_hash(hash, now))
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
        let now = self.believe(now)?;
        let hash = self.hash(key);
        Ok(self.inner.filter.insert_new_hash(hash, now))
    }

    /// Like [`insert_at`](Self::insert_at), but the key counts until a deadline of its own, if that is
    /// before the end of its window. It is never forgotten before, and reported at most the slack
    /// after. An error if the structure cannot, or the moment is too far ahead.
    ///
    /// ```no_run
    /// use lately::Lately;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let mut tokens = Lately::within(Duration::from_secs(3600)).build()?;
    /// let now = SystemTime::now();
    /// tokens.insert_until("jti 17", now, now + Duration::from_secs(300))?;
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
        let now = self.believe(now)?;
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_hashes(hashes, now, new);
        });
        Ok(())
    }

    /// Whether the key is in the window at a moment. Changes nothing, so any moment will do.
    pub fn contains_at(&self, key: impl Key, now: impl Into<Time>) -> bool {
        self.inner.filter.contains_hash(self.hash(key), now.into())
    }

    /// How long ago the key came, as the least and the most it can be; `None` if it is not in the
    /// window. An error if the structure does not know.
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
    pub fn latest(&self) -> Option<Time> {
        self.inner.filter.clock()
    }

    /// Sets the latest moment back to `now` if it is later: the remedy for a moment that was wrong.
    /// What is in the window stays in it, for one more window at most.
    pub fn turn_back(&mut self, now: impl Into<Time>) {
        self.inner.filter.turn_back(now.into());
        self.time.timed().lookout.forget();
    }

    #[inline]
    fn believe(&mut self, now: impl Into<Time>) -> Result<Time, Error> {
        let now = now.into();
        let filter = &self.inner.filter;
        self.time.timed().lookout.check(now, || filter.clock())?;
        Ok(now)
    }
}

impl Lately<Clocked> {
    /// Records a sighting now, and says whether the key was not in the window. A repeat starts its
    /// window anew.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build()?;
    /// assert!(seen.insert("click 17"));
    /// assert!(!seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert(&mut self, key: impl Key) -> bool {
        let now = self.now();
        let hash = self.hash(key);
        self.inner.filter.insert_hash(hash, now)
    }

    /// Like [`insert`](Self::insert), but a repeat does not start the key's window anew.
    pub fn insert_new(&mut self, key: impl Key) -> bool {
        let now = self.now();
        let hash = self.hash(key);
        self.inner.filter.insert_new_hash(hash, now)
    }

    /// Whether the key is in the window now.
    pub fn contains(&self, key: impl Key) -> bool {
        self.inner.filter.contains_hash(self.hash(key), self.read())
    }

    /// [`insert`](Self::insert) for many, faster: `new[i]` becomes the answer for `keys[i]`.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn insert_all<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        let now = self.now();
        let filter = &mut self.inner.filter;
        in_batches(&self.inner.hashing, keys, new, |hashes, new| {
            filter.insert_hashes(hashes, now, new);
        });
    }

    /// How long ago the key came, as the least and the most it can be; `None` if it is not in the
    /// window. An error if the structure does not know.
    pub fn age(&self, key: impl Key) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.age_at(key, self.read())
    }

    /// About how many different keys are in the window; an error if the structure does not know.
    pub fn distinct(&self) -> Result<f64, Error> {
        self.distinct_at(self.read())
    }

    /// Gives back memory of keys that have left the window, for times in which nothing is inserted: a
    /// little at each call, so that no call takes long. `true` if nothing is left to do.
    pub fn expire(&mut self) -> bool {
        let now = self.now();
        self.expire_at(now).unwrap_or(true)
    }

    /// The moment. A clock that was wrong before and is right again is believed: the filter is set
    /// back to it, as [`turn_back`](Self::turn_back) does.
    fn now(&mut self) -> Time {
        let now = self.read();
        let believed = now.after(self.time.0.horizon.limit());
        if self.latest().is_some_and(|latest| latest > believed) {
            self.turn_back(now);
        }
        now
    }

    /// The moment, or the latest seen if the clock does not know it any more.
    fn read(&self) -> Time {
        let Clocked(time) = &self.time;
        time.clock.now().or_else(|| self.latest()).unwrap_or(Time::ZERO)
    }
}
