//! One filter for many threads.
//!
//! Keys are split over parts by their hashes, and each part has a lock of its own. A key belongs to
//! one part, so what is said of it is as exact as without threads: of two threads that insert one new
//! key at once, exactly one is told that it is new. A window over the last *n* gives each part its
//! share, enlarged so that no part forgets one of the last *n* (see [`Shards`]): the promise is that
//! of the whole, with a little more slack.

mod batch;
mod now;
mod opened;
mod parts;
mod reach;
mod split;
mod timed;

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub(super) use self::parts::{Parts, Shareable};
pub(super) use self::split::split;
use super::{Door, Lately, Untimed};
use crate::codec::Bundle;
use crate::error::Error;
use crate::hash::Hashing;
use crate::key::Key;
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
    parts: Parts<Lately<T>>,
}

impl<T> Shared<T> {
    pub(super) fn of(window: Window, hashing: Hashing, parts: Vec<Lately<T>>) -> Self {
        Self { inner: Arc::new(Inner { window, parts: Parts::new(hashing, parts) }) }
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
        Bundle { items, parts: self.inner.parts.each(Lately::save).collect() }.write()
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
        self.inner.parts.change(key, |part, key| part.forget(key))
    }

    /// Remembers also what another filter does, as [`Lately::merge`], part by part; both must have as many.
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let (monday, tuesday) = (Lately::ever().build_shared()?, Lately::ever().build_shared()?);
    /// tuesday.insert("b");
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("b"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "union")]
    pub fn merge(&self, other: &Self) -> Result<(), Error>
    where
        T: Clone,
    {
        let [ours, theirs] = [self, other].map(|shared| shared.inner.parts.shards().0);
        if ours != theirs {
            let differences = format!("number of parts ({ours} and {theirs})");
            return Err(Error::Different { differences });
        }
        // Copies, because nobody may wait for a lock while he has another.
        for (number, part) in other.inner.parts.each(Lately::clone).enumerate() {
            self.inner.parts.part(number).take().merge(&part)?;
        }
        Ok(())
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
        self.inner.parts.clear()
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
        let of_one = self.inner.parts.of_one(Lately::promise);
        let (window, parts) = (self.inner.window, u64::from(self.inner.parts.shards().0));
        let slack = match of_one.slack {
            Slack::Items(slack) => {
                Slack::Items(self.inner.parts.shards().slack(window) + slack * parts)
            }
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
        parts.each(Lately::error_now).sum::<f64>() / f64::from(parts.shards().0)
    }

    /// The name of the structure in the [catalog](crate::catalog).
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).structure("sliding").build_shared()?;
    /// assert_eq!(seen.structure(), "sliding");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn structure(&self) -> &'static str {
        self.inner.parts.of_one(Lately::structure)
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
        parts.own_bytes() + parts.each(Lately::heap_bytes).sum::<u64>()
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
        self.inner.parts.hashing()
    }
}

impl<T: Clone> Shared<T>
where
    Lately<T>: Door<Time = T>,
{
    fn opened(snapshot: &[u8], time: &T) -> Result<Self, Error> {
        let (items, snapshots) = Bundle::read(snapshot).map_err(|error| {
            // It may be a snapshot all the same, of a filter in one part.
            let is_whole = error == Error::NotASnapshot && Untyped::open(snapshot).is_ok();
            if is_whole { IN_ONE_PART } else { error }
        })?;
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

/// What is said of a filter that was not built to be shared.
const IN_ONE_PART: Error = Error::Unsupported {
    operation: "be shared by threads",
    instead: "it is in one part: open it with `Lately::open`",
};

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &self.inner.parts;
        let one = parts.of_one(|part| format!("{part:?}"));
        write!(f, "Shared({} times {one})", parts.shards().0)
    }
}
