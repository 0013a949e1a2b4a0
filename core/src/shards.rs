//! One logical filter in several parts: over keys of a cluster, or under locks of their own.
//!
//! Every hash belongs to one shard, so that the answers of the shards are the answers of the whole.
//! A window by time is the same in every shard and stays exact. Of a window over the last n, each
//! shard gets its share: if exactly every s-th item went to it, n/s of its own items would be the
//! last n of all, give or take one (the argument of Naor and Yogev, Claim 3.4). Hashes spread items
//! only nearly so; the share is enlarged until, for a stream of different items, no shard forgets
//! one of the last n but once in 10^9 windows. What it is enlarged by is slack: that much longer an
//! item may be reported. An item that makes up a large part of the stream by its repeats shortens
//! the window of its own shard; a window by time knows no such thing.

#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::{reduce, remix};
use crate::window::Window;

/// How many parts a filter is split into; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shards(pub u32);

/// How often a shard may forget one of the last n, in a window of different items.
const FORGETS: f64 = 1e-9;

impl Shards {
    /// The shard of a hash. Structures use the hash itself, so that shards use another.
    #[inline]
    pub fn of(self, hash: u64) -> usize {
        const STREAM: u64 = 0x7368_6172_6473;
        reduce(remix(hash, STREAM), self.0.into()).0 as usize
    }

    /// How many of its own items a shard has to remember so that all of the last `window` are.
    ///
    /// The number of the last n items in one shard is binomial with mean n/s. By Bernstein's
    /// inequality it exceeds the mean by t with probability at most exp(-t^2 / (2 mean + 2t/3)).
    pub fn window(self, window: u64) -> u64 {
        if self.0 == 1 {
            return window;
        }
        let shards = f64::from(self.0);
        let mean = window as f64 / shards;
        let bits = (shards / FORGETS).ln();
        let excess = bits / 3.0 + (bits * bits / 9.0 + 2.0 * mean * bits).sqrt();
        window.min((mean + excess).ceil() as u64)
    }

    /// How much longer than the window an item may be reported, because shares were enlarged.
    pub fn slack(self, window: Window) -> u64 {
        match window {
            Window::Last(n) => (self.window(n) * u64::from(self.0)).saturating_sub(n),
            Window::Within(_) | Window::Ever => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shard_changes_nothing() {
        assert_eq!(Shards(1).window(1000), 1000);
        assert_eq!(Shards(1).slack(Window::Last(1000)), 0);
        assert_eq!(Shards(1).of(u64::MAX), 0);
    }

    #[test]
    fn shares_hold_what_falls_to_them() {
        for (shards, window) in [(2, 1000), (16, 100_000), (64, 1_000_000)] {
            let shards = Shards(shards);
            let share = shards.window(window);
            for seed in 0..5 {
                let mut loads = vec![0; shards.0 as usize];
                for item in 0..window {
                    loads[shards.of(remix(item, seed))] += 1;
                }
                assert!(loads.iter().all(|&load| load <= share), "{shards:?} {window}");
            }
        }
        // A million over 16 shards: a slack of 3%.
        assert!(Shards(16).slack(Window::Last(1_000_000)) < 30_000);
    }
}
