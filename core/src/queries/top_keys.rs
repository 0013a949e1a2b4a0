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
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Counting;
use crate::group::Group;
use crate::hash::Hashing;
use crate::window::{Time, Window};

/// Keys of a window that lead now, or will when others have left.
///
/// It is told of every sighting after it was counted, and answers with the counts that keys had when they
/// last came, less what has left since: at least the truth, and closer to it than what the counter says
/// later, when others collide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopKeys {
    /// How many lead.
    most: usize,
    /// With more than these, those that do not matter are let go.
    room: usize,
    /// Without end nothing leaves.
    is_endless: bool,
    /// By hash: equal hashes are one key to the counter too.
    held: BTreeMap<u64, Held>,
    /// Until when the last of the leaders counts how much, at least: later moments after earlier ones, and
    /// smaller counts after larger ones.
    marks: Vec<Group>,
    /// From this moment on some that are held may have left.
    stale: u64,
    /// The groups of the key at hand.
    groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    key: Box<[u8]>,
    /// What it counts, in the order of leaving.
    groups: Vec<Group>,
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
            return Err(Error::Parameter { name: "top", found: most.to_string(), expected });
        }
        Ok(Self {
            most,
            room: most + SPARE,
            is_endless,
            held: BTreeMap::new(),
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

    /// Bytes on the heap, about: the nodes of a tree are rarely full.
    pub fn heap_bytes(&self) -> u64 {
        let each = |held: &Held| held.key.len() + size_of::<Group>() * held.groups.capacity();
        let keys: usize = self.held.values().map(each).sum();
        let nodes = self.held.len() * (size_of::<u64>() + size_of::<Held>()) * 3 / 2;
        let vectors = size_of::<Group>() * (self.marks.capacity() + self.groups.capacity());
        (keys + nodes + vectors) as u64
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
        let counted = self.held.values().map(|held| (&*held.key, held.count(clock)));
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
        for hash in self.held.keys().copied().collect::<Vec<_>>() {
            self.ask(hash, counting, now);
            if let Some(held) = self.held.get_mut(&hash) {
                held.groups.clone_from(&self.groups);
            }
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
        if let Some(held) = self.held.get_mut(&hash) {
            held.groups.clone_from(&self.groups);
        } else if self.matters() {
            let held = Held { key: key.into(), groups: self.groups.clone() };
            self.stale = self.stale.min(held.gone());
            self.held.insert(hash, held);
            if self.held.len() > self.room {
                self.sort_out(clock);
            }
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
        let hashes: Vec<u64> = self.held.keys().copied().collect();
        let mut leaving: Vec<(Reverse<u64>, usize, u64)> = Vec::new();
        for (index, held) in self.held.values().enumerate() {
            let inside = held.groups.iter().filter(|group| group.leaves > clock);
            leaving.extend(inside.map(|group| (Reverse(group.leaves), index, group.count)));
        }
        leaving.sort_unstable();
        let mut counts = vec![0_u64; hashes.len()];
        let mut matters = vec![false; hashes.len()];
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
                let rank =
                    |&index: &usize| (Reverse(counts[index]), !matters[index], hashes[index]);
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
        let mut kept = matters.iter();
        self.held.retain(|_, _| kept.next().is_some_and(|&matters| matters));
        self.room = Self::room(self.most, self.held.len());
        self.stale = self.held.values().map(Held::gone).min().unwrap_or(u64::MAX);
    }

    fn room(most: usize, held: usize) -> usize {
        2 * held + most + SPARE
    }
}

/// The keys, to be stored beside the snapshot of their counter.
impl TopKeys {
    /// Everything needed to go on later, or elsewhere, beside the counter.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u16(VERSION);
        for number in [self.most as u64, self.room as u64, self.is_endless.into(), self.stale] {
            out.u64(number);
        }
        write_groups(&mut out, &self.marks);
        out.u64(self.held.len() as u64);
        for held in self.held.values() {
            out.u64(held.key.len() as u64);
            out.bytes(&held.key);
            write_groups(&mut out, &held.groups);
        }
        out.into_bytes()
    }

    /// What [`save`](Self::save) wrote, for a counter with this window and this way of hashing.
    pub fn open(bytes: &[u8], window: Window, hashing: &Hashing) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let found = reader.u16("version of the top keys")?;
        if found > VERSION {
            return Err(Error::Version { newest: VERSION, found });
        }
        let refused = |field, found, expected| Err(Error::Field { field, found, expected });
        let most = reader.u64("top")?;
        if !(1..=Self::MOST as u64).contains(&most) {
            return refused("top", most, "from 1 to 1048576");
        }
        let (room, endless) = (reader.u64("room for keys")?, reader.u64("endless")?);
        let stale = reader.u64("moment at which the first key leaves")?;
        let is_endless = window == Window::Ever;
        if endless != u64::from(is_endless) {
            return refused("endless", endless, "as the window of the counter is");
        }
        let marks = read_groups(&mut reader)?;
        let mut held = BTreeMap::new();
        for _ in 0..reader.u64("keys")? {
            let length = reader.u64("length of a key")?;
            let key = reader.bytes("key", length)?;
            let (hash, groups) = (hashing.hash(key), read_groups(&mut reader)?);
            let is_next = held.last_key_value().is_none_or(|(&last, _)| last < hash);
            if groups.is_empty() || !is_next {
                return refused("key", hash, "one that counts, in the order of hashes");
            }
            held.insert(hash, Held { key: key.into(), groups });
        }
        reader.finish("end of the top keys")?;
        let most = most as usize;
        let fits = room >= held.len() as u64 && room <= Self::room(most, held.len()) as u64;
        if !fits {
            return refused("room for keys", room, "as many as were left at last");
        }
        let (room, groups) = (room as usize, Vec::new());
        Ok(Self { most, room, is_endless, held, marks, stale, groups })
    }
}

/// The version this release writes, and the newest it reads.
const VERSION: u16 = 1;

fn write_groups(out: &mut Writer, groups: &[Group]) {
    out.u64(groups.len() as u64);
    for group in groups {
        out.u64(group.leaves);
        out.u64(group.count);
    }
}

fn read_groups(reader: &mut Reader<'_>) -> Result<Vec<Group>, Error> {
    let count = reader.u64("groups")?;
    let words = reader.words("groups", count.saturating_mul(2))?;
    let group = |pair: &[u64; 2]| Group { leaves: pair[0], count: pair[1] };
    let groups: Vec<Group> = words.as_chunks().0.iter().map(group).collect();
    let are_groups = groups.windows(2).all(|pair| pair[0].leaves < pair[1].leaves)
        && groups.iter().all(|group| group.count > 0);
    if !are_groups {
        let expected = "groups that count, in the order of leaving";
        return Err(Error::Field { field: "groups", found: count, expected });
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;

    use super::*;
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
                top.held.retain(|_, held| leaders.contains(&key_of(&held.key)));
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
