//! Counts in the last *t* that read the moment from a clock.

use super::super::now::Now as _;
use super::super::{Clocked, Door, Lately};
use super::{Counter, check_counting};
use crate::error::Error;
use crate::untyped::Untyped;
use crate::window::Time;

impl Door for Counter<Clocked> {
    type Time = Clocked;

    fn enter(inner: Untyped, time: Clocked) -> Result<Self, Error> {
        check_counting(&inner)?;
        Ok(Self { seen: Lately::enter(inner, time)? })
    }
}

impl Counter<Clocked> {
    /// The moment of a call that changes nothing.
    pub(crate) fn now(&self) -> Time {
        self.seen.time.read(&self.seen.inner)
    }
}
