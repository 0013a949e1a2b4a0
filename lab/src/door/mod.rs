//! The race at the door: the public types, with texts for keys, as a program uses them.
//!
//! Keys are texts of 16 to 40 bytes, one at a time, hashed on both sides. The rival is two `fastbloom`
//! filters that take turns, its keys hashed once for both.

mod race;
mod texts;
mod threads;

pub use race::{Lap, race};
pub use texts::{Part, Texts};
pub use threads::crowd;

use anyhow::Result;
use lately::{Lately, Shared};

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
        Who::Fastbloom => then(&mut Rotating::new(items, error, SEED)),
    })
}

const SEED: u64 = 15;
