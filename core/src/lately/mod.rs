//! The door: say how far back and how well, then insert keys.
//!
//! | Type | Its keys | Time |
//! |---|---|---|
//! | [`Lately`] | seen or not | none: the last *n*, or ever |
//! | [`Lately<Timed>`](Timed) | seen or not, in the last *t* | each call says the moment |
//! | [`Lately<Clocked>`](Clocked) | seen or not, in the last *t* | read from a clock |
//! | [`Counter`] | how often | none, and as above |
//! | [`Shared`] | as the first three, for many threads | as above |
//! | [`SharedCounter`] | how often, for many threads | as above |
//!
//! What a filter cannot do is absent from its type, so a window by time that nobody tells the time
//! does not compile:
//!
//! ```compile_fail
//! # use std::time::Duration;
//! let mut seen = lately::Lately::within(Duration::from_secs(60)).build()?;
//! seen.insert("click 17");
//! # Ok::<(), lately::Error>(())
//! ```

mod builder;
mod clocked;
mod counter;
mod now;
mod opened;
mod reach;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "std")]
mod shared;
mod timed;
mod top;
mod untimed;

pub use builder::{Builder, Door};
pub use clocked::Clocked;
pub use counter::Counter;
#[cfg(feature = "std")]
pub use counter::SharedCounter;
#[cfg(feature = "std")]
pub use shared::Shared;
pub use timed::Timed;
pub use untimed::Untimed;

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::dictionary::Repeat;
use crate::error::Error;
use crate::hash::Hashing;
use crate::key::Key;
use crate::promise::Promise;
use crate::untyped::Untyped;
use crate::window::{Time, Window};

/// Remembers which keys came lately.
///
/// ```
/// use lately::Lately;
///
/// let mut seen = Lately::last(100_000).error(0.001).build()?;
/// assert!(seen.insert("click 17"));
/// assert!(!seen.insert("click 17"));
///
/// let saved = seen.save();
/// let again = Lately::open(&saved)?;
/// assert!(again.contains("click 17"));
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Clone)]
pub struct Lately<T = Untimed> {
    inner: Untyped,
    time: T,
}

impl Lately {
    /// Remembers the last `n` insertions.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
    /// assert!(seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn last(n: u64) -> Builder<Lately> {
        Builder::new(Window::Last(n), Untimed)
    }

    /// Remembers everything.
    ///
    /// ```
    /// let mut seen = lately::Lately::ever().build()?;
    /// assert!(seen.insert("https://example.org/"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn ever() -> Builder<Lately> {
        Builder::new(Window::Ever, Untimed)
    }

    /// Remembers the insertions of the last `span`. Each call says the moment, or the builder is
    /// given a [`clock`](Builder::clock).
    ///
    /// ```
    /// use lately::Lately;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).build()?;
    /// let now = SystemTime::now();
    /// assert!(seen.insert_at("click 17", now)?);
    /// assert!(!seen.insert_at("click 17", now + Duration::from_secs(59))?);
    /// assert!(seen.insert_at("click 17", now + Duration::from_secs(200))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn within(span: Duration) -> Builder<Lately<Timed>> {
        Builder::new(Window::Within(span.into()), Timed::default())
    }
}

impl<T> Lately<T> {
    /// Everything needed to go on later, or elsewhere.
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let mut seen = Lately::last(1000).build()?;
    /// seen.insert("click 17");
    /// assert!(Lately::open(&seen.save())?.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    /// Takes back the insertion of a key, and says whether there was one.
    ///
    /// Only for what was inserted: by `insert`, every key, as often as it was inserted, whatever the
    /// answers; by `insert_new`, only one that was answered "new". Then it is gone, and no other key
    /// with it. A key that was only *reported* as seen has no entry of its own, and another's would be
    /// forgotten instead: nobody can tell the two apart. An error if the structure keeps nothing that can be taken
    /// back: ask for one that does with [`removing`](Builder::removing).
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let mut seen = Lately::ever().removing().build()?;
    /// assert!(seen.insert("order 5"));
    /// // Its handling failed: it may come again.
    /// assert!(seen.forget("order 5")?);
    /// assert!(!seen.contains("order 5"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "remove")]
    pub fn forget(&mut self, key: impl Key) -> Result<bool, Error> {
        let hash = key.hash_with(&self.inner.hashing);
        let removing = self.inner.filter.as_removing().ok_or(Error::Unsupported {
            operation: "forget a key",
            instead: "build it with `removing()`",
        })?;
        Ok(removing.remove_hash(hash))
    }

    /// Remembers also what another filter does: for streams that were read apart, on several machines. Both
    /// must be built alike, with the same seed or secret.
    ///
    /// The errors of both add up: what is promised holds no longer, but twice as much does after one
    /// merge. [`error_now`](Self::error_now) says what it is, [`exceeds_promise`](Self::exceeds_promise)
    /// whether that is too much; ask for half of the error to have room for one more.
    ///
    /// Only filters that remember everything can: insertions of two windows over the last *n* have no common
    /// order. An error if this one cannot, or the two were not built alike; nothing is changed then.
    ///
    /// ```
    /// use lately::Lately;
    ///
    /// let (mut monday, mut tuesday) = (Lately::ever().build()?, Lately::ever().build()?);
    /// monday.insert("a");
    /// tuesday.insert("b");
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("a") && monday.contains("b"));
    /// assert!(Lately::last(9).build()?.merge(&Lately::last(9).build()?).is_err());
    /// # Ok::<(), lately::Error>(())
    /// ```
    #[doc(alias = "union")]
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.inner.check_hashing(&other.inner)?;
        self.inner.filter.unite(&*other.inner.filter)
    }

    /// Forgets everything.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(100).build()?;
    /// seen.insert("click 17");
    /// seen.clear()?;
    /// assert!(!seen.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn clear(&mut self) -> Result<(), Error> {
        self.inner = self.inner.empty_alike()?;
        Ok(())
    }

    /// What is promised.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).error(0.01).build()?;
    /// assert_eq!(seen.promise().false_negatives, 0.0);
    /// assert!(seen.promise().false_positives <= 0.01);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn promise(&self) -> Promise {
        self.inner.promise()
    }

    /// The chance at this moment that a key never seen is reported as seen; the promise speaks of the
    /// worst moment.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
    /// assert_eq!(seen.error_now(), 0.0);
    /// seen.extend(0..1000);
    /// assert!(seen.error_now() > 0.0);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn error_now(&self) -> f64 {
        self.inner.filter.false_positive_rate()
    }

    /// Whether that is more than what is promised: so many keys came that a bounded memory does not hold
    /// them as exactly. Nothing in the window is forgotten even then.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use std::time::Duration;
    ///
    /// let mut seen = Lately::within(Duration::from_secs(60)).memory(100_000).build()?;
    /// for key in 0..100_000_u64 {
    ///     seen.insert_at(key, Time::from_millis(1_000))?;
    /// }
    /// assert!(seen.exceeds_promise() && seen.heap_bytes() <= 100_000 + 4_096);
    /// assert!(seen.contains_at(5_u64, Time::from_millis(1_000)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn exceeds_promise(&self) -> bool {
        self.error_now() > self.promise().false_positives
    }

    /// Bytes on the heap at this moment.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).error(0.01).build()?;
    /// assert!(seen.heap_bytes() < 2_000_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn heap_bytes(&self) -> u64 {
        self.inner.filter.heap_bytes()
    }

    /// The name of the structure in the [catalog](crate::catalog).
    ///
    /// ```
    /// assert_eq!(lately::Lately::last(1_000_000).build()?.structure(), "sliding");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn structure(&self) -> &'static str {
        self.inner.filter.blueprint().structure()
    }

    /// How keys become hashes.
    ///
    /// ```
    /// use lately::{Hashing, Lately, Seed};
    ///
    /// assert_eq!(Lately::last(9).seed(7).build()?.hashing(), Hashing::Fast(Seed(7)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn hashing(&self) -> Hashing {
        self.inner.hashing
    }

    /// The filter without its type, to speak to it in hashes and moments.
    ///
    /// ```
    /// use lately::{Lately, Time};
    /// use lately::raw::Membership;
    ///
    /// let mut filter = Lately::last(9).build()?.into_untyped().into_filter();
    /// assert!(filter.insert_hash(0x9e37_79b9_7f4a_7c15, Time::ZERO));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn into_untyped(self) -> Untyped {
        self.inner
    }

    #[inline(always)]
    fn hash(&self, key: impl Key) -> u64 {
        key.hash_with(&self.inner.hashing)
    }

    /// Every way to insert a key leads here.
    #[inline(always)]
    fn put(&mut self, key: impl Key, now: Time, repeat: Repeat) -> bool {
        let hash = self.hash(key);
        self.inner.insert(hash, now, repeat)
    }

    /// Every way to insert many.
    fn put_all<K: Key>(&mut self, keys: &[K], now: Time, repeat: Repeat, new: &mut [bool]) {
        let hashing = self.inner.hashing;
        in_batches(&hashing, keys, new, |hashes, new| {
            self.inner.insert_all(hashes, now, repeat, new);
        });
    }

    /// Every way to look many up.
    fn find_all<K: Key>(&self, keys: &[K], now: Time, seen: &mut [bool]) {
        in_batches(&self.inner.hashing, keys, seen, |hashes, seen| {
            self.inner.filter.contains_hashes(hashes, now, seen);
        });
    }
}

impl<T> fmt::Debug for Lately<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lately({}: {})", self.structure(), self.promise())
    }
}

/// Hashes of keys, a batch at a time, without a list on the heap.
fn in_batches<K: Key>(
    hashing: &Hashing,
    keys: &[K],
    answers: &mut [bool],
    work: impl FnMut(&[u64], &mut [bool]),
) {
    assert_eq!(keys.len(), answers.len(), "one answer per key");
    // Whoever has few keys should not clear a list for many.
    if keys.len() <= FEW {
        in_batches_of::<_, FEW>(hashing, keys, answers, work);
    } else {
        in_batches_of::<_, MANY>(hashing, keys, answers, work);
    }
}

fn in_batches_of<K: Key, const AT_ONCE: usize>(
    hashing: &Hashing,
    keys: &[K],
    answers: &mut [bool],
    mut work: impl FnMut(&[u64], &mut [bool]),
) {
    let mut hashes = [0; AT_ONCE];
    for (keys, answers) in keys.chunks(AT_ONCE).zip(answers.chunks_mut(AT_ONCE)) {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = key.hash_with(hashing);
        }
        work(&hashes[..keys.len()], answers);
    }
}

/// Enough that memory can be fetched ahead.
const FEW: usize = 64;
/// Enough that the first ones of a batch, for which nothing was fetched ahead, are few of all: a million keys take a
/// twentieth less time than 64 by 64, all new or half of them.
const MANY: usize = 256;
