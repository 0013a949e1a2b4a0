//! Active-active buffering (A2): two Bloom filters that both answer, the older one fading.
//!
//! New keys go into the first filter until it holds `capacity` of them; then the second is emptied
//! and the two change names. A key found in the first is not counted again, so a stream of few
//! different keys never turns. With a capacity of 2 and the stream `a b a c d`: `a b` fill the
//! first, the second `a` changes nothing, `c` empties the second and becomes its first key; `a` is
//! forgotten when two more new keys have come.
//!
//! Yoon 2010. A capacity of a whole window never forgets inside it. The comparison of *Approaching
//! optimal duplicate detection in a sliding window* turns after half a window, which forgets a
//! quarter of it; since that may still be the smaller error in little memory, the capacity is
//! chosen by the error law. Their benchmark computes the number of hashes with the natural
//! logarithm where the binary one is meant; here it is the one that errs least.

use lately::Error;
use lately::Promise;
use lately::Seed;
use lately::bits::{Packed, size_of_parts};
use lately::catalog::Row;
use lately::duplicates::PlainBloom;
use lately::duplicates::law::{Stream, queued};
use lately::duplicates::{
    Subfilter, payload_bits, promise_of_long_run, read_cells, window_and_memory,
};
use lately::plan::Goal;
use lately::raw::Mistakes;
use lately::raw::codec::{Reader, Writer};
use lately::raw::{Blueprint, Structure, Unfit};
use lately::raw::{Filter, Membership};
use lately::raw::{List, Parameters};
use lately::sample::PLACES;
use lately::{Slack, Time, Window};

/// How large the two filters are and when they change names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TwoBuffersParameters {
    /// The window over which errors are predicted.
    pub window: u64,
    /// New keys in the first filter when they change names; a whole window never forgets in it.
    pub capacity: u64,
    /// Each of the two filters.
    pub half: PlainBloom,
}

impl TwoBuffersParameters {
    /// The parameters that err least within `bytes`; `None` if they are too few.
    pub fn with_memory(stream: Stream, bytes: u64) -> Option<Self> {
        // From half a window to a whole one, in eighths.
        let candidates = (4..=8).filter_map(|eighths| {
            let capacity = (stream.window * f64::from(eighths) / 8.0).ceil() as u64;
            Self::with_capacity(stream, capacity, bytes)
        });
        let total = |parameters: &Self| parameters.predict(stream).total();
        candidates.min_by(|a, b| total(a).total_cmp(&total(b)))
    }

    /// The best filters of this capacity within `bytes`.
    pub fn with_capacity(stream: Stream, capacity: u64, bytes: u64) -> Option<Self> {
        let keys = stream.distinct(capacity as f64);
        let half = PlainBloom::with_bits(payload_bits(bytes) / 2, keys)?;
        Some(Self { window: stream.window as u64, capacity, half })
    }

    /// The errors over a stream.
    pub fn predict(&self, stream: Stream) -> Mistakes {
        let filling = self.filling(stream);
        let turn = filling.last().expect("it starts empty").0;
        queued(stream, 2, turn, |n, _| {
            let next = filling.partition_point(|&(moment, _)| moment <= n);
            let next = next.clamp(1, filling.len() - 1);
            let ((from, low), (to, high)) = (filling[next - 1], filling[next]);
            let false_positives = low + (high - low) * (n - from) / (to - from);
            Mistakes { false_positives, false_negatives: 0.0 }
        })
    }

    /// How a filter fills: moments, in insertions, and the chance that it reports an unseen key.
    ///
    /// Only keys that it does not report count towards the capacity. So the fuller it is, the
    /// longer the next one takes, and each brings more new bits than a random key would: with a
    /// share s of the bits set, `k (1 - s) / (1 - s^k)`.
    fn filling(&self, stream: Stream) -> Vec<(f64, f64)> {
        const PARTS: u32 = 64;
        let (bits, hashes) = (self.half.bits as f64, f64::from(self.half.hashes));
        let part = self.capacity as f64 / f64::from(PARTS);
        let (mut moment, mut set) = (0.0, 0.0f64);
        let mut filling = vec![(0.0, 0.0)];
        for i in 0..PARTS {
            let known = (stream.rate * part * (f64::from(i) + 0.5)).min(1.0);
            let unreported = (1.0 - set.powf(hashes)).max(1e-9);
            let counted = ((1.0 - known) * unreported).max(1e-6);
            moment += part / counted;
            // Within a part the share approaches 1 and never passes it.
            set = 1.0 - (1.0 - set) * (-part * hashes / (bits * unreported)).exp();
            filling.push((moment, set.powf(hashes)));
        }
        filling
    }
}

impl Parameters for TwoBuffersParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        let most = self.window;
        list.add("capacity", &mut self.capacity, 1..=most, "from 1 to the window")?;
        self.half.list(list)
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Blueprint for TwoBuffersParameters {
    fn promise(&self) -> Promise {
        if self.capacity < self.window {
            let expected = self.expected_mistakes(None);
            return promise_of_long_run(self.window, Slack::Unlimited, expected);
        }
        // Two full filters, where the promise must hold at the worst moment.
        let filling = self.filling(Stream::new(self.window, None));
        let each = filling.last().expect("it starts empty").1;
        Promise::remembering(Window::Last(self.window), Slack::Unlimited, each * (2.0 - each))
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        self.predict(Stream::new(self.window, alphabet))
    }

    fn heap_bytes(&self) -> u64 {
        Packed::heap_bytes_for(1, size_of_parts(2, self.half.bits))
    }

    fn lines_touched(&self) -> f64 {
        2.0 * self.half.lines_touched()
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(TwoBuffers::new(*self))
    }
}

/// Two Bloom filters that both answer.
#[derive(Debug, Clone)]
pub struct TwoBuffers {
    parameters: TwoBuffersParameters,
    /// Both filters, one after the other.
    bits: Packed,
    /// Which of them takes new keys: 0 or 1.
    first: u64,
    /// New keys in it; at most `capacity`.
    held: u64,
}

impl TwoBuffers {
    /// An empty pair.
    pub fn new(parameters: TwoBuffersParameters) -> Self {
        let bits = Packed::new(1, size_of_parts(2, parameters.half.bits));
        Self { parameters, bits, first: 0, held: 0 }
    }

    fn base(&self, half: u64) -> usize {
        (half * self.parameters.half.bits) as usize
    }

    fn is_in(&self, half: u64, hash: u64) -> bool {
        self.parameters.half.contains(&self.bits, self.base(half), hash)
    }

    fn add(&mut self, hash: u64) {
        if self.held == self.parameters.capacity {
            self.first = 1 - self.first;
            let base = self.base(self.first);
            self.bits.clear(base, self.parameters.half.bits as usize);
            self.held = 0;
        }
        self.held += 1;
        let base = self.base(self.first);
        self.parameters.half.set(&mut self.bits, base, hash);
    }
}

impl Membership for TwoBuffers {
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        if self.is_in(self.first, hash) {
            return false;
        }
        let seen = self.is_in(1 - self.first, hash);
        self.add(hash);
        !seen
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        let seen = self.contains_hash(hash, now);
        if !seen {
            self.add(hash);
        }
        !seen
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.is_in(0, hash) || self.is_in(1, hash)
    }

    fn prefetch_hash(&self, hash: u64) {
        let first = self.parameters.half.first_cell(hash);
        self.bits.prefetch(first);
        self.bits.prefetch(self.base(1) + first);
    }
}

impl Filter for TwoBuffers {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let half = |half| {
            let (bits, base) = (&self.bits, self.base(half));
            self.parameters.half.estimate(bits, base, PLACES / 2)
        };
        let [a, b] = [0, 1].map(half);
        a + b - a * b
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.first);
        out.u64(self.held);
        out.words(self.bits.as_words());
    }
}

impl Structure for TwoBuffersParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let (window, bytes) = window_and_memory(goal)?;
        if goal.slack != Slack::Unlimited {
            return Err(Unfit("does not limit how long it reports a key"));
        }
        Self::with_memory(Stream::new(window, goal.alphabet), bytes)
            .ok_or(Unfit("needs more memory"))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let first = payload.u64_at_most("first", 1, "0 or 1")?;
        let held = payload.u64_at_most("held", self.capacity, "at most the capacity")?;
        let bits = read_cells(payload, 1, self.half.bits.checked_mul(2))?;
        Ok(Box::new(TwoBuffers { parameters: self, bits, first, held }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let half = PlainBloom { bits: 1000, hashes: 5 };
        let parameters = TwoBuffersParameters { window: 2, capacity: 2, half };
        let mut buffers = TwoBuffers::new(parameters);
        let key = |name: u8| lately::raw::remix(name.into(), 0);
        let new = b"abacd".map(|name| buffers.insert_hash(key(name), Time::ZERO));
        assert_eq!(new, [true, true, false, true, true]);
        assert!(buffers.contains_hash(key(b'a'), Time::ZERO));
        buffers.insert_hash(key(b'e'), Time::ZERO);
        assert!(!buffers.contains_hash(key(b'a'), Time::ZERO));
    }

    /// Turning every half window forgets a quarter of it, as measured in the paper's Figure 3;
    /// every whole window, nothing.
    #[test]
    fn half_a_window_forgets_a_quarter() {
        let stream = Stream::new(1000, None);
        for (capacity, forgotten) in [(500, 0.25), (1000, 0.0)] {
            let buffers = TwoBuffersParameters::with_capacity(stream, capacity, 12_500).unwrap();
            let found = buffers.predict(stream).false_negatives;
            assert!((found - forgotten).abs() < 0.01, "{capacity}: {found}");
        }
    }
}
