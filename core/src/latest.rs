//! The last n short hashes in their order, a part of windows that are exact to the item.
//!
//! A ring holds one short hash for each of the last n insertions; whoever comes takes the place of the
//! oldest, which is handed back to be forgotten. With n = 3 and `a b a c` the ring holds `b a c`, and
//! the first `a` was handed back when `c` came.
//!
//! Many sightings recorded at once are one entry beside the ring, a *run*, and leave together. So an
//! insertion takes its own time once when it comes and once when it leaves, however many sightings it
//! stands for.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::bits::{Packed, size};
use crate::codec::{Reader, Writer};
use crate::error::Error;

/// The last insertions, as short hashes from 1 on; 0 stands for nothing.
#[derive(Debug, Clone)]
pub struct Latest {
    window: u64,
    bits: u32,
    /// A hash for each place; 0 where there is none.
    ring: Packed,
    /// Where the next insertion goes: the place of the oldest.
    next: u64,
    /// So many of the oldest places are empty.
    nothing: u64,
    /// Places that belong together, oldest first; what the ring holds there means nothing.
    runs: VecDeque<Run>,
}

/// Many sightings that came at once.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// The place of the first.
    start: u64,
    /// How many there are, on around the end of the ring.
    length: u64,
    short: u64,
}

/// Fewer sightings go into the ring one by one: a run takes 192 bits, so at most one for an item.
const SHORTEST_RUN: u64 = 192;

/// The work of clearing so many bytes, in insertions that are handed back: a page that the system has to
/// bring anew takes about as long as one of those.
fn clearing(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 12)
}

impl Latest {
    /// A window of nothing.
    pub fn new(window: u64, bits: u32) -> Self {
        let ring = Packed::new(bits, size(window));
        Self { window, bits, ring, next: 0, nothing: window, runs: VecDeque::new() }
    }

    /// Bytes on the heap, unless many came at once.
    pub fn heap_bytes_for(window: u64, bits: u32) -> u64 {
        Packed::heap_bytes_for(bits, size(window))
    }

    /// Bytes on the heap at this moment.
    pub fn heap_bytes(&self) -> u64 {
        let runs = self.runs.capacity() * size_of::<Run>();
        Self::heap_bytes_for(self.window, self.bits) + runs as u64
    }

    /// Puts this one in the place of the oldest, and hands that back; 0 is none.
    #[inline]
    pub fn push(&mut self, short: u64) -> u64 {
        let mut leaving = 0;
        self.let_go(1, |short, _| leaving = short);
        self.ring.set(self.next as usize, short);
        self.next = self.after(self.next, 1);
        leaving
    }

    /// Puts so many of this one, at most a window, in the place of as many of the oldest. `leaves` is told
    /// of those and how many there are, nothing left out.
    pub fn push_many(&mut self, short: u64, times: u64, mut leaves: impl FnMut(u64, u64)) {
        if times < SHORTEST_RUN {
            for _ in 0..times {
                match self.push(short) {
                    0 => {}
                    leaving => leaves(leaving, 1),
                }
            }
            return;
        }
        self.let_go(times, leaves);
        self.runs.push_back(Run { start: self.next, length: times, short });
        self.next = self.after(self.next, times);
    }

    /// A whole window of this one.
    pub fn fill(&mut self, short: u64) {
        self.nothing = 0;
        self.runs.clear();
        self.runs.push_back(Run { start: self.next, length: self.window, short });
    }

    /// The work of so many insertions that come at once, or of several such crowds one after the other:
    /// as many as are handed back. A crowd alone that fills the window leaves its owner the choice to
    /// begin anew, which is the work of clearing so many bytes.
    pub fn work_of(&self, crowds: &[u64], bytes: u64) -> u64 {
        let count = crowds.iter().fold(0_u64, |sum, &times| sum.saturating_add(times));
        match crowds {
            [times] if *times >= self.window => self.handed_back(count).min(clearing(bytes)),
            _ => self.handed_back(count),
        }
    }

    /// Whether one who fills the window with a crowd had better begin anew, clearing so many bytes, and
    /// [`fill`](Self::fill) it than be handed back all that is there.
    pub fn is_better_cleared(&self, bytes: u64) -> bool {
        self.handed_back(self.window) > clearing(bytes)
    }

    /// How many would be handed back if so many came: each alone, or a run.
    fn handed_back(&self, count: u64) -> u64 {
        let count = count.min(self.window);
        let before = |run: &Run| (run.start + self.window - self.next) % self.window;
        let leaving = self.runs.iter().take_while(|run| before(run) < count);
        let (runs, together) = leaving.fold((0, 0), |(runs, together), run| {
            (runs + 1, together + run.length.min(count - before(run)))
        });
        count - self.nothing.min(count) - together + runs
    }

    /// Hands back so many of the oldest insertions.
    fn let_go(&mut self, count: u64, mut leaves: impl FnMut(u64, u64)) {
        let empty = self.nothing.min(count);
        self.nothing -= empty;
        let (mut place, mut left) = (self.after(self.next, empty), count - empty);
        while left > 0 {
            let (short, leaving) = match self.runs.front_mut() {
                Some(run) if run.start == place => {
                    let leaving = run.length.min(left);
                    let short = run.short;
                    (run.start, run.length) = (run.start + leaving, run.length - leaving);
                    if run.start >= self.window {
                        run.start -= self.window;
                    }
                    if run.length == 0 {
                        self.runs.pop_front();
                    }
                    (short, leaving)
                }
                _ => (self.ring.get(place as usize), 1),
            };
            if short > 0 {
                leaves(short, leaving);
            }
            left -= leaving;
            place = self.after(place, leaving);
        }
    }

    /// The place so many further in the ring; at most once around.
    fn after(&self, place: u64, by: u64) -> u64 {
        let place = place + by;
        if place < self.window { place } else { place - self.window }
    }

    /// The ring with all places of runs filled in.
    fn whole(&self) -> Cow<'_, Packed> {
        let mut ring = Cow::Borrowed(&self.ring);
        for run in &self.runs {
            for by in 0..run.length {
                ring.to_mut().set(self.after(run.start, by) as usize, run.short);
            }
        }
        ring
    }

    /// All that is there, in the order of places.
    pub fn shorts(&self) -> Vec<u64> {
        let ring = self.whole();
        (0..ring.len()).map(|place| ring.get(place)).filter(|&short| short != 0).collect()
    }

    /// Writes the place of the oldest and the ring.
    pub fn write(&self, out: &mut Writer) {
        out.u64(self.next);
        out.words(self.whole().as_words());
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(payload: &mut Reader<'_>, window: u64, bits: u32) -> Result<Self, Error> {
        let next = payload.u64_at_most("next", window - 1, "below the window")?;
        let words = payload.words("ring", Packed::words_for(bits, size(window)) as u64)?;
        let ring = Packed::from_words(bits, size(window), words).ok_or(Error::Field {
            field: "ring",
            found: u64::MAX,
            expected: "zero beyond the last hash",
        })?;
        let mut latest = Self { window, bits, ring, next, nothing: 0, runs: VecDeque::new() };
        let is_empty = |&by: &u64| latest.ring.get(latest.after(next, by) as usize) == 0;
        latest.nothing = (0..window).take_while(is_empty).count() as u64;
        Ok(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::streams::sightings;

    /// One by one and many at once against a plain queue, through snapshots.
    #[test]
    fn what_leaves_is_the_oldest() {
        for window in [1, 150, 1_000, 5_000] {
            let mut latest = Latest::new(window, 5);
            let mut plain: VecDeque<u64> = std::iter::repeat_n(0, window as usize).collect();
            for (step, (short, times)) in sightings(20, window, 1).take(400).enumerate() {
                let mut left = Vec::new();
                let is_whole = times > 1 && times >= window && step % 2 == 0;
                if times == 1 {
                    left.extend(Some(latest.push(short)).filter(|&short| short > 0));
                } else if is_whole {
                    latest.fill(short);
                } else {
                    let leaves =
                        |short, times| left.extend(std::iter::repeat_n(short, times as usize));
                    latest.push_many(short, times.min(window), leaves);
                }
                plain.extend(std::iter::repeat_n(short, times.min(window) as usize));
                let gone = plain.drain(..plain.len() - window as usize);
                let gone: Vec<u64> = gone.filter(|&short| short > 0).collect();
                assert!(is_whole || left == gone, "{window} {step}");
                if step % 50 == 0 {
                    let mut out = Writer::new();
                    latest.write(&mut out);
                    latest = Latest::read(&mut Reader::new(&out.into_bytes()), window, 5).unwrap();
                }
                let mut found = latest.shorts();
                let mut expected: Vec<u64> =
                    plain.iter().copied().filter(|&short| short > 0).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{window} {step}");
            }
        }
    }

    /// Before they leave it is known how many do so alone.
    #[test]
    fn who_leaves_alone_is_known_before() {
        let mut latest = Latest::new(10_000, 20);
        assert_eq!(latest.work_of(&[9_999], 0), 0);
        for short in 1..=4_000 {
            latest.push(short);
        }
        latest.push_many(1, 5_000, |_, _| {});
        // The oldest are 1,000 times nothing, then 4,000 alone, then a run of 5,000.
        for (crowds, work) in [
            (&[0][..], 0),
            (&[1_000], 0),
            (&[1_001], 1),
            (&[900, 101], 1),
            (&[5_000], 4_000),
            (&[9_999], 4_001),
            (&[5_000, 5_000], 4_001),
            // All of it is cheaper to clear, but not by two that each leave something.
            (&[10_000], 3),
            (&[u64::MAX], 3),
            (&[u64::MAX, 1], 4_001),
        ] {
            assert_eq!(latest.work_of(crowds, 3 << 12), work, "{crowds:?}");
        }
        assert!(latest.is_better_cleared(3 << 12));
        assert!(!latest.is_better_cleared(5_000 << 12));
        latest.fill(2);
        assert!(!latest.is_better_cleared(3 << 12), "one run");
    }

    /// Nothing is written one by one, and what came at once is one entry until it has left.
    #[test]
    fn a_million_sightings_are_one_entry() {
        let mut latest = Latest::new(1_000_000, 20);
        for (short, times, runs) in [(1, 900_000, 1), (2, 50_000, 2), (3, 70_000, 3)] {
            latest.push_many(short, times, |_, _| {});
            assert_eq!(latest.runs.len(), runs);
        }
        latest.fill(4);
        assert_eq!(latest.runs.len(), 1);
        assert!(latest.ring.as_words().iter().all(|&word| word == 0));
        assert_eq!(latest.push(5), 4);
        assert_eq!(latest.shorts().len(), 1_000_000);
    }
}
