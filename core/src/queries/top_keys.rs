//! The keys that count most in a window, right at every moment, beside whatever counts them.
//!
//! Whoever holds only the keys that lead now is wrong as soon as one of them leaves: then another leads
//! that was never noted. But the counter knows in which groups the sightings of a key will leave
//! ([`Counting::groups_hash`]), so it is known today how much each key will count at every coming moment, if
//! nothing more comes. A key *matters* if it will be among the first at some moment; all others can be
//! let go, for what comes later can only put them further back, unless it is the key itself, which is
//! then looked at again.
//!
//! ```text
//! the first one of        a: 5 leave at 10, 1 at 30     counts 6 now, 1 from 10 on, 0 from 30 on
//!                         b: 4 leave at 20              counts 4 now, 0 from 20 on
//!                         c: 2 leave at 20              counts 2 now: never first, let go
//! ```
//!
//! Here `a` leads now, `b` from 10 on and `a` again from 20 on. Groups leave at some dozens of moments, and at
//! each so many keys lead as are asked for: that bounds how many are held, whatever the stream. What the
//! last of the leaders counts at each of these moments is noted too, so that most keys that come are
//! dismissed without being held at all.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::error::Error;
use crate::filter::Counting;
use crate::group::Group;
use crate::hash::reduce;
use crate::window::{Time, Window};

/// Keys of a window that lead now, or will when others have left.
///
/// It is told of every sighting after it was counted, and answers with the counts that keys had when they
/// last came, less what has left since: at least the truth, and closer to it than what the counter says
/// later, when others collide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopKeys {
    /// How many lead.
    pub(super) most: usize,
    /// With more than these, those that do not matter are let go.
    pub(super) room: usize,
    /// Without end nothing leaves.
    pub(super) is_endless: bool,
    /// Equal hashes are one key to the counter too.
    pub(super) held: Vec<Held>,
    /// Where each is: by the first bits of its hash, or the next place that was free. Keys go only when they
    /// are sorted out, and then this is made anew.
    pub(super) places: Vec<u32>,
    /// Until when the last of the leaders counts how much, at least: later moments after earlier ones, and
    /// smaller counts after larger ones.
    pub(super) marks: Vec<Group>,
    /// From this moment on some that are held may have left.
    pub(super) stale: u64,
    /// The groups of the key at hand.
    pub(super) groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) hash: u64,
    pub(super) key: Box<[u8]>,
    /// What it counts, in the order of leaving.
    pub(super) groups: Box<[Group]>,
}

impl Held {
    fn count(&self, clock: u64) -> u64 {
        let inside = self.groups.iter().filter(|group| group.leaves > clock);
        inside.fold(0, |sum, group| sum.saturating_add(group.count))
    }

    /// When nothing of it is left.
    fn gone(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.leaves)
    }
}

/// Keys beyond those that matter, so that they are not sorted out too often.
const SPARE: usize = 64;

/// A place without a key.
const FREE: u32 = u32::MAX;

impl TopKeys {
    /// How many can be asked to lead.
    pub const MOST: usize = 1 << 20;

    /// The structure to count in for a window, so that it knows when sightings leave; any other without end.
    pub fn structure(window: Window) -> Option<&'static str> {
        (window != Window::Ever).then_some("window-counts")
    }

    /// None yet, for a counter with this window; an error if it does not know when sightings leave.
    pub fn new(window: Window, counting: &dyn Counting, most: usize) -> Result<Self, Error> {
        let is_endless = window == Window::Ever;
        if !is_endless && !counting.groups_hash(0, Time::ZERO, &mut |_| ()) {
            return Err(Error::Unsupported {
                operation: "keep the keys that came most often",
                instead: "build it with `build_top`, or name the structure `window-counts`",
            });
        }
        if !(1..=Self::MOST).contains(&most) {
            let expected = "from 1 to 1048576";
            return Err(Error::Parameter { name: "top", found: format!("{most}"), expected });
        }
        Ok(Self {
            most,
            room: most + SPARE,
            is_endless,
            held: Vec::new(),
            places: vec![FREE; 2],
            marks: Vec::new(),
            stale: u64::MAX,
            groups: Vec::new(),
        })
    }

    /// How many keys lead.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many keys take memory: those that lead, will lead, or came just now.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> u64 {
        let each = |held: &Held| held.key.len() + size_of_val(&*held.groups);
        let keys: usize = self.held.iter().map(each).sum();
        let held = size_of::<Held>() * self.held.capacity();
        let places = size_of::<u32>() * self.places.capacity();
        let groups = size_of::<Group>() * (self.marks.capacity() + self.groups.capacity());
        (keys + held + places + groups) as u64
    }

    /// Notes that a key came at a moment, and counts so much with that.
    #[inline]
    pub fn note(
        &mut self,
        (hash, key): (u64, &[u8]),
        count: u64,
        counting: &dyn Counting,
        now: Time,
    ) {
        if self.is_endless {
            if self.marks.first().is_some_and(|mark| count <= mark.count) {
                return;
            }
            self.groups.clear();
            self.groups.push(Group { leaves: u64::MAX, count });
        } else {
            self.ask(hash, counting, now);
        }
        self.hold(hash, key, if self.is_endless { 0 } else { counting.group_clock(now) });
    }

    /// The keys that count most at a moment, most frequent first, at most so many, and at most as many as
    /// lead: no other key counts more than the last of them.
    pub fn list(&self, most: usize, counting: &dyn Counting, now: Time) -> Vec<(&[u8], u64)> {
        let clock = if self.is_endless { 0 } else { counting.group_clock(now) };
        let counted = self.held.iter().map(|held| (&*held.key, held.count(clock)));
        let mut list: Vec<_> = counted.filter(|&(_, count)| count > 0).collect();
        list.sort_unstable_by_key(|&(key, count)| (Reverse(count), key));
        list.truncate(most.min(self.most));
        list
    }

    /// Lets go what has left by a moment, for times in which nothing comes.
    pub fn expire(&mut self, counting: &dyn Counting, now: Time) {
        if !self.is_endless {
            self.drop_stale(counting.group_clock(now));
        }
    }

    /// Asks the counter for the groups of all keys again, after its clock was set back.
    pub fn look_again(&mut self, counting: &dyn Counting, now: Time) {
        if self.is_endless {
            return;
        }
        for at in 0..self.held.len() {
            self.ask(self.held[at].hash, counting, now);
            self.held[at].groups = self.groups.as_slice().into();
        }
        self.sort_out(counting.group_clock(now));
    }

    /// The groups of a key, in the order of leaving.
    #[inline]
    fn ask(&mut self, hash: u64, counting: &dyn Counting, now: Time) {
        let groups = &mut self.groups;
        groups.clear();
        counting.groups_hash(hash, now, &mut |group| groups.push(group));
        groups.sort_unstable_by_key(|group| group.leaves);
        // A key may have several entries of one generation.
        groups.dedup_by(|next, kept| {
            let same = next.leaves == kept.leaves;
            kept.count = if same { kept.count.saturating_add(next.count) } else { kept.count };
            same
        });
    }

    /// Holds the key at hand if it matters.
    fn hold(&mut self, hash: u64, key: &[u8], clock: u64) {
        self.drop_stale(clock);
        let place = self.place(hash);
        if let Some(held) = self.held.get_mut(self.places[place] as usize) {
            if held.groups.len() == self.groups.len() {
                held.groups.copy_from_slice(&self.groups);
            } else {
                held.groups = self.groups.as_slice().into();
            }
        } else if self.matters() {
            let held = Held { hash, key: key.into(), groups: self.groups.as_slice().into() };
            self.stale = self.stale.min(held.gone());
            self.places[place] = self.held.len() as u32;
            self.held.push(held);
            if self.held.len() > self.room {
                self.sort_out(clock);
            } else if 2 * self.held.len() >= self.places.len() {
                self.place_all();
            }
        }
    }

    /// The place of the key with this hash, or the free one where it would be.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mut place = reduce(hash, self.places.len() as u64).0 as usize;
        while let Some(held) = self.held.get(self.places[place] as usize)
            && held.hash != hash
        {
            place = (place + 1) % self.places.len();
        }
        place
    }

    /// Gives every key a place, of twice as many as there is memory for keys.
    fn place_all(&mut self) {
        let places = 2 * self.held.capacity().max(self.held.len() + 1) + 2;
        self.places.clear();
        self.places.shrink_to(places);
        self.places.resize(places, FREE);
        for at in 0..self.held.len() {
            let place = self.place(self.held[at].hash);
            self.places[place] = at as u32;
        }
    }

    /// Whether the key at hand counts more than the last of the leaders at any coming moment. Between the
    /// moments at which its own groups leave it counts the same, and the others count least at the end.
    #[inline]
    fn matters(&self) -> bool {
        let mut marks = self.marks.iter().rev().peekable();
        let (mut count, mut least) = (0_u64, 0);
        self.groups.iter().rev().any(|group| {
            count = count.saturating_add(group.count);
            while let Some(mark) = marks.next_if(|mark| mark.leaves >= group.leaves) {
                least = mark.count;
            }
            count > least
        })
    }

    #[inline]
    fn drop_stale(&mut self, clock: u64) {
        if clock >= self.stale {
            self.sort_out(clock);
        }
    }

    /// Lets go what does not matter. Nothing depends on chance: the same calls hold the same keys.
    fn sort_out(&mut self, clock: u64) {
        let mut leaving: Vec<(Reverse<u64>, usize, u64)> = Vec::new();
        for (index, held) in self.held.iter().enumerate() {
            let inside = held.groups.iter().filter(|group| group.leaves > clock);
            leaving.extend(inside.map(|group| (Reverse(group.leaves), index, group.count)));
        }
        leaving.sort_unstable();
        let mut counts = vec![0_u64; self.held.len()];
        let mut matters = vec![false; self.held.len()];
        let mut counted: Vec<usize> = Vec::new();
        self.marks.clear();
        // From the last moment back: what leaves then still counts before.
        for together in leaving.chunk_by(|one, next| one.0 == next.0) {
            for &(_, index, count) in together {
                if counts[index] == 0 {
                    counted.push(index);
                }
                counts[index] = counts[index].saturating_add(count);
            }
            let mut least = 0;
            if counted.len() >= self.most {
                // Of equals those that matter anyway, so that few are held.
                let hash = |index: usize| self.held[index].hash;
                let rank = |&index: &usize| (Reverse(counts[index]), !matters[index], hash(index));
                let (_, &mut last, _) = counted.select_nth_unstable_by_key(self.most - 1, rank);
                least = counts[last];
            }
            counted.iter().take(self.most).for_each(|&index| matters[index] = true);
            let leaves = together[0].0.0;
            if least > self.marks.last().map_or(0, |mark| mark.count) {
                self.marks.push(Group { leaves, count: least });
            }
        }
        self.marks.reverse();
        self.marks.shrink_to_fit();
        let mut kept = matters.iter();
        self.held.retain(|_| kept.next().is_some_and(|&matters| matters));
        self.room = Self::room(self.most, self.held.len());
        self.stale = self.held.iter().map(Held::gone).min().unwrap_or(u64::MAX);
        self.fit();
    }

    /// Gives back memory for more keys than there will be, and asks for that of those that may come soon.
    pub(super) fn fit(&mut self) {
        let soon = (self.room + 1).min(4 * self.held.len() + SPARE);
        self.held.shrink_to(soon);
        self.held.reserve_exact(soon - self.held.len());
        self.place_all();
    }

    /// Keys after which they are sorted out, where so many are left.
    pub(super) fn room(most: usize, held: usize) -> usize {
        2 * held + most + SPARE
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;

    use super::*;
    use crate::hash::Hashing;
    use crate::lately::Lately;
    use crate::untyped::Untyped;
    use crate::window::Span;
    use testkit::oracle::Counts;
    use testkit::streams;

    /// A counter in which hardly a key is taken for another.
    fn counter(window: Window) -> Untyped {
        match window {
            Window::Last(n) => {
                let last = Lately::last(n).counting().structure("window-counts");
                last.error(1e-9).build().unwrap().into_untyped()
            }
            Window::Within(span) => {
                let span = core::time::Duration::from_millis(span.millis());
                let within = Lately::within(span).counting().structure("window-counts");
                within.error(1e-9).build().unwrap().into_untyped()
            }
            Window::Ever => Lately::ever().counting().error(1e-9).build().unwrap().into_untyped(),
        }
    }

    /// Keys that come more and less often by turns: who leads leaves, and others come up that came long
    /// before.
    fn stream(length: usize) -> impl Iterator<Item = u64> {
        let zipf = streams::zipf(400, 0.9, 4).take(length).enumerate();
        // Every few hundred sightings the law turns to other keys, and a burst of one key comes in.
        zipf.map(|(at, key)| match at / 150 % 4 {
            0 => (key + (at / 600) as u64 * 37) % 400,
            1 if key.is_multiple_of(3) => 1_000 + (at / 600) as u64,
            _ => key,
        })
    }

    /// What is told at a moment: keys with counts.
    type Told = Vec<(u64, u64)>;

    /// Holds a listing of the first `most` against all that came, at every step: whoever is listed counts at
    /// least the truth, and no more than came in the window and its slack; whoever is not listed came no
    /// more often than the last of them counts.
    fn check(most: usize, window: usize, slack: usize, mut step: impl FnMut(u64) -> Told) {
        let (mut inside, mut late) = (VecDeque::new(), VecDeque::new());
        let (mut truth, mut with_slack) = (Counts::new(), Counts::new());
        for (at, key) in stream(6_000).enumerate() {
            for (queue, counts, length) in
                [(&mut inside, &mut truth, window), (&mut late, &mut with_slack, window + slack)]
            {
                queue.push_back(key);
                counts.add(key, 1);
                if queue.len() > length {
                    assert!(counts.remove(queue.pop_front().unwrap(), 1));
                }
            }
            let told = step(key);
            assert!(told.len() <= most && told.is_sorted_by_key(|&(_, count)| Reverse(count)));
            for &(key, count) in &told {
                assert!(truth.count(key) <= count, "step {at}: {key} is too low");
                assert!(count <= with_slack.count(key), "step {at}: {key} is too high");
            }
            let last = if told.len() == most { told[most - 1].1 } else { 0 };
            for (key, count) in truth.iter() {
                let is_told = told.iter().any(|&(listed, _)| listed == key);
                assert!(is_told || count <= last, "step {at}: {key} is missing with {count}");
            }
        }
    }

    fn key_of(bytes: &[u8]) -> u64 {
        u64::from_le_bytes(bytes.try_into().unwrap())
    }

    /// Counts keys one moment apart, and tells the first of them.
    fn telling(
        window: Window,
        most: usize,
        mut each: impl FnMut(&mut TopKeys, &Untyped),
    ) -> impl FnMut(u64) -> Told {
        let mut counter = counter(window);
        let mut top = TopKeys::new(window, counter.filter().counting().unwrap(), most).unwrap();
        let mut moment = 0;
        move |key: u64| {
            moment += 1;
            let (now, bytes) = (Time::from_millis(moment), key.to_le_bytes());
            let hash = counter.hashing().hash(&bytes);
            let count = counter.filter_mut().as_counting().unwrap().add_hash(hash, 1, now);
            let counting = counter.filter().counting().unwrap();
            top.note((hash, &bytes), count, counting, now);
            let told = top.list(most, counting, now);
            let told = told.into_iter().map(|(key, count)| (key_of(key), count)).collect();
            each(&mut top, &counter);
            told
        }
    }

    #[test]
    fn the_first_are_right_at_every_moment() {
        for (window, most) in [(30_usize, 3), (300, 1), (300, 10), (2_000, 25), (1_000, 500)] {
            let slack = window.div_ceil(7) + 8;
            let last = Window::Last(window as u64);
            check(most, window, slack, telling(last, most, |_, _| ()));
            // One moment less: a sighting as old as the span is still inside.
            let within = Window::Within(Span::from_millis(window as u64 - 1));
            check(most, window, slack, telling(within, most, |_, _| ()));
        }
        check(10, usize::MAX - 1, 1, telling(Window::Ever, 10, |_, _| ()));
    }

    /// Who holds only those that lead now misses those that come up when they left.
    #[test]
    #[should_panic(expected = "is missing")]
    fn to_hold_those_that_lead_now_is_not_enough() {
        check(
            10,
            300,
            50,
            telling(Window::Last(300), 10, |top, counter| {
                let counting = counter.filter().counting().unwrap();
                let leaders = top.list(10, counting, Time::ZERO);
                let leaders: Vec<u64> = leaders.iter().map(|(key, _)| key_of(key)).collect();
                top.held.retain(|held| leaders.contains(&key_of(&held.key)));
                top.place_all();
            }),
        );
    }

    /// Keys are held by the number of leaders and of moments at which groups leave, not by the stream.
    #[test]
    fn few_keys_are_held() {
        let mut most_held = 0;
        let mut step = telling(Window::Last(20_000), 10, |top, _| {
            most_held = most_held.max(top.held());
        });
        (0..100_000).for_each(|key| drop(step(key)));
        drop(step);
        // Eight regions of eight generations, and as many again before they are sorted out.
        assert!((10..=2 * 64 * 10 + 10 + SPARE).contains(&most_held), "{most_held}");
    }

    #[test]
    fn all_are_let_go_when_nothing_comes() {
        let window = Window::Within(Span::from_millis(700));
        let mut counter = counter(window);
        let mut top = TopKeys::new(window, counter.filter().counting().unwrap(), 5).unwrap();
        for key in 0..50_u64 {
            let (now, bytes) = (Time::from_millis(key), key.to_le_bytes());
            let hash = counter.hashing().hash(&bytes);
            let count = counter.filter_mut().as_counting().unwrap().add_hash(hash, 1, now);
            top.note((hash, &bytes), count, counter.filter().counting().unwrap(), now);
        }
        let counting = counter.filter().counting().unwrap();
        assert_eq!(top.list(9, counting, Time::from_millis(700)).len(), 5);
        assert!(top.list(9, counting, Time::from_millis(900)).is_empty());
        top.expire(counting, Time::from_millis(900));
        assert_eq!((top.held(), top.marks.len()), (0, 0));
    }

    /// One that is stored and opened at any moment goes on as another that is not, key by key.
    #[test]
    fn opened_ones_go_on_alike() {
        let window = Window::Last(300);
        let mut counter = counter(window);
        let counting = counter.filter().counting().unwrap();
        let mut one = TopKeys::new(window, counting, 7).unwrap();
        let mut other = one.clone();
        for key in stream(3_000) {
            other = TopKeys::open(&other.save(), window, &counter.hashing()).unwrap();
            let bytes = key.to_le_bytes();
            let hash = counter.hashing().hash(&bytes);
            let count = counter.filter_mut().as_counting().unwrap().add_hash(hash, 1, Time::ZERO);
            let counting = counter.filter().counting().unwrap();
            one.note((hash, &bytes), count, counting, Time::ZERO);
            other.note((hash, &bytes), count, counting, Time::ZERO);
            assert_eq!(one.save(), other.save());
        }
    }

    #[test]
    fn damage_is_refused() {
        let (window, hashing) = (Window::Ever, Hashing::default());
        let mut top =
            TopKeys::new(window, counter(window).filter().counting().unwrap(), 2).unwrap();
        for key in [&b"one"[..], b"two", b"three"] {
            let counting = counter(window);
            top.note(
                (hashing.hash(key), key),
                3,
                counting.filter().counting().unwrap(),
                Time::ZERO,
            );
        }
        let bytes = top.save();
        assert_eq!(TopKeys::open(&bytes, window, &hashing).unwrap().save(), bytes);
        assert!(TopKeys::open(&bytes, Window::Last(5), &hashing).is_err());
        for length in 0..bytes.len() {
            assert!(TopKeys::open(&bytes[..length], window, &hashing).is_err(), "{length}");
        }
        // Whatever is changed, nothing panics, and nothing is asked for that is not there.
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                if let Ok(mut opened) = TopKeys::open(&damaged, window, &hashing) {
                    opened.sort_out(0);
                }
            }
        }
    }

    #[test]
    fn counters_that_do_not_know_when_sightings_leave_are_refused() {
        let exact = Lately::last(100).slack(0).counting().build().unwrap();
        let refused = TopKeys::new(Window::Last(100), exact.counting(), 5);
        assert!(matches!(refused, Err(Error::Unsupported { .. })));
        for most in [0, TopKeys::MOST + 1] {
            let ever = counter(Window::Ever);
            let refused = TopKeys::new(Window::Ever, ever.filter().counting().unwrap(), most);
            assert!(matches!(refused, Err(Error::Parameter { .. })));
        }
    }
}
