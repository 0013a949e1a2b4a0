//! A counter that lists the keys that came most often: ever, in the last *n*, or in the last *t*.
//!
//! A [`Top`] counts in a [`Counter`] and holds the keys that lead now or will when others have left
//! ([`TopKeys`]), so its list is right at every moment, also after keys left, and takes no more memory than
//! that. Keys are bytes, because they are told.

use alloc::vec::Vec;

use super::top_keys::TopKeys;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::lately::{Clocked, Counter, Door, Timed, Untimed};
use crate::untyped::Untyped;
use crate::window::Time;

/// A counter, and the keys that came most often.
///
/// ```
/// use lately::Lately;
/// use lately::queries::Top;
///
/// let mut views = Lately::last(1000).counting().build_top(2)?;
/// for page in ["/", "/about", "/", "/help", "/", "/help"] {
///     views.add(page);
/// }
/// assert_eq!(views.list(), [(&b"/"[..], 3), (b"/help", 2)]);
///
/// let again = Top::open(&views.save())?;
/// assert_eq!(again.list(), views.list());
/// # Ok::<(), lately::Error>(())
/// ```
///
/// In a window by time each call says the moment, unless the counter has a clock:
///
/// ```
/// use lately::{Lately, Time};
/// use std::time::Duration;
///
/// let minute = Duration::from_secs(60);
/// let mut clients = Lately::within(minute).counting().build_top(10)?;
/// clients.add_times_at("10.0.0.1", 1500, Time::from_millis(0))?;
/// clients.add_at("10.0.0.2", Time::from_millis(55_000))?;
/// assert_eq!(clients.list_at(Time::from_millis(55_000)).len(), 2);
/// // What left makes room for others.
/// assert_eq!(clients.list_at(Time::from_millis(100_000)), [(&b"10.0.0.2"[..], 1)]);
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug)]
pub struct Top<T = Untimed> {
    counter: Counter<T>,
    keys: TopKeys,
}

impl<T> Top<T> {
    /// Over an empty counter, listing so many keys. An error if the counter does not know when sightings
    /// leave its window: [`build_top`](crate::Builder::build_top) builds one that does.
    pub fn new(counter: Counter<T>, most: usize) -> Result<Self, Error> {
        let keys = TopKeys::new(counter.promise().window, counter.counting(), most)?;
        Ok(Self { counter, keys })
    }

    /// The counter: it answers for every key.
    pub fn counter(&self) -> &Counter<T> {
        &self.counter
    }

    /// How many keys take memory: those that lead, will lead, or came just now.
    pub fn held(&self) -> usize {
        self.keys.held()
    }

    /// Bytes on the heap at this moment, those of the keys told about.
    pub fn heap_bytes(&self) -> u64 {
        self.counter.heap_bytes() + self.keys.heap_bytes()
    }

    /// Everything needed to go on later, or elsewhere.
    pub fn save(&self) -> Vec<u8> {
        let (mut out, snapshot) = (Writer::new(), self.counter.save());
        out.u64(snapshot.len() as u64);
        out.bytes(&snapshot);
        out.bytes(&self.keys.save());
        out.into_bytes()
    }

    fn enter(bytes: &[u8], time: T) -> Result<Self, Error>
    where
        Counter<T>: Door<Time = T>,
    {
        let mut reader = Reader::new(bytes);
        let length = reader.u64("length of the snapshot")?;
        let inner = Untyped::open(reader.bytes("snapshot", length)?)?;
        let (window, hashing, left) = (inner.promise().window, inner.hashing(), reader.remaining());
        let keys = TopKeys::open(reader.bytes("top keys", left)?, window, &hashing)?;
        Ok(Self { counter: Counter::enter(inner, time)?, keys })
    }

    /// Notes a sighting that was counted.
    fn note(&mut self, key: &[u8], count: u64, now: Time) {
        let hash = self.counter.hashing().hash(key);
        self.keys.note((hash, key), count, self.counter.counting(), now);
    }

    fn list_by(&self, now: Time) -> Vec<(&[u8], u64)> {
        self.keys.list(self.keys.most(), self.counter.counting(), now)
    }
}

impl Top {
    /// One that [`save`](Self::save) wrote.
    pub fn open(bytes: &[u8]) -> Result<Self, Error> {
        Self::enter(bytes, Untimed)
    }

    /// Records a sighting, and says how often the key has now been seen.
    pub fn add(&mut self, key: impl AsRef<[u8]>) -> u64 {
        self.add_times(key, 1)
    }

    /// Records many sightings at once, and says how often the key has now been seen.
    pub fn add_times(&mut self, key: impl AsRef<[u8]>, times: u64) -> u64 {
        let count = self.counter.add_times(key.as_ref(), times);
        self.note(key.as_ref(), count, Time::ZERO);
        count
    }

    /// The keys that came most often, with their counts, most frequent first: no other came more often than
    /// the last of them counts.
    pub fn list(&self) -> Vec<(&[u8], u64)> {
        self.list_by(Time::ZERO)
    }
}

impl Top<Timed> {
    /// One over a window by time that [`save`](Self::save) wrote.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use lately::queries::Top;
    /// use std::time::Duration;
    ///
    /// let mut clients = Lately::within(Duration::from_secs(60)).counting().build_top(10)?;
    /// clients.add_at("10.0.0.1", Time::from_millis(5_000))?;
    /// let again = Top::open_within(&clients.save())?;
    /// assert_eq!(again.list_at(Time::from_millis(6_000)), [(&b"10.0.0.1"[..], 1)]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn open_within(bytes: &[u8]) -> Result<Self, Error> {
        Self::enter(bytes, Timed::default())
    }

    /// Records a sighting at a moment, and says how often the key has been seen in the window. An error if
    /// the moment is too far ahead.
    pub fn add_at(&mut self, key: impl AsRef<[u8]>, now: impl Into<Time>) -> Result<u64, Error> {
        self.add_times_at(key, 1, now)
    }

    /// Records many sightings at once.
    pub fn add_times_at(
        &mut self,
        key: impl AsRef<[u8]>,
        times: u64,
        now: impl Into<Time>,
    ) -> Result<u64, Error> {
        let now = now.into();
        let count = self.counter.add_times_at(key.as_ref(), times, now)?;
        self.note(key.as_ref(), count, now);
        Ok(count)
    }

    /// The keys that came most often in the window at a moment.
    pub fn list_at(&self, now: impl Into<Time>) -> Vec<(&[u8], u64)> {
        self.list_by(now.into())
    }

    /// Lets go what has left the window by a moment, for times in which nothing comes: keys, and a little of
    /// the counter's memory at each call. `true` if nothing is left to do.
    pub fn expire_at(&mut self, now: impl Into<Time>) -> Result<bool, Error> {
        let now = now.into();
        let done = self.counter.expire_at(now)?;
        self.keys.expire(self.counter.counting(), now);
        Ok(done)
    }

    /// Sets the latest moment back to `now` if it is later: the remedy for a moment that was wrong.
    pub fn turn_back(&mut self, now: impl Into<Time>) {
        let now = now.into();
        self.counter.turn_back(now);
        self.keys.look_again(self.counter.counting(), now);
    }
}

impl Top<Clocked> {
    /// Records a sighting now, and says how often the key has been seen in the window.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut clients = Lately::within(minute).counting().clock(SystemClock).build_top(10)?;
    /// clients.add("10.0.0.1");
    /// assert_eq!(clients.list(), [(&b"10.0.0.1"[..], 1)]);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn add(&mut self, key: impl AsRef<[u8]>) -> u64 {
        self.add_times(key, 1)
    }

    /// Records many sightings at once.
    pub fn add_times(&mut self, key: impl AsRef<[u8]>, times: u64) -> u64 {
        let before = self.counter.latest();
        let count = self.counter.add_times(key.as_ref(), times);
        let now = self.counter.latest().unwrap_or(Time::ZERO);
        // A clock that was wrong is set back by itself.
        if before.is_some_and(|before| now < before) {
            self.keys.look_again(self.counter.counting(), now);
        }
        self.note(key.as_ref(), count, now);
        count
    }

    /// The keys that came most often in the window that ends now.
    pub fn list(&self) -> Vec<(&[u8], u64)> {
        self.list_by(self.counter.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lately::Lately;
    use core::time::Duration;

    #[test]
    fn a_clock_that_was_wrong_is_forgiven() {
        let counter = Lately::within(Duration::from_secs(60)).max_ahead(Duration::MAX).counting();
        let mut top = counter.build_top(3).unwrap();
        top.add_times_at("early", 5, Time::from_millis(1_000)).unwrap();
        top.add_times_at("wrong", 2, Time::from_millis(99_999_000)).unwrap();
        top.turn_back(Time::from_millis(2_000));
        top.add_at("late", Time::from_millis(2_000)).unwrap();
        assert!(top.list_at(Time::from_millis(2_000)).contains(&(&b"wrong"[..], 2)));
        // One window later at most, nothing of before is left.
        top.add_at("now", Time::from_millis(150_000)).unwrap();
        assert_eq!(top.list_at(Time::from_millis(150_000)), [(&b"now"[..], 1)]);
    }

    #[test]
    fn opened_by_the_wrong_door_it_is_refused() {
        let within = Lately::within(Duration::from_secs(60)).counting();
        let mut top = within.build_top(3).unwrap();
        top.add_at("a", Time::from_millis(5)).unwrap();
        let bytes = top.save();
        assert!(Top::open(&bytes).is_err());
        assert!(Top::open_within(&bytes[..bytes.len() - 1]).is_err());
        assert!(Top::open_within(&bytes).is_ok());
    }
}
