//! How often in the last n: a spectral filter that takes back what leaves its window.
//!
//! A ring holds a short hash of each of the last n insertions, and a spectral filter under minimum
//! selection counts them. An insertion first takes back the oldest. With n = 3 and the stream
//! `a b a c`, the ring holds `b a c` and `a` counts one: its first sighting was taken back when
//! `c` came.
//!
//! The sliding window of the paper (section 2.2) for those who do not keep the items themselves: it
//! assumes that what leaves is at hand for deletion, and the ring is that hand. The filter only ever
//! sees short hashes, so what it takes back is exactly what it counted.
//!
//! Many sightings recorded at once are one entry beside the ring, a *run*, and leave together. So an
//! insertion takes its own time once when it comes and once when it leaves, however many sightings
//! it stands for.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::counters::Bytes;
use super::parameters::SpectralParameters;
use super::window_parameters::SpectralWindowParameters;
use super::{Rows, Spectral};
use crate::bits::{Packed, size};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter, Membership};
use crate::hash::{reduce, remix};
use crate::plan::{Goal, Limit};
use crate::window::{Time, Window};

/// A ring of short hashes, and how often each is in it.
#[derive(Debug, Clone)]
pub struct SpectralWindow {
    parameters: SpectralWindowParameters,
    /// The last `window` insertions; 0 where there is none.
    ring: Packed,
    /// Where the next insertion goes: the place of the oldest.
    next: u64,
    /// Places that belong together, oldest first; what the ring holds there means nothing.
    runs: VecDeque<Run>,
    /// Counts what is in the ring and in the runs.
    filter: Spectral<Bytes, SpectralParameters>,
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

impl SpectralWindow {
    /// An empty window.
    pub fn new(parameters: SpectralWindowParameters) -> Self {
        let ring = Packed::new(parameters.hash_bits, size(parameters.window));
        let filter = Spectral::new(parameters.counting());
        // A window of nothing, all of which came at once.
        let nothing = Run { start: 0, length: parameters.window, short: 0 };
        Self { parameters, ring, next: 0, runs: VecDeque::from([nothing]), filter }
    }

    fn short(&self, hash: u64) -> u64 {
        1 + reduce(hash, self.parameters.hash_values()).0
    }

    /// Takes back the oldest insertion, and puts this one in its place; 0 is none.
    fn push(&mut self, short: u64) {
        self.let_go(1);
        if short > 0 {
            self.filter.add(spread(short), 1);
        }
        self.ring.set(self.next as usize, short);
        self.next = self.after(self.next, 1);
    }

    /// Takes back so many of the oldest insertions, and puts as many of this one in their place.
    fn push_many(&mut self, short: u64, times: u64) {
        let window = self.parameters.window;
        if times < SHORTEST_RUN.min(window) {
            (0..times).for_each(|_| self.push(short));
            return;
        }
        // More than a window of them leave one window, and nothing else.
        let length = times.min(window);
        if length == window {
            self.filter = Spectral::new(self.parameters.counting());
            self.runs.clear();
        } else {
            self.let_go(length);
        }
        self.filter.add(spread(short), length);
        self.runs.push_back(Run { start: self.next, length, short });
        self.next = self.after(self.next, length);
    }

    /// Takes back so many of the oldest insertions.
    fn let_go(&mut self, count: u64) {
        let (mut place, mut left) = (self.next, count);
        while left > 0 {
            let leaving = match self.runs.front_mut() {
                Some(run) if run.start == place => {
                    let leaving = run.length.min(left);
                    let short = run.short;
                    (run.start, run.length) = (run.start + leaving, run.length - leaving);
                    if run.start >= self.parameters.window {
                        run.start -= self.parameters.window;
                    }
                    if run.length == 0 {
                        self.runs.pop_front();
                    }
                    self.take_back(short, leaving);
                    leaving
                }
                _ => {
                    self.take_back(self.ring.get(place as usize), 1);
                    1
                }
            };
            left -= leaving;
            place = self.after(place, leaving);
        }
    }

    fn take_back(&mut self, short: u64, times: u64) {
        if short > 0 {
            // Refused only if a forged snapshot counts less than its ring holds: then nothing is
            // there to take back.
            let _ = self.filter.take_back(spread(short), times);
        }
    }

    /// The place so many further in the ring; at most once around.
    fn after(&self, place: u64, by: u64) -> u64 {
        let place = place + by;
        if place < self.parameters.window { place } else { place - self.parameters.window }
    }

    /// The ring with all places of runs filled in.
    fn whole_ring(&self) -> Cow<'_, Packed> {
        let mut ring = Cow::Borrowed(&self.ring);
        // Where nothing came, nothing is written.
        for run in self.runs.iter().filter(|run| run.short > 0) {
            for by in 0..run.length {
                ring.to_mut().set(self.after(run.start, by) as usize, run.short);
            }
        }
        ring
    }

    fn count(&self, hash: u64) -> u64 {
        self.filter.count(spread(self.short(hash)))
    }
}

/// A full hash from a short one.
fn spread(short: u64) -> u64 {
    remix(short, 0)
}

impl Membership for SpectralWindow {
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        let seen = self.count(hash) > 0;
        self.push(self.short(hash));
        !seen
    }

    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        let seen = self.count(hash) > 0;
        self.push(if seen { 0 } else { self.short(hash) });
        !seen
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.count(hash) > 0
    }

    fn prefetch_hash(&self, hash: u64) {
        self.filter.prefetch_hash(spread(self.short(hash)));
    }
}

impl Counting for SpectralWindow {
    fn add_hash(&mut self, hash: u64, times: u64, _now: Time) -> u64 {
        // Every sighting is an insertion.
        self.push_many(self.short(hash), times);
        self.count(hash)
    }

    fn count_hash(&self, hash: u64, _now: Time) -> u64 {
        self.count(hash)
    }

    fn take_back_hash(&mut self, _hash: u64, _times: u64, _now: Time) -> Result<u64, Error> {
        Err(Error::Unsupported {
            operation: "take back sightings: its window does",
            instead: "count without end, for removing, to take back yourself",
        })
    }
}

impl Filter for SpectralWindow {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        let ring = Packed::heap_bytes_for(self.parameters.hash_bits, self.ring.len());
        let runs = self.runs.capacity() * size_of::<Run>();
        ring + runs as u64 + self.filter.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.next);
        out.words(self.whole_ring().as_words());
        self.filter.write_payload(out);
    }

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }
}

impl Structure for SpectralWindow {
    type Blueprint = SpectralWindowParameters;

    const NAME: &'static str = "spectral-window";
    const FAMILY: u16 = 52;
    const STRENGTH: &'static str = "counts a window that is exact to the item";

    fn propose(goal: &Goal) -> Result<SpectralWindowParameters, Unfit> {
        let Window::Last(window) = goal.window else {
            return Err(Unfit("keeps windows by count only"));
        };
        if !goal.counting {
            return Err(Unfit("counts, which costs more than is asked"));
        }
        if goal.removing {
            return Err(Unfit("takes back by itself what leaves its window, and nothing else"));
        }
        match goal.limit {
            Limit::Error(rate) => Ok(SpectralWindowParameters::with_error(window, rate.get())),
            Limit::Memory(memory) => SpectralWindowParameters::with_memory(window, memory.bytes())
                .ok_or(Unfit("needs room for a hash of every item and for counters")),
        }
    }

    fn read(parameters: &mut Reader<'_>, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let window = parameters.u64("window")?;
        let hash_bits = parameters.u32("hash bits")?;
        let width = parameters.u64("width")?;
        let rows = Rows { width, hashes: parameters.u32("hashes")? }.validate()?;
        if Window::Last(window).validate().is_err() {
            let expected = "from 1 to 2^48";
            return Err(Error::Field { field: "window", found: window, expected });
        }
        if !(2..=64).contains(&hash_bits) {
            let expected = "from 2 to 64";
            return Err(Error::Field { field: "hash bits", found: hash_bits.into(), expected });
        }
        let next = payload.u64_at_most("next", window - 1, "below the window")?;
        let words = Packed::words_for(hash_bits, size(window)) as u64;
        let words = payload.words("ring", words)?;
        let ring = Packed::from_words(hash_bits, size(window), words).ok_or(Error::Field {
            field: "ring",
            found: u64::MAX,
            expected: "zero beyond the last hash",
        })?;
        let parameters = SpectralWindowParameters { window, hash_bits, rows };
        let filter = Spectral::open(parameters.counting(), payload)?;
        let mut window = Self { parameters, ring, next, runs: VecDeque::new(), filter };
        let is_empty = |&by: &u64| window.ring.get(window.after(next, by) as usize) == 0;
        let length = (0..window.parameters.window).take_while(is_empty).count() as u64;
        if length >= SHORTEST_RUN {
            window.runs.push_back(Run { start: next, length, short: 0 });
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let parameters = SpectralWindowParameters::with_error(3, 1e-6);
        let mut filter = SpectralWindow::new(parameters);
        let key = |name: u8| remix(name.into(), 0);
        for name in *b"abac" {
            filter.insert_hash(key(name), Time::ZERO);
        }
        let counts = (*b"abcd").map(|name| filter.count_hash(key(name), Time::ZERO));
        assert_eq!(counts, [1, 1, 1, 0]);
        assert_eq!(filter.add_hash(key(b'd'), 1_000_000, Time::ZERO), 3);
        assert!(!filter.contains_hash(key(b'a'), Time::ZERO));
    }

    /// Sightings by the hundred against a plain window, through snapshots.
    #[test]
    fn many_at_once_are_as_many_one_by_one() {
        for window in [1, 150, 1_000, 5_000] {
            let parameters = SpectralWindowParameters::with_error(window, 1e-6);
            let mut filter = SpectralWindow::new(parameters);
            let mut plain: VecDeque<u64> = VecDeque::new();
            for step in 0..400 {
                let key = remix(step, 1) % 7;
                let times = match remix(step, 2) % 4 {
                    0 => remix(step, 3) % 3,
                    1 => remix(step, 3) % 500,
                    2 => remix(step, 3) % (2 * window),
                    _ => 1,
                };
                plain.extend(std::iter::repeat_n(key, times.min(window) as usize));
                plain.drain(..plain.len().saturating_sub(window as usize));
                filter.add_hash(remix(key, 0), times, Time::ZERO);
                if step % 50 == 0 {
                    let mut out = Writer::new();
                    filter.write_payload(&mut out);
                    let payload = out.into_bytes();
                    let mut out = Writer::new();
                    filter.parameters.write_parameters(&mut out);
                    let parameters = out.into_bytes();
                    let (mut parameters, mut payload) =
                        (Reader::new(&parameters), Reader::new(&payload));
                    filter = SpectralWindow::read(&mut parameters, &mut payload).unwrap();
                }
                for key in 0..7 {
                    let expected = plain.iter().filter(|&&other| other == key).count() as u64;
                    assert_eq!(filter.count_hash(remix(key, 0), Time::ZERO), expected, "{window}");
                }
            }
        }
    }

    /// Nothing is written one by one, and what came at once is one entry until it has left.
    #[test]
    fn a_million_sightings_are_one_entry() {
        let parameters = SpectralWindowParameters::with_error(1_000_000, 0.01);
        let mut filter = SpectralWindow::new(parameters);
        for (key, times, runs) in [(1, 900_000, 2), (2, 50_000, 3), (3, 70_000, 3), (4, 1 << 60, 1)]
        {
            filter.add_hash(remix(key, 0), times, Time::ZERO);
            assert_eq!(filter.runs.len(), runs);
        }
        assert!(filter.ring.as_words().iter().all(|&word| word == 0));
        assert_eq!(filter.count_hash(remix(4, 0), Time::ZERO), 1_000_000);
        filter.insert_hash(remix(5, 0), Time::ZERO);
        assert_eq!(filter.count_hash(remix(4, 0), Time::ZERO), 999_999);
    }
}
