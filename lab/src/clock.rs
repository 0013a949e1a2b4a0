//! The only place that reads a clock, so that timing can be tested with a pretended one.

use std::time::Instant;

/// Tells the time.
pub trait Clock {
    /// Nanoseconds since some fixed moment.
    fn nanos(&self) -> u64;
}

/// The clock of the machine.
pub struct Monotonic(Instant);

impl Monotonic {
    /// A clock that starts at zero now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    #[inline]
    fn nanos(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}
