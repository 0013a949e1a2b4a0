//! The slowest single insertion: what a caller waits for, once in a while.
//!
//! Every insertion is timed on its own. Interruptions by the machine are slow too, but fall
//! elsewhere each time, so we live the same life several times, keep for every position the least
//! of its times, and report the largest of those. That is right for structures that do the same
//! work every time; one that draws from a random source we cannot seed may hide a rare slow
//! insertion from us.

use anyhow::Result;
use lately::Time;
use testkit::streams::TimedKeys;

use crate::clock::Clock;
use crate::contender::Subject;

/// Insertions to look at.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// Insertions before the first that counts: memory is first touched here.
    pub skipped: u64,
    /// Insertions that count.
    pub timed: u64,
}

/// Insertions of all passes together, beyond which two passes must do: over so many positions,
/// two interruptions at the same one are rare, and slow turns are slower than they.
const MANY: u64 = 50_000_000;

impl Stretch {
    /// So many passes, or fewer over a long stretch.
    fn passes(self, wanted: usize) -> usize {
        let affordable = MANY / (self.skipped + self.timed).max(1);
        wanted.min(affordable.max(2) as usize)
    }
}

/// The largest, over positions, of the least time over passes, in nanoseconds.
pub fn worst_insert(
    fresh: &dyn Fn() -> Result<Box<dyn Subject>>,
    stream: &dyn Fn() -> TimedKeys,
    stretch: Stretch,
    passes: usize,
    clock: &impl Clock,
) -> Result<u64> {
    let least = insert_times(fresh, stream, stretch, passes, clock)?;
    Ok(least.into_iter().max().unwrap_or(0).into())
}

/// For every position, the least time over passes, in nanoseconds.
pub fn insert_times(
    fresh: &dyn Fn() -> Result<Box<dyn Subject>>,
    stream: &dyn Fn() -> TimedKeys,
    stretch: Stretch,
    passes: usize,
    clock: &impl Clock,
) -> Result<Vec<u32>> {
    let mut least = vec![u32::MAX; stretch.timed as usize];
    for _ in 0..stretch.passes(passes) {
        let mut subject = fresh()?;
        let mut keys = stream().map(|(key, millis)| (key, Time::from_millis(millis)));
        for (key, now) in keys.by_ref().take(stretch.skipped as usize) {
            subject.insert(key, now);
        }
        for (least, (key, now)) in least.iter_mut().zip(keys) {
            let start = clock.nanos();
            subject.insert(key, now);
            let nanos = clock.nanos() - start;
            *least = (*least).min(u32::try_from(nanos).unwrap_or(u32::MAX));
        }
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Actor, Stage};
    use testkit::streams::{clocks, distinct};

    /// Slow at the same position in every pass, and interrupted at another one in each.
    struct Hesitant {
        actor: Actor,
        stage: Stage,
        position: u64,
        interrupted_at: u64,
    }

    impl Subject for Hesitant {
        fn profile(&self) -> crate::contender::Profile {
            self.actor.profile()
        }

        fn insert(&mut self, key: u64, now: Time) -> bool {
            self.position += 1;
            match self.position {
                3 => self.stage.pass(9999),
                30 => self.stage.pass(700),
                position if position == self.interrupted_at => self.stage.pass(5000),
                _ => {}
            }
            self.actor.insert(key, now)
        }

        fn contains(&self, key: u64, now: Time) -> bool {
            self.actor.contains(key, now)
        }
    }

    #[test]
    fn finds_the_slow_insertion_and_not_the_interruption() {
        let stage = Stage::default();
        let fresh = || -> Result<Box<dyn Subject>> {
            let actor = Actor::new(stage.clone(), 0, 10);
            let interrupted_at = 50 + stage.built();
            Ok(Box::new(Hesitant { actor, stage: stage.clone(), position: 0, interrupted_at }))
        };
        let stream = || -> TimedKeys { Box::new(distinct(7).zip(clocks::frozen_time(0))) };
        // The insertion at position 3 is slower, but comes before the stretch.
        let stretch = Stretch { skipped: 20, timed: 80 };
        assert_eq!(worst_insert(&fresh, &stream, stretch, 2, &stage).unwrap(), 710);
        assert_eq!(worst_insert(&fresh, &stream, stretch, 1, &stage).unwrap(), 5010);
    }

    #[test]
    fn long_stretches_are_walked_less_often() {
        let passes = |timed| Stretch { skipped: 0, timed }.passes(3);
        assert_eq!([100, 20_000_000, 1 << 40].map(passes), [3, 2, 2]);
    }
}
