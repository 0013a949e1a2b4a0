//! One filter for many threads.
//!
//! Keys are split over parts by their hashes, and each part has a lock of its own. A key belongs to
//! one part, so what is said of it is as exact as without threads: of two threads that insert one new
//! key at once, exactly one is told that it is new. A window over the last *n* gives each part its
//! share, enlarged so that no part forgets one of the last *n* (see [`Shards`]): the promise is that
//! of the whole, with a little more slack.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::{Clocked, Door, Lately, Timed, Untimed};
use crate::codec::Bundle;
use crate::error::Error;
use crate::filter::Promise;
use crate::hash::Hashing;
use crate::key::{Hashed, Key};
use crate::memory::Memory;
use crate::plan::{Goal, Limit};
use crate::shards::Shards;
use crate::untyped::Untyped;
use crate::window::{Slack, Time, Window};

/// A filter that threads share: clones are the same filter.
///
/// ```
/// let seen = lately::Lately::last(1_000_000).build_shared()?;
/// let again = seen.clone();
/// let new = std::thread::spawn(move || again.insert("click 17")).join().unwrap();
/// assert!(new);
/// assert!(!seen.insert("click 17"));
/// # Ok::<(), lately::Error>(())
/// ```
pub struct Shared<T = Untimed> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    /// The window of the whole.
    window: Window,
    hashing: Hashing,
    shards: Shards,
    parts: Box<[Part<T>]>,
}

/// A part, away from the cache lines of its neighbours' locks.
#[repr(align(128))]
struct Part<T>(RwLock<Lately<T>>);

/// Parts of a filter, unless they would be tiny: threads seldom meet in one of so many.
const PARTS: u32 = 64;

/// Items of a window by count that a part should have at least: of fewer, the share would have to be
/// enlarged too much.
const LEAST_ITEMS: u64 = 4096;

/// Into how many parts a filter is split, and the goal of each.
pub(super) fn split(goal: &Goal) -> Result<(Parts, Goal), Error> {
    let most = match goal.window {
        Window::Last(items) => (items / LEAST_ITEMS).clamp(1, PARTS.into()) as u32,
        Window::Within(_) | Window::Ever => PARTS,
    };
    let parts = Parts(1 << most.ilog2());
    Ok((parts, parts.goal_of_one(goal)?))
}

/// A number of parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts(u32);

impl Parts {
    pub(super) fn get(self) -> u32 {
        self.0
    }

    fn goal_of_one(self, goal: &Goal) -> Result<Goal, Error> {
        let (shards, parts) = (Shards(self.0), u64::from(self.0));
        let window = match goal.window {
            Window::Last(items) => Window::Last(shards.window(items)),
            other => other,
        };
        let slack = match goal.slack {
            Slack::Items(items) => {
                let left = items.checked_sub(shards.slack(goal.window)).ok_or_else(|| {
                    Error::Parameter {
                        name: "slack",
                        found: items.to_string(),
                        expected: "some percent of the window at least, for a filter that threads share",
                    }
                })?;
                Slack::Items(left / parts)
            }
            other => other,
        };
        let limit = match goal.limit {
            Limit::Memory(memory) => Limit::Memory(Memory::from_bytes(memory.bytes() / parts)),
            Limit::Error(rate) => Limit::Error(rate),
        };
        let expected_items = goal.expected_items.map(|items| items.div_ceil(parts));
        Ok(Goal { window, slack, limit, expected_items, ..*goal })
    }
}

impl<T> Shared<T> {
    pub(super) fn of(window: Window, hashing: Hashing, parts: Vec<Lately<T>>) -> Self {
        let shards = Shards(parts.len() as u32);
        let parts = parts.into_iter().map(|part| Part(RwLock::new(part))).collect();
        Self { inner: Arc::new(Inner { window, hashing, shards, parts }) }
    }

    /// Everything needed to go on later, or elsewhere. Each part is saved as it is when its turn
    /// comes; threads may go on meanwhile.
    ///
    /// ```
    /// use lately::Shared;
    ///
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// seen.insert("click 17");
    /// assert!(Shared::open(&seen.save())?.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        let items = match self.inner.window {
            Window::Last(items) => items,
            Window::Within(_) | Window::Ever => 0,
        };
        let parts = self.inner.parts.iter().map(|part| part.look().save()).collect();
        Bundle { items, parts }.write()
    }

    /// Takes back the insertion of a key, as [`Lately::forget`] does.
    pub fn forget(&self, key: impl Key) -> Result<bool, Error> {
        self.change(key, |part, key| part.forget(key))
    }

    /// Forgets everything, part by part.
    pub fn clear(&self) -> Result<(), Error> {
        self.inner.parts.iter().try_for_each(|part| part.change().clear())
    }

    /// What is promised: that of the whole.
    ///
    /// ```
    /// use lately::{Lately, Window};
    ///
    /// let seen = Lately::last(1_000_000).build_shared()?;
    /// assert_eq!(seen.promise().window, Window::Last(1_000_000));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn promise(&self) -> Promise {
        let of_one = self.inner.parts[0].look().promise();
        let (window, parts) = (self.inner.window, u64::from(self.inner.shards.0));
        let slack = match of_one.slack {
            Slack::Items(slack) => Slack::Items(self.inner.shards.slack(window) + slack * parts),
            other => other,
        };
        Promise { window, slack, ..of_one }
    }

    /// Bytes on the heap at this moment.
    pub fn heap_bytes(&self) -> u64 {
        let parts = &self.inner.parts;
        size_of_val(&**parts) as u64
            + parts.iter().map(|part| part.look().heap_bytes()).sum::<u64>()
    }

    /// How keys become hashes.
    pub fn hashing(&self) -> Hashing {
        self.inner.hashing
    }

    fn part(&self, key: impl Key) -> (&Part<T>, Hashed) {
        let hash = key.hash_with(&self.inner.hashing);
        (&self.inner.parts[self.inner.shards.of(hash)], Hashed(hash))
    }

    #[inline]
    fn change<R>(&self, key: impl Key, work: impl FnOnce(&mut Lately<T>, Hashed) -> R) -> R {
        let (part, key) = self.part(key);
        work(&mut part.change(), key)
    }

    #[inline]
    fn look<R>(&self, key: impl Key, work: impl FnOnce(&Lately<T>, Hashed) -> R) -> R {
        let (part, key) = self.part(key);
        work(&part.look(), key)
    }

    fn sum(&self, of_one: impl Fn(&Lately<T>) -> Result<f64, Error>) -> Result<f64, Error> {
        self.inner.parts.iter().map(|part| of_one(&part.look())).sum()
    }
}

impl<T> Part<T> {
    // A thread that panicked while it held the lock left a filter that is whole: filters panic only
    // before they change anything.
    fn change(&self) -> RwLockWriteGuard<'_, Lately<T>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> RwLockReadGuard<'_, Lately<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Shared<T>
where
    Lately<T>: Door<Time = T>,
{
    fn opened(snapshot: &[u8], time: &T) -> Result<Self, Error> {
        let (items, snapshots) = Bundle::read(snapshot)?;
        let enter = |snapshot| Lately::enter(Untyped::open(snapshot)?, time.clone());
        let parts = snapshots.into_iter().map(enter).collect::<Result<Vec<_>, _>>()?;
        let (hashing, of_one) = (parts[0].hashing(), parts[0].promise());
        for part in &parts {
            parts[0].inner.check_hashing(&part.inner)?;
            if part.promise() != of_one {
                let differences = "what their parts promise".to_owned();
                return Err(Error::Different { differences });
            }
        }
        let window = match of_one.window {
            Window::Last(share) => {
                let whole = Window::Last(items).validate()?;
                let expected = Shards(parts.len() as u32).window(items);
                if share != expected {
                    let (field, declared) = ("window of a part", expected);
                    return Err(Error::Length { field, declared, found: share });
                }
                whole
            }
            other => other,
        };
        Ok(Self::of(window, hashing, parts))
    }
}

impl Shared {
    /// The filter in a snapshot that [`save`](Self::save) made. An error if its window is by time:
    /// that is for [`open_within`](Self::open_within).
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::opened(snapshot, &Untimed)
    }

    /// The filter over a window by time in a snapshot that [`save`](Self::save) made.
    pub fn open_within(snapshot: &[u8]) -> Result<Shared<Timed>, Error> {
        Shared::opened(snapshot, &Timed::default())
    }

    /// [`Lately::insert`] by any thread: of several that insert one new key at once, exactly one is
    /// told that it is new.
    #[inline]
    pub fn insert(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert(key))
    }

    /// [`Lately::insert_new`] by any thread.
    pub fn insert_new(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert_new(key))
    }

    /// [`Lately::contains`] by any thread.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.look(key, |part, key| part.contains(key))
    }

    /// [`Lately::distinct`], of all parts.
    pub fn distinct(&self) -> Result<f64, Error> {
        self.sum(Lately::<Untimed>::distinct)
    }
}

impl Shared<Timed> {
    /// [`Lately::insert_at`] by any thread.
    pub fn insert_at(&self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_at(key, now))
    }

    /// [`Lately::insert_new_at`] by any thread.
    pub fn insert_new_at(&self, key: impl Key, now: impl Into<Time>) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_new_at(key, now))
    }

    /// [`Lately::insert_until`] by any thread.
    pub fn insert_until(
        &self,
        key: impl Key,
        now: impl Into<Time>,
        deadline: impl Into<Time>,
    ) -> Result<bool, Error> {
        self.change(key, |part, key| part.insert_until(key, now, deadline))
    }

    /// [`Lately::contains_at`] by any thread.
    pub fn contains_at(&self, key: impl Key, now: impl Into<Time>) -> bool {
        self.look(key, |part, key| part.contains_at(key, now))
    }

    /// [`Lately::age_at`] by any thread.
    pub fn age_at(
        &self,
        key: impl Key,
        now: impl Into<Time>,
    ) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.look(key, |part, key| part.age_at(key, now))
    }

    /// [`Lately::distinct_at`], of all parts.
    pub fn distinct_at(&self, now: impl Into<Time>) -> Result<f64, Error> {
        let now = now.into();
        self.sum(|part| part.distinct_at(now))
    }

    /// [`Lately::expire_at`], of all parts, one after the other.
    pub fn expire_at(&self, now: impl Into<Time>) -> Result<bool, Error> {
        let now = now.into();
        let mut done = true;
        for part in &self.inner.parts {
            done &= part.change().expire_at(now)?;
        }
        Ok(done)
    }

    /// [`Lately::turn_back`], of all parts.
    pub fn turn_back(&self, now: impl Into<Time>) {
        let now = now.into();
        self.inner.parts.iter().for_each(|part| part.change().turn_back(now));
    }
}

impl Shared<Clocked> {
    /// [`Lately::insert`] by any thread, now.
    ///
    /// ```
    /// use lately::{Lately, SystemClock};
    /// use std::time::Duration;
    ///
    /// let seen = Lately::within(Duration::from_secs(60)).clock(SystemClock).build_shared()?;
    /// assert!(seen.insert("click 17"));
    /// assert!(!seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert(key))
    }

    /// [`Lately::insert_new`] by any thread, now.
    pub fn insert_new(&self, key: impl Key) -> bool {
        self.change(key, |part, key| part.insert_new(key))
    }

    /// [`Lately::contains`] by any thread, now.
    pub fn contains(&self, key: impl Key) -> bool {
        self.look(key, |part, key| part.contains(key))
    }

    /// [`Lately::age`] by any thread, now.
    pub fn age(&self, key: impl Key) -> Result<Option<RangeInclusive<Duration>>, Error> {
        self.look(key, |part, key| part.age(key))
    }

    /// [`Lately::distinct`], of all parts.
    pub fn distinct(&self) -> Result<f64, Error> {
        self.sum(Lately::<Clocked>::distinct)
    }

    /// [`Lately::expire`], of all parts, one after the other.
    pub fn expire(&self) -> bool {
        let mut done = true;
        for part in &self.inner.parts {
            done &= part.change().expire();
        }
        done
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.inner.parts;
        write!(f, "Shared({} times {:?})", parts.len(), parts[0].look())
    }
}
