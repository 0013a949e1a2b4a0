//! One filter for many threads.
//!
//! Keys are split over parts by their hashes, and each part has a lock of its own. A key belongs to
//! one part, so what is said of it is as exact as without threads: of two threads that insert one new
//! key at once, exactly one is told that it is new. A window over the last *n* gives each part its
//! share, enlarged so that no part forgets one of the last *n* (see [`Shards`]): the promise is that
//! of the whole, with a little more slack.

mod batch;
mod clocked;
mod timed;
mod untimed;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use self::batch::MOST_PARTS;
use super::{Door, Lately, Untimed};
use crate::codec::Bundle;
use crate::error::Error;
use crate::hash::Hashing;
use crate::key::{Hashed, Key};
use crate::memory::Memory;
use crate::plan::{Goal, Limit};
use crate::promise::Promise;
use crate::shards::Shards;
use crate::untyped::Untyped;
use crate::window::{Slack, Window};

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

/// Parts for every thread that can run at once: so many that two seldom meet in one, so few that one
/// thread keeps what it needs of all of them in its nearest cache.
const PARTS_PER_THREAD: usize = 8;

/// Items of a window by count that a part should have at least: of fewer, the share would have to be
/// enlarged too much.
const LEAST_ITEMS: u64 = 4096;

/// Into how many parts a filter is split, and the goal of each.
pub(super) fn split(goal: &Goal) -> Result<(Parts, Goal), Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = threads.saturating_mul(PARTS_PER_THREAD).clamp(1, MOST_PARTS) as u64;
    let most = match goal.window {
        Window::Last(items) => (items / LEAST_ITEMS).clamp(1, wanted),
        Window::Within(_) | Window::Ever => wanted,
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
    ///
    /// ```
    /// let seen = lately::Lately::ever().removing().build_shared()?;
    /// assert!(seen.insert("order 5"));
    /// assert!(seen.forget("order 5")? && !seen.contains("order 5"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "remove")]
    pub fn forget(&self, key: impl Key) -> Result<bool, Error> {
        self.change(key, |part, key| part.forget(key))
    }

    /// Forgets everything, part by part.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// seen.insert("click 17");
    /// seen.clear()?;
    /// assert!(!seen.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
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

    /// The chance at this moment that a key never seen is reported as seen; the promise speaks of the
    /// worst moment.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// assert_eq!(seen.error_now(), 0.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn error_now(&self) -> f64 {
        let parts = &self.inner.parts;
        parts.iter().map(|part| part.look().error_now()).sum::<f64>() / parts.len() as f64
    }

    /// The name of the structure in the [catalog](crate::catalog).
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).structure("sliding").build_shared()?;
    /// assert_eq!(seen.structure(), "sliding");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn structure(&self) -> &'static str {
        self.inner.parts[0].look().structure()
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).error(0.01).build_shared()?;
    /// assert!(seen.heap_bytes() < 3_000_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        let parts = &self.inner.parts;
        size_of_val(&**parts) as u64
            + parts.iter().map(|part| part.look().heap_bytes()).sum::<u64>()
    }

    /// How keys become hashes.
    ///
    /// ```
    /// use lately::{Hashing, Lately, Seed};
    ///
    /// let seen = Lately::last(1_000_000).seed(7).build_shared()?;
    /// assert_eq!(seen.hashing(), Hashing::Fast(Seed(7)));
    /// # Ok::<(), lately::Error>(())
    /// ```
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
