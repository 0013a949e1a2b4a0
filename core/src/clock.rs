//! What time it is, for those who know. Structures never ask: every operation tells them.

use core::fmt;

use crate::window::Time;

/// A clock on the wall.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The moment, in milliseconds since the epoch of the moments that operations are told. `None`
    /// if it does not know.
    fn now(&self) -> Option<Time>;
}

/// The clock of the machine: milliseconds since 1970, where there is one, and the feature `std` to read
/// it. A clock that was set to before that counts as 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    fn now(&self) -> Option<Time> {
        use std::time::SystemTime;

        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since_1970.unwrap_or_default().as_millis();
        Some(Time::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)))
    }

    #[cfg(any(not(feature = "std"), all(target_family = "wasm", target_os = "unknown")))]
    fn now(&self) -> Option<Time> {
        None
    }
}

/// No clock: for time that is pretended, and for answers that must be the same on every machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> Option<Time> {
        None
    }
}
