//! The block-decaying Bloom filter (b_DBF): counters that hold until when they count.
//!
//! Time passes in ticks of T insertions. A key writes into k counters the last tick at which it
//! still counts; it is reported while none of its counters has passed. Counters are d bits wide, so
//! ticks are told modulo 2^(d-1), and when the count wraps all counters are lowered once. With
//! d = 3 there are Th = 4 ticks to a round, and a window of 6 takes ticks of 2: a key written at
//! tick 1 counts until tick 4, that is tick 0 of the next round.
//!
//! Shen and Zhang 2008, in the delayed form. What we changed: a counter counts while it is *above*
//! the current tick, so that an empty counter, 0, never does; the published form lets it for one
//! tick of each round. And d and k are chosen by the error law instead of both as
//! `ceil(sqrt(M ln 2 / w))`. Inside the window nothing is forgotten. Not guaranteed: a bounded
//! worst case; once per round all counters are lowered.

use lately::Error;
use lately::Promise;
use lately::Seed;
use lately::bits::{Packed, size};
use lately::catalog::Row;
use lately::duplicates::law::Stream;
use lately::duplicates::{payload_bits, read_cells, window_and_memory};
use lately::plan::Goal;
use lately::raw::Mistakes;
use lately::raw::codec::{Reader, Writer};
use lately::raw::{Blueprint, Structure, Unfit};
use lately::raw::{Filter, Membership};
use lately::raw::{List, Parameters};
use lately::raw::{reduce, remix};
use lately::sample::{PLACES, share};
use lately::{Slack, Time, Window};

/// How many counters of how many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockDecayingParameters {
    /// Insertions that are never forgotten.
    pub window: u64,
    /// Counters.
    pub counters: u64,
    /// Bits of a counter, 2 to 16.
    pub bits: u32,
    /// Counters that a key writes, 1 to 32.
    pub hashes: u32,
}

/// Bits of a counter that are tried.
const BITS: std::ops::RangeInclusive<u32> = 2..=12;

impl BlockDecayingParameters {
    /// The parameters that err least within `bytes`; `None` if they are too few.
    pub fn with_memory(stream: Stream, bytes: u64) -> Option<Self> {
        let window = stream.window as u64;
        let shapes = BITS.flat_map(|bits| (1..=16).map(move |hashes| (bits, hashes)));
        let candidates = shapes.filter_map(|(bits, hashes)| {
            let counters = payload_bits(bytes) / u64::from(bits);
            (counters > 0).then_some(Self { window, counters, bits, hashes })
        });
        let total = |parameters: &Self| parameters.predict(stream).total();
        candidates.min_by(|a, b| total(a).total_cmp(&total(b)))
    }

    /// Ticks in a round.
    fn round(&self) -> u64 {
        1 << (self.bits - 1)
    }

    /// Insertions in a tick.
    pub fn tick(&self) -> u64 {
        self.window.div_ceil(self.round() - 1)
    }

    /// Ticks that a key counts after its own: as many as a window may touch.
    fn lasting(&self) -> u64 {
        self.window.div_ceil(self.tick())
    }

    /// How much older than the window a reported key can be.
    pub fn slack(&self) -> u64 {
        (self.lasting() + 1) * self.tick() - 1 - self.window
    }

    /// Chance that an unseen key finds its counters still counting when `n` keys do.
    pub fn false_positive_rate(&self, n: f64) -> f64 {
        let hashes = f64::from(self.hashes);
        let counting = -(hashes * n * (-1.0 / self.counters as f64).ln_1p()).exp_m1();
        counting.powf(hashes)
    }

    /// The errors over a stream: no false negatives, and false positives averaged over a tick.
    pub fn predict(&self, stream: Stream) -> Mistakes {
        let (first, ticks) = ((self.lasting() * self.tick()) as f64, 8);
        let false_positives = (0..ticks).map(|i| {
            let counting = first + self.tick() as f64 * (f64::from(i) + 0.5) / f64::from(ticks);
            // Keys that left the window and still count are reported by right of no one.
            let older = stream.among(counting - stream.window);
            older + (1.0 - older) * self.false_positive_rate(stream.distinct(counting))
        });
        Mistakes {
            false_positives: false_positives.sum::<f64>() / f64::from(ticks),
            false_negatives: 0.0,
        }
    }
}

impl Parameters for BlockDecayingParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        list.add("counters", &mut self.counters, 1.., "at least 1")?;
        list.add("counter bits", &mut self.bits, 2..=16, "from 2 to 16")?;
        list.add("hashes", &mut self.hashes, 1..=32, "from 1 to 32")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Blueprint for BlockDecayingParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(
            Window::Last(self.window),
            Slack::Items(self.slack()),
            self.false_positive_rate((self.window + self.slack() + 1) as f64),
        )
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        self.predict(Stream::new(self.window, alphabet))
    }

    fn heap_bytes(&self) -> u64 {
        Packed::heap_bytes_for(self.bits, size(self.counters))
    }

    fn lines_touched(&self) -> f64 {
        f64::from(self.hashes)
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(BlockDecaying::new(*self))
    }
}

/// Counters that hold until when they count.
#[derive(Debug, Clone)]
pub struct BlockDecaying {
    parameters: BlockDecayingParameters,
    /// The last tick at which each counts, plus one; counting while above `now`.
    counters: Packed,
    /// The current tick; below a round.
    now: u64,
    /// Insertions in this tick; at most a tick.
    passed: u64,
}

impl BlockDecaying {
    /// An empty filter.
    pub fn new(parameters: BlockDecayingParameters) -> Self {
        let counters = Packed::new(parameters.bits, size(parameters.counters));
        Self { parameters, counters, now: 0, passed: 0 }
    }

    fn advance(&mut self) {
        if self.passed == self.parameters.tick() {
            self.passed = 0;
            self.now += 1;
            if self.now == self.parameters.round() {
                self.now = 0;
                for counter in 0..self.counters.len() {
                    let lowered =
                        self.counters.get(counter).saturating_sub(self.parameters.round());
                    self.counters.set(counter, lowered);
                }
            }
        }
        self.passed += 1;
    }

    #[inline]
    fn positions(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let counters = self.parameters.counters;
        (0..u64::from(self.parameters.hashes))
            .map(move |i| reduce(remix(hash, i), counters).0 as usize)
    }

    fn write(&mut self, hash: u64) {
        let until = self.now + self.parameters.lasting() + 1;
        for counter in self.positions(hash) {
            self.counters.set(counter, until);
        }
    }
}

impl Membership for BlockDecaying {
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        self.advance();
        let seen = self.contains_hash(hash, now);
        self.write(hash);
        !seen
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.advance();
        let seen = self.contains_hash(hash, now);
        if !seen {
            self.write(hash);
        }
        !seen
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.positions(hash).all(|counter| self.counters.get(counter) > self.now)
    }

    fn prefetch_hash(&self, hash: u64) {
        self.positions(hash).take(2).for_each(|counter| self.counters.prefetch(counter));
    }
}

impl Filter for BlockDecaying {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let counts = |counter| self.counters.get(counter) > self.now;
        let share = share(0..self.counters.len(), PLACES, counts);
        share.powi(self.parameters.hashes as i32)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.now);
        out.u64(self.passed);
        out.words(self.counters.as_words());
    }
}

impl Structure for BlockDecayingParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let (window, bytes) = window_and_memory(goal)?;
        let shape = |bits| Self { window, counters: 1, bits, hashes: 1 };
        let unfit = Unfit("needs more memory, or a larger slack");
        if !BITS.into_iter().any(|bits| goal.allows_slack(shape(bits).slack())) {
            return Err(unfit);
        }
        Self::with_memory(Stream::new(window, goal.alphabet), bytes)
            .filter(|parameters| goal.allows_slack(parameters.slack()))
            .ok_or(unfit)
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let now = payload.u64_at_most("now", self.round() - 1, "below a round")?;
        let passed = payload.u64_at_most("passed", self.tick(), "at most a tick")?;
        let counters = read_cells(payload, self.bits, Some(self.counters))?;
        Ok(Box::new(BlockDecaying { parameters: self, counters, now, passed }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let parameters = BlockDecayingParameters { window: 6, counters: 1000, bits: 3, hashes: 5 };
        assert_eq!((parameters.round(), parameters.tick(), parameters.lasting()), (4, 2, 3));
        let mut filter = BlockDecaying::new(parameters);
        let key = |name: u64| remix(name, 0);
        for name in 0..4 {
            filter.insert_hash(key(name), Time::ZERO);
        }
        // Keys 2 and 3 came in tick 1, and count until tick 4, whose last insertion is the tenth.
        for name in 4..10 {
            assert!(filter.contains_hash(key(3), Time::ZERO));
            filter.insert_hash(key(name), Time::ZERO);
        }
        assert!(filter.contains_hash(key(3), Time::ZERO));
        filter.insert_hash(key(10), Time::ZERO);
        assert!(!filter.contains_hash(key(3), Time::ZERO));
    }

    /// An empty filter reports nothing at any tick of its first rounds.
    #[test]
    fn empty_counters_never_count() {
        let parameters = BlockDecayingParameters { window: 30, counters: 5000, bits: 3, hashes: 3 };
        let mut filter = BlockDecaying::new(parameters);
        for step in 0..200 {
            filter.insert_hash(remix(7, 0), Time::ZERO);
            let reported = (0..50).filter(|&i| filter.contains_hash(remix(i, 1), Time::ZERO));
            assert_eq!(reported.count(), 0, "step {step}");
        }
    }
}
