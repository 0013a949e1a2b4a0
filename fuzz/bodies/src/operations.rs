//! Any operations, in any order, against a memory too simple to be wrong.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use lately::raw::{Filter, codec};
use lately::{Hashing, Promise, Seed, Time, Window};
use lately_papers::CATALOG;

use crate::subject::{arbitrary_blueprint, build};

/// Applies any operations to any structure, and panics if it forgets what it promised to remember.
pub fn operations(data: &[u8]) {
    // Input that ends early, or that asks for what no structure offers, is simply not a test.
    let _ = try_operations(&mut Unstructured::new(data));
}

/// Applies any operations twice, once saving and loading at any moments, and panics if any answer
/// differs.
pub fn roundtrip(data: &[u8]) {
    let _ = try_roundtrip(&mut Unstructured::new(data));
}

/// One operation. Keys are few, so that they meet again.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Operation {
    Insert(u8),
    InsertFresh(u32),
    InsertNew(u8),
    Contains(u8),
    Wait(u8),
    GoBack(u8),
    /// As far ahead as a clock can be wrong: by this power of two of milliseconds.
    Leap(u8),
    /// Sets the filter's clock back by this power of two, and the moments told with it.
    TurnBack(u8),
    Remove(u8),
    Add(u8, u8),
    Count(u8),
    TakeBack(u8, u8),
}

const HASHING: Hashing = Hashing::Fast(Seed(7));

fn hash(key: u64) -> u64 {
    HASHING.hash(&key.to_le_bytes())
}

fn try_operations(u: &mut Unstructured<'_>) -> Result<()> {
    let blueprint = arbitrary_blueprint(u)?;
    let mut filter = build(&*blueprint, u)?;
    let mut memory = Memory::new(blueprint.promise());
    for operation in u.arbitrary_iter()? {
        memory.apply(operation?, &mut *filter);
    }
    Ok(())
}

fn try_roundtrip(u: &mut Unstructured<'_>) -> Result<()> {
    let blueprint = arbitrary_blueprint(u)?;
    let mut kept = build(&*blueprint, u)?;
    let bytes = codec::save(&*kept, HASHING);
    let (mut reopened, _) = codec::open_of(CATALOG, &bytes).expect("what was saved opens");
    let mut memories = [Memory::new(blueprint.promise()), Memory::new(blueprint.promise())];
    for operation in u.arbitrary_iter()? {
        let (save, operation): (bool, Operation) = operation?;
        if save {
            let bytes = codec::save(&*reopened, HASHING);
            reopened = codec::open_of(CATALOG, &bytes).expect("what was saved opens").0;
        }
        let one = memories[0].apply(operation, &mut *kept);
        let other = memories[1].apply(operation, &mut *reopened);
        assert_eq!(one, other, "{operation:?} after reopening");
    }
    assert_eq!(codec::save(&*kept, HASHING), codec::save(&*reopened, HASHING));
    Ok(())
}

/// What a filter owes: the position and the moment at which each key was last recorded.
struct Memory {
    promise: Promise,
    position: u64,
    /// The latest moment so far; going back is standing still.
    clock: u64,
    /// The moment that operations are told.
    now: u64,
    recorded: HashMap<u64, Sighting>,
    /// What was recorded at each position, for counts in windows.
    history: Vec<Option<u64>>,
}

#[derive(Clone, Copy)]
struct Sighting {
    position: u64,
    moment: u64,
    /// Insertions that may be taken back.
    times: u64,
}

impl Memory {
    fn new(promise: Promise) -> Self {
        let start = 1_000_000;
        Self {
            promise,
            position: 0,
            clock: start,
            now: start,
            recorded: HashMap::new(),
            history: Vec::new(),
        }
    }

    /// Applies one operation, checks its answer, and returns it.
    fn apply(&mut self, operation: Operation, filter: &mut dyn Filter) -> u64 {
        match operation {
            Operation::Add(key, times) => self.add(key.into(), u64::from(times % 8), filter),
            Operation::Count(key) => self.count(key.into(), filter),
            Operation::TakeBack(key, times) => {
                self.take_back(key.into(), u64::from(times % 8), filter)
            }
            other => self.apply_to_membership(other, filter).into(),
        }
    }

    fn apply_to_membership(&mut self, operation: Operation, filter: &mut dyn Filter) -> bool {
        let now = Time::from_millis(self.now);
        match operation {
            Operation::Insert(key) => self.insert(key.into(), filter),
            Operation::InsertFresh(key) => self.insert(1 << 40 | u64::from(key), filter),
            Operation::InsertNew(key) => {
                let key = u64::from(key);
                let owed = self.owes(key);
                let new = filter.insert_new_hash(hash(key), now);
                assert!(!(owed && new), "passed again within the window");
                self.step(new.then_some(key));
                new
            }
            Operation::Contains(key) => {
                let seen = filter.contains_hash(hash(key.into()), now);
                // A look happens before the next position, so it sees one more than an insertion.
                assert!(seen || !self.owes(key.into()), "looked for and not found");
                seen
            }
            Operation::Wait(millis) => {
                self.now = self.now.max(self.clock).saturating_add(millis.into());
                false
            }
            Operation::GoBack(millis) => {
                self.now = self.now.saturating_sub(millis.into());
                false
            }
            Operation::Leap(power) => {
                self.now = self.now.saturating_add(1 << (power % 64));
                false
            }
            Operation::TurnBack(power) => {
                self.turn_back(self.clock.saturating_sub(1 << (power % 64)), filter);
                false
            }
            Operation::Remove(key) => self.remove(key.into(), filter),
            Operation::Add(..) | Operation::Count(_) | Operation::TakeBack(..) => false,
        }
    }

    /// Records several sightings at once, if the filter counts.
    fn add(&mut self, key: u64, times: u64, filter: &mut dyn Filter) -> u64 {
        let now = Time::from_millis(self.now);
        let Some(counter) = filter.as_counting() else { return 0 };
        let count = counter.add_hash(hash(key), times, now);
        assert_eq!(count, counter.count_hash(hash(key), now), "added and looked at");
        (0..times).for_each(|_| self.step(Some(key)));
        assert!(count >= self.owed_count(key, filter), "{key} was added and counts too little");
        count
    }

    fn count(&mut self, key: u64, filter: &mut dyn Filter) -> u64 {
        let Some(counter) = filter.counting() else { return 0 };
        let count = counter.count_hash(hash(key), Time::from_millis(self.now));
        assert!(count >= self.owed_count(key, filter), "{key} counts too little");
        count
    }

    /// Takes back sightings that there are; a filter that cannot says so.
    fn take_back(&mut self, key: u64, times: u64, filter: &mut dyn Filter) -> u64 {
        let now = Time::from_millis(self.now);
        let can = filter.as_removing().is_some();
        let held = self.recorded.get(&key).map_or(0, |sighting| sighting.times);
        let Some(counter) = filter.as_counting().filter(|_| held >= times) else { return 0 };
        let left = counter.take_back_hash(hash(key), times, now);
        assert_eq!(left.is_ok(), can, "taking back {times} of {held}");
        let Ok(left) = left else { return 0 };
        if held == times {
            self.recorded.remove(&key);
        } else if let Some(sighting) = self.recorded.get_mut(&key) {
            sighting.times -= times;
        }
        assert!(left >= self.owed_count(key, filter), "more was taken back than asked");
        left
    }

    /// How much the filter must count for the key at least.
    fn owed_count(&self, key: u64, filter: &dyn Filter) -> u64 {
        let Some(counter) = filter.counting().filter(|counter| counter.never_undercounts()) else {
            return 0;
        };
        let count = match self.promise.window {
            Window::Last(n) => {
                let recent = self.history.iter().rev().take(n as usize);
                recent.filter(|&&recorded| recorded == Some(key)).count() as u64
            }
            Window::Ever => self.recorded.get(&key).map_or(0, |sighting| sighting.times),
            // Nothing counts by time.
            Window::Within(_) => 0,
        };
        count.min(counter.largest_count())
    }

    fn insert(&mut self, key: u64, filter: &mut dyn Filter) -> bool {
        let owed = self.owes(key);
        let new = filter.insert_hash(hash(key), Time::from_millis(self.now));
        assert!(!(owed && new), "forgot {key}");
        self.step(Some(key));
        new
    }

    /// Takes back an insertion, if the filter can and the key has one.
    fn remove(&mut self, key: u64, filter: &mut dyn Filter) -> bool {
        let (Some(filter), Some(sighting)) = (filter.as_removing(), self.recorded.get_mut(&key))
        else {
            return false;
        };
        if sighting.times == 0 {
            return false;
        }
        sighting.times -= 1;
        if sighting.times == 0 {
            self.recorded.remove(&key);
        }
        let removed = filter.remove_hash(hash(key));
        assert!(removed, "an insertion could not be taken back");
        removed
    }

    /// Sets the clock back: what was owed is still owed, as if seen at that moment at the latest.
    fn turn_back(&mut self, moment: u64, filter: &mut dyn Filter) {
        let measured = filter.clock();
        filter.turn_back(Time::from_millis(moment));
        let turned = measured.map(|clock| clock.min(Time::from_millis(moment)));
        assert_eq!(filter.clock(), turned, "set back to {moment}");
        if let Window::Within(span) = self.promise.window {
            self.recorded.retain(|_, sighting| self.clock - sighting.moment <= span.millis());
            for sighting in self.recorded.values_mut() {
                sighting.moment = sighting.moment.min(moment);
            }
        }
        (self.clock, self.now) = (moment, moment);
    }

    /// One position later; `recorded` is the key that now counts as just seen.
    fn step(&mut self, recorded: Option<u64>) {
        self.clock = self.clock.max(self.now);
        self.position += 1;
        self.history.push(recorded);
        if let Some(key) = recorded {
            let times = 1 + self.recorded.get(&key).map_or(0, |sighting| sighting.times);
            let sighting = Sighting { position: self.position, moment: self.clock, times };
            self.recorded.insert(key, sighting);
        }
    }

    /// Whether the filter must report the key.
    fn owes(&self, key: u64) -> bool {
        if self.promise.false_negatives > 0.0 {
            return false;
        }
        let Some(sighting) = self.recorded.get(&key) else { return false };
        match self.promise.window {
            Window::Last(n) => self.position - sighting.position < n,
            Window::Within(span) => self.clock.max(self.now) - sighting.moment <= span.millis(),
            Window::Ever => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lately::Lately;

    /// A filter that was secretly emptied is noticed.
    #[test]
    #[should_panic(expected = "forgot 5")]
    fn forgetting_is_noticed() {
        let builder = Lately::last(10);
        let mut seen = builder.build().unwrap().into_untyped();
        let mut memory = Memory::new(seen.promise());
        memory.apply(Operation::Insert(5), seen.filter_mut());
        let mut emptied = builder.build().unwrap().into_untyped();
        memory.apply(Operation::Insert(5), emptied.filter_mut());
    }

    /// A filter that was emptied when its clock was set back is noticed.
    #[test]
    fn what_is_lost_when_the_clock_is_set_back_is_noticed() {
        let builder = Lately::within(std::time::Duration::from_millis(100));
        for operation in [Operation::Insert(5), Operation::Contains(5)] {
            let mut seen = builder.build().unwrap().into_untyped();
            let mut memory = Memory::new(seen.promise());
            memory.apply(Operation::Leap(40), seen.filter_mut());
            memory.apply(Operation::Insert(5), seen.filter_mut());
            memory.apply(Operation::TurnBack(40), seen.filter_mut());
            memory.apply(Operation::Wait(100), seen.filter_mut());
            memory.apply(Operation::Contains(5), seen.filter_mut());
            let mut emptied = builder.build().unwrap().into_untyped();
            let lost = std::panic::AssertUnwindSafe(|| {
                memory.apply(operation, emptied.filter_mut());
            });
            assert!(std::panic::catch_unwind(lost).is_err(), "{operation:?}");
        }
    }

    /// Counting less than was added is noticed.
    #[test]
    #[should_panic(expected = "5 counts too little")]
    fn undercounting_is_noticed() {
        let builder = Lately::ever().counting().expected_items(100);
        let mut counter = builder.build().unwrap().into_untyped();
        let mut memory = Memory::new(counter.promise());
        memory.apply(Operation::Add(5, 3), counter.filter_mut());
        let mut other = builder.build().unwrap();
        other.add_times(5, 2);
        memory.apply(Operation::Count(5), other.into_untyped().filter_mut());
    }

    /// The memory owes exactly the window: n positions, no more.
    #[test]
    fn the_memory_is_right() {
        let mut seen = Lately::last(3).build().unwrap().into_untyped();
        let mut memory = Memory::new(seen.promise());
        for key in [1, 2, 3] {
            memory.apply(Operation::Insert(key), seen.filter_mut());
            assert!(memory.owes(1));
        }
        memory.apply(Operation::Insert(4), seen.filter_mut());
        assert!(!memory.owes(1) && memory.owes(2));
    }
}
