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
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use lately::{Filter, Hashing};

/// The filter that the next command will use, by our guess.
static NEXT: Guarded<Option<Next>> = Guarded::new(None);

/// Where the filter is that the last command used, if it was not the one we guessed. Never looked at.
static LAST: AtomicPtr<()> = AtomicPtr::new(null_mut());

#[derive(Clone, Copy)]
struct Next {
    hashing: Hashing,
    filter: NonNull<dyn Filter>,
}

// SAFETY: the pointer is followed by one thread at a time, and filters may be looked at from any.
unsafe impl Send for Next {}

/// A filter that may be guessed: a box, but for the right of others to look inside between two commands.
#[derive(Debug)]
pub struct Guessable(NonNull<dyn Filter>);

// SAFETY: it owns the filter, which may be sent.
unsafe impl Send for Guessable {}
// SAFETY: shared, it gives shared access to the filter, which may be had by several threads.
unsafe impl Sync for Guessable {}

impl From<Box<dyn Filter>> for Guessable {
    fn from(filter: Box<dyn Filter>) -> Self {
        Self(NonNull::from(Box::leak(filter)))
    }
}

impl Deref for Guessable {
    type Target = dyn Filter;

    fn deref(&self) -> &(dyn Filter + 'static) {
        // SAFETY: it was leaked from a box and is freed by `drop` only.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Guessable {
    fn deref_mut(&mut self) -> &mut (dyn Filter + 'static) {
        // SAFETY: as above; and who guesses does not look while a command is at work.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for Guessable {
    fn drop(&mut self) {
        NEXT.with(|next| {
            if next.is_some_and(|next| address(next.filter) == address(self.0)) {
                *next = None;
            }
        });
        // SAFETY: it was leaked from a box, and nobody knows of it any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// What a command with one item asked for before it opened its key.
#[derive(Debug, Clone, Copy)]
pub struct Ahead(Option<Asked>);

/// Where a filter is, how it hashes, and the hash that the item has in it.
#[derive(Debug, Clone, Copy)]
struct Asked {
    filter: *mut (),
    hashing: Hashing,
    hash: u64,
}

impl Ahead {
    /// Asks for the memory of an item, if there is a filter to guess.
    pub fn ask(item: &[u8]) -> Self {
        // Not worth waiting for: if a filter is going just now, it may be this one.
        let asked = NEXT.try_with(|next| {
            let Next { hashing, filter } = (*next)?;
            let hash = hashing.hash(item);
            // SAFETY: a filter that goes is no longer guessed, or waits until this is done. Only
            // commands change one, all on this thread, and this one has not begun to.
            unsafe { filter.as_ref() }.prefetch_hash(hash);
            Some(Asked { filter: address(filter), hashing, hash })
        });
        Self(asked.flatten())
    }

    /// The hash of the item in the filter that the key does hold, if that is the one which was asked.
    #[inline]
    pub fn hash_in(self, filter: &Guessable, hashing: Hashing) -> Option<u64> {
        match self.0 {
            // A key that expires while it is opened may leave its place to a filter that hashes
            // otherwise.
            Some(asked) if asked.filter == address(filter.0) && asked.hashing == hashing => {
                Some(asked.hash)
            }
            asked => {
                learn(asked.is_some(), Next { hashing, filter: filter.0 });
                None
            }
        }
    }
}

/// Guesses better the next time.
fn learn(was_wrong: bool, used: Next) {
    let place = address(used.filter);
    // Only commands come here, all on one thread.
    let again = LAST.load(Ordering::Relaxed) == place;
    LAST.store(place, Ordering::Relaxed);
    if again {
        NEXT.try_with(|next| *next = Some(used));
    } else if was_wrong {
        NEXT.try_with(|next| *next = None);
    }
}

fn address(filter: NonNull<dyn Filter>) -> *mut () {
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
