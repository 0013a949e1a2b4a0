//! Memory that is asked for before its key is opened.
//!
//! A filter reads a few places far apart, and may wait longer for them than it computes. Opening a key takes
//! about as long. So the module guesses: if two commands in a row used the same filter, the next one will
//! too. It asks for the memory of its item in that filter, opens its key, and finds the memory there. If it
//! was another filter after all, it has asked in vain, and nothing else.
//!
//! Values belong to the engine, which frees them when it likes, on threads of its own too. So a filter
//! that goes is no longer guessed, and waits for whoever looks at it.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use lately::Hashing;
use lately::raw::Filter;

/// The filter that the next command will use, by our guess.
static NEXT: Guarded<Option<Guess>> = Guarded::new(None);

/// Where the filter is that the last command used, if it was not the one we guessed. Never looked at.
static LAST: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// How many guesses there were.
static GUESSES: AtomicU64 = AtomicU64::new(0);

struct Guess {
    /// No other guess has it. The filter bears it too, so that it is known again.
    number: NonZeroU64,
    hashing: Hashing,
    filter: NonNull<dyn Filter>,
}

// SAFETY: the pointer is followed by one thread at a time, and filters may be looked at from any.
unsafe impl Send for Guess {}

/// A filter that may be guessed: a box, but for the right of others to look inside between two commands.
#[derive(Debug)]
pub struct Guessable {
    filter: NonNull<dyn Filter>,
    /// The number of the last guess that was this filter, or 0.
    guess: AtomicU64,
}

// SAFETY: it owns the filter, which may be sent.
unsafe impl Send for Guessable {}
// SAFETY: shared, it gives shared access to the filter, which may be had by several threads.
unsafe impl Sync for Guessable {}

impl From<Box<dyn Filter>> for Guessable {
    fn from(filter: Box<dyn Filter>) -> Self {
        Self { filter: NonNull::from(Box::leak(filter)), guess: AtomicU64::new(0) }
    }
}

impl Deref for Guessable {
    type Target = dyn Filter;

    fn deref(&self) -> &(dyn Filter + 'static) {
        // SAFETY: it was leaked from a box and is freed by `drop` only.
        unsafe { self.filter.as_ref() }
    }
}

impl DerefMut for Guessable {
    fn deref_mut(&mut self) -> &mut (dyn Filter + 'static) {
        // SAFETY: as above; and who guesses does not look while a command is at work.
        unsafe { self.filter.as_mut() }
    }
}

impl Drop for Guessable {
    fn drop(&mut self) {
        NEXT.with(|next| {
            if next.as_ref().is_some_and(|next| place(next.filter) == place(self.filter)) {
                *next = None;
            }
        });
        // SAFETY: it was leaked from a box, and nobody knows of it any more.
        drop(unsafe { Box::from_raw(self.filter.as_ptr()) });
    }
}

/// What a command with one item asked for before it opened its key.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// The guess by which it asked, if there was one.
    guess: Option<NonZeroU64>,
    /// The hash of the item in the filter that was guessed.
    hash: u64,
}

impl Ahead {
    /// Asks for the memory of an item, if there is a filter to guess.
    #[inline(always)]
    pub fn ask(item: &[u8]) -> Self {
        // Not worth waiting for: if a filter is going just now, it may be this one.
        let asked = NEXT.try_with(|next| {
            let next = next.as_ref()?;
            let hash = next.hashing.hash(item);
            // SAFETY: a filter that goes is no longer guessed, or waits until this is done. Only
            // commands change one, all on this thread, and this one has not begun to.
            unsafe { next.filter.as_ref() }.prefetch_hash(hash);
            Some(Self { guess: Some(next.number), hash })
        });
        asked.flatten().unwrap_or(Self { guess: None, hash: 0 })
    }

    /// The hash of the item in the filter that the key does hold, if that is the one which was asked.
    #[inline]
    pub fn hash_in(self, filter: &Guessable, hashing: &Hashing) -> Option<u64> {
        // By the number, not by the place: a key that expires while it is opened may leave its place
        // to a filter that hashes otherwise.
        match self.guess {
            Some(guess) if guess.get() == filter.guess.load(Ordering::Relaxed) => Some(self.hash),
            guess => {
                learn(guess.is_some(), filter, hashing);
                None
            }
        }
    }
}

/// Guesses better the next time.
#[cold]
fn learn(was_wrong: bool, used: &Guessable, hashing: &Hashing) {
    // Only commands come here, all on one thread.
    let place = place(used.filter);
    let again = LAST.load(Ordering::Relaxed) == place;
    LAST.store(place, Ordering::Relaxed);
    if again {
        NEXT.try_with(|next| {
            let number = NonZeroU64::MIN.saturating_add(GUESSES.fetch_add(1, Ordering::Relaxed));
            used.guess.store(number.get(), Ordering::Relaxed);
            *next = Some(Guess { number, hashing: *hashing, filter: used.filter });
        });
    } else if was_wrong {
        NEXT.try_with(|next| *next = None);
    }
}

fn place(filter: NonNull<dyn Filter>) -> *mut () {
    filter.as_ptr().cast()
}

/// What one thread at a time may look at, for a moment. A mutex of the library would do, but locking and
/// unlocking it takes as long as what [`Ahead::ask`] does in between.
struct Guarded<T> {
    busy: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` lets one thread at a time reach the value.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    const fn new(value: T) -> Self {
        Self { busy: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Lets `look` look, as soon as nobody else does; it must not ask for the same again.
    fn with<R>(&self, mut look: impl FnMut(&mut T) -> R) -> R {
        loop {
            if let Some(result) = self.try_with(&mut look) {
                return result;
            }
            // Whoever looks is done in a moment, but may be waiting for this very processor.
            std::thread::yield_now();
        }
    }

    /// Lets `look` look, if nobody else does.
    #[inline]
    fn try_with<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.busy.swap(true, Ordering::Acquire) {
            return None;
        }
        let _release = Release(&self.busy);
        // SAFETY: nobody else gets here before the release.
        Some(look(unsafe { &mut *self.value.get() }))
    }
}

/// Lets the next one in, even after a panic.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::plan::{Goal, Limit};
    use lately::{ErrorRate, Seed, Window};

    const ITEM: &[u8] = b"item";

    fn filter() -> Guessable {
        let goal = Goal::new(Window::Last(100), Limit::Error(ErrorRate::new(0.01).unwrap()));
        goal.plans().unwrap()[0].blueprint.build(Seed(1)).unwrap().into()
    }

    /// One test for all, because there is one guess for all.
    #[test]
    fn the_third_command_in_a_row_is_guessed() {
        let hashing = Hashing::Fast(Seed(7));
        let hash = Some(hashing.hash(ITEM));
        let command = |filter: &Guessable| Ahead::ask(ITEM).hash_in(filter, &hashing);
        let (one, other) = (filter(), filter());
        assert_eq!([&one; 4].map(command), [None, None, hash, hash]);
        // Each time it is another one, and nobody knows.
        assert_eq!([&other, &one, &other, &one].map(command), [None; 4]);
        assert_eq!([&one; 2].map(command), [None, hash]);
        // What goes is not looked at, whether it is the guess or not.
        drop(other);
        assert_eq!(command(&one), hash);
        drop(one);
        assert!(Ahead::ask(ITEM).guess.is_none());
    }
}
