//! The race at the door: the public types, with texts for keys, as a program uses them.
//!
//! Keys are texts of 16 to 40 bytes, one at a time, hashed on both sides. The rival is two `fastbloom`
//! filters that take turns, its keys hashed once for both.

mod costs;
mod race;
mod texts;
mod threads;

pub use costs::costs;
pub use race::{Lap, race};
pub use texts::{Part, Texts};
pub use threads::crowd;

use std::time::Duration;

use anyhow::Result;
use lately::{Builder, Clocked, Lately, NoClock, Shared, SystemClock, Time, Timed};

use crate::rivals::Rotating;

/// Something that is asked about texts, one after the other, in a loop of its own.
pub trait Doorkeeper {
    /// Inserts one key after the other, and counts those that were in the window.
    fn insert_each(&mut self, keys: &[&str]) -> u64;

    /// Looks up one key after the other, and counts those in the window.
    fn contains_each(&self, keys: &[&str]) -> u64;
}

impl Doorkeeper for Lately {
    #[inline(never)]
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(!self.insert(key))).sum()
    }

    #[inline(never)]
    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }
}

/// A handle is what a thread has of a filter that is shared.
impl Doorkeeper for &Shared {
    #[inline(never)]
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(!self.insert(key))).sum()
    }

    #[inline(never)]
    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }
}

/// A window by time that reads the moment from a clock.
impl Doorkeeper for Lately<Clocked> {
    #[inline(never)]
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(!self.insert(key))).sum()
    }

    #[inline(never)]
    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }
}

/// A window by time that is told the moment: always the same, as within a millisecond.
impl Doorkeeper for Lately<Timed> {
    #[inline(never)]
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.insert_at(key, MOMENT) == Ok(false))).sum()
    }

    #[inline(never)]
    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains_at(key, MOMENT))).sum()
    }
}

impl Doorkeeper for Rotating {
    #[inline(never)]
    fn insert_each(&mut self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(!self.insert_key(key))).sum()
    }

    #[inline(never)]
    fn contains_each(&self, keys: &[&str]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains_key(key))).sum()
    }
}

/// Who stands at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Who {
    /// The public type.
    Lately,
    /// Its handle for many threads.
    Shared,
    /// A window of an hour that is told the moment.
    Timed,
    /// The same with a clock.
    Clocked,
    /// Two `fastbloom` filters that take turns.
    Fastbloom,
}

/// Builds somebody for the last `items` at an error, and hands it to `then`.
pub fn with<R>(
    who: Who,
    items: u64,
    error: f64,
    then: impl FnOnce(&mut dyn Doorkeeper) -> R,
) -> Result<R> {
    let builder = Lately::last(items).error(error).seed(SEED);
    Ok(match who {
        Who::Lately => then(&mut builder.build()?),
        Who::Shared => then(&mut &builder.build_shared()?),
        Who::Timed => then(&mut by_time(error).checked_by(NoClock).build()?),
        Who::Clocked => then(&mut by_time(error).clock(SystemClock).build()?),
        Who::Fastbloom => then(&mut Rotating::new(items, error, SEED)),
    })
}

fn by_time(error: f64) -> Builder<Lately<Timed>> {
    Lately::within(Duration::from_secs(3600)).error(error).seed(SEED)
}

const SEED: u64 = 15;

const MOMENT: Time = Time::from_millis(1_700_000_000_000);
