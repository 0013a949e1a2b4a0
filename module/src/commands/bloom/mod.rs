//! `BF.*`: the grammar, replies and error texts of RedisBloom and valkey-bloom over our filters, so
//! that clients written for those work unchanged.
//!
//! A missing key is made as a filter for everything ever seen. But the commands take any key of ours:
//! reserved with a window by `LATELY.RESERVE`, it forgets, and a client that knows only `BF.ADD`
//! has items that expire.

pub mod add;
pub mod chunks;
pub mod exists;
pub mod info;
pub mod reserve;

use lately::{ErrorRate, Window};

use crate::args;
use crate::config;
use crate::engine::Refusal;
use crate::object::{Bloom, Stored};
use crate::wish::Wish;

/// What a filter of this family is told when it is made.
#[derive(Debug, Clone, Copy)]
struct Shape {
    error: ErrorRate,
    bloom: Bloom,
    /// Whether somebody said how many items there will be, and not only the settings.
    is_told: bool,
}

/// The largest error that RedisBloom takes; more is taken as this much.
const LARGEST_ERROR: f64 = 0.25;

/// The most items and the largest expansion that RedisBloom takes.
const LARGEST_CAPACITY: u64 = 1 << 30;
const LARGEST_EXPANSION: u64 = 32_768;

impl Shape {
    /// As the settings have it.
    fn default() -> Result<Self, Refusal> {
        let capacity = config::BLOOM_CAPACITY.get() as u64;
        let expansion = config::BLOOM_EXPANSION.get() as u64;
        let error = config::BLOOM_ERROR_RATE.get().parse()?;
        Ok(Self { error, bloom: Bloom { capacity, expansion }, is_told: false })
    }

    fn wish(&self) -> Wish {
        Wish {
            window: Some(Window::Ever),
            limit: Some(self.error.into()),
            capacity: (self.is_told || self.bloom.expansion == 0).then_some(self.bloom.capacity),
            bloom: Some(self.bloom),
            ..Wish::default()
        }
    }
}

/// An error rate as RedisBloom reads it.
fn error_rate(word: &[u8], unreadable: &'static str) -> Result<ErrorRate, Refusal> {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    let number = number.filter(|number| !number.is_nan()).ok_or(Refusal::coded(unreadable))?;
    if number <= 0.0 || number >= 1.0 {
        return Err(Refusal::coded("ERR (0 < error rate range < 1)"));
    }
    let rate = number.clamp(ErrorRate::SMALLEST, LARGEST_ERROR);
    Ok(ErrorRate::new(rate)?)
}

fn capacity(word: &[u8], unreadable: &'static str) -> Result<u64, Refusal> {
    let capacity = args::whole(word).ok_or(Refusal::coded(unreadable))?;
    if capacity == 0 {
        return Err(Refusal::coded("ERR (capacity should be larger than 0)"));
    }
    if capacity > LARGEST_CAPACITY {
        return Err(Refusal::coded(unreadable));
    }
    Ok(capacity)
}

fn expansion(word: &[u8], unreadable: &'static str) -> Result<u64, Refusal> {
    args::whole(word)
        .filter(|&expansion| expansion <= LARGEST_EXPANSION)
        .ok_or(Refusal::coded(unreadable))
}

/// The refusal of commands that need a key.
const NOT_FOUND: Refusal = Refusal::coded("ERR not found");

/// The most new items that a filter takes, if it was made not to grow.
fn most_items(stored: &Stored) -> Option<u64> {
    stored.bloom.filter(|bloom| bloom.expansion == 0).map(|bloom| bloom.capacity)
}
