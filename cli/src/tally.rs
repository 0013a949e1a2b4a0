//! Counts keys without end, among the last n, or in the last t, and keeps those that may be printed.

use lately::plan::Goal;
use lately::queries::{Heavy, Kept};
use lately::raw::{Counting, Untyped};
use lately::{Builder, Seed, Time, Window};

use crate::stats::About;

/// The counts, and the keys that came most often.
pub(crate) struct Tally {
    counter: Untyped,
    window: Window,
    kept: Kept,
    /// Sightings so far.
    sightings: u64,
    /// The latest moment so far.
    latest: Time,
    late: u64,
}

/// Small steps in which memory of what left is given back, after each chunk of records.
const STEPS: usize = 64;

impl Tally {
    /// An empty one, that lists at most `room` keys of those that came at least `floor` times.
    pub(crate) fn new(goal: Goal, seed: Seed, room: u64, floor: u64) -> anyhow::Result<Self> {
        let counter = Builder::<Untyped>::from(goal).seed(seed.0).build()?;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (window, kept) = (goal.window, Kept::new(goal.window, room, floor));
        Ok(Self { counter, window, kept, sightings: 0, latest: Time::ZERO, late: 0 })
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
        let moment = match self.window {
            Window::Within(_) => self.latest.millis(),
            Window::Last(_) | Window::Ever => self.sightings,
        };
        let counted = counted(&self.counter, self.window, self.latest);
        self.kept.note((hash, key), moment, count, counted);
        count == 1
    }

    /// Lets go what is older than the window at a moment, for clocks that go on without records.
    pub(crate) fn turn(&mut self, now: Time) {
        if matches!(self.window, Window::Within(_)) {
            self.latest = self.latest.max(now);
            self.counter.filter_mut().expire(self.latest, STEPS);
            self.kept.advance(self.latest.millis());
        }
    }

    /// Every key that counts at least so much, most frequent first; without a threshold, all that
    /// are kept.
    pub(crate) fn list(&self, at_least: Option<u64>) -> anyhow::Result<Vec<(&[u8], u64)>> {
        let at_least = at_least.unwrap_or(0).max(self.kept.floor());
        Ok(self.kept.at_least(at_least, counted(&self.counter, self.window, self.latest))?)
    }

    /// The keys that came most often, so many of them if there are as many; of equals, any.
    pub(crate) fn top(&self, most: usize) -> Vec<(&[u8], u64)> {
        self.kept.top(most, counted(&self.counter, self.window, self.latest))
    }

    /// Keys that came less often may not be listed.
    pub(crate) fn floor(&self) -> u64 {
        self.kept.floor()
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
