//! The keys that came most often, beside whatever counts them.
//!
//! A counter answers for keys it is asked about; to list keys, some must be kept. Kept is every key
//! whose count reached a *floor* when it was last seen. When more keys than there is room for have
//! reached it, it rises until at most half of them are left. With room for two keys and the stream
//! `a b a c`, the third key lifts the floor from 1 to 2, and only `a` is left, with 2.
//!
//! A query at any threshold from the floor on misses nothing, as long as no count is ever too small:
//! a key that counts T at the end counted at least T when it last came, also in a window, where its
//! sightings since then can only have left.
//!
//! In a window the floor comes down again: to half as soon as a quarter of the room is enough, step by step to
//! where it began. What was not kept while it was high may still be in the window, so the lowest threshold
//! that can be asked for follows one window later.
//!
//! In a window a key is listed only while its last sighting is inside, whatever its counters say. So
//! that memory follows the window and not the history, keys wait in a queue and are looked at one
//! window after they were put there: who has not come since is let go, who has is put at its end. A
//! key is thus gone at most one window after it left, and is looked at once per window.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::error::Error;
use crate::window::Window;

/// Keys with their counts, the floor that they reached, and room for so many.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Keys kept at most.
    room: usize,
    /// Every key whose count is at least this when it comes is kept.
    floor: u64,
    /// The floor at the beginning, below which it never is.
    lowest: u64,
    /// Floors that were higher, and the moment at which each of them came down: the highest first.
    higher: VecDeque<(u64, u64)>,
    clock: WindowNow,
    /// By hash: equal hashes are one key to the counter too.
    keys: Keys,
    /// In a window, every kept key once, with the moment when it was put here, earliest first.
    queue: VecDeque<(u64, u64)>,
}

#[cfg(feature = "std")]
type Keys = std::collections::HashMap<u64, Heavy>;

/// Without the standard library there is nothing random to hash by: keys are kept in their order.
#[cfg(not(feature = "std"))]
type Keys = alloc::collections::BTreeMap<u64, Heavy>;

/// A key, and how often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heavy {
    /// The key.
    pub key: Box<[u8]>,
    /// Its count when it last came: at least the truth, and closer to it than the count of now.
    pub count: u64,
    /// The moment when it last came.
    pub last: u64,
}

/// A window, and the latest moment.
#[derive(Debug, Clone, Copy)]
struct WindowNow {
    window: Window,
    now: u64,
}

impl WindowNow {
    /// Whether what happened at a moment is no longer in the window. What happens now is.
    #[inline]
    fn has_left(self, moment: u64) -> bool {
        let since = self.now - moment;
        match self.window {
            Window::Last(n) => since >= n.max(1),
            Window::Within(span) => since > span.millis(),
            Window::Ever => false,
        }
    }
}

impl Kept {
    /// Room for so many keys, of those that came at least `floor` times in the window.
    ///
    /// Moments are what the window is measured in: for the last n, how many insertions there were
    /// with this one; for a span of time, its milliseconds; without end, any number.
    pub fn new(window: Window, room: usize, floor: u64) -> Self {
        let (room, floor) = (room.max(1), floor.max(1));
        let clock = WindowNow { window, now: 0 };
        let (keys, queue, higher) = (Keys::new(), VecDeque::new(), VecDeque::new());
        Self { room, floor, lowest: floor, higher, clock, keys, queue }
    }

    /// The lowest threshold that can be asked for: the highest floor of the window.
    pub fn floor(&self) -> u64 {
        self.higher.front().map_or(self.floor, |&(_, floor)| floor.max(self.floor))
    }

    /// How many keys take memory: those of the window that reached the floor, and some that left.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no key does.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Lets the window go on to a moment; an earlier one than the latest changes nothing.
    #[inline]
    pub fn advance(&mut self, moment: u64) {
        self.clock.now = self.clock.now.max(moment);
        while self.queue.front().is_some_and(|&(put, _)| self.clock.has_left(put)) {
            self.look_at_first();
        }
        while self.higher.front().is_some_and(|&(lowered, _)| self.clock.has_left(lowered)) {
            self.higher.pop_front();
        }
        if self.floor > self.lowest && self.keys.len() <= self.room / 4 {
            self.lower();
        }
    }

    /// Halves the floor where there is room for more. Without end nothing leaves, and nothing is lowered.
    #[cold]
    fn lower(&mut self) {
        if self.clock.window != Window::Ever {
            self.higher.push_back((self.clock.now, self.floor));
            self.floor = (self.floor / 2).max(self.lowest);
        }
    }

    /// Notes that a key came at a moment, and counts so much with that. `counted` tells the count
    /// of any kept key at this moment: in a window it may have become less than when the key last
    /// came.
    #[inline]
    pub fn note(
        &mut self,
        (hash, key): (u64, &[u8]),
        moment: u64,
        count: u64,
        counted: impl Fn(u64, &Heavy) -> u64,
    ) {
        self.advance(moment);
        if count < self.floor {
            return;
        }
        let last = self.clock.now;
        let heavy = self.keys.entry(hash).or_insert_with(|| {
            if self.clock.window != Window::Ever {
                self.queue.push_back((last, hash));
            }
            Heavy { key: key.into(), count, last }
        });
        (heavy.count, heavy.last) = (count, last);
        if self.keys.len() > self.room {
            self.make_room(counted);
        }
    }

    /// Every key of the window that counts at least so much at this moment, most frequent first,
    /// with that count; an error below the floor.
    pub fn at_least(
        &self,
        threshold: u64,
        counted: impl Fn(u64, &Heavy) -> u64,
    ) -> Result<Vec<(&[u8], u64)>, Error> {
        let floor = self.floor();
        if threshold < floor {
            return Err(Error::Parameter {
                name: "threshold",
                found: format!(
                    "{threshold}, and keys that came less than {floor} times were not kept"
                ),
                expected: "at least that, or there must be room for more keys",
            });
        }
        let mut heavy = self.all(counted);
        heavy.truncate(heavy.partition_point(|&(_, count)| count >= threshold));
        Ok(heavy)
    }

    /// Lets go the first key of the queue if it has left the window; else it waits for another one.
    fn look_at_first(&mut self) {
        let Some((_, hash)) = self.queue.pop_front() else { return };
        if self.keys.get(&hash).is_some_and(|heavy| !self.clock.has_left(heavy.last)) {
            self.queue.push_back((self.clock.now, hash));
            return;
        }
        self.keys.remove(&hash);
        #[cfg(feature = "std")]
        let capacity = self.keys.capacity();
        #[cfg(not(feature = "std"))]
        let capacity = self.queue.capacity();
        // So much was given up one by one that giving the memory back costs little for each.
        if self.keys.len() + FEW < capacity / 4 {
            #[cfg(feature = "std")]
            self.keys.shrink_to(2 * self.keys.len());
            self.queue.shrink_to(2 * self.keys.len());
        }
    }

    /// The keys of the window that count most at this moment, most frequent first, at most so many.
    ///
    /// Without end these are the right ones, if there is room for twice as many: no other key counts more
    /// than the last of them. In a window that holds for those that reach the floor.
    pub fn top(&self, most: usize, counted: impl Fn(u64, &Heavy) -> u64) -> Vec<(&[u8], u64)> {
        let mut heavy = self.all(counted);
        heavy.truncate(most);
        heavy
    }

    /// Every kept key of the window, most frequent first.
    fn all(&self, counted: impl Fn(u64, &Heavy) -> u64) -> Vec<(&[u8], u64)> {
        let inside = self.keys.iter().filter(|(_, heavy)| !self.clock.has_left(heavy.last));
        let mut all: Vec<_> =
            inside.map(|(&hash, heavy)| (&*heavy.key, counted(hash, heavy))).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// Lets go what has left or sunk below the floor; if that is little, lifts the floor above the
    /// median. Of those at the median some stay, so that half of the room is always of use.
    fn make_room(&mut self, counted: impl Fn(u64, &Heavy) -> u64) {
        self.let_go(&counted, 0);
        // A quarter at least, so that it takes as many more keys until the next time.
        if self.keys.len() > self.room - self.room / 4 {
            let mut counts: Vec<u64> =
                self.keys.iter().map(|(&hash, heavy)| counted(hash, heavy)).collect();
            let middle = counts.len() / 2;
            let (_, &mut median, above) = counts.select_nth_unstable(middle);
            let above = above.iter().filter(|&&count| count > median).count();
            self.floor = median.saturating_add(1);
            // The highest of the window is the first.
            while self.higher.back().is_some_and(|&(_, before)| before <= self.floor) {
                self.higher.pop_back();
            }
            self.let_go(&counted, (self.room / 2).saturating_sub(above));
        }
        self.queue.retain(|(_, hash)| self.keys.contains_key(hash));
    }

    /// Lets go what has left or sunk below the floor, but for so many that are just below it.
    fn let_go(&mut self, counted: impl Fn(u64, &Heavy) -> u64, mut spared: usize) {
        let (clock, floor) = (self.clock, self.floor);
        self.keys.retain(|&hash, heavy| {
            let count = counted(hash, heavy);
            let below = count == floor - 1 && spared > 0;
            spared -= usize::from(below);
            !clock.has_left(heavy.last) && (count >= floor || below)
        });
    }
}

/// Room for so many keys is never given back.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Span;
    use testkit::oracle::Counts;
    use testkit::streams;

    /// In a window of exact counts, whatever counts enough at the end is found with that count.
    #[test]
    fn nothing_is_missed_in_a_window() {
        for (room, window) in [(5, 300), (50, 1_000), (1_000, 100)] {
            let keys: Vec<u64> = streams::zipf(500, 1.0, 4).take(5_000).collect();
            let mut counts = Counts::new();
            let mut kept = Kept::new(Window::Last(window as u64), room, 1);
            for (at, &key) in keys.iter().enumerate() {
                if at >= window {
                    assert!(counts.remove(keys[at - window], 1));
                }
                counts.add(key, 1);
                let counted = |hash: u64, _: &Heavy| counts.count(hash);
                let bytes = key.to_le_bytes();
                kept.note((key, &bytes), at as u64 + 1, counts.count(key), counted);
            }
            let floor = kept.floor();
            assert!(kept.at_least(floor - 1, |_, _| 0).is_err());
            for threshold in [floor, floor + 3] {
                let found = kept.at_least(threshold, |hash, _| counts.count(hash)).unwrap();
                let expected = counts.iter().filter(|&(_, count)| count >= threshold).count();
                assert_eq!(found.len(), expected);
                assert!(found.is_sorted_by_key(|&(_, count)| std::cmp::Reverse(count)));
                for (key, count) in found {
                    let key = u64::from_le_bytes(key.try_into().unwrap());
                    assert_eq!(counts.count(key), count);
                }
            }
        }
    }

    /// The keys listed are those of the window, even if a counter reports every key for ever, and no
    /// more are in memory than came in two windows.
    #[test]
    fn what_left_is_neither_listed_nor_in_memory() {
        for window in [Window::Last(10), Window::Within(Span::from_millis(9))] {
            let mut kept = Kept::new(window, 1_000_000, 1);
            for moment in 1..=10_000_u64 {
                // One key stays, by coming every other time.
                let key = if moment.is_multiple_of(2) { 0 } else { moment };
                kept.note((key, &key.to_le_bytes()), moment, 7, |_, heavy| heavy.count);
                let inside = moment.saturating_sub(9).max(1)..=moment;
                let mut expected: Vec<u64> = inside.filter(|key| !key.is_multiple_of(2)).collect();
                expected.extend((moment > 1).then_some(0));
                expected.sort_unstable();
                let found = kept.at_least(1, |_, heavy| heavy.count).unwrap();
                let key = |key: &[u8]| u64::from_le_bytes(key.try_into().unwrap());
                let mut found: Vec<u64> = found.into_iter().map(|(bytes, _)| key(bytes)).collect();
                found.sort_unstable();
                assert_eq!(found, expected);
                assert!(kept.keys.len() <= 11 && kept.queue.len() == kept.keys.len());
            }
            // A pause longer than the window leaves nothing.
            kept.advance(20_000);
            assert!(kept.keys.is_empty() && kept.queue.is_empty());
        }
    }

    /// A crowd of keys that come twice lifts the floor; a window after they left, keys that come once are
    /// listed again, and until then nobody is told that they are.
    #[test]
    fn the_floor_comes_down_when_a_crowd_has_left() {
        for window in [Window::Last(1_000), Window::Within(Span::from_millis(999))] {
            let mut kept = Kept::new(window, 100, 1);
            let mut seen = VecDeque::new();
            let mut counts = Counts::new();
            for moment in 1..=8_000_u64 {
                let key = if moment < 2_000 { moment % 700 } else { 10_000 + moment % 20 };
                seen.push_back(key);
                counts.add(key, 1);
                if seen.len() > 1_000 {
                    assert!(counts.remove(seen.pop_front().unwrap(), 1));
                }
                let counted = |hash: u64, _: &Heavy| counts.count(hash);
                kept.note((key, &key.to_le_bytes()), moment, counts.count(key), counted);
                let floor = kept.floor();
                let found = kept.at_least(floor, counted).unwrap();
                let expected = counts.iter().filter(|&(_, count)| count >= floor).count();
                assert_eq!(found.len(), expected, "{moment}: floor {floor}");
            }
            assert_eq!((kept.floor(), kept.higher.len()), (1, 0));
        }
    }

    /// What a burst left behind goes with its window, however little comes after it.
    #[test]
    fn memory_is_given_back_after_a_burst() {
        let mut kept = Kept::new(Window::Within(Span::from_millis(100)), 1_000_000, 1);
        let note = |kept: &mut Kept, key: u64, moment| {
            kept.note((key, &key.to_le_bytes()), moment, 1, |_, heavy| heavy.count);
        };
        (0..100_000).for_each(|key| note(&mut kept, key, 5));
        note(&mut kept, 7, 50);
        let before = kept.keys.capacity();
        note(&mut kept, 7, 110);
        assert_eq!((kept.keys.len(), kept.queue.len()), (1, 1));
        assert!(kept.keys.capacity() < 100 && kept.queue.capacity() < 100 && before > 100_000);
    }
}
