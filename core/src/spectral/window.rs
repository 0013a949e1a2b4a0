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

use super::counters::Bytes;
use super::parameters::SpectralParameters;
use super::rule::Rule;
use super::{Place, Rows, Spectral, Storage};
use crate::bits::{Packed, size};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Counting, Filter, Membership, Promise};
use crate::hash::{Seed, reduce, remix};
use crate::plan::{Goal, Limit};
use crate::window::{Slack, Time, Window};

/// How many short hashes of how many bits, and the counters for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpectralWindowParameters {
    /// Insertions counted, exactly.
    pub window: u64,
    /// Bits of each hash in the ring, 2 to 64.
    pub hash_bits: u32,
    /// Where the counters of a key are.
    pub rows: Rows,
}

/// Short hashes collide so much less often than counters.
const COLLISION_SHARE: f64 = 1.0 / 16.0;

impl SpectralWindowParameters {
    /// The smallest that keeps `rate`, even if all keys of a window differ.
    pub fn with_error(window: u64, rate: f64) -> Self {
        let hash_bits = (window as f64 / (COLLISION_SHARE * rate)).log2().ceil();
        let rate = rate * (1.0 - COLLISION_SHARE);
        let rows = Rows::for_items(window, rate, super::hashes_for(rate));
        Self { window, hash_bits: hash_bits.clamp(2.0, 64.0) as u32, rows }
    }

    /// Those that err least within `bytes`; `None` if there is no room for a counter beside the
    /// ring.
    pub fn with_memory(window: u64, bytes: u64) -> Option<Self> {
        let choices = (2..=64).filter_map(|hash_bits| {
            let left = bytes.checked_sub(Packed::heap_bytes_for(hash_bits, size(window)))?;
            let rule = Rule::MinimumSelection;
            let rows = SpectralParameters::with_memory(window, left, rule)?.rows;
            Some(Self { window, hash_bits, rows })
        });
        choices.min_by(|a, b| a.false_positive_rate().total_cmp(&b.false_positive_rate()))
    }

    /// Chance that an unseen key seems seen when all keys of the window differ: by its counters, or
    /// by its short hash.
    pub fn false_positive_rate(&self) -> f64 {
        let collision = -(self.window as f64 * (-1.0 / self.hash_values() as f64).ln_1p()).exp_m1();
        let counters = self.rows.collision_rate(self.window);
        collision + (1.0 - collision) * counters
    }

    fn hash_values(&self) -> u64 {
        u64::MAX >> (64 - self.hash_bits)
    }

    fn counting(&self) -> SpectralParameters {
        SpectralParameters {
            items: self.window,
            rows: self.rows,
            rule: Rule::MinimumSelection,
            storage: Storage::Bytes,
        }
    }
}

impl Blueprint for SpectralWindowParameters {
    fn structure(&self) -> &'static str {
        SpectralWindow::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(0),
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        let ring = Packed::heap_bytes_for(self.hash_bits, size(self.window));
        ring + self.counting().heap_bytes()
    }

    fn adapts(&self) -> bool {
        self.counting().adapts()
    }

    fn lines_touched(&self) -> f64 {
        // The counters of the key that comes and of the one that goes, and the ring.
        2.0 * self.counting().lines_touched() + 1.0
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("window", self.window.to_string()),
            ("hash bits", self.hash_bits.to_string()),
            ("width", self.rows.width.to_string()),
            ("hashes", self.rows.hashes.to_string()),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.window);
        out.u32(self.hash_bits);
        out.u64(self.rows.width);
        out.u32(self.rows.hashes);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(SpectralWindow::new(*self))
    }
}

/// A ring of short hashes, and how often each is in it.
#[derive(Debug, Clone)]
pub struct SpectralWindow {
    parameters: SpectralWindowParameters,
    /// The last `window` insertions; 0 where there is none.
    ring: Packed,
    /// Where the next insertion goes: the place of the oldest.
    next: u64,
    /// Counts what is in the ring.
    filter: Spectral<Bytes, SpectralParameters>,
}

impl SpectralWindow {
    /// An empty window.
    pub fn new(parameters: SpectralWindowParameters) -> Self {
        let ring = Packed::new(parameters.hash_bits, size(parameters.window));
        Self { parameters, ring, next: 0, filter: Spectral::new(parameters.counting()) }
    }

    fn short(&self, hash: u64) -> u64 {
        1 + reduce(hash, self.parameters.hash_values()).0
    }

    /// Takes back the oldest insertion, and puts this one in its place; 0 is none.
    fn push(&mut self, short: u64) {
        let oldest = self.ring.get(self.next as usize);
        if oldest > 0 {
            // Refused only if a forged snapshot counts less than its ring holds: then nothing is
            // there to take back.
            let _ = self.filter.take_back(spread(oldest), 1);
        }
        if short > 0 {
            self.filter.add(spread(short), 1);
        }
        self.ring.set(self.next as usize, short);
        self.next += 1;
        if self.next == self.parameters.window {
            self.next = 0;
        }
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
        // Every sighting is an insertion; more than a window of them leave one window.
        for _ in 0..times.min(self.parameters.window) {
            self.push(self.short(hash));
        }
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
        ring + self.filter.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.next);
        out.words(self.ring.as_words());
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
        Ok(Self { parameters, ring, next, filter })
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

    #[test]
    fn memory_and_error_are_inverse() {
        for window in [1, 100, 100_000] {
            for rate in [0.1, 0.001] {
                let given = SpectralWindowParameters::with_error(window, rate);
                assert!(given.false_positive_rate() <= rate, "{given:?}");
                let bytes = given.heap_bytes();
                let back = SpectralWindowParameters::with_memory(window, bytes).unwrap();
                assert!(back.heap_bytes() <= bytes);
                assert!(back.false_positive_rate() <= 1.4 * rate, "{given:?} {back:?}");
            }
        }
    }
}
