//! Counts keys without end, among the last n, or in the last t, and keeps those that may be printed: the
//! first so many, right whatever leaves the window, or all that came often enough, as far as there is room.

use lately::plan::Goal;
use lately::queries::{Heavy, Kept, TopKeys};
use lately::raw::{Counting, Untyped};
use lately::{Builder, Seed, Time, Window};

use crate::stats::About;

/// The counts, and the keys that came most often.
pub(crate) struct Tally {
    counter: Untyped,
    window: Window,
    printed: Printed,
    /// Sightings so far.
    sightings: u64,
    /// The latest moment so far.
    latest: Time,
    late: u64,
}

/// The keys that may be printed.
enum Printed {
    First(TopKeys),
    Often(Kept),
}

/// Small steps in which memory of what left is given back, after each chunk of records.
const STEPS: usize = 64;

impl Tally {
    /// An empty one, that lists the first so many keys.
    pub(crate) fn of_first(goal: Goal, seed: Seed, most: usize) -> anyhow::Result<Self> {
        let builder = Builder::<Untyped>::from(goal).seed(seed.0);
        let counter = match TopKeys::structure(goal.window) {
            Some(name) => builder.structure(name).build()?,
            None => builder.build()?,
        };
        let counting = counter.filter().counting().expect("built for counting");
        let first = TopKeys::new(goal.window, counting, most)?;
        Ok(Self::of(counter, goal.window, Printed::First(first)))
    }

    /// An empty one, that lists at most `room` keys of those that came at least `floor` times.
    pub(crate) fn of_often(goal: Goal, seed: Seed, room: u64, floor: u64) -> anyhow::Result<Self> {
        let counter = Builder::<Untyped>::from(goal).seed(seed.0).build()?;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let kept = Kept::new(goal.window, room, floor);
        Ok(Self::of(counter, goal.window, Printed::Often(kept)))
    }

    fn of(counter: Untyped, window: Window, printed: Printed) -> Self {
        Self { counter, window, printed, sightings: 0, latest: Time::ZERO, late: 0 }
    }

    /// Asks for the memory that counting a key will look at.
    pub(crate) fn prefetch(&self, hash: u64) {
        self.counter.filter().prefetch_hash(hash);
    }

    /// Counts a sighting of a key, and says whether the key was new. One earlier than the latest is
    /// taken to happen with the latest.
    pub(crate) fn add(&mut self, hash: u64, key: &[u8], moment: Time) -> bool {
        self.late += u64::from(moment < self.latest);
        self.latest = self.latest.max(moment);
        self.sightings += 1;
        let counter = self.counter.filter_mut().as_counting().expect("built for counting");
        let count = counter.add_hash(hash, 1, self.latest);
        match &mut self.printed {
            Printed::First(first) => {
                let counting = self.counter.filter().counting().expect("built for counting");
                first.note((hash, key), count, counting, self.latest);
            }
            Printed::Often(kept) => {
                let moment = match self.window {
                    Window::Within(_) => self.latest.millis(),
                    Window::Last(_) | Window::Ever => self.sightings,
                };
                let counted = counted(&self.counter, self.window, self.latest);
                kept.note((hash, key), moment, count, counted);
            }
        }
        count == 1
    }

    /// Lets go what is older than the window at a moment, for clocks that go on without records.
    pub(crate) fn turn(&mut self, now: Time) {
        if matches!(self.window, Window::Within(_)) {
            self.latest = self.latest.max(now);
            self.counter.filter_mut().expire(self.latest, STEPS);
            match &mut self.printed {
                Printed::First(first) => {
                    let counting = self.counter.filter().counting().expect("built for counting");
                    first.expire(counting, self.latest);
                }
                Printed::Often(kept) => kept.advance(self.latest.millis()),
            }
        }
    }

    /// The first so many keys, or all that may be printed, that count at least so much, most frequent first.
    pub(crate) fn list(&self, at_least: u64) -> anyhow::Result<Vec<(&[u8], u64)>> {
        match &self.printed {
            Printed::First(first) => {
                let counting = self.counter.filter().counting().expect("built for counting");
                let mut list = first.list(first.most(), counting, self.latest);
                list.truncate(list.partition_point(|&(_, count)| count >= at_least));
                Ok(list)
            }
            Printed::Often(kept) => {
                let counted = counted(&self.counter, self.window, self.latest);
                Ok(kept.at_least(at_least.max(kept.floor()), counted)?)
            }
        }
    }

    /// Keys that came less often may not be listed.
    pub(crate) fn floor(&self) -> u64 {
        match &self.printed {
            Printed::First(_) => 0,
            Printed::Often(kept) => kept.floor(),
        }
    }

    /// Records that told a moment before the latest.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    /// What to tell of it.
    pub(crate) fn about(&self) -> About {
        About::of(&self.counter)
    }
}

/// Tells the count of a kept key at this moment. Without end it is that of when it last came, before
/// others collided with it.
fn counted(counter: &Untyped, window: Window, now: Time) -> impl Fn(u64, &Heavy) -> u64 {
    let counting: &dyn Counting = counter.filter().counting().expect("built for counting");
    move |hash, heavy| match window {
        Window::Ever => heavy.count,
        Window::Last(_) | Window::Within(_) => counting.count_hash(hash, now),
    }
}
