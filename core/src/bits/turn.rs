//! A lock for what takes less time than a lock usually does.
//!
//! The locks of the standard library are released by a read and a write in one, to learn whether somebody
//! has to be woken. That drains the processor's stores, for as long as a good part of an insertion. This one
//! is released by a plain store, and wakes nobody: who finds it taken looks again, first at once, then
//! after letting others run, then after sleeping, a little longer each time and a millisecond at most. So a
//! long wait burns no processor, and one for a thread that may not run meanwhile ends.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

/// Something that one thread at a time may touch. How a thread learns that it may is a [`Flag`], so that
/// tests can put one in its place that tries every order of events.
pub struct Turn<T, F = AtomicBool> {
    flag: F,
    value: UnsafeCell<T>,
}

// SAFETY: the value is handed from thread to thread, and touched by the one that has the flag only.
unsafe impl<T: Send, F: Send> Send for Turn<T, F> {}
// SAFETY: as above.
unsafe impl<T: Send, F: Sync> Sync for Turn<T, F> {}

/// Whether somebody's turn it is.
pub trait Flag {
    /// One that nobody has.
    fn free() -> Self;

    /// Takes it, if nobody has it. What was done before it was released is known then.
    fn take(&self) -> bool;

    /// Whether somebody has it: a guess, without taking it from him.
    fn is_taken(&self) -> bool;

    /// Gives it back.
    fn release(&self);

    /// Lets time pass, the longer the more often it was called before.
    fn wait(&self, times: u32);
}

impl Flag for AtomicBool {
    fn free() -> Self {
        Self::new(false)
    }

    #[inline(always)]
    fn take(&self) -> bool {
        self.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn is_taken(&self) -> bool {
        self.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn release(&self) {
        self.store(false, Ordering::Release);
    }

    fn wait(&self, times: u32) {
        const LOOKS: u32 = 64;
        const TURNS: u32 = LOOKS + 16;
        match times {
            ..LOOKS => core::hint::spin_loop(),
            LOOKS..TURNS => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(1 << (times - TURNS).min(10))),
        }
    }
}

impl<T, F: Flag> Turn<T, F> {
    /// Nobody's turn.
    pub fn new(value: T) -> Self {
        Self { flag: F::free(), value: UnsafeCell::new(value) }
    }

    /// Waits for the turn of the caller, which lasts until the guard is dropped.
    #[inline(always)]
    pub fn take(&self) -> Guard<'_, T, F> {
        if !self.flag.take() {
            self.wait();
        }
        Guard { turn: self }
    }

    #[cold]
    fn wait(&self) {
        let mut times = 0;
        loop {
            while self.flag.is_taken() {
                self.flag.wait(times);
                times = times.saturating_add(1);
            }
            if self.flag.take() {
                return;
            }
        }
    }
}

/// It is the turn of whoever holds this.
pub struct Guard<'a, T, F: Flag = AtomicBool> {
    turn: &'a Turn<T, F>,
}

impl<T, F: Flag> Deref for Guard<'_, T, F> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the flag is ours until the guard is dropped, and nobody touches the value without it.
        unsafe { &*self.turn.value.get() }
    }
}

impl<T, F: Flag> DerefMut for Guard<'_, T, F> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed by nobody else.
        unsafe { &mut *self.turn.value.get() }
    }
}

impl<T, F: Flag> Drop for Guard<'_, T, F> {
    #[inline(always)]
    fn drop(&mut self) {
        self.turn.flag.release();
    }
}

/// Flags for tests.
#[cfg(all(test, target_arch = "x86_64", not(miri)))]
pub(crate) mod flags {
    use super::Flag;
    use loom::sync::Notify;
    use loom::sync::atomic::{AtomicBool, Ordering};

    macro_rules! flags {
        ($($(#[$doc:meta])* $name:ident, $acquire:ident, $release:ident, $gets:expr;)+) => {$(
            $(#[$doc])*
            pub(crate) struct $name(AtomicBool, Notify);

            impl Flag for $name {
                fn free() -> Self {
                    Self(AtomicBool::new(false), Notify::new())
                }

                fn take(&self) -> bool {
                    let taken = self.0.compare_exchange(false, true, Ordering::$acquire, Ordering::Relaxed);
                    $gets(taken.is_ok())
                }

                fn is_taken(&self) -> bool {
                    self.0.load(Ordering::Relaxed)
                }

                fn release(&self) {
                    self.0.store(false, Ordering::$release);
                    self.1.notify();
                }

                // The checker would try for ever how often somebody may look in vain.
                fn wait(&self, _: u32) {
                    self.1.wait();
                }
            }
        )+};
    }

    flags! {
        /// The flag that threads use, watched by a checker of all orders of events.
        Watched, Acquire, Release, |free: bool| free;
        /// A planted fault: everybody gets it.
        Everybodys, Acquire, Release, |_| true;
        /// A planted fault: what was done before it was released need not be known after.
        Untold, Acquire, Relaxed, |free: bool| free;
        /// A planted fault: the same from the other side.
        Unheard, Relaxed, Release, |free: bool| free;
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::flags::{Everybodys, Unheard, Untold, Watched};
    use super::*;
    use alloc::sync::Arc;
    use loom::cell::UnsafeCell;

    /// Two take turns at a number, in every order; the checker complains of a turn that does not know of
    /// those before it.
    fn turns<F: Flag + Send + Sync + 'static>() {
        loom::model(|| {
            let number = Arc::new(Turn::<_, F>::new(UnsafeCell::new(0)));
            let add = |number: &Turn<UnsafeCell<u32>, F>| {
                // SAFETY: the number is alive; whether it is touched by one at a time is what is asked.
                number.take().with_mut(|number| unsafe { *number += 1 });
            };
            let same = Arc::clone(&number);
            let other = loom::thread::spawn(move || add(&same));
            add(&number);
            other.join().unwrap();
            // SAFETY: as above.
            assert_eq!(number.take().with(|number| unsafe { *number }), 2);
        });
    }

    #[test]
    fn one_at_a_time() {
        turns::<Watched>();
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_lock_that_everybody_gets_is_caught() {
        turns::<Everybodys>();
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_lock_that_does_not_tell_is_caught() {
        turns::<Untold>();
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_lock_that_does_not_listen_is_caught() {
        turns::<Unheard>();
    }

    /// The real flag, with turns so long that others sleep, and one that ends by a panic.
    #[test]
    fn long_turns_and_panics_end() {
        let number = Turn::<_>::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let mut number = number.take();
                        let before = *number;
                        std::thread::sleep(Duration::from_millis(1));
                        *number = before + 1;
                    }
                });
            }
        });
        let panicked = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            let _turn = number.take();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*number.take(), 20);
    }
}
